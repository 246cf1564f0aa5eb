"""Two processes of one project that hand in at the same time: neither is kept waiting longer than it has to be."""

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

from mxsub.submit.errors import ServiceError
from mxsub.submit.history.submissions import ResultRecord
from mxsub.submit.posting.sending import RESUME, find_arrived
from tests.contestant import ACCEPTED, POLL, Contestant
from tests.fake_kernelbot import FakeKernelBot
from tests.posting_desk import PACE, TestDesk

WAITING = "waiting until its number is known, as two at once could be taken for each other"
LONG = 60.0


@contextmanager
def lock_taken(path: Path, seconds: float = LONG) -> Iterator[None]:
    """As by another process, until the end or for some seconds."""
    taken, let_go = threading.Event(), threading.Event()

    def hold() -> None:
        with FileLock(path):
            taken.set()
            let_go.wait(seconds)

    holder = threading.Thread(target=hold)
    holder.start()
    assert taken.wait(LONG)
    try:
        yield
    finally:
        let_go.set()
        holder.join()


def until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    ends = time.monotonic() + LONG
    while not condition():
        assert process.poll() is None
        assert time.monotonic() < ends
        time.sleep(0.02)


def number_known(user: Contestant) -> bool:
    return (user.project / ".mxsub/history.sqlite3").exists() and any(record.remote_id for record in user.records())


def test_a_profile_keeps_nobody_waiting(tmp_path: Path) -> None:
    """Its number is known long before its result, also from a submission of the same text."""
    with FakeKernelBot(run_seconds=2 * LONG, heartbeat_seconds=0.1) as bot:
        user = Contestant(tmp_path, bot)
        file = user.write(ACCEPTED, "profile", "test")
        profile = user.start("submit", file, "--mode", "profile", *POLL)
        until(lambda: number_known(user), profile)
        done = user.run("submit", file, "--no-wait", *POLL)
        assert (done.exit_code, done.stderr) == (0, "")
        assert profile.poll() is None
        assert [(record.mode, record.remote_id, record.state) for record in user.records()] == [
            (row.mode, row.id, "accepted") for row in reversed(bot.rows)
        ]
        assert [row.mode for row in bot.rows] == ["profile", "test"]
        profile.send_signal(signal.SIGINT)
        _, told = profile.communicate(timeout=LONG)
        assert (profile.returncode, told) == (130, f"{RESUME}\ninterrupted\n")
        resumed = user.start("submit", "--resume", "--no-wait", *POLL)
        resumed.communicate(timeout=LONG)
        assert len(bot.rows) == 2


def test_a_profile_that_another_process_follows(tmp_path: Path) -> None:
    """The one sees runs without reports, the other has the stream: the history has the reports, once."""
    with FakeKernelBot(run_seconds=2.0, heartbeat_seconds=0.1) as bot:
        user = Contestant(tmp_path, bot)
        file = user.write(ACCEPTED, "profile")
        both = [user.start("submit", file, "--mode", "profile", *POLL) for _ in range(2)]
        told = [process.communicate(timeout=LONG)[1] for process in both]
        assert [process.returncode for process in both] == [0, 0], told
        assert sum("going on with it" in said for said in told) == 1
        (row,) = bot.rows
        (record,) = user.records()
        assert (record.remote_id, record.state, record.verdict) == (row.id, "finished", "passed")
        with user.history() as history:
            results = history.submissions.results(record.uid)
        assert [run.mode for run in results] == [f"profile.{n}" for n in range(6)]
        assert all(run.result and run.result["benchmark.0.report"] for run in results)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[TestDesk]:
    with FakeKernelBot(run_seconds=0.1, heartbeat_seconds=0.05) as bot:
        yield TestDesk(tmp_path, bot, pace=replace(PACE, running=LONG, pending=LONG))


def test_a_result_takes_the_place_of_a_run_that_was_shown_without_one(desk: TestDesk) -> None:
    record = desk.carry_out(desk.begin("profile")).record
    submissions = desk.history.submissions
    streamed = submissions.results(record.uid)

    def shown_later(run: ResultRecord) -> ResultRecord:
        return replace(run, started=run.ended, runner="MI355X", result=None)

    submissions.update(record.uid, None, [shown_later(run) for run in streamed])
    assert submissions.results(record.uid) == streamed
    other = desk.begin("profile", "# another\n")
    submissions.update(other.uid, None, [shown_later(run) for run in streamed])
    assert [run.result for run in submissions.results(other.uid)] == [None] * 6
    submissions.update(other.uid, None, streamed)
    assert submissions.results(other.uid) == streamed


def test_waiting_for_a_turn(desk: TestDesk) -> None:
    """For as long as a profile may last, and it says for what."""
    other = desk.begin("profile", "# another\n")
    desk.history.submissions.update(other.uid, None, state="sent", newest_before=0)
    record = desk.begin()
    with lock_taken(desk.history.file.path.parent / "sending.lock", 0.5):
        assert desk.carry_out(record).record.verdict == "passed"
    assert desk.told[0] == f"another mxsub of this project is handing in sub.py (profile): {WAITING}"
    assert find_arrived(desk.desk, desk.known(other)) is None


def test_a_turn_that_never_comes(desk: TestDesk) -> None:
    patience = replace(desk.desk.bot.patience, stream_timeout=0.2)
    desk.desk.bot.patience = patience
    record = desk.begin()
    with (
        lock_taken(desk.history.file.path.parent / "sending.lock"),
        pytest.raises(
            ServiceError, match=r"^another mxsub of this project has been handing something in for "
        ) as caught,
    ):
        desk.carry_out(record)
    assert caught.value.hint == RESUME
    assert desk.known(record).state == "recorded"
    assert desk.carry_out(desk.known(record)).record.verdict == "passed"


def test_ctrl_c_while_waiting_for_a_turn(tmp_path: Path) -> None:
    with FakeKernelBot(run_seconds=0.1) as bot:
        user = Contestant(tmp_path, bot)
        file = user.write(ACCEPTED, "test")
        with lock_taken(user.project / ".mxsub/sending.lock"):
            waiting = user.at_terminal("submit", file, *POLL)
            waiting.read_until(WAITING, LONG)
            waiting.type("\x03")
            assert waiting.wait() == 130
            assert RESUME in waiting.shown
            assert [record.state for record in user.records()] == ["recorded"]
            assert bot.rows == []
        assert user.run("submit", "--resume", *POLL).exit_code == 0
        assert [(record.remote_id, record.verdict) for record in user.records()] == [(1, "passed")]


def test_a_lock_that_cannot_be_taken(tmp_path: Path) -> None:
    with FakeKernelBot(run_seconds=0.1) as bot:
        user = Contestant(tmp_path, bot)
        file = user.write(ACCEPTED, "test")
        lock = user.project / ".mxsub/sending.lock"
        lock.mkdir()
        for arguments in (("submit", file), ("submit", "--resume")):
            done = user.run(*arguments, *POLL)
            assert done.exit_code == 3
            assert f"error: {lock}: cannot be locked: Is a directory\n{RESUME}\n" in done.stderr
            assert [record.state for record in user.records()] == ["recorded"]
            assert bot.rows == []
        lock.rmdir()
        assert user.run("submit", "--resume", *POLL).exit_code == 0
        assert len(bot.rows) == 1
