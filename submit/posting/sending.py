"""Hands a version in exactly once, whatever happens to the connection, to this process or to the machine.

The attempt is in the history before its request leaves, with the number of the account's newest submission at that
time. Where the answer is lost, the service is asked for newer submissions, and one with this very text is the one that
was sent. Only where none turns up is it sent again.

One process of a project does so at a time, until the number is known: two that sent the same text could each take the
other's submission for its own.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from filelock import BaseFileLock, FileLock, Timeout

from mxsub.submit.errors import EnvironmentProblem, ServiceError, shown
from mxsub.submit.history import History
from mxsub.submit.history.codec import now, time_text
from mxsub.submit.history.submissions import SubmissionRecord
from mxsub.submit.kernelbot import (
    Accepted,
    KernelBot,
    KernelBotError,
    NotFound,
    NotRegistered,
    RateLimited,
    Refused,
    SubmissionDetail,
)
from mxsub.submit.posting.account import account_of
from mxsub.submit.posting.pace import Pace
from mxsub.submit.posting.verdict import modes_run
from mxsub.submit.version import sha256_of

MOST_SENDS = 3
RESUME = "Nothing is lost: `mxsub submit --resume` goes on with it."

Notify = Callable[[str], None]
# Waits for a place in the rate limit; raises the error on where the user did not ask for that.
Wait = Callable[[RateLimited], None]
# To be called now and then by a request that lasts.
UnderWay = Callable[[], None]
# The request itself. None where it was carried out whole, and is found by its text.
Post = Callable[[SubmissionRecord, UnderWay], Accepted | None]


@dataclass(frozen=True)
class Desk:
    """Where submissions are handed in: a project's history, a service, and how patiently. notify: told what the user
    should know; progress: what is being done just now."""

    history: History
    bot: KernelBot
    pace: Pace
    notify: Notify
    progress: Notify

    @property
    def account(self) -> str:
        """The fingerprint of who is asking."""
        return account_of(self.bot.cli_id)


def send(desk: Desk, record: SubmissionRecord, post: Post, wait: Wait) -> SubmissionRecord:
    """Hands in a submission that the history has, unless it is handed in already; returns it as accepted.

    Raises Refused where the service does not take it, which is then its verdict; KernelBotError where the service
    cannot be asked, which leaves the attempt for `--resume`.
    """
    while True:
        try:
            with _alone(desk) as turn:
                return _send(desk, desk.history.submissions.get(record.uid), post, turn)
        except RateLimited as limit:
            wait(limit)


def hand_in_background(desk: Desk, record: SubmissionRecord, text: bytes, wait: Wait) -> SubmissionRecord:
    """Hands in a submission that the service runs in the background; see `send`."""

    def post(attempt: SubmissionRecord, _: UnderWay) -> Accepted:
        return desk.bot.submit(attempt.leaderboard, str(attempt.gpu), str(attempt.mode), attempt.file_name, text)

    return send(desk, record, post, wait)


def find_arrived(desk: Desk, record: SubmissionRecord) -> SubmissionDetail | None:
    """The submission on the service that an attempt became: newer than all that were there before it, with its very
    text, and known as no other attempt's."""
    for number in sorted(_newer(desk.bot, record)):
        if any(other.sent for other in desk.history.submissions.numbered(number, record.service)):
            continue
        try:
            detail = desk.bot.submission(number)
        except NotFound:
            continue
        fits = record.mode is None or {run.mode.partition(".")[0] for run in detail.runs} <= set(modes_run(record.mode))
        if fits and sha256_of(detail.code) == record.sha256:
            return detail
    return None


def _send(desk: Desk, record: SubmissionRecord, post: Post, turn: BaseFileLock) -> SubmissionRecord:
    if record.state not in ("recorded", "sent"):
        return record
    if record.state == "sent":
        found = _ask(desk, record)
        if found is not None:
            return found
        if record.account != desk.account:
            sentence = "it was made under another KernelBot id, and the service has no trace of it under yours"
            desk.history.submissions.update(
                record.uid, {"lost": True}, state="finished", verdict="lost", sentence=sentence, finished=now()
            )
            raise ServiceError(f"{record.file_name}: {sentence}", "Submit the version again.")
    sends = sum("sent" in event.facts for event in desk.history.submissions.events(record.uid))
    while True:
        record = _leaving(desk, record)
        try:
            accepted = post(record, partial(_under_way, desk, record.uid, turn))
        except KernelBotError as error:
            known = desk.history.submissions.get(record.uid)
            if known.remote_id is None and not error.may_have_arrived:
                _not_taken(desk, record, error)
                raise
            lost = error
        else:
            if accepted is None:
                return _ask(desk, record) or record
            queue = accepted.queue.model_dump(exclude_none=True)
            return desk.history.submissions.accept(record.uid, accepted.id, {"queue": queue})
        if isinstance(lost, Refused):
            desk.history.submissions.update(record.uid, {"error": lost.message}, error=lost.message)
        then = "asking whether it arrived" if known.remote_id is None else f"the service has it as #{known.remote_id}"
        desk.notify(f"{lost.message}; {then}")
        found = _ask(desk, record)
        if found is not None:
            return found
        sends += 1
        if sends >= MOST_SENDS:
            raise _resumable(lost)
        desk.notify("it did not arrive: sending it again")


