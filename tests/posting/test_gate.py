"""What keeps a text from leaving: lint, local runs, the question before a ranked one, a history that fails."""

import json
import random
import re

import pytest

from mxsub.submit.posting.gate import missing_modes
from mxsub.submit.version import sha256_of
from tests.contestant import ACCEPTED, POLL, Contestant, no_files
from tests.fake_kernelbot import FakeKernelBot


def assert_nothing_left(ada: Contestant) -> None:
    """No request at all, and nothing for `--resume`."""
    assert (ada.bot.requests, ada.records()) == ([], [])


# mode, what passed, what is missing
MISSING = [
    ("test", "", "test"),
    ("test", "benchmark leaderboard profile", "test"),
    ("test", "test", ""),
    ("benchmark", "", "benchmark"),
    ("benchmark", "test profile", "benchmark"),
    ("benchmark", "benchmark", ""),
    ("benchmark", "leaderboard", ""),
    ("profile", "", "profile"),
    ("profile", "test", "profile"),
    ("profile", "profile", ""),
    ("profile", "benchmark", ""),
    ("profile", "leaderboard", ""),
    ("leaderboard", "", "test leaderboard"),
    ("leaderboard", "test", "leaderboard"),
    ("leaderboard", "leaderboard", "test"),
    ("leaderboard", "benchmark profile", "test leaderboard"),
    ("leaderboard", "test leaderboard", ""),
]


@pytest.mark.parametrize(("mode", "passed", "missing"), MISSING)
def test_modes_that_are_missing(mode: str, passed: str, missing: str) -> None:
    assert missing_modes(mode, set(passed.split())) == tuple(missing.split())


def test_a_text_that_lint_refuses(ada: Contestant) -> None:
    text = ACCEPTED.replace("data)", "upstream)").replace("return data", "return upstream")
    file = ada.write(text, "test")
    done = ada.run("submit", file, "--json")
    assert done.exit_code == 1
    assert re.search(r"error: the service would refuse .*sub\.py: MX001 banned-word: ", done.stderr)
    assert "`mxsub lint` shows all of it." in done.stderr
    assert done.stdout == ""
    assert_nothing_left(ada)


# modes passed, mode to submit in, modes that are named
NOT_PASSED = [
    ("", "test", ["test"]),
    ("benchmark", "test", ["test"]),
    ("test", "benchmark", ["benchmark"]),
    ("test", "leaderboard", ["leaderboard"]),
    ("", "leaderboard", ["test", "leaderboard"]),
]


@pytest.mark.parametrize(("passed", "mode", "named"), NOT_PASSED)
def test_a_text_that_has_not_passed(ada: Contestant, passed: str, mode: str, named: list[str]) -> None:
    done = ada.run("submit", ada.write(ACCEPTED, *passed.split()), "--mode", mode, "--yes")
    assert done.exit_code == 1
    short = sha256_of(ACCEPTED)[:12]
    commands = " and ".join(f"`mxsub test {short} --mode {name}`" for name in named)
    assert f"sub.py ({short}) has not passed {commands}\nRun that first, or use --force.\n" in done.stderr
    assert_nothing_left(ada)
    # The commands that are named know the text by that name.
    assert ada.run("lint", short).exit_code == 0


def test_a_pass_on_another_gpu_does_not_count(ada: Contestant) -> None:
    file = ada.write(ACCEPTED, "test")
    done = ada.run("submit", file, "--gpu", "H200", "--force")
    assert "MX005" in done.stderr
    ada.bot.requests.clear()
    done = ada.run("submit", file, "--gpu", "H200")
    assert done.exit_code == 1
    text = ACCEPTED.replace("MI355X", "H200")
    done = ada.run("submit", ada.write(text, "test", name="h200.py"), "--gpu", "H200")
    assert f"has not passed `mxsub test {sha256_of(text)[:12]} --mode test --gpu H200`" in done.stderr
    assert ada.bot.requests == []


def test_one_changed_byte_closes_the_gate(ada: Contestant, bot: FakeKernelBot) -> None:
    file = ada.write(ACCEPTED, "test")
    file.write_text(ACCEPTED + "\n")
    done = ada.run("submit", file)
    assert done.exit_code == 1
    assert f"({sha256_of(ACCEPTED + chr(10))[:12]}) has not passed `mxsub test " in done.stderr
    assert_nothing_left(ada)
    file.write_text(ACCEPTED)
    assert ada.run("submit", file, *POLL).exit_code == 0
    assert bot.rows[0].code == ACCEPTED


@pytest.mark.parametrize("json_too", [(), ("--json",)])
def test_force_says_what_it_goes_without(ada: Contestant, bot: FakeKernelBot, json_too: tuple[str, ...]) -> None:
    text = ACCEPTED.replace("leaderboard amd", "leader amd")
    done = ada.run("submit", ada.write(text), "--mode", "leaderboard", "--yes", "--force", *json_too)
    assert re.search(
        r"--force: without lint's refusal \(MX002 directive-refused: .*\), "
        r"and without `mxsub test --mode test`, which this text has not passed here, "
        r"and without `mxsub test --mode leaderboard`, which this text has not passed here\n",
        done.stderr,
    )
    assert done.exit_code == 4
    assert "KernelBot refused (400): Invalid !POPCORN directive: leader" in done.stderr
    assert done.stdout == ""
    assert (bot.rows, [record.state for record in ada.records()]) == ([], ["refused"])


