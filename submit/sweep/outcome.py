"""What a sweep came to: the times of each shape's candidates, the best of each, and what they would make together."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from mxsub.submit.harness.result import case_results
from mxsub.submit.history import History
from mxsub.submit.history.codec import time_text
from mxsub.submit.history.submissions import ResultRecord, SubmissionRecord
from mxsub.submit.history.sweeps import SweepRecord, Trial, Values
from mxsub.submit.listing.shape_comparison import change_percent
from mxsub.submit.scores import ShapeTime, geometric_mean, shape_times, within_noise
from mxsub.submit.sweep.attempts import NOT_ITS_FAULT, attempt_of

State = Literal["waiting", "under way", "measured", "failed"]
SweepState = Literal["open", "stopped", "failed", "finished"]


@dataclass(frozen=True)
class TrialOutcome:
    """A submission of the sweep. times: by shape, in us, where it passed. failed: by shape, why it is the shape that it
    failed at, where that is known."""

    trial: Trial
    record: SubmissionRecord | None
    times: Mapping[str, ShapeTime]
    failed: Mapping[str, str]

    @property
    def state(self) -> State:
        if self.record is None or self.record.state == "recorded":
            return "waiting"
        if self.record.unfinished:
            return "under way"
        return "measured" if self.record.verdict == "passed" else "failed"

    def to_dict(self) -> dict[str, Any]:
        record = self.record
        return {
            "position": self.trial.position, "sha256": self.trial.sha256, "candidates": self.trial.candidates,
            "state": self.state, "uid": self.trial.submission, "remote_id": record and record.remote_id,
            "verdict": record and record.verdict, "sentence": record and record.sentence,
            "failed_shapes": dict(self.failed), "geometric_mean": record and record.geometric_mean,
        }  # fmt: skip


@dataclass(frozen=True)
class CandidateOutcome:
    """A config of one shape. changes: what it has otherwise than the baseline. change: of the mean against the
    baseline's, in percent; noise: no more than chance makes; both None where one of the two has no time.
    why: it cannot win, and has no time."""

    changes: Values
    state: State
    remote_id: int | None
    time: ShapeTime | None
    change: float | None
    noise: bool | None
    why: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "changes": dict(self.changes)}


@dataclass(frozen=True)
class ShapeOutcome:
    """best: the fastest of the candidates that are faster than the baseline by more than chance makes; None where the
    baseline stays."""

    shape: str
    baseline: ShapeTime | None
    candidates: tuple[CandidateOutcome, ...]
    best: CandidateOutcome | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "shape": self.shape, "baseline": self.baseline and asdict(self.baseline),
            "candidates": [candidate.to_dict() for candidate in self.candidates],
            "best": self.best and dict(self.best.changes),
        }  # fmt: skip


@dataclass(frozen=True)
class SweepOutcome:
    """baseline_mean: the geometric mean that the baseline was measured to have, in us; projected_mean: that of each
    shape's best, which no submission has had; both None where the baseline has no times."""

    sweep: SweepRecord
    trials: tuple[TrialOutcome, ...]
    shapes: tuple[ShapeOutcome, ...]
    baseline_mean: float | None
    projected_mean: float | None

    @property
    def done(self) -> int:
        """How many submissions have a verdict."""
        return sum(trial.state in ("measured", "failed") for trial in self.trials)

    @property
    def all_passed(self) -> bool:
        """None of those that have a verdict has another."""
        return all(trial.state != "failed" for trial in self.trials)

    @property
    def state(self) -> SweepState:
        """failed: the baseline did not pass, so that nothing more is submitted. open: to go on."""
        if self.done == len(self.trials):
            return "finished"
        if self.trials[0].state == "failed":
            return "failed"
        return "stopped" if self.sweep.stopped else "open"

    @property
    def repeatable(self) -> bool:
        """A submission ended in a way that says nothing about its configs, so that it may be made again."""
        return any(trial.record and trial.record.verdict in NOT_ITS_FAULT for trial in self.trials)

    @property
    def projected_change(self) -> float | None:
        """Of the geometric mean, in percent."""
        if self.projected_mean is None or self.baseline_mean is None:
            return None
        return change_percent(self.projected_mean, self.baseline_mean)

    def summary(self) -> dict[str, Any]:
        """As `mxsub sweep list --json` has it."""
        sweep = self.sweep
        return {
            "uid": sweep.uid, "begun": time_text(sweep.begun), "service": sweep.service,
            "leaderboard": sweep.leaderboard, "gpu": sweep.gpu, "variant": sweep.variant, "wanted": sweep.wanted,
            "state": self.state, "done": self.done, "of": len(self.trials), "unit": "us",
            "baseline_geometric_mean": self.baseline_mean, "projected_geometric_mean": self.projected_mean,
        }  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.summary(),
            "baseline": self.sweep.baseline,
            "shapes": [shape.to_dict() for shape in self.shapes],
            "submissions": [trial.to_dict() for trial in self.trials],
            "left_out": [asdict(left) for left in self.sweep.left_out],
        }