def _leaving(desk: Desk, record: SubmissionRecord) -> SubmissionRecord:
    """Marks that the request leaves now. The newest number before stays that of the first time."""
    newest = record.newest_before
    if newest is None:
        try:
            entries = desk.bot.submissions(limit=1)
        except KernelBotError as error:
            raise _resumable(error) from None
        newest = entries[0].id if entries else 0
    moment = now()
    return desk.history.submissions.update(
        record.uid, {"sent": time_text(moment)}, state="sent", sent=moment, newest_before=newest
    )


def _not_taken(desk: Desk, record: SubmissionRecord, error: KernelBotError) -> None:
    """The service has nothing of it: to be sent later, or refused for good."""
    facts = {"error": error.message}
    if not isinstance(error, Refused) or isinstance(error, NotRegistered | RateLimited):
        desk.history.submissions.update(record.uid, facts, state="recorded")
        _resumable(error)
        return
    desk.history.submissions.update(
        record.uid,
        facts,
        state="refused",
        error=error.message,
        verdict="refused",
        sentence=error.message,
        finished=now(),
    )


def _ask(desk: Desk, record: SubmissionRecord) -> SubmissionRecord | None:
    """Looks for an attempt whose answer was lost, for as long after it was sent as it may take to show up."""
    sent = record.sent or record.recorded
    step = desk.pace.grace / 10
    while True:
        known = desk.history.submissions.get(record.uid)
        if known.remote_id is not None:
            # It turned up while the request lasted, or another process has found it.
            return known
        age = max(0.0, (now() - sent).total_seconds())
        try:
            detail = find_arrived(desk, record)
        except KernelBotError as error:
            raise _resumable(error) from None
        if detail is not None:
            return desk.history.submissions.accept(record.uid, detail.id)
        if age >= desk.pace.grace:
            return None
        time.sleep(min(step, desk.pace.grace - age))
        step *= 2


def _under_way(desk: Desk, uid: str, turn: BaseFileLock) -> None:
    """While a request lasts: once the service shows its submission, the number is kept, and it is the others' turn."""
    record = desk.history.submissions.get(uid)
    if record.remote_id is None:
        try:
            detail = find_arrived(desk, record)
        except KernelBotError:
            return
        if detail is None:
            return
        desk.history.submissions.accept(uid, detail.id)
    turn.release()


def _resumable(error: KernelBotError) -> KernelBotError:
    error.hint = f"{error.hint} {RESUME}".strip()
    return error


def _newer(bot: KernelBot, record: SubmissionRecord) -> Iterator[int]:
    """Numbers of the account's submissions on the board since the attempt was sent."""
    newest_before = record.newest_before or 0
    for page in bot.submission_pages(record.leaderboard):
        # By number alone: the service may show a file name otherwise than it was sent.
        yield from (entry.id for entry in page if entry.id > newest_before)
        if page and page[-1].id <= newest_before:
            return


@contextmanager
def _alone(desk: Desk) -> Iterator[BaseFileLock]:
    """One process of a project hands in at a time, so that no two take up the same attempt. The lock may be released
    early; it is the system's, so it ends with the process, killed or not."""
    path = desk.history.file.path.parent / "sending.lock"
    lock = FileLock(path)
    try:
        _acquire(lock, desk)
    except OSError as error:
        raise EnvironmentProblem(f"{shown(path)}: cannot be locked: {error.strerror or error}", RESUME) from None
    try:
        yield lock
    finally:
        lock.release()


def _acquire(lock: BaseFileLock, desk: Desk) -> None:
    """Waits for as long as the longest request may last: a profile's, where the service does not show it before."""
    try:
        lock.acquire(timeout=0)
    except Timeout:
        desk.notify(
            f"another mxsub of this project is handing in {_leaving_now(desk)}: waiting until its number is known, as "
            "two at once could be taken for each other"
        )
        try:
            lock.acquire(timeout=desk.bot.patience.stream_timeout)
        except Timeout:
            minutes = desk.bot.patience.stream_timeout / 60
            raise ServiceError(
                f"another mxsub of this project has been handing something in for {minutes:.0f} minutes", RESUME
            ) from None


def _leaving_now(desk: Desk) -> str:
    """What the process that has the lock hands in."""
    sent = [record for record in desk.history.submissions.unfinished() if record.state == "sent"]
    return f"{sent[0].file_name} ({sent[0].mode})" if sent else "a submission"
