"""mxsub pull, rank and delete."""

import json
from pathlib import Path

import pytest

from tests.contestant import ACCEPTED, POLL, Contestant
from tests.fake_kernelbot import FakeKernelBot

FAR = f"{ACCEPTED}# elsewhere, é\n"


def test_pull_makes_a_version(ada: Contestant, bot: FakeKernelBot, tmp_path: Path) -> None:
    bot.add_submission("ada", FAR, "leaderboard", "far.py", age_seconds=600)
    told = ada.run("pull", "#1", "--tag", "far")
    assert (told.exit_code, "kept as version" in told.stdout) == (0, True)
    with ada.history() as history:
        version = history.versions.find("far")
        assert (version.text, version.origin) == (FAR, "remote")
        (record,) = history.submissions.numbered(1)
        assert (record.sha256, record.verdict, record.mode) == (version.sha256, "passed", "leaderboard")
        assert [run.mode for run in history.submissions.results(record.uid)] == ["test", "benchmark", "leaderboard"]
    assert "is version" in ada.run("pull", "1").stdout
    assert ada.run("pull", "1", "-o", "-").stdout == FAR
    file = tmp_path / "out.py"
    assert ada.run("pull", "1", "-o", file).exit_code == 0
    assert file.read_bytes() == FAR.encode()
    file.write_text("# mine alone\n")
    kept = ada.run("pull", "1", "-o", file)
    assert (kept.exit_code, file.read_text()) == (2, "# mine alone\n")
    assert ada.run("pull", "1", "-o", file, "--force").exit_code == 0
    assert json.loads(ada.run("pull", "1", "--json").stdout)["new"] is False
    assert len(ada.records()) == 1


@pytest.mark.parametrize(
    ("number", "code", "says"),
    [("2", 4, "403"), ("99", 4, "404"), ("abc", 2, "is no number of a submission"), ("9" * 30, 2, "is no number")],
)
def test_what_cannot_be_pulled(ada: Contestant, bot: FakeKernelBot, number: str, code: int, says: str) -> None:
    for user in ("ada", "grace"):
        bot.add_submission(user, f"{FAR}# {user}\n")
    for command in ("pull", "delete"):
        told = ada.run(command, number, *["--yes"] * (command == "delete"))
        assert (told.exit_code, says in told.stderr) == (code, True), told.stderr
    assert ada.records() == []


def test_rank(ada: Contestant, bot: FakeKernelBot) -> None:
    for number in range(30):
        bot.add_submission(f"user{number}", f"{ACCEPTED}# {number}\n")
    ada.run("submit", ada.write(ACCEPTED, "test", "leaderboard"), "--mode", "leaderboard", "--yes", *POLL)
    found = json.loads(ada.run("rank", "--json").stdout)
    assert [entry["rank"] for entry in found["ranking"]] == sorted(entry["rank"] for entry in found["ranking"])
    means = [entry["mean"] for entry in found["ranking"]]
    assert (len(means), means) == (31, sorted(means))
    own = next(entry for entry in found["ranking"] if entry["user"] == "ada")
    assert (found["place"]["rank"], found["place"]["submission"]) == (own["rank"], own["submission"])
    if found["place"]["ahead"]:
        assert found["place"]["gap"] == pytest.approx(own["mean"] - found["place"]["ahead"]["mean"])
    shown = ada.run("rank", "--top", "3").stdout
    assert shown.startswith("amd-mxfp4-mm on MI355X: 31 ranked")
    assert f"you are rank {own['rank']} of 31; " in shown
    assert "aiter 11.499" in shown
    assert sum(line.strip().startswith(tuple("0123456789")) for line in shown.splitlines()) <= 8
    assert len(ada.run("rank", "--all").stdout.splitlines()) == 31 + 3
    ada.yaml.unlink()
    told = ada.run("rank")
    assert (told.exit_code, "your own place is not known here" in told.stdout) == (0, True)
    missing = ada.run("rank", "--board", "nothing")
    assert missing.exit_code == 4


def test_delete_keeps_the_record_and_the_text(ada: Contestant, bot: FakeKernelBot) -> None:
    bot.add_submission("ada", FAR, "leaderboard", "far.py", age_seconds=600)
    bot.add_submission("ada", f"{FAR}# 2\n", "leaderboard", "far2.py", age_seconds=500)
    asked = ada.run("delete", "1")
    assert (asked.exit_code, "Use --yes" in asked.stderr, len(bot.rows)) == (2, True, 2)
    told = ada.run("delete", "1", "#2", "1", "--yes")
    assert (told.exit_code, len(told.stdout.splitlines()), bot.rows) == (0, 2, [])
    with ada.history() as history:
        assert {version.sha256 for version in history.versions.entries()} == {record.sha256 for record in ada.records()}
        assert [(record.verdict, record.deleted is not None) for record in ada.records()] == [("passed", True)] * 2
        (record,) = history.submissions.numbered(1)
        assert history.versions.get(str(record.sha256)).text == FAR
        assert record.geometric_mean is not None
    again = ada.run("delete", "1", "--yes")
    assert (again.exit_code, "was deleted before" in again.stdout) == (0, True)


def test_delete_asks_and_takes_no_for_an_answer(ada: Contestant, bot: FakeKernelBot) -> None:
    bot.add_submission("ada", FAR, "leaderboard", "far.py", age_seconds=600)
    terminal = ada.at_terminal("delete", "1")
    terminal.read_until("Delete it for good?")
    assert "#1: far.py, leaderboard, passed" in terminal.shown
    terminal.type("n\n")
    assert terminal.wait() == 1
    assert len(bot.rows) == 1


def test_a_404_of_a_service_that_is_there_by_half_deletes_nothing(ada: Contestant, bot: FakeKernelBot) -> None:
    """The routes of one submission are gone, and the list still has it."""
    bot.add_submission("ada", FAR, age_seconds=600)
    ada.run("pull", "1")
    bot.set_fault("http-404-routing", None, "GET /user/submissions/1")
    bot.set_fault("http-404-routing", None, "DELETE")
    told = ada.run("delete", "1", "--yes")
    assert (told.exit_code, told.stdout) == (4, "")
    assert [record.deleted for record in ada.records()] == [None]
    assert "deleted" not in ada.run("log").stdout


def test_one_that_cannot_be_deleted_does_not_keep_the_others(ada: Contestant, bot: FakeKernelBot) -> None:
    for number in range(2):
        bot.add_submission("ada", f"{FAR}# {number}\n", age_seconds=600)
    bot.set_fault("http-503", 1, "DELETE")
    told = ada.run("delete", "1", "2", "--yes")
    assert told.exit_code == 4
    assert told.stderr.startswith("#1: not deleted: ")
    assert [row.id for row in bot.rows] == [1]
    with ada.history() as history:
        assert history.submissions.numbered(1)[0].deleted is None
        assert history.submissions.numbered(2)[0].deleted is not None
