"""A submission's text, fetched from the service: it becomes a version of the history."""

from dataclasses import dataclass

from mxsub.submit.errors import UsageError
from mxsub.submit.history.submissions import SubmissionRecord
from mxsub.submit.kernelbot import SubmissionDetail, SubmissionEntry
from mxsub.submit.posting.merging import add
from mxsub.submit.posting.observing import observe
from mxsub.submit.posting.sending import Desk
from mxsub.submit.version import Version


@dataclass(frozen=True)
class Pulled:
    """new: the text was not in the history before."""

    version: Version
    record: SubmissionRecord
    new: bool


def pull(desk: Desk, number: int, tag: str | None = None) -> Pulled:
    """Keeps a submission's text as a version and what the service tells of it.

    Raises NotFound, Forbidden for somebody else's.
    """
    detail = desk.bot.submission(number)
    new = not desk.history.versions.has(detail.code)
    version = desk.history.versions.record(detail.code, origin="remote", tag=tag)
    record = observe(desk.history, _known(desk, detail), detail, desk.pace)
    if record.sha256 is None:
        record = desk.history.submissions.update(record.uid, sha256=version.sha256)
    return Pulled(version, record, new)


def number_of(text: str) -> int:
    """`123` or `#123`; UsageError for anything else."""
    digits = text.removeprefix("#")
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > 18:
        raise UsageError(f"'{text}' is no number of a submission", "Write it as `mxsub log` shows it, e.g. 123.")
    return int(digits)


def _known(desk: Desk, detail: SubmissionDetail) -> SubmissionRecord:
    for record in desk.history.submissions.numbered(detail.id, desk.bot.base_url):
        return record
    return add(
        desk,
        SubmissionEntry(
            id=detail.id,
            leaderboard_name=detail.leaderboard_name,
            file_name=detail.file_name,
            submission_time=detail.submission_time,
            done=detail.done,
        ),
    )
