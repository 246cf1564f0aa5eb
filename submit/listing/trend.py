"""How the geometric mean went, submission by submission."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import accumulate

from mxsub.submit.aiter_times import AITER_TIMES
from mxsub.submit.history import History
from mxsub.submit.history.codec import time_text
from mxsub.submit.history.submissions import SubmissionRecord
from mxsub.submit.scores import geometric_mean


@dataclass(frozen=True)
class Point:
    """A submission that passed. label: its version's tag or hash, or its number. mean: geometric, us."""

    time: datetime
    label: str
    remote_id: int | None
    mode: str
    mean: float


@dataclass(frozen=True)
class Trend:
    """points: the first submission first. aiter: the geometric mean of aiter's times, us; None for a board without."""

    leaderboard: str
    gpu: str
    points: tuple[Point, ...]
    aiter: float | None

    @property
    def best(self) -> tuple[float, ...]:
        """At each point the best mean so far, us."""
        return tuple(accumulate((point.mean for point in self.points), min))

    def to_dict(self) -> dict[str, object]:
        points = [{**asdict(point), "time": time_text(point.time)} for point in self.points]
        return {
            "leaderboard": self.leaderboard, "gpu": self.gpu, "unit": "us", "points": points, "aiter": self.aiter,
        }  # fmt: skip


def trend_of(history: History, records: Sequence[SubmissionRecord]) -> Trend | None:
    """Of the timed submissions that passed, on the service, board and GPU of the latest of them; None where there is
    none."""
    timed = [record for record in records if record.timed and record.gpu]
    if not timed:
        return None
    latest = max(timed, key=lambda record: record.time)
    versions = {version.sha256: version for version in history.versions.entries()}
    points = [
        Point(
            record.time,
            versions[record.sha256].label if record.sha256 in versions else f"#{record.remote_id}",
            record.remote_id,
            record.mode or "",
            record.geometric_mean,
        )
        for record in sorted(timed, key=lambda record: record.time)
        if record.place == latest.place and record.geometric_mean
    ]
    aiter = geometric_mean(list(AITER_TIMES.get(latest.leaderboard, {}).values()))
    return Trend(latest.leaderboard, str(latest.gpu), tuple(points), aiter)
