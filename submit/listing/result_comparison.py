"""The results of two versions side by side: the service's times, and what was measured on this machine."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mxsub.submit.harness.result import Timing, case_results, timing_unit
from mxsub.submit.history import History
from mxsub.submit.history.runs import RunRecord
from mxsub.submit.history.submissions import SubmissionRecord
from mxsub.submit.listing.shape_comparison import change_percent
from mxsub.submit.scores import ShapeTime, geometric_mean, shape_times, timings, within_noise


@dataclass(frozen=True)
class Submitted:
    """A submission and its times by shape, in us."""

    record: SubmissionRecord
    times: Mapping[str, ShapeTime]


@dataclass(frozen=True)
class LocalRun:
    """A run on this machine and its figures by shape: ns, or wave instructions where it was virtual."""

    record: RunRecord
    timings: Mapping[str, Timing]

    @property
    def mean(self) -> float | None:
        """Geometric, of all its shapes."""
        return geometric_mean([timing.mean for timing in self.timings.values()])


@dataclass(frozen=True)
class ResultComparison:
    """Of the old and the new version. submitted: of each the submission that was named, or the latest that was timed,
    or else the latest; None for a version that never was submitted. local: of each the last whole timed run on the same
    GPU, or None where there is no such pair.
    """

    submitted: tuple[Submitted | None, Submitted | None]
    local: tuple[LocalRun, LocalRun] | None

    @property
    def same_place(self) -> bool:
        """Both were submitted to the same board and GPU of the same service, so that their times may be compared."""
        old, new = self.submitted
        return old is not None and new is not None and old.record.place == new.record.place

    def to_dict(self) -> dict[str, Any]:
        old, new = self.submitted
        return {
            "submissions": {"old": old and old.record.to_dict(), "new": new and new.record.to_dict()},
            "same_place": self.same_place,
            "unit": "us",
            "shapes": _time_rows(old.times if old else {}, new.times if new else {}),
            "local": self.local and _local_dict(*self.local),
        }


def compare_results(
    history: History, hashes: tuple[str, str], named: tuple[SubmissionRecord | None, SubmissionRecord | None]
) -> ResultComparison:
    """named: the submissions that stand for their versions."""
    new = _chosen(history, hashes[1], named[1], named[0])
    old = _chosen(history, hashes[0], named[0], new)
    return ResultComparison((_submitted(history, old), _submitted(history, new)), _local(history, hashes))


def shapes_of(old: Mapping[str, object], new: Mapping[str, object]) -> list[str]:
    """Those of either, the old one's first."""
    return list(dict.fromkeys([*old, *new]))


def _chosen(
    history: History, sha256: str, named: SubmissionRecord | None, other: SubmissionRecord | None
) -> SubmissionRecord | None:
    """The submission that stands for a version, to the same place as the other version's where there is one."""
    if named is not None:
        return named
    records = history.submissions.of(sha256)
    timed = [record for record in records if record.timed]
    near = [record for record in timed if other is not None and record.place == other.place]
    return next(iter(near or timed or records), None)


def _submitted(history: History, record: SubmissionRecord | None) -> Submitted | None:
    if record is None:
        return None
    return Submitted(record, shape_times(history.submissions.results(record.uid)))


def _local(history: History, hashes: tuple[str, str]) -> tuple[LocalRun, LocalRun] | None:
    old, new = (_timed_runs(history, sha256) for sha256 in hashes)
    for run in new:
        for other in old:
            if _device(run) == _device(other):
                return _local_run(other), _local_run(run)
    return None


def _timed_runs(history: History, sha256: str) -> Sequence[RunRecord]:
    return [run for run in history.runs.of(sha256) if run.whole and run.passed and run.geometric_mean is not None]


def _local_run(run: RunRecord) -> LocalRun:
    results = run.detail.get("results")
    return LocalRun(run, timings(case_results(results if isinstance(results, dict) else {}, run.mode)))


def _device(run: RunRecord) -> tuple[str, str, bool]:
    return run.task, run.gpu, run.virtual


def _time_rows(old: Mapping[str, ShapeTime], new: Mapping[str, ShapeTime]) -> list[dict[str, Any]]:
    rows = []
    for shape in shapes_of(old, new):
        before, after = old.get(shape), new.get(shape)
        rows.append(
            {
                "shape": shape,
                "old": before and asdict(before),
                "new": after and asdict(after),
                "change_percent": change_percent(after.mean, before.mean) if before and after else None,
                "noise": within_noise(before, after) if before and after else None,
            }
        )
    return rows


def _local_dict(old: LocalRun, new: LocalRun) -> dict[str, Any]:
    return {
        "gpu": new.record.gpu,
        "virtual": new.record.virtual,
        "unit": timing_unit(new.record.virtual),
        "triton": {"old": old.record.triton, "new": new.record.triton},
        "geometric_mean": {"old": old.mean, "new": new.mean},
        "shapes": [
            {
                "shape": shape,
                "old": old.timings[shape].mean if shape in old.timings else None,
                "new": new.timings[shape].mean if shape in new.timings else None,
            }
            for shape in shapes_of(old.timings, new.timings)
        ],
    }
