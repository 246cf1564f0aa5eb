"""mxsub log, show and diff: what the history has, and what the service adds."""

import json
from pathlib import Path

import pytest

from tests.contestant import ACCEPTED, POLL, Contestant
from tests.fake_kernelbot import FakeKernelBot


def submitted(ada: Contestant, mode: str, text: str = ACCEPTED, tag: str = "") -> None:
    file = ada.write(text, "test", "benchmark", "leaderboard")
    tagged = ("--tag", tag) if tag else ()
    assert ada.run("submit", file, "--mode", mode, "--yes", *tagged, *POLL).exit_code == 0


def entries(ada: Contestant, *options: str) -> list[dict[str, object]]:
    found = json.loads(ada.run("log", "--json", *options).stdout)
    assert isinstance(found, list)
    return found


def numbers(ada: Contestant, *options: str) -> list[int | None]:
    return [entry["submission"] and entry["submission"]["remote_id"] for entry in entries(ada, *options)]  # type: ignore[index]


def test_local_and_remote_are_merged(ada: Contestant, bot: FakeKernelBot) -> None:
    submitted(ada, "benchmark", tag="v1")
    bot.add_submission("ada", f"{ACCEPTED}# elsewhere\n", "leaderboard", "far.py", age_seconds=600)
    bot.add_submission("grace", f"{ACCEPTED}# not mine\n", "leaderboard", age_seconds=600)
    assert numbers(ada, "--local") == [1]
    told = ada.run("log")
    assert told.exit_code == 0
    assert numbers(ada, "--local") == [1, 2]
    lines = told.stdout.splitlines()
    assert lines[1].split()[2:7] == ["#1", "v1", "-", "benchmark", "passed"]
    assert lines[1].endswith("test, benchmark, leaderboard")
    assert lines[2].split()[2:6] == ["#2", "far.py", "-", "leaderboard"]
    asked = len(bot.requests)
    ada.run("log")
    assert len(bot.requests) == asked + 1  # the list alone: what is known is not asked about again


def test_an_unfollowed_one_gets_its_verdict(ada: Contestant) -> None:
    ada.run("submit", ada.write(ACCEPTED, "test"), "--no-wait")
    (record,) = ada.records()
    assert record.unfinished
    for _ in range(100):
        told = ada.run("log", "--json")
        (entry,) = json.loads(told.stdout)
        if entry["submission"]["verdict"]:
            break
    assert entry["submission"]["verdict"] == "passed"


def test_one_deleted_elsewhere(ada: Contestant, bot: FakeKernelBot) -> None:
    for number in range(3):
        bot.add_submission("ada", f"{ACCEPTED}# {number}\n", "benchmark", age_seconds=600 - number)
    assert numbers(ada) == [3, 2, 1]
    assert ada.run("delete", "2", "--yes").exit_code == 0
    with ada.history() as history:
        history.submissions.update(history.submissions.numbered(2)[0].uid, deleted=None)
    told = ada.run("log")
    assert "passed, deleted" in told.stdout.splitlines()[2]
    assert numbers(ada, "--remote") == [3, 1]


@pytest.mark.parametrize("fault", ["http-503", "http-502-html", "malformed-json"])
def test_without_the_service_it_is_the_history(ada: Contestant, bot: FakeKernelBot, fault: str) -> None:
    submitted(ada, "test")
    bot.set_fault(fault, None)
    told = ada.run("log")
    assert (told.exit_code, "#1" in told.stdout) == (0, True)
    assert told.stderr.startswith("without news from the service: ")
    assert len(told.stderr.splitlines()) == 1
    assert ada.run("log", "--remote").exit_code == 4
    bot.stop()
    told = ada.run("log")
    assert (told.exit_code, "#1" in told.stdout, "cannot be reached" in told.stderr) == (0, True, True)
    assert ada.run("log", "--local").stderr == ""


def test_who_is_not_registered_is_not_asked_for(ada: Contestant, bot: FakeKernelBot) -> None:
    ada.yaml.unlink()
    ada.write(ACCEPTED, "test")
    told = ada.run("log")
    assert (told.exit_code, told.stderr, bot.requests) == (0, "", [])
    assert ada.run("log", "--remote").exit_code == 4


