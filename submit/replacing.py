"""Writes a file whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from mxsub.submit.errors import UsageError, shown


@contextmanager
def replaced(output: Path) -> Iterator[IO[bytes]]:
    """A file beside `output` that takes its place once it is written. What `output` is a link to is replaced, not the
    link. Raises UsageError where it cannot be written, which leaves what was there."""
    target = output.resolve()
    temporary = target.with_name(f".mxsub-{os.getpid()}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{shown(output)}: cannot be written: {error.strerror}") from None
