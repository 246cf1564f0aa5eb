"""A history that cannot be written, archives that come damaged: one clear sentence, and what was found is not lost."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.contestant import ACCEPTED, POLL, Contestant
from tests.fake_kernelbot import FakeKernelBot
from tests.harness.evaluators import PLAIN, RIGHT, make_task

WRONG = RIGHT.replace(b"right", b"wrong")


def no_database(history: Path) -> None:
    history.parent.mkdir()
    history.write_bytes(b"This is no database, whatever its name says.\n" * 40)


def newer(history: Path) -> None:
    history.parent.mkdir()
    connection = sqlite3.connect(history)
    connection.execute("PRAGMA user_version = 1000")
    connection.execute(f"PRAGMA application_id = {0x4D585342}")
    connection.close()


def a_folder(history: Path) -> None:
    history.mkdir(parents=True)


def a_file_in_its_folders_place(history: Path) -> None:
    history.parent.write_text("mine\n")


UNWRITABLE = [
    (no_database, "history.sqlite3: the history is damaged (file is not a database); the file was left as it is"),
    (newer, "history.sqlite3: the history was written by a newer mxsub (schema 1000, this one knows "),
    (a_folder, "history.sqlite3: the history cannot be used: unable to open database file"),
    (a_file_in_its_folders_place, ".mxsub: the history's folder cannot be made: File exists"),
]


@pytest.mark.parametrize(("spoil", "sentence"), UNWRITABLE)
@pytest.mark.parametrize("text", [RIGHT, WRONG])
def test_a_run_whose_result_cannot_be_recorded(
    ada: Contestant, tmp_path: Path, spoil: Callable[[Path], None], sentence: str, text: bytes
) -> None:
    """The result is shown, and decides the exit code; that it is not recorded is said once."""
    task = tmp_path / "task"
    make_task(task, PLAIN)
    file = ada.project / "sub.py"
    file.write_bytes(text)
    spoil(ada.project / ".mxsub/history.sqlite3")
    before = ada.kept()
    done = ada.run("test", file, "--task", task, "--json")
    told = json.loads(done.stdout)
    right = text == RIGHT
    assert (done.exit_code, told["outcome"], len(told["cases"])) == (
        0 if right else 1,
        "passed" if right else "failed",
        2,
    )
    warning, hint = done.stderr.splitlines()
    assert warning.startswith("warning: not recorded: ")
    assert sentence in warning
    assert hint
    assert ada.kept() == before


@pytest.mark.parametrize(("spoil", "sentence"), UNWRITABLE)
def test_nothing_is_submitted_that_cannot_be_recorded(
    ada: Contestant, bot: FakeKernelBot, spoil: Callable[[Path], None], sentence: str
) -> None:
    file = ada.project / "sub.py"
    file.write_text(ACCEPTED)
    spoil(ada.project / ".mxsub/history.sqlite3")
    before = ada.kept()
    done = ada.run("submit", file, "--force", *POLL)
    assert done.exit_code == 3
    error, hint = done.stderr.splitlines()[-2:]
    assert error.startswith("error: ")
    assert sentence in error
    assert hint
    assert done.stdout == ""
    assert (bot.rows, ada.kept()) == ([], before)


def test_archives_that_come_damaged(ada: Contestant, bot: FakeKernelBot) -> None:
    bot.set_fault("sse-bad-archives")
    done = ada.run("submit", ada.write(ACCEPTED, "profile"), "--mode", "profile", "--json", *POLL)
    assert done.exit_code == 0
    (told,) = json.loads(done.stdout)
    assert [Path(path).name for path in told["archives"]] == [f"profile.{number}.zip" for number in range(1, 6)]
    cut = Path(told["archives"][0])
    assert done.stderr.splitlines() == [
        "profile.0: the profiler's archive came damaged and was left out",
        f"profile.1: the profiler's archive is no whole zip file; {cut} has it as it came",
    ]
    assert cut.read_bytes().startswith(b"PK")
    assert [run["mode"] for run in told["results"]] == [f"profile.{number}" for number in range(6)]


def test_archives_that_cannot_be_written(ada: Contestant, bot: FakeKernelBot) -> None:
    """Its verdict is known by then, and stays."""
    file = ada.write(ACCEPTED, "profile")
    in_the_way = ada.project / ".mxsub/profiles"
    in_the_way.write_text("mine\n")
    done = ada.run("submit", file, "--mode", "profile", *POLL)
    assert (done.exit_code, done.stdout) == (3, "")
    assert f"error: {in_the_way}/1/profile.0.zip: the profiler's archive cannot be written: " in done.stderr
    assert "Its runs and verdict are kept: `mxsub submit --resume` shows them." in done.stderr
    resumed = ada.run("submit", "--resume", "--json", *POLL)
    assert resumed.exit_code == 0
    (told,) = json.loads(resumed.stdout)
    assert (told["verdict"], len(told["results"]), len(bot.rows)) == ("passed", 6, 1)
    assert all(run["result"]["benchmark.0.report"] for run in told["results"])
