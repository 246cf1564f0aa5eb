"""Asks for news of a submission until its verdict is known."""

import time
from collections.abc import Callable

from mxsub.submit.errors import ServiceError
from mxsub.submit.history.submissions import SubmissionRecord
from mxsub.submit.kernelbot import (
    BadAnswer,
    ConnectionCut,
    KernelBotError,
    NotFound,
    RateLimited,
    RunnerQueue,
    ServiceFault,
    Unreachable,
)
from mxsub.submit.posting.observing import observe, observe_deleted
from mxsub.submit.posting.sending import RESUME, Desk

# What passes by itself: the submission goes on without whoever follows it.
PASSING = (Unreachable, ConnectionCut, ServiceFault, RateLimited, BadAnswer)

# Told after each question: the submission as it is now known, and the runners' queue where it was asked for.
OnNews = Callable[[SubmissionRecord, RunnerQueue | None], None]


def follow(desk: Desk, record: SubmissionRecord, on_news: OnNews) -> SubmissionRecord:
    """Asks until the verdict is known, and keeps each answer's news; returns the submission as finished.

    Raises KernelBotError where the service does not answer for long, or no longer answers this account; the submission
    goes on, and so does `--resume`.
    """
    queue_due = time.monotonic() + desk.pace.queue
    answered = time.monotonic()
    troubled = False
    while True:
        try:
            record = ask(desk, record)
            answered, troubled = time.monotonic(), False
        except KernelBotError as error:
            if not isinstance(error, PASSING) or time.monotonic() - answered > desk.pace.outage:
                error.hint = f"{error.hint} {RESUME}".strip()
                raise
            if not troubled:
                desk.notify(f"{error.message}; the submission goes on, asking again")
            troubled = True
        if not record.unfinished:
            on_news(record, None)
            return record
        queue = None
        if record.status in ("initial", "pending") and time.monotonic() >= queue_due:
            queue_due = time.monotonic() + desk.pace.queue
            queue = _queue(desk, record)
        on_news(record, queue)
        time.sleep(desk.pace.poll)


def ask(desk: Desk, record: SubmissionRecord) -> SubmissionRecord:
    """One question, whose news is kept. A submission that is gone from the service was deleted."""
    # Another process may have learned more: of a profile, the one that has its stream.
    record = desk.history.submissions.get(record.uid)
    if record.remote_id is None:
        raise ServiceError("the service has no trace of this submission", RESUME)
    try:
        detail = desk.bot.submission(record.remote_id)
    except NotFound:
        if is_listed(desk, record):
            raise
        return observe_deleted(desk.history, record)
    return observe(desk.history, record, detail, desk.pace)


def is_listed(desk: Desk, record: SubmissionRecord) -> bool:
    """Whether the account's list has a submission: a 404 alone may come from a service that is there by half."""
    number = record.remote_id or 0
    for page in desk.bot.submission_pages(record.leaderboard):
        if any(entry.id == number for entry in page):
            return True
        if page and page[-1].id < number:
            return False
    return False


def _queue(desk: Desk, record: SubmissionRecord) -> RunnerQueue | None:
    try:
        return desk.bot.runner_queue(record.gpu) if record.gpu else None
    except KernelBotError:
        return None
