"""The commands that look back: what was made and submitted, and what it came to."""

COMMANDS = ()
