"""`mxsub submit` ended at any moment, then `mxsub submit --resume`: one submission, all its results."""

import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from resource import RLIMIT_FSIZE, prlimit

import pytest

from mxsub.submit.posting.sending import RESUME
from tests.contestant import ACCEPTED, MODES, POLL, Contestant
from tests.fake_kernelbot import FakeKernelBot

MOMENTS = 10
# A machine that takes longer is stuck.
LONG = 60.0
RUNS = {
    "test": ["test"],
    "benchmark": ["benchmark"],
    "leaderboard": ["test", "benchmark", "leaderboard"],
    "profile": [f"profile.{n}" for n in range(6)],
}


@pytest.fixture
def bot() -> Iterator[FakeKernelBot]:
    with FakeKernelBot(queue_seconds=0.1, run_seconds=0.4, heartbeat_seconds=0.1) as fake:
        yield fake


@pytest.fixture
def slow_bot() -> Iterator[FakeKernelBot]:
    """Runs a job for longer than this machine may take to notice that it was handed in."""
    with FakeKernelBot(queue_seconds=0.1, run_seconds=2.0, heartbeat_seconds=0.1) as fake:
        yield fake


def until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Waits, for as long as the process lives."""
    ends = time.monotonic() + LONG
    while not condition() and process.poll() is None:
        assert time.monotonic() < ends
        time.sleep(0.002)


def attempted(user: Contestant) -> bool:
    """The attempt is on record, so its request may leave at any moment."""
    return (user.project / ".mxsub/history.sqlite3").exists() and bool(user.records())


def begun(user: Contestant, mode: str) -> subprocess.Popen[str]:
    """A submission whose attempt is on record."""
    process = user.start("submit", user.write(ACCEPTED, *MODES), "--mode", mode, "--yes", *POLL)
    until(lambda: attempted(user), process)
    return process


def duration(folder: Path, bot: FakeKernelBot, mode: str) -> float:
    """Seconds from the attempt to the process's end, on this machine, where nothing interrupts it."""
    process = begun(Contestant(folder, bot, folder.name), mode)
    started = time.monotonic()
    process.communicate(timeout=LONG)
    assert process.returncode == 0
    return time.monotonic() - started


def killed_and_resumed(folder: Path, bot: FakeKernelBot, mode: str, seconds: float) -> bool:
    """Kills a submission so long after its attempt was on record, and resumes it: whether it was still there to be
    killed."""
    user = Contestant(folder, bot, folder.name)
    process = begun(user, mode)
    time.sleep(seconds)
    process.kill()
    process.communicate(timeout=LONG)
    resumed = user.start("submit", "--resume", *POLL)
    resumed.communicate(timeout=LONG)
    (record,) = user.records()
    (row,) = [row for row in bot.rows if row.user == folder.name]
    assert (record.remote_id, record.state, row.mode) == (row.id, "finished", mode)
    with user.history() as history:
        results = history.submissions.results(record.uid)
    assert [run.mode for run in results] == [run.mode for run in row.runs if not run.secret]
    assert all(run.passed for run in results)
    if mode in ("benchmark", "leaderboard"):
        assert record.geometric_mean == pytest.approx(11.5, rel=0.2)
    if record.verdict == "cancelled":
        # The connection of a profile is its life.
        assert mode == "profile"
        assert row.done
        assert results == []
        assert resumed.returncode == 1
    else:
        assert record.verdict == "passed"
        assert [run.mode for run in results] == RUNS[mode]
        assert resumed.returncode == 0
    return process.returncode == -signal.SIGKILL


def killed_in_time(folder: Path, bot: FakeKernelBot, mode: str, seconds: float) -> int:
    """Kills one submission, and where it had ended before that another one, earlier. Returns how many it took."""
    for tries in range(8):
        moment = seconds / 2**tries
        try:
            if killed_and_resumed(folder.with_name(f"{folder.name}-{tries}"), bot, mode, moment):
                return tries + 1
        except BaseException as error:
            error.add_note(f"{folder.name}: {mode}, killed {moment:.3f} s after the attempt")
            raise
    raise AssertionError(f"{mode} is over at once")


