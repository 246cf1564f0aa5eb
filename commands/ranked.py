"""The commands about submissions on the service: pull, rank, delete."""

COMMANDS = ()
