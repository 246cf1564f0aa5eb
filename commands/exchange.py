"""The commands that carry a history elsewhere: history export and import."""

COMMANDS = ()
