"""The history as one HTML page that needs nothing else: no network, no folder beside it.

contents   what the page shows
gathering  the page's contents, read from a history
details    what it shows of one version: config, lint, results, what changed
figures    its plots, by matplotlib
svg        matplotlib's SVG as part of a page: no inline styles, colours by class
page       the contents as HTML
writing    the file: whole or not at all, and never over somebody else's
"""
