"""What a report shows. Times of day are UTC; times of kernels are us."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mxsub.submit.diff import Difference, Line
from mxsub.submit.history.submissions import SubmissionRecord
from mxsub.submit.scores import ShapeTime


@dataclass(frozen=True)
class Place:
    """What the submissions of a report have in common; None: the history has no submission to tell it."""

    leaderboard: str | None
    gpu: str | None
    service: str | None


@dataclass(frozen=True)
class Counts:
    """Of the whole history."""

    versions: int
    runs: int
    submissions: int


@dataclass(frozen=True)
class Submitted:
    """A submission. label: its version's tag or hash, or its number. anchor: of its version on the page, if that is
    there. times: by shape; empty where it was not timed or is too old to be shown."""

    record: SubmissionRecord
    label: str
    anchor: str | None
    times: Mapping[str, ShapeTime]

    @property
    def number(self) -> str:
        return "-" if self.record.remote_id is None else f"#{self.record.remote_id}"

    @property
    def passed(self) -> bool:
        return self.record.verdict == "passed"

    @property
    def failed(self) -> bool:
        return self.record.verdict not in (None, "passed")

    @property
    def timed(self) -> bool:
        """It passed and has a geometric mean: what plots and bests are made of."""
        mean = self.record.geometric_mean
        return self.passed and mean is not None and 0 < mean < math.inf

    @property
    def verdict(self) -> str:
        """How it ended, or where it is."""
        record = self.record
        if record.unfinished:
            return record.status or {"recorded": "not sent"}.get(record.state, "sent")
        verdict = record.verdict or record.state
        return f"{verdict}, deleted" if record.deleted and verdict != "deleted" else verdict


@dataclass(frozen=True)
class Best:
    """Where things stand. fastest: of all that passed. rank: in the ranking, as last told, of `ranked`."""

    fastest: Submitted
    ranked: Submitted | None
    aiter: float | None


@dataclass(frozen=True)
class ShapeTable:
    """Per-shape times. shapes: in the board's order. rows: newest first. best: by shape, the uid of the submission
    with the smallest mean. aiter: by shape. left_out: older rows that are not shown."""

    shapes: tuple[str, ...]
    rows: tuple[Submitted, ...]
    best: Mapping[str, str]
    aiter: Mapping[str, float]
    aiter_mean: float | None
    left_out: int


@dataclass(frozen=True)
class Failure:
    """What did not pass, and why. what: a submission's number, or the device of a local run."""

    time: datetime
    what: str
    label: str
    anchor: str | None
    mode: str
    verdict: str
    sentence: str


@dataclass(frozen=True)
class Verdict:
    """Lint's. accepted: None where it was never judged for this board and GPU."""

    accepted: bool | None
    errors: int
    warnings: int
    findings: tuple[Mapping[str, Any], ...] = ()

    @property
    def sentence(self) -> str:
        if self.accepted is None:
            return "-"
        found = [(self.errors, "error"), (self.warnings, "warning")]
        counts = ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in found if count)
        return ("accepted" if self.accepted else "refused") + (f": {counts}" if counts else "")


@dataclass(frozen=True)
class VersionRow:
    """A version in the table. anchor: of its details, if they are on the page. local: by mode, the outcome of the last
    whole run on this machine. wave_instructions: geometric mean of the cases on the virtual GPU; no time."""

    sha256: str
    tags: tuple[str, ...]
    label: str
    anchor: str | None
    variant: str | None
    recorded: datetime
    local: Mapping[str, str]
    wave_instructions: float | None
    lint: Verdict
    submissions: tuple[Submitted, ...]

    @property
    def mean(self) -> float | None:
        """The best one of its submissions."""
        means = [one.record.geometric_mean for one in self.submissions if one.timed and one.record.geometric_mean]
        return min(means, default=None)


@dataclass(frozen=True)
class LocalRun:
    """A run on this machine. figure: geometric mean with its unit, or "-". sentence: why it did not pass, or ""."""

    started: datetime
    mode: str
    device: str
    triton: str
    outcome: str
    cases: str
    figure: str
    sentence: str


@dataclass(frozen=True)
class ConfigTable:
    """keys: the columns. rows: shape or condition, and a value a column ("" where the shape has none)."""

    keys: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Change:
    """What changed from the version that was submitted before. base_anchor: of that one, if it is on the page.
    lines: the first of the diff's; hidden: how many there are besides."""

    difference: Difference
    base_label: str
    base_anchor: str | None
    lines: tuple[Line, ...]
    hidden: int


@dataclass(frozen=True)
class VersionDetail:
    """All that is known of a version. facts: where it came from. results: by uid, the runs of each submission in
    words. timed: its fastest submission with per-shape times."""

    row: VersionRow
    facts: Mapping[str, str]
    config: ConfigTable
    runs: tuple[LocalRun, ...]
    more_runs: int
    results: Mapping[str, str]
    timed: Submitted | None
    change: Change | None


@dataclass(frozen=True)
class Report:
    """A page. project: the folder's name. submissions: those of the place, first to last. foreign: those whose text is
    not in the history, newest first. left_out: a sentence each on what is in the history and not on the page."""

    project: str
    place: Place
    counts: Counts
    best: Best | None
    submissions: tuple[Submitted, ...]
    shapes: ShapeTable
    failures: tuple[Failure, ...]
    versions: tuple[VersionRow, ...]
    details: tuple[VersionDetail, ...]
    foreign: tuple[Submitted, ...]
    left_out: tuple[str, ...]
