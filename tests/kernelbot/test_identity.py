"""The id's file: private, whole at every moment, and others' keys kept."""

import os
import stat
from pathlib import Path

import pytest

from mxsub.submit.errors import EnvironmentProblem, UsageError
from mxsub.submit.kernelbot import CliId, read_cli_id, write_cli_id
from mxsub.submit.popcorn_config import config_path

SECRET = "a13f62d3-4416-453a-a130-88c568d39682"
OLD = "00000000-1111-2222-3333-444444444444"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path / ".popcorn.yaml"


def test_an_id_shows_itself_in_part() -> None:
    cli_id = CliId(SECRET)
    assert (str(cli_id), repr(cli_id), f"{cli_id}") == ("a13f…9682", "CliId(a13f…9682)", "a13f…9682")
    assert cli_id.secret == SECRET
    assert str(CliId("short")) == "…"
    for wrong in ("", "a b", "a\nb", "é", "x" * 201):
        with pytest.raises(ValueError, match="printable ASCII") as caught:
            CliId(wrong)
        assert wrong in ("", "a b") or wrong not in str(caught.value)


def test_a_new_file_is_private(file: Path) -> None:
    assert config_path() == file
    assert read_cli_id() is None
    old = os.umask(0)
    try:
        write_cli_id(CliId(SECRET))
    finally:
        os.umask(old)
    assert file.read_text() == f"cli_id: {SECRET}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert read_cli_id() == CliId(SECRET)
    assert os.listdir(file.parent) == [file.name]


def test_other_keys_and_comments_stay(file: Path) -> None:
    before = (
        f"# mine\neditor: 'vim'  # quoted\ncli_id: {OLD} # the id\nlist:\n- 1\n- b: {{c: d}}\nlong: {'word ' * 60}end\n"
    )
    file.write_text(before)
    file.chmod(0o644)
    write_cli_id(CliId(SECRET))
    assert file.read_text() == before.replace(OLD, SECRET)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("before", ["", "# only a comment", "cli_id: null\n", "cli_id:\n", "other: 1\n"])
def test_files_without_an_id(file: Path, before: str) -> None:
    file.write_text(before)
    assert read_cli_id() is None
    write_cli_id(CliId(SECRET))
    assert read_cli_id() == CliId(SECRET)
    assert ("# only a comment" in file.read_text()) == before.startswith("#")


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"a: [1\n", ":2:1"),
        (f"cli_id: {OLD}\ncli_id: {SECRET}\n".encode(), ":2:1"),
        (f"cli_id: *{SECRET}\n".encode(), ":1:9"),
        (f"- {OLD}\n".encode(), ":1:1"),
        (f"{OLD}\n".encode(), ":1:1"),
        (b"cli_id: 12\n", ":1:9"),
        (b"a: 1\ncli_id: ['x']\n", ":2:9"),
        (b"cli_id: 'a b'\n", ":1:9"),
        (b"a: 1\nb: \xff\n", ":2:4"),
    ],
)
def test_a_broken_file_is_told_of_and_left(file: Path, content: bytes, place: str) -> None:
    file.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        read_cli_id()
    assert f"{file}{place}: " in caught.value.message
    assert OLD not in caught.value.message
    assert SECRET not in caught.value.message
    if b"cli_id: 12" not in content and b"['x']" not in content and b"'a b'" not in content:
        with pytest.raises(UsageError):
            write_cli_id(CliId(SECRET))
        assert file.read_bytes() == content


def test_a_symbolic_link_stays_one(file: Path, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "popcorn.yaml"
    target.parent.mkdir()
    target.write_text("a: 1\n")
    file.symlink_to(target)
    write_cli_id(CliId(SECRET))
    assert file.is_symlink()
    assert target.read_text() == f"a: 1\ncli_id: {SECRET}\n"


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match="cannot be written"):
        write_cli_id(CliId(SECRET), tmp_path / "none" / "file.yaml")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="cannot be read"):
        read_cli_id(tmp_path / "folder")
