"""`mxsub submit` as a contestant types it: what it prints, where, and how it ends."""

import json
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from mxsub.submit.posting.sending import RESUME
from tests.contestant import ACCEPTED, MODES, POLL, Contestant
from tests.fake_kernelbot import FakeKernelBot
from tests.posting_desk import BOARD, GPU

RUNS = {
    "test": ["test"],
    "benchmark": ["benchmark"],
    "leaderboard": ["test", "benchmark", "leaderboard"],
    "profile": [f"profile.{n}" for n in range(6)],
}


def posts(bot: FakeKernelBot) -> list[str]:
    """The paths of the submissions that arrived."""
    return [received.path for received in bot.requests if received.is_submission]


def content(text: str) -> list[dict[str, Any]]:
    """Standard output that has to be JSON and nothing else."""
    told = json.loads(text)
    assert isinstance(told, list)
    return told


@pytest.mark.parametrize("mode", MODES)
def test_json_is_all_that_standard_output_has(ada: Contestant, bot: FakeKernelBot, mode: str) -> None:
    file = ada.write(ACCEPTED, "test", "benchmark", "leaderboard", "profile")
    done = ada.run("submit", file, "--mode", mode.upper(), "--yes", "--json", *POLL)
    assert done.exit_code == 0
    (told,) = content(done.stdout)
    assert (told["mode"], told["verdict"], told["remote_id"]) == (mode, "passed", bot.rows[0].id)
    assert [run["mode"] for run in told["results"]] == RUNS[mode]
    assert (told["file_name"], told["leaderboard"], told["gpu"]) == ("sub.py", BOARD, GPU)
    assert done.stderr == ""
    assert len(bot.rows) == 1
    if mode == "leaderboard":
        assert (told["place"]["rank"], told["place"]["of"], told["rank"]) == (1, 1, 1)
        assert told["place"]["mean"] == pytest.approx(told["geometric_mean"])
    assert [Path(path).name for path in told["archives"]] == [f"{name}.zip" for name in RUNS[mode]] * (
        mode == "profile"
    )


def test_progress_is_on_standard_error(ada: Contestant) -> None:
    done = ada.run("submit", ada.write(ACCEPTED, "test"), *POLL)
    assert done.exit_code == 0
    assert "passed" in done.stdout
    assert "running" not in done.stdout
    assert "#1: was run" in done.stderr.splitlines()


ENDS = [("failed-tests", "test", "failed"), ("crash", "benchmark", "crashed"), ("hacked", "benchmark", "rejected"),
        ("timed-out", "leaderboard", "timed out")]  # fmt: skip


@pytest.mark.parametrize(("fault", "mode", "verdict"), ENDS)
def test_exit_1_where_it_did_not_pass(ada: Contestant, bot: FakeKernelBot, fault: str, mode: str, verdict: str) -> None:
    bot.set_fault(fault)
    done = ada.run("submit", ada.write(), "--force", "--yes", "--mode", mode, *POLL)
    assert done.exit_code == 1
    assert f": {verdict}" in done.stdout
    if fault == "timed-out":
        assert "12 minutes from its dispatch to GitHub, the wait for a runner included" in done.stdout


def test_what_a_profile_brings_stays_its_verdict(ada: Contestant, bot: FakeKernelBot) -> None:
    """The service shows less of a streamed run afterwards than the stream did."""
    for fault, verdict, sentence in (
        ("crash", "crashed", "profile.0: it raised at "),
        ("failed-tests", "failed", "profile.0: 1 of 6 cases failed: 4x2880x512"),
        ("runner-failure", "not run", "Could not download artifacts"),
    ):
        bot.set_fault(fault)
        done = ada.run("submit", ada.write(f"{ACCEPTED}# {fault}\n"), "--force", "--mode", "profile", "--json", *POLL)
        assert done.exit_code == 1
        (told,) = content(done.stdout)
        assert (told["verdict"], told["state"]) == (verdict, "finished")
        assert told["sentence"].startswith(sentence)


# arguments, environment, home's file, what is said
USAGE = [
    (("--api-url", "not a url"), {}, "--api-url is no address of a service"),
    (("--api-url", "ftp://127.0.0.1"), {}, "--api-url is neither https nor http"),
    (("--api-url", "http://kernelbot.example"), {}, "plain http to kernelbot.example, where anybody on the way"),
    (("--api-url", "http://127.0.0.1.evil.example"), {}, "plain http to 127.0.0.1.evil.example"),
    (("--api-url", "https://me:pw@host"), {}, "holds a user name or password"),
    ((), {"POPCORN_API_URL": "http://kernelbot.example"}, "POPCORN_API_URL is plain http to kernelbot.example"),
    ((), {"MXSUB_RETRIES": "many"}, "MXSUB_RETRIES is 'many'"),
    (("--mode", "private"), {}, "'private' is not one of"),
    (("--poll", "0"), {}, "0.0 is not in the range"),
    (("--resume",), {}, "--resume goes on with what was handed in before"),
]


