"""The command that tries many configs on the service."""

COMMANDS = ()