def outcome_of(history: History, sweep: SweepRecord) -> SweepOutcome:
    """From what the history knows now."""
    trials = tuple(_trial(history, trial) for trial in sweep.trials)
    baseline = trials[0].times
    shapes = tuple(_shape(shape, baseline.get(shape), trials[1:]) for shape in sweep.baseline)
    best = {shape.shape: shape.best.time.mean for shape in shapes if shape.best and shape.best.time}
    return SweepOutcome(
        sweep,
        trials,
        shapes,
        geometric_mean([time.mean for time in baseline.values()]),
        geometric_mean([best.get(shape, time.mean) for shape, time in baseline.items()]),
    )


def failed_shapes(results: Sequence[ResultRecord]) -> dict[str, str]:
    """Why, by shape, where the runs show which it was: cases that failed, or the one that a crash was in."""
    for run in results:
        cases = case_results(run.result or {}, run.mode)
        failed = {
            case.shape: (case.error or case.message).partition("\n")[0] for case in cases if case.status == "fail"
        }
        if failed:
            return failed
        if cases and not cases[-1].status and "check" not in (run.result or {}):
            return {cases[-1].shape: "it raised"}
    return {}


def _trial(history: History, trial: Trial) -> TrialOutcome:
    record = attempt_of(history, trial)
    if record is None or record.unfinished:
        return TrialOutcome(trial, record, {}, {})
    results = history.submissions.results(trial.submission)
    if record.verdict == "passed":
        return TrialOutcome(trial, record, shape_times(results), {})
    return TrialOutcome(trial, record, {}, failed_shapes(results))


def _shape(shape: str, baseline: ShapeTime | None, trials: Sequence[TrialOutcome]) -> ShapeOutcome:
    candidates = [_candidate(shape, baseline, trial) for trial in trials if shape in trial.trial.candidates]
    better = [one for one in candidates if one.time and one.change is not None and one.change < 0 and not one.noise]
    best = min(better, key=lambda one: one.time.mean if one.time else 0.0, default=None)
    return ShapeOutcome(shape, baseline, tuple(candidates), best)


def _candidate(shape: str, baseline: ShapeTime | None, trial: TrialOutcome) -> CandidateOutcome:
    changes = trial.trial.candidates[shape]
    time = trial.times.get(shape)
    number = trial.record.remote_id if trial.record else None
    return CandidateOutcome(
        changes,
        trial.state,
        number,
        time,
        change_percent(time.mean, baseline.mean) if time and baseline else None,
        within_noise(time, baseline) if time and baseline else None,
        "" if time else _why(shape, trial),
    )


def _why(shape: str, trial: TrialOutcome) -> str:
    """Why a candidate has no time, where it should have one."""
    record = trial.record
    if record is None or trial.state in ("waiting", "under way"):
        return ""
    if trial.state == "measured":
        return "the service gave no time for it"
    if shape in trial.failed:
        return f"{record.verdict}: {trial.failed[shape]}" if trial.failed[shape] else str(record.verdict)
    if trial.failed:
        return f"not counted: its submission {record.verdict} at {', '.join(trial.failed)}"
    return f"{record.verdict}: {record.sentence}" if record.sentence else str(record.verdict)
