"""What was made and submitted, newest first: a line a submission, and one for each version that never was one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from mxsub.submit.history import History
from mxsub.submit.history.codec import time_text
from mxsub.submit.history.submissions import UNDER_WAY, SubmissionRecord
from mxsub.submit.version import VersionEntry


@dataclass(frozen=True)
class LogEntry:
    """version: None for a submission whose text is not here. submission: None for a version without one.
    local: the last outcome of each mode that this text was wholly run in on this machine."""

    version: VersionEntry | None
    submission: SubmissionRecord | None
    local: Mapping[str, str]

    @property
    def time(self) -> datetime:
        """When the service got it, or else when it was recorded."""
        if self.submission is not None:
            return self.submission.time
        assert self.version is not None
        return self.version.recorded

    def to_dict(self) -> dict[str, object]:
        version = self.version
        return {
            "time": time_text(self.time),
            "sha256": version and version.sha256,
            "tags": list(version.tags) if version else [],
            "variant": version and version.variant,
            "origin": version and version.origin,
            "local": dict(self.local),
            "submission": self.submission and self.submission.to_dict(),
        }


@dataclass(frozen=True)
class Filter:
    """None: whatever it is. sha256: only this version. since: UTC. verdict: see posting.verdict, or "under way".
    submitted: only what a service has; what the others ask for but `variant` and `since` is true of submissions alone.
    """

    sha256: str | None = None
    variant: str | None = None
    since: datetime | None = None
    leaderboard: str | None = None
    gpu: str | None = None
    mode: str | None = None
    verdict: str | None = None
    submitted: bool = False

    def takes_version(self, version: VersionEntry) -> bool:
        """Of a version that was never submitted."""
        if self.submitted or self.leaderboard or self.gpu or self.mode or self.verdict:
            return False
        return self._fits(version.sha256, version, version.recorded)

    def takes_submission(self, record: SubmissionRecord, version: VersionEntry | None) -> bool:
        if self.submitted and (record.remote_id is None or record.deleted):
            return False
        verdict = UNDER_WAY if record.unfinished else record.verdict
        asked = (
            (self.leaderboard, record.leaderboard), (self.gpu, record.gpu), (self.mode, record.mode),
            (self.verdict, verdict),
        )  # fmt: skip
        return self._fits(record.sha256, version, record.time) and all(a is None or a == found for a, found in asked)

    def _fits(self, sha256: str | None, version: VersionEntry | None, time: datetime) -> bool:
        return (
            (self.sha256 is None or sha256 == self.sha256)
            and (self.variant is None or (version is not None and version.variant == self.variant))
            and (self.since is None or time >= self.since)
        )


def log(history: History, wanted: Filter, limit: int | None = None) -> list[LogEntry]:
    """The entries that pass the filter, newest first."""
    found = list(islice(_entries(history, wanted), limit))
    local = history.runs.outcomes([entry.version.sha256 for entry in found if entry.version])
    return [
        LogEntry(entry.version, entry.submission, local.get(entry.version.sha256, {}) if entry.version else {})
        for entry in found
    ]


def _entries(history: History, wanted: Filter) -> Iterator[LogEntry]:
    versions = {version.sha256: version for version in history.versions.entries()}
    records = history.submissions.latest()
    submitted = {record.sha256 for record in records}
    entries = [
        LogEntry(versions.get(record.sha256 or ""), record, {})
        for record in records
        if wanted.takes_submission(record, versions.get(record.sha256 or ""))
    ]
    entries += [
        LogEntry(version, None, {})
        for version in versions.values()
        if version.sha256 not in submitted and wanted.takes_version(version)
    ]
    yield from sorted(entries, key=lambda entry: entry.time, reverse=True)
