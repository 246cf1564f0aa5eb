"""The command that writes the history as a page."""

COMMANDS = ()
