"""What the service's status and runs come to.

A job that `succeeded` was run, no more: failed tests, a crash and even a runner that failed all succeed, but for ranked
ones. So it is the runs that are judged.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from mxsub.submit.harness.result import CaseResult, case_results
from mxsub.submit.history.submissions import ResultRecord

Verdict = Literal[
    "passed", "failed", "crashed", "not run", "timed out", "rejected", "cancelled", "lost", "deleted", "refused"
]

FINAL = frozenset({"succeeded", "failed", "timed_out", "hacked"})

# The shortest limit that a board gives its evaluator.
SHORTEST_LIMIT_SECONDS = 170.0

_TWELVE_MINUTES = (
    "a job has 12 minutes from its dispatch to GitHub, the wait for a runner included, for all that its mode runs "
    "(test, benchmark and leaderboard together); the service's own limit is 30 minutes"
)
_CUT = "the connection to the service ended before the run did, and the service cancelled it"
_NO_RUNS = "its runner failed, and the service does not say why"
_TOO_LONG = re.compile(r"inputs? (are|is) too large|too large|too long|65[,.]?535", re.IGNORECASE)


@dataclass(frozen=True)
class Judgement:
    """A verdict and one sentence that gives its reason."""

    verdict: Verdict
    sentence: str


def judge(
    mode: str | None, status: str | None, error: str | None, done: bool, runs: Sequence[ResultRecord], *, settled: bool
) -> Judgement | None:
    """None while the service may still change its mind.

    mode: None where it is not known; it then follows from the runs. error: on one line. settled: the submission has
    been done for so long that its status will not change any more.
    """
    if status == "hacked":
        return Judgement("rejected", error or "KernelGuard rejected the text")
    if status == "timed_out":
        said = f' ("{error}")' if error else ""
        return Judgement("timed out", f"the job timed out{said}: {_TWELVE_MINUTES}")
    if status == "failed":
        return _of_failed_job(error or "", runs)
    if status == "succeeded":
        return _of_runs(mode, runs)
    if done and status is None and not runs and settled:
        return Judgement("not run", error) if error else Judgement("cancelled", _CUT)
    if done and (settled or (status is None and runs)):
        return _of_runs(mode, runs)
    return None


def mode_of(runs: Iterable[ResultRecord]) -> str | None:
    """The mode that a submission with these runs was made in."""
    modes = {run.mode.partition(".")[0] for run in runs}
    return next((mode for mode in ("leaderboard", "benchmark", "profile", "test") if mode in modes), None)


def modes_run(mode: str) -> tuple[str, ...]:
    """What a submission of a mode runs, one after the other, until one does not pass."""
    return ("test", "benchmark", "leaderboard") if mode == "leaderboard" else (mode,)


def _of_failed_job(error: str, runs: Sequence[ResultRecord]) -> Judgement:
    if "interrupted" in error:
        return Judgement("lost", f"{error}: the service was restarted; submit it again")
    bad = _first_bad(runs)
    if bad is not None:
        return Judgement(bad.verdict, f"{bad.sentence} ({error})" if error else bad.sentence)
    if "validation failed" in error:
        return Judgement("failed", error)
    more = "; it may be too long for the runner's workflow: `mxsub explain MX012`" if _TOO_LONG.search(error) else ""
    return Judgement("not run", (error or _NO_RUNS) + more)


def _of_runs(mode: str | None, runs: Sequence[ResultRecord]) -> Judgement:
    if not runs:
        return Judgement("not run", f"{_NO_RUNS}; submit it again")
    bad = _first_bad(runs)
    if bad is not None:
        return bad
    known = mode or mode_of(runs)
    missing = [name for name in (modes_run(known) if known else ()) if not any(_is(name, run) for run in runs)]
    if missing:
        return Judgement("not run", f"no {' and no '.join(missing)} run came back; submit it again")
    return Judgement("passed", f"passed {_listed([run.mode for run in _in_order(runs)])}")


def _is(name: str, run: ResultRecord) -> bool:
    return run.mode == name or run.mode.startswith(f"{name}.")


def _in_order(runs: Sequence[ResultRecord]) -> list[ResultRecord]:
    order = modes_run("leaderboard")
    return sorted(runs, key=lambda run: (order.index(run.mode) if run.mode in order else len(order), run.mode))


def _first_bad(runs: Sequence[ResultRecord]) -> Judgement | None:
    return next((_of_bad_run(run) for run in _in_order(runs) if not run.passed), None)


def _of_bad_run(run: ResultRecord) -> Judgement:
    result: Mapping[str, str] = run.result or {}
    seconds = (run.ended - run.started).total_seconds()
    cases = case_results(result, run.mode)
    failed = [case for case in cases if case.status == "fail"]
    if failed:
        count = result.get("test-count" if run.mode == "test" else "benchmark-count", str(len(cases)))
        return Judgement("failed", f"{run.mode}: {len(failed)} of {count} cases failed: {_reason(failed[0])}")
    if not result and run.mode in ("test", "benchmark"):
        if seconds >= SHORTEST_LIMIT_SECONDS:
            return Judgement(
                "timed out",
                f"{run.mode}: nothing came back in {seconds:.0f} s: it ran into the evaluator's time limit, as it also "
                "does when the kernel's process dies",
            )
        return Judgement("crashed", f"{run.mode}: it ended before the first case; {_SEE_TRACEBACK}")
    if result and "check" not in result:
        at = f" at {cases[-1].label}" if cases and not cases[-1].status else ""
        return Judgement("crashed", f"{run.mode}: it raised{at}; {_SEE_TRACEBACK}")
    return Judgement("failed", f"{run.mode}: it did not pass, and the service does not show why")


_SEE_TRACEBACK = "the service shows a traceback in `--mode profile` only"


def _reason(case: CaseResult) -> str:
    lines = (case.error or case.message).splitlines()
    return f"{case.label}: {lines[0]}" if lines else case.label


def _listed(names: Sequence[str]) -> str:
    if names and all(name.startswith("profile") for name in names):
        return f"{len(names)} profile runs"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