@pytest.mark.parametrize(("arguments", "environment", "sentence"), USAGE)
def test_exit_2_for_a_command_line_that_is_wrong(
    ada: Contestant, bot: FakeKernelBot, arguments: tuple[str, ...], environment: dict[str, str], sentence: str
) -> None:
    file = ada.write(ACCEPTED, "test")
    ada.environment |= environment
    done = ada.run("submit", file, *arguments)
    assert done.exit_code == 2
    assert sentence in done.stderr
    assert done.stdout == ""
    assert (bot.requests, ada.records()) == ([], [])


def test_a_project_is_needed(ada: Contestant, tmp_path: Path) -> None:
    file = ada.write()
    ada.project = tmp_path
    done = ada.run("submit", file)
    assert done.exit_code == 2
    assert "there is no configs.yaml" in done.stderr


def test_exit_4_where_nobody_is_registered(ada: Contestant, bot: FakeKernelBot) -> None:
    file = ada.write(ACCEPTED, "test")
    for text in (None, "cli_id: null\n", "other: 1\n"):
        ada.yaml.unlink() if text is None else ada.yaml.write_text(text)
        for address in (bot.url, ""):
            # An empty address is the public service's; without an id nobody is asked.
            ada.environment["POPCORN_API_URL"] = address
            done = ada.run("submit", file)
            assert done.exit_code == 4
            assert "there is no KernelBot id here\nRun `mxsub register github`" in done.stderr
    assert (bot.requests, ada.records()) == ([], [])


def test_exit_4_where_the_id_is_not_known(ada: Contestant, bot: FakeKernelBot) -> None:
    ada.yaml.write_text("cli_id: 11111111-2222-3333-4444-555555555555\n")
    done = ada.run("submit", ada.write(ACCEPTED, "test"), *POLL)
    assert done.exit_code == 4
    assert "KernelBot refused (401): Invalid or unauthorized auth header" in done.stderr
    assert "mxsub register" in done.stderr
    assert RESUME in done.stderr
    assert "11111111-2222" not in done.output


def test_the_service_is_down_now_and_at_the_first_resume(ada: Contestant, bot: FakeKernelBot) -> None:
    file = ada.write(ACCEPTED, "test", "leaderboard")
    bot.stop()
    for arguments in (("submit", file, "--mode", "leaderboard", "--yes"), ("submit", "--resume")):
        done = ada.run(*arguments, *POLL)
        assert done.exit_code == 4
        assert re.search(r"error: 127\.0\.0\.1:\d+ cannot be reached: connection refused\n", done.stderr)
        assert RESUME in done.stderr
        assert done.stdout == ""
    bot.start()
    done = ada.run("submit", "--resume", "--json", *POLL)
    assert done.exit_code == 0
    (told,) = content(done.stdout)
    assert (told["verdict"], told["rank"]) == ("passed", 1)
    assert len(bot.rows) == 1
    nothing = ada.run("submit", "--resume", "--json", *POLL)
    assert (nothing.exit_code, content(nothing.stdout), nothing.stderr) == (0, [], "nothing is under way\n")


def test_no_wait_leaves_it_to_resume(ada: Contestant, bot: FakeKernelBot) -> None:
    file = ada.write(ACCEPTED, "benchmark")
    done = ada.run("submit", file, "--mode", "benchmark", "--no-wait", "--json", *POLL)
    assert done.exit_code == 0
    (told,) = content(done.stdout)
    assert (told["state"], told["verdict"], told["results"]) == ("accepted", None, [])
    assert [received.method for received in bot.requests] == ["GET", "POST"]
    resumed = ada.run("submit", "--resume", "--json", *POLL)
    assert resumed.exit_code == 0
    (told,) = content(resumed.stdout)
    assert (told["state"], told["verdict"]) == ("finished", "passed")
    assert len(told["comparison"]["shapes"]) == 6
    assert posts(bot) == [f"/submission/{BOARD}/{GPU}/benchmark"]