def test_kill_9_at_ten_random_moments(tmp_path: Path, bot: FakeKernelBot) -> None:
    """From just before the request leaves until after the verdict, however long that takes here. Two at a time."""
    seed = random.randrange(10**6)
    dice = random.Random(seed)
    moments = [(i + dice.random()) / MOMENTS for i in range(MOMENTS)]
    modes = (MODES * MOMENTS)[:MOMENTS]
    dice.shuffle(moments)
    with ThreadPoolExecutor(2) as pool:
        lasts = dict(zip(MODES, pool.map(lambda mode: duration(tmp_path / mode, bot, mode), MODES), strict=True))
        jobs = [
            pool.submit(killed_in_time, tmp_path / f"user{i}", bot, mode, moment * lasts[mode])
            for i, (mode, moment) in enumerate(zip(modes, moments, strict=True))
        ]
    try:
        submissions = sum(job.result() for job in jobs)
    except BaseException as error:
        error.add_note(f"seed {seed}")
        raise
    assert len(bot.rows) == len(MODES) + submissions


@pytest.mark.parametrize("mode", ["leaderboard", "profile"])
def test_ctrl_c_says_that_nothing_is_lost(tmp_path: Path, slow_bot: FakeKernelBot, mode: str) -> None:
    user = Contestant(tmp_path, slow_bot)
    process = user.start("submit", user.write(ACCEPTED, *MODES), "--mode", mode, "--yes", "--json", *POLL)
    until(lambda: bool(slow_bot.rows), process)
    process.send_signal(signal.SIGINT)
    out, told = process.communicate(timeout=LONG)
    assert (process.returncode, out, told) == (130, "", f"{RESUME}\ninterrupted\n")
    assert user.records()[0].unfinished
    resumed = user.run("submit", "--resume", *POLL)
    (row,) = slow_bot.rows
    (record,) = user.records()
    assert record.remote_id == row.id
    if mode == "profile":
        assert (resumed.exit_code, record.verdict) == (1, "cancelled")
    else:
        assert (resumed.exit_code, record.verdict, record.rank) == (0, "passed", 1)


def test_ctrl_c_while_an_answer_is_waited_for(tmp_path: Path, bot: FakeKernelBot) -> None:
    """The service has it, this machine does not know."""
    bot.set_fault("no-answer")
    user = Contestant(tmp_path, bot)
    process = user.start("submit", user.write(ACCEPTED, "test"), *POLL)
    until(lambda: bool(bot.rows), process)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=LONG)
    assert (process.returncode, told) == (130, f"{RESUME}\ninterrupted\n")
    assert (user.records()[0].state, user.records()[0].remote_id) == ("sent", None)
    assert user.run("submit", "--resume", *POLL).exit_code == 0
    assert [record.remote_id for record in user.records()] == [row.id for row in bot.rows]


@pytest.mark.parametrize("mode", ["test", "profile"])
def test_two_that_resume_at_once(tmp_path: Path, bot: FakeKernelBot, mode: str) -> None:
    user = Contestant(tmp_path, bot)
    bot.stop()
    assert user.run("submit", user.write(ACCEPTED, mode), "--mode", mode, *POLL).exit_code == 4
    bot.start()
    both = [user.start("submit", "--resume", *POLL) for _ in range(2)]
    told = [process.communicate(timeout=LONG) for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    (row,) = bot.rows
    (record,) = user.records()
    assert (record.remote_id, record.verdict) == (row.id, "passed")
    with user.history() as history:
        assert [run.mode for run in history.submissions.results(record.uid)] == RUNS[mode]


def test_two_that_submit_the_same_at_once(tmp_path: Path, slow_bot: FakeKernelBot) -> None:
    """As from two terminals: the one that comes later goes on with the other's."""
    user = Contestant(tmp_path, slow_bot)
    file = user.write(ACCEPTED, "test")
    both = [user.start("submit", file, *POLL) for _ in range(2)]
    told = [process.communicate(timeout=LONG) for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    assert len(slow_bot.rows) == 1
    assert [record.verdict for record in user.records()] == ["passed"]


def test_a_disk_that_is_full_while_it_is_followed(tmp_path: Path) -> None:
    with FakeKernelBot(queue_seconds=3.0, run_seconds=0.2) as bot:
        user = Contestant(tmp_path, bot)
        process = user.start("submit", user.write(ACCEPTED, "test"), *POLL)
        until(lambda: bool(user.records()) and user.records()[0].state == "accepted", process)
        prlimit(process.pid, RLIMIT_FSIZE, (0, 0))
        _, told = process.communicate(timeout=LONG)
        assert process.returncode == 3
        assert ".mxsub/history.sqlite3: the history cannot be used: " in told
        assert "Traceback" not in told
        done = user.run("submit", "--resume", *POLL)
        assert done.exit_code == 0
        assert [(record.remote_id, record.verdict) for record in user.records()] == [(bot.rows[0].id, "passed")]
