"""What a service knows of the account's submissions, taken into the history: those made elsewhere, too."""

import math
import time
from dataclasses import dataclass
from uuid import uuid4

from mxsub.submit.history.codec import now
from mxsub.submit.history.submissions import SubmissionRecord
from mxsub.submit.kernelbot import Forbidden, SubmissionDetail, SubmissionEntry
from mxsub.submit.posting.catching_up import catch_up
from mxsub.submit.posting.following import ask
from mxsub.submit.posting.sending import Desk


@dataclass(frozen=True)
class Merged:
    """new: made elsewhere, and not known before. news: known, and with news. gone: deleted elsewhere. left: how many
    of the new ones there was no time to ask about."""

    new: tuple[SubmissionRecord, ...]
    news: tuple[SubmissionRecord, ...]
    gone: tuple[SubmissionRecord, ...]
    left: int


def merge(desk: Desk, leaderboard: str, limit: int | None, seconds: float = math.inf) -> Merged:
    """Asks for the account's `limit` latest submissions to a leaderboard (None: for all of them), and for news of those
    that have no verdict yet. Each that is new costs a question of its own, once; the newest are asked about first.

    seconds: what is not asked about by then is left for the next time. Raises KernelBotError where the service cannot
    be asked; what was answered before is kept.
    """
    ends = time.monotonic() + seconds
    news = catch_up(desk)
    known = {
        record.remote_id: record
        for record in desk.history.submissions.latest()
        if record.service == desk.bot.base_url and record.remote_id is not None
    }
    listed = [entry for page in desk.bot.submission_pages(leaderboard, limit) for entry in page]
    unknown = [entry for entry in listed if entry.id not in known]
    new: list[SubmissionRecord] = []
    for entry in unknown:
        if time.monotonic() > ends:
            break
        new.append(ask(desk, add(desk, entry)))
    gone = _gone(desk, leaderboard, listed, list(known.values()))
    return Merged(tuple(new), tuple(news), tuple(gone), len(unknown) - len(new))


def add(desk: Desk, made: SubmissionEntry | SubmissionDetail) -> SubmissionRecord:
    """The record of a submission that was made elsewhere, before anything more is known of it."""
    record = SubmissionRecord(
        uid=uuid4().hex,
        sha256=None,
        service=desk.bot.base_url,
        account=desk.account,
        leaderboard=made.leaderboard_name,
        gpu=None,
        mode=None,
        file_name=made.file_name,
        recorded=now(),
        state="accepted",
        remote_id=made.id,
        submitted=made.submission_time,
    )
    desk.history.submissions.add([record])
    # Another process may have added it first.
    (kept,) = desk.history.submissions.numbered(made.id, desk.bot.base_url)
    return kept


def _gone(
    desk: Desk, leaderboard: str, listed: list[SubmissionEntry], known: list[SubmissionRecord]
) -> list[SubmissionRecord]:
    """Those that should be in the list and are not, and that the service does not know any more either."""
    numbers = {entry.id for entry in listed}
    oldest = min(numbers, default=math.inf)
    missing = [
        record
        for record in known
        if (record.leaderboard, record.account, record.deleted) == (leaderboard, desk.account, None)
        and record.remote_id is not None
        and record.remote_id > oldest
        and record.remote_id not in numbers
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
