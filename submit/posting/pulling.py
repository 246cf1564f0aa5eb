"""A submission's text, fetched from the service: it becomes a version of the history."""

from dataclasses import dataclass

from mxsub.submit.errors import UsageError
from mxsub.submit.history.submissions import SubmissionRecord
from mxsub.submit.history.versions import LONGEST_NUMBER
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

    @property
    def sentence(self) -> str:
        version = self.version
        tags = f" ({', '.join(version.tags)})" if version.tags else ""
        kept = "kept as version" if self.new else "is version"
        return f"#{self.record.remote_id}: {kept} {version.sha256[:12]}{tags}, {len(version.text.encode()):,} bytes"

    def to_dict(self) -> dict[str, object]:
        return {
            "sha256": self.version.sha256,
            "tags": list(self.version.tags),
            "new": self.new,
            "bytes": len(self.version.text.encode()),
            "submission": self.record.to_dict(),
        }


def pull(desk: Desk, number: int, tag: str | None = None) -> Pulled:
    """Keeps a submission's text as a version and what the service tells of it.

    Raises NotFound, Forbidden for somebody else's.
    """
    detail = desk.bot.submission(number)
    new = not desk.history.versions.has(detail.code)
    version = desk.history.versions.record(detail.code, origin="remote", tag=tag)
    known = desk.history.submissions.numbered(number, desk.bot.base_url) or [add(desk, detail)]
    return Pulled(version, observe(desk.history, known[0], detail, desk.pace), new)


def number_of(text: str) -> int:
    """`123` or `#123`; UsageError for anything else."""
    digits = text.removeprefix("#")
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > LONGEST_NUMBER:
        raise UsageError(f"'{text}' is no number of a submission", "Write it as `mxsub log` shows it, e.g. 123.")
    return int(digits)
