"""A sweep ended at any moment, then `mxsub sweep resume`: each submission is made once."""

import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contestant import POLL, Contestant
from tests.fake_kernelbot import FakeKernelBot
from tests.sweep.measured import A

RUN = ("sweep", "run", "num_warps=2,8", "num_stages=1,2", "--shape", A, "--force", *POLL)
RESUME = ("sweep", "resume", *POLL)
SUBMISSIONS = 5
LONG = 60.0


@pytest.fixture
def bot() -> Iterator[FakeKernelBot]:
    with FakeKernelBot(queue_seconds=0.1, run_seconds=0.2, heartbeat_seconds=0.1) as fake:
        yield fake


def begun(user: Contestant) -> bool:
    if not (user.project / ".mxsub/history.sqlite3").exists():
        return False
    with user.history() as history:
        return bool(history.sweeps.latest())


def check_all(user: Contestant, bot: FakeKernelBot) -> None:
    """One submission of each text on the service, each with its results here."""
    assert len(bot.rows) == SUBMISSIONS
    assert len({row.code for row in bot.rows}) == SUBMISSIONS
    records = user.records()
    assert sorted(str(record.remote_id) for record in records) == sorted(str(row.id) for row in bot.rows)
    assert {record.verdict for record in records} == {"passed"}
    with user.history() as history:
        (sweep,) = history.sweeps.latest()
        for trial in sweep.trials:
            (result,) = history.submissions.results(trial.submission)
            assert result.passed
            (row,) = (row for row in bot.rows if row.id == history.submissions.get(trial.submission).remote_id)
            assert history.versions.get(trial.sha256).text == row.code


def test_kill_9_again_and_again(tmp_path: Path, bot: FakeKernelBot) -> None:
    """At random moments from the plan's record on."""
    seed = random.randrange(10**6)
    dice = random.Random(seed)
    user = Contestant(tmp_path, bot)
    process = user.start(*RUN)
    ends = time.monotonic() + LONG
    while not begun(user) and process.poll() is None:
        assert time.monotonic() < ends
        time.sleep(0.002)
    killed = 0
    try:
        while process.poll() is None and killed < 4:
            before = len(bot.rows)
            time.sleep(dice.random() * 0.5)
            process.kill()
            process.communicate(timeout=LONG)
            killed += 1
            process = user.start(*RESUME)
            # It has started to hand in, or it goes on with what is there.
            moment = time.monotonic() + 1.5
            while len(bot.rows) == before and time.monotonic() < moment and process.poll() is None:
                time.sleep(0.002)
        process.communicate(timeout=LONG)
        assert process.returncode == 0
        assert killed >= 2
        check_all(user, bot)
    except BaseException as error:
        error.add_note(f"seed {seed}")
        raise


def test_two_that_resume_at_once(tmp_path: Path, bot: FakeKernelBot) -> None:
    user = Contestant(tmp_path, bot)
    user.run(*RUN, "--limit", "1")
    both = [user.start(*RESUME) for _ in range(2)]
    told = [process.communicate(timeout=LONG) for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    check_all(user, bot)


def test_ctrl_c_says_how_to_go_on(tmp_path: Path, bot: FakeKernelBot) -> None:
    user = Contestant(tmp_path, bot)
    process = user.start(*RUN, "--json", before=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    while not bot.rows:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, told = process.communicate(timeout=LONG)
    assert (process.returncode, out) == (130, "")
    with user.history() as history:
        (sweep,) = history.sweeps.latest()
    assert told.endswith(f"Nothing is lost: `mxsub sweep resume {sweep.label}` goes on.\ninterrupted\n")
    assert user.run(*RESUME).exit_code == 0
    check_all(user, bot)
