"""Files that are read and written as the user names them: whole or not at all, and only files."""

import os
import stat
from pathlib import Path

import pytest

from mxsub.submit.errors import EnvironmentProblem, MxsubError, UsageError, read_bytes
from mxsub.submit.replacing import replaced
from tests.contestant import ACCEPTED, Contestant


def write(path: Path, data: bytes, **how: object) -> None:
    with replaced(path, **how) as file:  # type: ignore[arg-type]
        file.write(data)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write(path, b"first")
    with pytest.raises(TypeError):
        write(path, "not bytes")  # type: ignore[arg-type]
    assert path.read_bytes() == b"first"
    write(path, b"third")
    assert (path.read_bytes(), names(tmp_path)) == (b"third", ["a.txt"])


def test_modes(tmp_path: Path) -> None:
    """A new file's, that of what was there, or the one that was asked for; from the first byte."""
    path, mask = tmp_path / "a.txt", os.umask(0o027)
    try:
        write(path, b"")
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o755)
    write(path, b"")
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    with replaced(path, mode=0o600) as file:
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_stays_one(tmp_path: Path) -> None:
    target, link = tmp_path / "a.txt", tmp_path / "b.txt"
    target.write_text("old")
    link.symlink_to(target)
    write(link, b"new")
    assert (link.is_symlink(), target.read_text()) == (True, "new")


def test_what_is_no_regular_file_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, Path("/dev/null"), Path("/dev/full")):
        before = path.stat().st_mode
        with pytest.raises(UsageError, match="cannot be written: it is no regular file"):
            write(path, b"x")
        assert path.stat().st_mode == before


@pytest.mark.parametrize("error", [UsageError, EnvironmentProblem])
def test_folders_are_made_where_that_is_wanted(tmp_path: Path, error: type[MxsubError]) -> None:
    with pytest.raises(error, match="cannot be written: No such file"):
        write(tmp_path / "x" / "a.txt", b"", error=error)
    write(tmp_path / "x" / "a.txt", b"1", parents=True)
    assert names(tmp_path / "x") == ["a.txt"]


def test_a_device_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="/dev/zero: is a device"):
        read_bytes(Path("/dev/zero"))
    reading, writing = os.pipe()
    os.write(writing, b"text")
    os.close(writing)
    assert read_bytes(Path(f"/dev/fd/{reading}")) == b"text"
    os.close(reading)


@pytest.mark.parametrize(
    "line",
    ["lint /dev/zero", "show /dev/zero", "log /dev/zero", "diff /dev/zero /dev/zero", "submit /dev/zero",
     "test /dev/zero", "sweep run --configs /dev/zero", "history import /dev/zero", "history export /dev/null",
     "report -o /dev/null", "build -o /dev/full", "pull 1 -o /dev/full"],
)  # fmt: skip
def test_commands_and_devices(ada: Contestant, line: str) -> None:
    ada.bot.add_submission("ada", ACCEPTED)
    told = ada.run(*line.split())
    assert told.exit_code == 2
    assert "is a device" in told.stderr or "no regular file" in told.stderr
