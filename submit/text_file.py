"""Writes a version's text to a file, without losing what is there."""

from pathlib import Path

from mxsub.submit.errors import UsageError, read_bytes
from mxsub.submit.history import History
from mxsub.submit.replacing import replaced


def check_replaceable(output: Path, text: str, history: History, *, force: bool) -> bool:
    """Whether `output` would change. Raises UsageError where it holds a text that is not in the history, unless `force`
    is given."""
    old = read_bytes(output) if output.exists() else None
    changed = old != text.encode()
    if old is not None and changed and not force and not history.versions.has(old):
        raise UsageError(
            f"{output} holds a text that no `mxsub build` wrote, and is left as it is",
            "Name another file with -o, or overwrite it with --force.",
        )
    return changed


def write_text(output: Path, text: str) -> None:
    """Raises UsageError where it cannot be written."""
    with replaced(output, parents=True) as file:
        file.write(text.encode())