def test_a_text_that_is_nearly_too_long_is_warned_of_before_it_leaves(ada: Contestant, bot: FakeKernelBot) -> None:
    dice = random.Random(7)
    data = "".join(f"# {dice.randbytes(40).hex()}\n" for _ in range(1120))
    long = ada.write(ACCEPTED + data, "leaderboard", "test")
    bot.set_fault("failed")
    terminal = ada.at_terminal("submit", long, "--mode", "leaderboard", *POLL)
    terminal.read_until("as a ranked submission? [y/N]:")
    warning = re.search(
        r"MX012 compressed-size: compressed, the file has (\d\d,\d{3}) characters, (near|over) the 55,000",
        terminal.shown,
    )
    assert warning
    assert int(warning[1].replace(",", "")) > 50_000
    assert bot.requests == []
    terminal.type("y\n")
    assert terminal.wait() == 1
    assert len(bot.rows) == 1


def test_a_ranked_submission_is_asked_about_once(ada: Contestant, bot: FakeKernelBot) -> None:
    terminal = ada.at_terminal("submit", ada.write(ACCEPTED, "test", "leaderboard"), "--mode", "leaderboard", *POLL)
    terminal.read_until("[y/N]:")
    assert f"({sha256_of(ACCEPTED)[:12]}) to amd-mxfp4-mm on MI355X as a ranked submission?" in terminal.shown
    assert bot.requests == []
    terminal.type("y\n")
    assert terminal.wait() == 0
    assert terminal.shown.count("[y/N]") == 1
    assert [row.mode for row in bot.rows] == ["leaderboard"]


@pytest.mark.parametrize(
    ("answer", "code", "said"), [("n\n", 1, "not submitted: nothing was sent"), ("\n", 1, "not submitted"),
                                ("\x04", 130, "interrupted"), ("\x03", 130, "interrupted")],
)  # fmt: skip
def test_no_is_no(ada: Contestant, answer: str, code: int, said: str) -> None:
    terminal = ada.at_terminal("submit", ada.write(ACCEPTED, "test", "leaderboard"), "--mode", "leaderboard", *POLL)
    terminal.read_until("[y/N]:")
    terminal.type(answer)
    assert terminal.wait() == code
    assert said in terminal.shown
    assert_nothing_left(ada)
    assert "nothing is under way" in ada.run("submit", "--resume").stderr


def test_nobody_there_to_be_asked(ada: Contestant, bot: FakeKernelBot) -> None:
    file = ada.write(ACCEPTED, "test", "leaderboard")
    done = ada.run("submit", file, "--mode", "leaderboard", *POLL, typed="y\n")
    assert done.exit_code == 2
    assert "nobody is there to answer\nUse --yes." in done.stderr
    assert_nothing_left(ada)
    assert ada.run("submit", file, "--mode", "leaderboard", "--yes", *POLL).exit_code == 0
    assert len(bot.rows) == 1


def damaged(ada: Contestant) -> bytes:
    """A history that is none, as a failing disk leaves it."""
    spoiled = b"SQLite format 3\0" + b"\xff" * 5000
    (ada.project / ".mxsub/history.sqlite3").write_bytes(spoiled)
    return spoiled


def test_a_damaged_history_keeps_a_submission_here(ada: Contestant, bot: FakeKernelBot) -> None:
    file = ada.write(ACCEPTED, "test")
    spoiled = damaged(ada)
    lint = ada.run("lint", file, "--json")
    assert (lint.exit_code, json.loads(lint.stdout)["accepted"]) == (0, True)
    assert re.search(r"warning: not recorded: .*history\.sqlite3: .*damaged.*\n.*Move it away", lint.stderr)
    for arguments in ((file, "--force", "--yes"), ("--resume",)):
        done = ada.run("submit", *arguments)
        assert done.exit_code == 3
        assert "history.sqlite3: the history is damaged" in done.stderr
    assert bot.requests == []
    assert (ada.project / ".mxsub/history.sqlite3").read_bytes() == spoiled


def test_a_full_disk_keeps_a_submission_here(ada: Contestant, bot: FakeKernelBot) -> None:
    file = ada.write(ACCEPTED, "test")
    for name, code in (("lint", 0), ("submit", 3)):
        process = ada.start(name, file, before=no_files)
        _, told = process.communicate(timeout=60)
        assert process.returncode == code
        assert ("warning: not recorded: " if name == "lint" else "error: ") in told
        assert "history.sqlite3: the history cannot be used: " in told
        assert "Traceback" not in told
    assert_nothing_left(ada)
    assert ada.run("submit", file, *POLL).exit_code == 0
    assert len(bot.rows) == 1