def test_filters(ada: Contestant) -> None:
    submitted(ada, "test", tag="a")
    submitted(ada, "benchmark", f"{ACCEPTED}# b\n", "b")
    submitted(ada, "leaderboard", f"{ACCEPTED}# b\n")
    ada.write(f"{ACCEPTED}# c\n", "test")
    assert numbers(ada) == [None, 3, 2, 1]
    assert numbers(ada, "--limit", "2") == [None, 3]
    assert numbers(ada, "--mode", "benchmark") == [2]
    assert numbers(ada, "b") == [3, 2]
    assert numbers(ada, "#1") == [1]
    assert numbers(ada, "--verdict", "passed") == [3, 2, 1]
    assert numbers(ada, "--verdict", "failed") == []
    assert numbers(ada, "--board", "other") == []
    assert numbers(ada, "--since", "1h", "--remote") == [3, 2, 1]
    assert numbers(ada, "--since", "2100-01-01") == []
    assert "older ones" in ada.run("log", "--limit", "1").stdout
    for line, says in (
        (["--verdict", "lovely"], "under way, passed, failed"),
        (["--since", "soon"], "or an age, as in 90m"),
        (["--since", "999999w"], "is no time"),
        (["--local", "--remote"], "exclude each other"),
        (["--all", "--limit", "3"], "exclude each other"),
        (["nothing"], "there is no version 'nothing'"),
    ):
        told = ada.run("log", *line)
        assert (told.exit_code, says in told.stderr) == (2, True), told.stderr


def test_plot_and_picture(ada: Contestant, tmp_path: Path) -> None:
    told = ada.run("log", "--plot")
    assert (told.exit_code, "nothing to draw" in told.stderr) == (1, True)
    submitted(ada, "benchmark", tag="a")
    submitted(ada, "leaderboard", f"{ACCEPTED}# b\n", "b")
    told = ada.run("log", "--plot")
    assert "geometric mean, us" in told.stdout
    assert "aiter 11.499" in told.stdout
    assert "2 submissions, a " in told.stdout.splitlines()[-1]
    assert "\x1b" not in told.stdout
    for name, head in (("t.png", b"\x89PNG"), ("t.svg", b"<?xml"), ("t.pdf", b"%PDF")):
        assert ada.run("log", "--picture", tmp_path / name).exit_code == 0
        assert (tmp_path / name).read_bytes().startswith(head)
    told = ada.run("log", "--picture", tmp_path / "t.doc")
    assert (told.exit_code, ".png, .svg, .pdf" in told.stderr) == (2, True)
    trend = json.loads(ada.run("log", "--plot", "--json").stdout)
    assert [point["remote_id"] for point in trend["points"]] == [1, 2]
    assert [point["mean"] for point in trend["points"]] == [record.geometric_mean for record in reversed(ada.records())]


def test_show_a_version_and_a_submission(ada: Contestant, bot: FakeKernelBot) -> None:
    submitted(ada, "benchmark", tag="a")
    bot.add_submission("ada", f"{ACCEPTED}# elsewhere\n", "test", "far.py", age_seconds=600)
    ada.run("log")
    shown = ada.run("show", "a").stdout
    with ada.history() as history:
        record = history.submissions.numbered(1)[0]
    assert f"sha256 {record.sha256}" in shown
    assert "lint, amd-mxfp4-mm on MI355X: accepted" in shown
    assert "run here" in shown
    assert f"geometric mean {record.geometric_mean:.3f} us" in shown
    assert "4x2880x512" in shown
    assert ada.run("show", str(record.sha256)).stdout == shown
    assert ada.run("show", ada.project / "sub.py").stdout == shown
    far = ada.run("show", "2").stdout
    assert "#2: far.py, test on amd-mxfp4-mm" in far
    assert "`mxsub pull 2` fetches it" in far
    told = json.loads(ada.run("show", "1", "--json").stdout)
    assert (told["version"]["tags"], told["submission"]["remote_id"]) == (["a"], 1)
    assert [event["status"] for event in told["submission"]["events"] if "status" in event][-1] == "succeeded"
    assert ada.run("show", "a", "--text").stdout == ACCEPTED
    missing = ada.run("show", "2", "--text")
    assert (missing.exit_code, "the text of #2 is not here" in missing.stderr) == (2, True)
    assert ada.run("show", "77").exit_code == 2


def test_diff_has_the_results(ada: Contestant) -> None:
    submitted(ada, "benchmark", tag="a")
    submitted(ada, "leaderboard", f"{ACCEPTED}# b\n", "b")
    ada.write(f"{ACCEPTED}# c\n")
    shown = ada.run("diff", "a", "b").stdout
    assert "old: #1 benchmark on MI355X: passed; geometric mean" in shown
    assert "new: #2 leaderboard on MI355X: passed; geometric mean" in shown
    assert "; rank 1" in shown
    told = json.loads(ada.run("diff", "#1", "2", "--json").stdout)
    results = told["results"]
    assert (results["submissions"]["old"]["remote_id"], results["submissions"]["new"]["remote_id"]) == (1, 2)
    assert results["same_place"] is True
    for row in results["shapes"]:
        before, after = row["old"]["mean"], row["new"]["mean"]
        assert row["change_percent"] == pytest.approx(100 * (after - before) / before)
    assert told["added"] == 1
    assert "new: not submitted" in ada.run("diff", "a", ada.project / "sub.py").stdout
    assert "4x2880x512" in [row["shape"] for row in results["shapes"]]
