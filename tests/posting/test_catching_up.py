"""News of submissions that nobody follows any more."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mxsub.submit.kernelbot import CliId, KernelBot, KernelBotError
from mxsub.submit.posting.catching_up import catch_up
from mxsub.submit.posting.sending import Desk
from mxsub.submit.posting.submitting import hand_in
from tests.fake_kernelbot import FakeKernelBot
from tests.posting_desk import PACE, QUICK, TEXT, TestDesk, refuse_to_wait


@pytest.fixture
def bot() -> Iterator[FakeKernelBot]:
    with FakeKernelBot(run_seconds=0.1) as fake:
        yield fake


@pytest.fixture
def desk(tmp_path: Path, bot: FakeKernelBot) -> TestDesk:
    return TestDesk(tmp_path, bot)


def handed_in(desk: TestDesk, mode: str, text: str = TEXT) -> str:
    """The uid of a submission that the service has and nobody follows."""
    return hand_in(desk.desk, desk.begin(mode, text), refuse_to_wait).record.uid


def whole(uids: list[str], desk: TestDesk) -> None:
    """Catches up until all of them have their verdict."""
    ends = time.monotonic() + 60
    while any(desk.history.submissions.get(uid).unfinished for uid in uids):
        assert time.monotonic() < ends
        catch_up(desk.desk)
        time.sleep(0.02)


def test_news_are_found_and_kept(desk: TestDesk) -> None:
    uids = [handed_in(desk, mode) for mode in ("test", "benchmark", "leaderboard")]
    whole(uids, desk)
    assert [desk.history.submissions.get(uid).verdict for uid in uids] == ["passed"] * 3
    assert [len(desk.history.submissions.results(uid)) for uid in uids] == [1, 1, 3]
    assert catch_up(desk.desk) == []


def test_what_was_never_sent_is_left(desk: TestDesk, bot: FakeKernelBot) -> None:
    record = desk.begin()
    assert catch_up(desk.desk) == []
    assert (desk.known(record), bot.requests) == (record, [])


def test_one_whose_answer_was_lost_is_found_by_its_text(desk: TestDesk, bot: FakeKernelBot) -> None:
    """And one that never arrived is left for --resume."""
    lost, never = desk.begin("test"), desk.begin("test", f"{TEXT}# never\n")
    for record, fault in ((lost, "cut-after-accept"), (never, "cut-before-accept")):
        bot.set_fault(fault, 1)
        bot.set_fault("http-503", 2, "GET /user/submissions")
        if record.newest_before is None:
            desk.history.submissions.update(record.uid, newest_before=0)
        with pytest.raises(KernelBotError):
            desk.carry_out(desk.known(record))
        bot.clear_faults()
    posted = len([received for received in bot.requests if received.is_submission])
    whole([lost.uid], desk)
    assert (desk.known(lost).remote_id, desk.known(lost).verdict) == (1, "passed")
    assert (desk.known(never).state, desk.known(never).remote_id) == ("sent", None)
    assert len([received for received in bot.requests if received.is_submission]) == posted
    assert len(bot.rows) == 1


def test_somebody_elses_are_skipped(desk: TestDesk, bot: FakeKernelBot) -> None:
    """After a login with another account: the first may not be seen, the second may."""
    first = handed_in(desk, "test")
    grace = CliId(bot.add_user("grace"))
    graces = Desk(desk.history, KernelBot(bot.url, grace, QUICK), PACE, desk.told.append, lambda _: None)
    sha256 = desk.history.versions.record(f"{TEXT}# g\n").sha256
    kind = replace(desk.history.submissions.get(first), sha256=sha256)
    begun = desk.history.submissions.begin(
        sha256, service=kind.service, account=graces.account, leaderboard=kind.leaderboard, gpu="MI355X", mode="test",
        file_name="g.py",
    )  # fmt: skip
    hand_in(graces, begun, refuse_to_wait)
    time.sleep(0.15)
    assert [(record.uid, record.verdict) for record in catch_up(graces)] == [(begun.uid, "passed")]
    assert desk.history.submissions.get(first).unfinished
    assert [record.uid for record in catch_up(desk.desk)] == [first]


def test_another_services_are_not_asked_for(desk: TestDesk, tmp_path: Path) -> None:
    handed_in(desk, "test")
    with FakeKernelBot() as other:
        elsewhere = replace(desk.desk, bot=KernelBot(other.url, CliId(other.add_user("ada")), QUICK))
        assert catch_up(elsewhere) == []
        assert other.requests == []


def test_one_that_was_put_down_as_lost_comes_back(desk: TestDesk) -> None:
    uid = handed_in(desk, "test")
    desk.history.submissions.update(uid, state="finished", verdict="lost", sentence="no sign of life")
    time.sleep(0.15)
    (record,) = catch_up(desk.desk)
    assert (record.uid, record.state, record.verdict, record.sentence) == (uid, "finished", "passed", "passed test")
    assert catch_up(desk.desk) == []


def test_a_stream_whose_service_died_ends(tmp_path: Path) -> None:
    """It has no job, is never done, and has no heartbeat to be too old."""
    with FakeKernelBot(run_seconds=60.0) as bot:
        desk = TestDesk(tmp_path, bot)
        bot.set_fault("null-job", None)
        uid = handed_in(desk, "test")
        time.sleep(PACE.pending + 1.1)  # the service's clock has whole seconds
        (record,) = catch_up(desk.desk)
        assert (record.uid, record.verdict) == (uid, "lost")
        assert record.sentence is not None
        assert record.sentence.startswith("it is still not done after ")


def test_deleted_elsewhere(desk: TestDesk, bot: FakeKernelBot) -> None:
    uid = handed_in(desk, "test")
    desk.desk.bot.delete(bot.rows[0].id)
    (record,) = catch_up(desk.desk)
    assert (record.uid, record.state, record.verdict) == (uid, "finished", "deleted")
    assert record.deleted is not None
    assert catch_up(desk.desk) == []


def test_a_service_that_is_down_is_told_of(desk: TestDesk, bot: FakeKernelBot) -> None:
    uid = handed_in(desk, "test")
    bot.stop()
    with pytest.raises(KernelBotError, match="cannot be reached"):
        catch_up(desk.desk)
    assert desk.history.submissions.get(uid).unfinished
    bot.start()
    whole([uid], desk)
