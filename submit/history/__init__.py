"""What a project learned and keeps: `.mxsub/history.sqlite3` in its folder.

versions     every text, by its hash, with its tags and where it came from
lints        what lint said of a version
runs         runs of the task's evaluator on this machine
inspections  what a call of a version does on the virtual GPU
submissions  what was sent to a service, each recorded before it left, with all that the service answered
sweeps       configs tried on a service, a submission each
exporting    all of it as JSON lines, whose kinds stand in exchange_lines
importing    such lines, taken in
file         the SQLite file: WAL, transactions, migrations; safe for several mxsub processes at once
"""

from mxsub.submit.history.history import History

__all__ = ["History"]
