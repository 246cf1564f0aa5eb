"""What is new about submissions that nobody follows any more: a closed terminal, a killed process, a reboot."""

from datetime import timedelta

from mxsub.submit.history.codec import now
from mxsub.submit.history.submissions import SubmissionRecord
from mxsub.submit.kernelbot import Forbidden
from mxsub.submit.posting.following import ask
from mxsub.submit.posting.sending import Desk, find_arrived

# For so long may a job that was put down as lost come back to life.
REVIVAL = timedelta(days=1)


def catch_up(desk: Desk) -> list[SubmissionRecord]:
    """Asks once for each submission to this service without a verdict, and keeps what is new; returns those that have
    news. Sends nothing: an attempt that never arrived is left for `mxsub submit --resume`.

    Raises KernelBotError where the service cannot be asked.
    """
    news = []
    for record in _open(desk):
        try:
            if record.remote_id is None:
                found = find_arrived(desk, record)
                if found is None:
                    continue
                after = ask(desk, desk.history.submissions.accept(record.uid, found.id))
            else:
                after = ask(desk, record)
        except Forbidden:
            # Of another account; its owner may ask.
            continue
        if after != record:
            news.append(after)
    return news


def _open(desk: Desk) -> list[SubmissionRecord]:
    """Without those that were never sent; with those lately lost."""
    submissions = desk.history.submissions
    unfinished = [record for record in submissions.unfinished() if record.state != "recorded"]
    lost = submissions.lost_since(now() - REVIVAL)
    return [record for record in unfinished + lost if record.service == desk.bot.base_url]