def test_no_wait_says_where_the_verdict_will_be(tmp_path: Path) -> None:
    with FakeKernelBot(run_seconds=60.0) as bot:
        ada = Contestant(tmp_path, bot)
        file = ada.write(ACCEPTED, "benchmark")
        words = f"#1: benchmark on {BOARD} on {GPU}: handed in; `mxsub log` has the verdict later"
        done = ada.run("submit", file, "--mode", "benchmark", "--no-wait", *POLL)
        assert (done.exit_code, done.stdout, done.stderr) == (0, f"{words}\n", "")
        # Once more, as of one that was handed in before; and where somebody watches, in no colour of a failure.
        watched = ada.at_terminal("submit", file, "--mode", "benchmark", "--no-wait", *POLL)
        assert watched.wait() == 0
        assert f"\x1b[33m{words}\x1b[0m" in watched.shown
        assert len(bot.rows) == 1


def test_no_wait_of_a_profile_has_its_verdict(ada: Contestant, bot: FakeKernelBot) -> None:
    done = ada.run("submit", ada.write(ACCEPTED, "profile"), "--mode", "profile", "--no-wait", "--json", *POLL)
    assert done.exit_code == 0
    assert content(done.stdout)[0]["state"] == "finished"


def test_poll_is_how_often_it_asks(tmp_path: Path) -> None:
    with FakeKernelBot(run_seconds=1.2) as bot:
        ada = Contestant(tmp_path, bot)
        file = ada.write(ACCEPTED, "test")
        asked = []
        for poll in ("0.05", "0.4"):
            bot.requests.clear()
            assert ada.run("submit", file, "--again", "--poll", poll).exit_code == 0
            asked.append(sum(received.path.startswith("/user/submissions/") for received in bot.requests))
    # At 0, 0.4, 0.8 and 1.2 s, with one more where the last comes just too early; a slow machine asks less often.
    assert 2 <= asked[1] <= 5
    assert asked[0] >= 2 * asked[1]


def test_an_earlier_one_is_gone_on_with(ada: Contestant, bot: FakeKernelBot) -> None:
    file = ada.write(ACCEPTED, "test", "benchmark")
    assert ada.run("submit", file, "--no-wait", *POLL).exit_code == 0
    done = ada.run("submit", file, *POLL)
    assert done.exit_code == 0
    assert "an earlier submission of this text is under way: going on with it\n" in done.stderr
    assert len(bot.rows) == 1
    # Neither one that has its verdict nor another mode is an earlier one.
    assert "under way" not in ada.run("submit", file, "--no-wait", *POLL).stderr
    assert "under way" not in ada.run("submit", file, "--no-wait", "--mode", "benchmark", *POLL).stderr
    assert len(bot.rows) == 3
    assert "under way" not in ada.run("submit", file, "--again", *POLL).stderr
    assert len(bot.rows) == 4
    assert [record.state for record in ada.records()] == ["finished", "accepted", "accepted", "finished"]


def test_the_rate_limit_with_its_numbers(tmp_path: Path) -> None:
    with FakeKernelBot(run_seconds=0.1, rate_limits={"test": 1}, hour_seconds=90.0) as bot:
        ada = Contestant(tmp_path, bot)
        assert ada.run("submit", ada.write(ACCEPTED, "test"), *POLL).exit_code == 0
        done = ada.run("submit", ada.write(f"{ACCEPTED}# 2\n", "test"), *POLL)
        assert done.exit_code == 4
        assert (
            "KernelBot refused (429): Rate limit exceeded: 1/1 test submissions per hour. Try again in" in done.stderr
        )
        assert re.search(
            r"\nA place is free in 1:[0-3]\d\. `--wait-for-slot` waits for it\. Nothing is lost", done.stderr
        )
        assert len(bot.rows) == 1
        bot.rate_limits.clear()
        assert ada.run("submit", "--resume", *POLL).exit_code == 0
        assert len(bot.rows) == 2


@pytest.mark.parametrize("mode", ["test", "profile"])
def test_the_rate_limit_without_numbers(ada: Contestant, bot: FakeKernelBot, mode: str) -> None:
    bot.set_fault("http-429-bare", None, "POST /")
    done = ada.run("submit", ada.write(ACCEPTED, mode), "--mode", mode, *POLL)
    assert done.exit_code == 4
    assert "KernelBot refused (429): Too Many Requests\n`--wait-for-slot` waits for it. Nothing is lost" in done.stderr
    waiting = ada.start("submit", "--resume", "--wait-for-slot", *POLL)
    assert waiting.stderr is not None
    assert waiting.stderr.readline() == "Too Many Requests: waiting 5:00 for a place\n"
    waiting.send_signal(signal.SIGINT)
    _, rest = waiting.communicate(timeout=60)
    assert (waiting.returncode, rest) == (130, f"{RESUME}\ninterrupted\n")
    assert bot.rows == []


