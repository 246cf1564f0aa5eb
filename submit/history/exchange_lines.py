"""The lines of an exported history, as pydantic models: what each kind has, and what may stand in it.

A file is a header and then one line a version, tag, lint, run, inspection, submission (with its results and events) and
sweep (with its trials), in that order, so that what a line refers to stands before it.
"""

import math
import re
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from mxsub.submit.history.codec import time_text
from mxsub.submit.history.submissions import ResultRecord
from mxsub.submit.version import sha256_of

FORMAT = "mxsub history"
FORMAT_VERSION = 2  # 2: inspections
_SHA256 = re.compile(r"[0-9a-f]{64}")


def _time(text: str) -> str:
    """In UTC, as the history's columns have it."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a time needs its offset from UTC")
    return str(time_text(moment))


def _hash(text: str) -> str:
    if not _SHA256.fullmatch(text):
        raise ValueError("a sha256 has 64 lower-case hexadecimal digits")
    return text


def _positive(value: float) -> float:
    if not (value > 0 and math.isfinite(value)):
        raise ValueError("a mean time is positive and finite")
    return value


Time = Annotated[str, AfterValidator(_time)]
Hash = Annotated[str, AfterValidator(_hash)]
Mean = Annotated[float, AfterValidator(_positive)]
Json = dict[str, Any]


class Line(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class HeaderLine(Line):
    """counts: of the lines of each kind that follow."""

    kind: Literal["header"]
    format: Literal["mxsub history"]
    version: int
    mxsub: str
    written: Time
    counts: dict[str, int]


class VersionLine(Line):
    kind: Literal["version"]
    sha256: Hash
    recorded: Time
    variant: str | None
    gpu: str | None
    origin: Literal["build", "file", "remote"]
    config: Json | None
    provenance: Json | None
    text: str

    @model_validator(mode="after")
    def _whole(self) -> "VersionLine":
        if sha256_of(self.text) != self.sha256:
            raise ValueError("the text is not the one of its sha256: the line was changed")
        return self


class TagLine(Line):
    kind: Literal["tag"]
    name: str
    sha256: Hash
    moved: Time


class LintLine(Line):
    kind: Literal["lint"]
    sha256: Hash
    leaderboard: str
    gpu: str
    checked: Time
    mxsub: str
    kernelguard: str
    accepted: bool
    findings: list[Json]


class RunLine(Line):
    kind: Literal["run"]
    uid: str
    sha256: Hash
    started: Time
    task: str
    mode: str
    whole: bool
    gpu: str
    virtual: bool
    triton: str
    outcome: str
    geometric_mean: Mean | None
    detail: Json


class InspectionLine(Line):
    kind: Literal["inspection"]
    sha256: Hash
    shape: str
    gpu: str
    made: Time
    mxsub: str
    triton: str
    content: Json


class Result(Line):
    mode: str
    started: Time
    ended: Time
    runner: str
    passed: bool
    score: str | None
    result: dict[str, str] | None

    def record(self) -> ResultRecord:
        """As the history has it."""
        times = datetime.fromisoformat(self.started), datetime.fromisoformat(self.ended)
        return ResultRecord(self.mode, *times, self.runner, self.passed, self.score, self.result)


class Event(Line):
    seen: Time
    facts: Json


class SubmissionLine(Line):
    kind: Literal["submission"]
    uid: str
    sha256: Hash | None
    service: str
    account: str
    leaderboard: str
    gpu: str | None
    mode: str | None
    file_name: str
    recorded: Time
    state: Literal["recorded", "sent", "accepted", "finished", "refused"]
    sent: Time | None
    newest_before: int | None
    remote_id: int | None
    submitted: Time | None
    status: str | None
    error: str | None
    heartbeat: Time | None
    finished: Time | None
    verdict: str | None
    sentence: str | None
    score: str | None
    geometric_mean: Mean | None
    rank: int | None
    deleted: Time | None
    results: list[Result]
    events: list[Event]


class Trial(Line):
    position: int
    sha256: Hash
    candidates: Any
    submission: str


class SweepLine(Line):
    kind: Literal["sweep"]
    uid: str
    begun: Time
    service: str
    account: str
    leaderboard: str
    gpu: str
    variant: str
    wanted: Any
    baseline: Any
    left_out: Any
    stopped: Time | None
    trials: list[Trial]


AnyLine = Annotated[
    HeaderLine | VersionLine | TagLine | LintLine | RunLine | InspectionLine | SubmissionLine | SweepLine,
    Field(discriminator="kind"),
]
LINES: TypeAdapter[AnyLine] = TypeAdapter(AnyLine)
