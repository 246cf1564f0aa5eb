"""Writes a file whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from mxsub.submit.errors import MxsubError, UsageError, shown

HEAD_BYTES = 2000


@contextmanager
def replaced(
    path: Path, *, mode: int | None = None, parents: bool = False, error: type[MxsubError] = UsageError
) -> Iterator[IO[bytes]]:
    """A file beside `path` that takes its place once it is written, and not where the body raises. What `path` is a
    link to is replaced, not the link.

    mode: its permissions, which it has from its first byte; those of what was there, or of any new file, if not given.
    parents: make the folders that it lies in. error: what is raised where it cannot be written, or `path` is something
    other than a regular file; what was there stays.
    """
    target = Path(os.path.realpath(path))
    _check_regular(target, path, error)
    temporary: Path | None = None
    try:
        if parents:
            target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f"{target.name[:100]}.", dir=target.parent)
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), _mode_of(target) if mode is None else mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as problem:
        raise error(f"{shown(path)}: cannot be written: {problem.strerror}") from None
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink()
    _sync_folder(target.parent)


def check_own(output: Path, mark: bytes, command: str) -> None:
    """Raises UsageError where `output` is a file without a command's mark in its first bytes, so that it is the user's
    own."""
    _check_regular(output, output, UsageError)
    try:
        with output.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"{shown(output)}: cannot be written: {error.strerror}") from None
    if head and mark not in head:
        raise UsageError(
            f"{shown(output)} is a file that no `{command}` wrote, and is left as it is",
            "Name another file, or overwrite it with --force.",
        )


def _check_regular(target: Path, named: Path, error: type[MxsubError]) -> None:
    """A device or a pipe would be replaced by a file, a folder cannot be."""
    if os.path.exists(target) and not os.path.isfile(target):
        raise error(f"{shown(named)}: cannot be written: it is no regular file")


def _mode_of(target: Path) -> int:
    try:
        return target.stat().st_mode & 0o7777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    """So that the new name outlives a power cut; not every file system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