def test_waiting_for_a_place_with_a_countdown(tmp_path: Path) -> None:
    with FakeKernelBot(run_seconds=0.1, rate_limits={"test": 1}, hour_seconds=6.0) as bot:
        ada = Contestant(tmp_path, bot)
        file = ada.write(ACCEPTED, "test")
        assert ada.run("submit", file, "--no-wait", *POLL).exit_code == 0
        terminal = ada.at_terminal("submit", file, "--again", "--wait-for-slot", *POLL)
        assert terminal.wait() == 0
        left = [int(seconds) for seconds in re.findall(r"a place is free in 0:0(\d)", terminal.shown)]
        assert left == sorted(left, reverse=True)
        assert len(set(left)) >= 2
        assert re.search(
            r"1/1 test submissions per hour\. Try again in \ds\.: waiting 0:0\d for a place", terminal.shown
        )
        assert len(bot.rows) == 2


def test_resume_leaves_none_out_for_another_ones_trouble(ada: Contestant, bot: FakeKernelBot) -> None:
    """The first is another account's, the second is refused, the third may go."""
    first = ada.write(ACCEPTED, "test", name="first.py")
    assert ada.run("submit", first, "--no-wait", *POLL).exit_code == 0
    ada.yaml.write_text(f"cli_id: {bot.add_user('grace')}\n")
    for name in ("second.py", "third.py"):
        bot.set_fault("http-503", 1, "GET /user/submissions")
        assert ada.run("submit", ada.write(f"{ACCEPTED}# {name}\n", "test", name=name), *POLL).exit_code == 4
    bot.set_fault("http-413", 1, "POST /")
    done = ada.run("submit", "--resume", "--json", *POLL)
    assert done.exit_code == 4
    assert "(403): Not authorized to view this submission" in done.stderr
    assert "(413): Submission file is too large" in done.stderr
    assert [(told["file_name"], told["verdict"]) for told in content(done.stdout)] == [("third.py", "passed")]
    assert [record.state for record in ada.records()] == ["finished", "refused", "accepted"]


def test_an_attempt_of_another_id_that_left_no_trace(ada: Contestant, bot: FakeKernelBot) -> None:
    file = ada.write(ACCEPTED, "test")
    bot.set_fault("cut-before-accept", None)
    assert ada.run("submit", file, *POLL).exit_code == 4
    bot.clear_faults()
    ada.yaml.write_text(f"cli_id: {bot.add_user('grace')}\n")
    done = ada.run("submit", "--resume", *POLL)
    assert done.exit_code == 4
    assert "sub.py: it was made under another KernelBot id, and the service has no trace of it" in done.stderr
    assert bot.rows == []
    assert "nothing is under way" in ada.run("submit", "--resume", *POLL).stderr
    assert ada.run("submit", file, *POLL).exit_code == 0


def test_an_id_that_ends_while_it_is_followed(ada: Contestant, bot: FakeKernelBot) -> None:
    bot.set_fault("http-401", 1, "GET /user/submissions/")
    done = ada.run("submit", ada.write(ACCEPTED, "test"), *POLL)
    assert done.exit_code == 4
    assert "mxsub register" in done.stderr
    assert RESUME in done.stderr
    assert ada.run("submit", "--resume", *POLL).exit_code == 0
    assert len(bot.rows) == 1


def test_deleted_while_it_is_followed(tmp_path: Path) -> None:
    with FakeKernelBot(run_seconds=30.0) as bot:
        ada = Contestant(tmp_path, bot)
        following = ada.start("submit", ada.write(ACCEPTED, "test"), *POLL)
        ends = time.monotonic() + 60
        while not bot.rows and time.monotonic() < ends:
            time.sleep(0.01)
        (row,) = bot.rows
        bot._rows.delete(row)
        out, _ = following.communicate(timeout=60)
    assert following.returncode == 1
    assert "it was deleted from the service before its verdict was known" in out


@pytest.mark.parametrize("name", ['a "quoted" one.py', "né ⏱.py", "a;b=c.py", "two  blanks.py", "100%22.py"])
def test_odd_file_names_are_found_again(ada: Contestant, bot: FakeKernelBot, name: str) -> None:
    bot.set_fault("cut-after-accept")
    done = ada.run("submit", ada.write(ACCEPTED, "test", name=name), *POLL)
    assert done.exit_code == 0
    assert len(bot.rows) == 1
