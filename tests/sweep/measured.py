"""A sweep whose submissions have ended, without a service: times and failures as a test wants them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from mxsub.submit.history import History
from mxsub.submit.history.codec import now
from mxsub.submit.history.submissions import ResultRecord, SubmissionRecord
from mxsub.submit.history.sweeps import Configs, LeftOut, SweepRecord
from mxsub.submit.project import load_project
from mxsub.submit.sweep.outcome import SweepOutcome, outcome_of
from tests.posting_desk import BOARD, GPU

A, B = "4x2880x512", "16x2112x7168"
SERVICE = "http://127.0.0.1:9"


@dataclass(frozen=True)
class Ended:
    """How a submission ended. times: (mean, err) in us by shape. failed: the reason by shape. raised_at: the shape
    that a crash was in."""

    candidates: Configs
    times: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    verdict: str = "passed"
    failed: Mapping[str, str] = field(default_factory=dict)
    raised_at: str = ""

    def lines(self) -> dict[str, str]:
        """The evaluator's."""
        cases = [*self.times, *self.failed, *filter(None, [self.raised_at])]
        lines = {"benchmark-count": str(len(cases))}
        for number, shape in enumerate(cases):
            key = f"benchmark.{number}"
            m, n, k = shape.split("x")
            lines[f"{key}.spec"] = f"m: {m}; n: {n}; k: {k}; seed: 1"
            if shape in self.failed:
                lines |= {f"{key}.status": "fail", f"{key}.error": self.failed[shape]}
            elif shape in self.times:
                mean, err = (1e3 * us for us in self.times[shape])
                figures = {"runs": 100, "mean": mean, "std": 10 * err, "err": err, "best": mean, "worst": mean}
                lines |= {f"{key}.{name}": str(value) for name, value in figures.items()}
        if not self.raised_at:
            lines["check"] = "fail" if self.failed else "pass"
        return lines


def sweep_of(folder: Path, ends: Sequence[Ended | None], left_out: Sequence[LeftOut] = ()) -> SweepRecord:
    """A sweep of the project in the folder, the baseline first; None for a submission that was not begun."""
    project = load_project(folder)
    variant = project.variant()
    baseline = {str(entry.shape): entry.config for entry in variant.listed if str(entry.shape) in (A, B)}
    with History.open(folder) as history:
        texts = [f"# submission {number}\n" for number in range(len(ends))]
        hashes = [history.versions.record(text).sha256 for text in texts]
        candidates = [end.candidates if end else {A: {"num_warps": 2}} for end in ends]
        sweep = history.sweeps.begin(
            zip(hashes, candidates, strict=True),
            service=SERVICE, account="a", leaderboard=BOARD, gpu=GPU, variant=variant.name, wanted="num_warps=2,8",
            baseline=baseline, left_out=left_out,
        )  # fmt: skip
        first = len(history.submissions.latest()) + 1
        for number, (trial, end) in enumerate(zip(sweep.trials, ends, strict=True), first):
            if end is not None:
                history.submissions.add([_record(trial.submission, trial.sha256, number, end)])
                started = now()
                run = ResultRecord(
                    "benchmark",
                    started,
                    started + timedelta(seconds=1),
                    GPU,
                    end.verdict == "passed",
                    None,
                    end.lines(),
                )
                history.submissions.update(trial.submission, results=[run])
    return sweep


def outcome(folder: Path, ends: Sequence[Ended | None]) -> SweepOutcome:
    """What such a sweep came to."""
    sweep = sweep_of(folder, ends)
    with History.open(folder) as history:
        return outcome_of(history, sweep)


def _record(uid: str, sha256: str, number: int, end: Ended) -> SubmissionRecord:
    return SubmissionRecord(
        uid, sha256, SERVICE, "a", BOARD, GPU, "benchmark", "sub.py", now(), "finished", remote_id=number,
        verdict=end.verdict, sentence="what the verdict says", finished=now(),
    )  # fmt: skip
