"""What a service knows of the account's submissions, taken into the history: those made elsewhere, too."""

from dataclasses import dataclass
from uuid import uuid4

from mxsub.submit.history.codec import now
from mxsub.submit.history.submissions import SubmissionRecord
from mxsub.submit.kernelbot import Forbidden, SubmissionEntry
from mxsub.submit.posting.catching_up import catch_up
from mxsub.submit.posting.following import ask
from mxsub.submit.posting.sending import PAGE, Desk


@dataclass(frozen=True)
class Merged:
    """new: made elsewhere, and not known before. news: known, and with news. gone: deleted elsewhere."""

    new: tuple[SubmissionRecord, ...]
    news: tuple[SubmissionRecord, ...]
    gone: tuple[SubmissionRecord, ...]


def merge(desk: Desk, leaderboard: str, limit: int | None) -> Merged:
    """Asks for the account's latest submissions to a leaderboard (None: for all of them), and for news of those that
    have no verdict yet. Each that is new costs a question of its own, once.

    Raises KernelBotError where the service cannot be asked; what was answered before is kept.
    """
    news = catch_up(desk)
    known = {
        record.remote_id: record
        for record in desk.history.submissions.latest()
        if record.service == desk.bot.base_url and record.remote_id is not None
    }
    listed = _listed(desk, leaderboard, limit)
    new = [add(desk, entry) for entry in listed if entry.id not in known]
    return Merged(tuple(new), tuple(news), tuple(_gone(desk, leaderboard, listed, list(known.values()))))


def add(desk: Desk, entry: SubmissionEntry) -> SubmissionRecord:
    """Takes a submission that was made elsewhere into the history, with what the service tells of it."""
    record = SubmissionRecord(
        uid=uuid4().hex,
        sha256=None,
        service=desk.bot.base_url,
        account=desk.account,
        leaderboard=entry.leaderboard_name,
        gpu=entry.runs[0].gpu_type if entry.runs else None,
        mode=None,
        file_name=entry.file_name,
        recorded=now(),
        state="accepted",
        remote_id=entry.id,
        submitted=entry.submission_time,
    )
    desk.history.submissions.add([record])
    (kept,) = desk.history.submissions.numbered(entry.id, desk.bot.base_url)
    return ask(desk, kept)


def _listed(desk: Desk, leaderboard: str, limit: int | None) -> list[SubmissionEntry]:
    listed: list[SubmissionEntry] = []
    while True:
        wanted = PAGE if limit is None else min(PAGE, limit - len(listed))
        page = desk.bot.submissions(leaderboard, limit=wanted, offset=len(listed)) if wanted else []
        listed += page
        if len(page) < PAGE:
            return listed


def _gone(
    desk: Desk, leaderboard: str, listed: list[SubmissionEntry], known: list[SubmissionRecord]
) -> list[SubmissionRecord]:
    """Those that should be in the list and are not, and that the service does not know any more either."""
    numbers = {entry.id for entry in listed}
    missing = [
        record
        for record in known
        if (record.leaderboard, record.account, record.deleted) == (leaderboard, desk.account, None)
        and record.remote_id not in numbers
        and (record.remote_id or 0) > min(numbers, default=0)
    ]
    gone = []
    for record in missing:
        try:
            asked = ask(desk, record)
        except Forbidden:
            continue
        if asked.deleted:
            gone.append(asked)
    return gone
