"""Files that only their owner may read, replaced as a whole or not at all."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from mxsub.submit.errors import EnvironmentProblem


def write_private(path: Path, text: str) -> None:
    """Puts the text in the file, with mode 0600 from its first byte; a symbolic link stays one.

    Raises EnvironmentProblem where it cannot; the file is then as it was.
    """
    target = Path(os.path.realpath(path))
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(prefix=f"{target.name}.", dir=target.parent)
        temporary = Path(name)
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as error:
        raise EnvironmentProblem(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink()
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """So that the new name outlives a power cut; not every file system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
