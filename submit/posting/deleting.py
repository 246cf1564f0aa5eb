"""Deletes a submission from the service. The history keeps all of it, its text included."""

from dataclasses import dataclass

from mxsub.submit.history.submissions import SubmissionRecord
from mxsub.submit.kernelbot import NotFound
from mxsub.submit.posting.following import is_listed
from mxsub.submit.posting.observing import observe_deleted
from mxsub.submit.posting.pulling import pull
from mxsub.submit.posting.sending import Desk


@dataclass(frozen=True)
class Deleted:
    """already: the service did not have it any more."""

    record: SubmissionRecord
    already: bool

    @property
    def sentence(self) -> str:
        how = "was deleted before" if self.already else "deleted from the service"
        return f"#{self.record.remote_id}: {how}; its record stays here"

    def to_dict(self) -> dict[str, object]:
        return {"already": self.already, "submission": self.record.to_dict()}


def before_deleting(desk: Desk, number: int) -> SubmissionRecord:
    """Takes all that the service has of a submission into the history, and returns it.

    Raises NotFound for one that neither the service nor the history knows, Forbidden for somebody else's.
    """
    try:
        return pull(desk, number).record
    except NotFound:
        for record in desk.history.submissions.numbered(number, desk.bot.base_url):
            return record
        raise


def delete(desk: Desk, record: SubmissionRecord) -> Deleted:
    """Deletes one that `before_deleting` gave. Its place in the rate limit is free again, and so is its rank."""
    already = False
    try:
        desk.bot.delete(int(record.remote_id or 0))
    except NotFound:
        if is_listed(desk, record):
            raise
        already = True
    return Deleted(observe_deleted(desk.history, record), already)
