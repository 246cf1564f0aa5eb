"""A submission's times, shape by shape, against aiter's, the version before it and the best one before it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from mxsub.submit.aiter_times import AITER_TIMES
from mxsub.submit.history import History
from mxsub.submit.history.submissions import SubmissionRecord
from mxsub.submit.scores import ShapeTime, geometric_mean, shape_times, within_noise


@dataclass(frozen=True)
class Rival:
    """A submission to compare with. label: its version's tag or hash, or its number. mean: geometric, in us."""

    label: str
    remote_id: int | None
    mean: float | None
    times: Mapping[str, ShapeTime]


@dataclass(frozen=True)
class ShapeComparison:
    """times: by shape, in us; empty where the submission was not timed. aiter: us by shape. previous: the last timed
    submission of another version before this one. best: of those the fastest; may be the same."""

    times: Mapping[str, ShapeTime]
    mean: float | None
    aiter: Mapping[str, float]
    previous: Rival | None
    best: Rival | None

    @property
    def aiter_mean(self) -> float | None:
        """Of aiter's times, where it has one for every shape."""
        known = [self.aiter[shape] for shape in self.times if shape in self.aiter]
        return geometric_mean(known) if len(known) == len(self.times) else None

    def to_dict(self) -> dict[str, object]:
        rows = [
            {
                "shape": shape, **asdict(time), "aiter": self.aiter.get(shape), "previous": _mean(self.previous, shape),
                "best_version": _mean(self.best, shape),
            }
            for shape, time in self.times.items()
        ]  # fmt: skip
        return {
            "unit": "us", "shapes": rows, "geometric_mean": self.mean, "aiter_geometric_mean": self.aiter_mean,
            "previous": _rival(self.previous), "best_version": _rival(self.best),
        }  # fmt: skip


def compare_shapes(history: History, record: SubmissionRecord) -> ShapeComparison:
    """Compares a submission with what was timed before it on the same board and GPU of the same service."""
    times = shape_times(history.submissions.results(record.uid))
    aiter = AITER_TIMES.get(record.leaderboard, {})
    if not times or record.gpu is None:
        return ShapeComparison(times, record.geometric_mean, aiter, None, None)
    earlier = [
        other
        for other in history.submissions.timed(service=record.service, leaderboard=record.leaderboard, gpu=record.gpu)
        if other.time < record.time and (other.sha256 != record.sha256 or other.sha256 is None)
    ]
    fastest = min(earlier, key=lambda other: other.geometric_mean or float("inf"), default=None)
    return ShapeComparison(
        times,
        record.geometric_mean,
        aiter,
        _as_rival(history, earlier[0]) if earlier else None,
        _as_rival(history, fastest) if fastest else None,
    )


def change_percent(new: float, old: float) -> float:
    """How much longer (above 0) or shorter the new time is, in percent of the old one."""
    return 100 * (new - old) / old


def is_noise(new: ShapeTime, rival: Rival, shape: str) -> bool:
    """The difference of a shape's times is no more than chance makes."""
    old = rival.times.get(shape)
    return old is not None and within_noise(new, old)


def _as_rival(history: History, record: SubmissionRecord) -> Rival:
    label = f"#{record.remote_id}" if record.sha256 is None else history.versions.label(record.sha256)
    return Rival(label, record.remote_id, record.geometric_mean, shape_times(history.submissions.results(record.uid)))


def _mean(rival: Rival | None, shape: str) -> float | None:
    return rival.times[shape].mean if rival and shape in rival.times else None


def _rival(rival: Rival | None) -> dict[str, object] | None:
    if rival is None:
        return None
    return {"label": rival.label, "submission": rival.remote_id, "geometric_mean": rival.mean}
