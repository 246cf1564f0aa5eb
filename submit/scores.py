"""Times of a submission, shape by shape, and the one number that the board ranks by."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mxsub.submit.harness.result import CaseResult, Timing, case_results
from mxsub.submit.history.submissions import ResultRecord

NANOSECONDS_PER_MICROSECOND = 1e3
MICROSECONDS_PER_SECOND = 1e6
NOISE_ERRORS = 2.0


@dataclass(frozen=True)
class ShapeTime:
    """Of one shape, over a number of runs: mean, best, worst and err (of the mean), in us."""

    runs: int
    mean: float
    best: float
    worst: float
    err: float


def shape_times(results: Iterable[ResultRecord]) -> dict[str, ShapeTime]:
    """The times that the `benchmark` run gave, by shape (`4x2880x512`), in the run's order.

    The service shows the figures of that run only; a ranked run shows its score alone.
    """
    cases = [case for run in results if run.mode == "benchmark" for case in case_results(run.result or {}, "benchmark")]
    return {
        name: ShapeTime(
            timing.runs,
            *(value / NANOSECONDS_PER_MICROSECOND for value in (timing.mean, timing.best, timing.worst, timing.err)),
        )
        for name, timing in timings(cases).items()
    }


def timings(cases: Sequence[CaseResult]) -> dict[str, Timing]:
    """The figures of the cases that have them, by shape; two cases of one shape are told apart by their seeds."""
    shapes = [case.shape for case in cases]
    return {case.shape if shapes.count(case.shape) == 1 else case.label: case.timing for case in cases if case.timing}


def within_noise(a: ShapeTime, b: ShapeTime) -> bool:
    """The means differ by no more than two standard errors of their difference, as they do by chance one time in
    twenty. The errors are of one run each: what differs from run to run, such as clocks, comes on top."""
    return abs(a.mean - b.mean) <= NOISE_ERRORS * math.hypot(a.err, b.err)


def geometric_mean(times: Sequence[float]) -> float | None:
    """Of positive figures, in their unit; None where there is none, or one is not positive."""
    if not times or not all(time > 0 and math.isfinite(time) for time in times):
        return None
    return math.exp(sum(map(math.log, times)) / len(times))


def mean_of(results: Sequence[ResultRecord]) -> float | None:
    """A submission's geometric mean in us: of the ranked run's score, or else of a passed benchmark run's means."""
    for run in results:
        if run.mode == "leaderboard" and run.passed and run.score is not None:
            score = _seconds(run.score)
            if score is not None:
                return score * MICROSECONDS_PER_SECOND
    benchmarks = [run for run in results if run.mode == "benchmark" and run.passed]
    count = benchmarks[0].result.get("benchmark-count", "") if benchmarks and benchmarks[0].result else ""
    times = shape_times(benchmarks)
    return geometric_mean([time.mean for time in times.values()]) if count == str(len(times)) else None


def _seconds(score: str) -> float | None:
    try:
        value = float(score)
    except ValueError:
        return None
    return value if value > 0 and math.isfinite(value) else None
