"""What the runner would say of a text: results that depend on the text's hash only, so that they repeat."""

import base64
import hashlib
import io
import math
import random
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from .boards import BENCHMARKS, PUBLISHED_TIMES, TESTS, Spec

# In the output of every secret run. A client must drop those unread; tests look for it in all that is kept or shown.
SECRET_MARKER = "only-in-a-secret-run-1f2e3d"

MISMATCH = "Number of mismatched elements: 7\\nERROR at (0, 1): 1.0 2.0"


@dataclass(frozen=True)
class Evaluation:
    """One run of the evaluator. `mode` is its name in the answers (test, benchmark, leaderboard, profile.N)."""

    mode: str
    secret: bool
    passed: bool
    result: dict[str, str]
    exit_code: int = 0
    duration: float = 1.5
    stdout: str = ""
    stderr: str = ""
    score: Decimal | None = None
    trace: bytes | None = None


@dataclass(frozen=True)
class Outcome:
    """How a submission ends: the job's last status and error, the runs, and the runner's own failure if it had one."""

    status: str
    error: str | None = None
    evaluations: tuple[Evaluation, ...] = ()
    runner_error: str = ""


def outcome(code: str, mode: str, gpu: str, trouble: str | None = None) -> Outcome:
    """The end of a submission in `mode` (lower case). `trouble` names a job fault of faults.py."""
    if trouble in ENDINGS:
        status, error = ENDINGS[trouble]
        return Outcome(status, error)
    if trouble == "failed" and mode != "leaderboard":
        return Outcome("failed", "RuntimeError: could not dispatch the workflow")
    ranked = mode == "leaderboard"
    if trouble == "runner-failure":
        failure = f"ranked validation failed on {gpu}; the runner reported no leaderboard run"
        error = "Could not download artifacts"
        return Outcome("failed", failure, (), error) if ranked else Outcome("succeeded", None, (), error)
    if mode == "profile":
        return Outcome("succeeded", None, _profiles(code, trouble))
    public = _evaluations(code, mode, False, trouble)
    if not ranked:
        return Outcome("succeeded", None, public)
    secret = _evaluations(code, mode, True, "failed" if trouble == "secret-failed" else trouble)
    for kind, runs in (("ranked", public), ("secret", secret)):
        if not (runs[-1].mode == "leaderboard" and runs[-1].passed):
            error = f"{kind} validation failed on {gpu}; {runs[-1].mode} run did not pass"
            return Outcome("failed", error, public + secret)
    return Outcome("succeeded", None, public + secret)


# Job faults that end without any run, whatever the mode.
ENDINGS: dict[str, tuple[str, str]] = {
    "restart": ("failed", "job interrupted while kernelbot was shutting down; please resubmit"),
    "hacked": (
        "hacked",
        "Submission rejected by KernelGuard pre-check (high_critical). "
        "Matched rules: CONFIG_CACHE_EXPLOIT, OUTPUT_REPLAY_CACHE, POINTER_REPLAY, WORKSPACE_CACHE.",
    ),
    "guard-unavailable": ("failed", "KernelGuard pre-check is unavailable right now. Please try again later."),
    "timed-out": ("timed_out", "hard timeout reached"),
}


def _evaluations(code: str, mode: str, secret: bool, trouble: str | None) -> tuple[Evaluation, ...]:
    """The steps of one workflow; a ranked one stops after the first step that does not pass."""
    steps = ("test", "benchmark", "leaderboard") if mode == "leaderboard" else (mode,)
    runs: list[Evaluation] = []
    for step in steps:
        hit = step == "leaderboard" if trouble == "failed" else step == steps[0]
        runs.append(_evaluation(code, step, secret, trouble if hit else None))
        if not runs[-1].passed:
            break
    return tuple(runs)


def _evaluation(code: str, step: str, secret: bool, trouble: str | None) -> Evaluation:
    output = f"{SECRET_MARKER}\n" if secret else "caf\u00e9 \u23f1 \U0001f9ee\n"
    if trouble == "evaluator-timeout":
        return Evaluation(step, secret, False, {}, 114, 420.0, output)
    lines = _tests(trouble) if step == "test" else _benchmarks(code, step, secret, trouble)
    passed = lines.get("check") == "pass"
    if trouble == "crash":
        stderr = (
            'Traceback (most recent call last):\n  File "submission.py", line 7, in custom_kernel\nZeroDivisionError'
        )
        return Evaluation(step, secret, False, lines, 1, 0.9, output, stderr)
    exit_code = 0 if passed or step == "leaderboard" else 112
    score = None
    if step == "leaderboard" and passed:
        score = _score([float(lines[f"benchmark.{i}.mean"]) for i in range(len(BENCHMARKS))])
    return Evaluation(step, secret, passed, lines, exit_code, 1.5, output, "", score)


def _tests(trouble: str | None) -> dict[str, str]:
    lines = {"test-count": str(len(TESTS))}
    for i, case in enumerate(TESTS):
        lines[f"test.{i}.spec"] = _spec_line(case)
        if trouble == "crash" and i == 1:
            return lines
        if trouble == "failed-tests" and i == 0:
            lines |= {"test.0.status": "fail", "test.0.error": MISMATCH}
        else:
            lines |= {f"test.{i}.status": "pass", f"test.{i}.message": "Maximum error: 0.0"}
    return lines | {"check": "fail" if trouble == "failed-tests" else "pass"}


def _benchmarks(code: str, step: str, secret: bool, trouble: str | None) -> dict[str, str]:
    """Lines of a benchmark or leaderboard run, times in nanoseconds around aiter's published ones."""
    dice = _dice(code, step, str(secret))
    pace = 0.9 + 0.3 * _dice(code, "pace").random()
    if secret:
        pace *= 1.7
    lines = {"benchmark-count": str(len(BENCHMARKS))}
    for i, (case, published) in enumerate(zip(BENCHMARKS, PUBLISHED_TIMES, strict=True)):
        key = f"benchmark.{i}"
        lines[f"{key}.spec"] = _spec_line(case)
        if trouble == "crash" and i == 1:
            return lines
        if trouble in ("failed-tests", "failed") and i == 0:
            lines |= {f"{key}.status": "fail", f"{key}.error": MISMATCH}
            if step == "leaderboard":
                break
            continue
        mean = 1000.0 * published * pace * (1.0 + 0.01 * dice.random())
        runs = dice.randrange(20, 100) if step == "leaderboard" else dice.randrange(100, 1000)
        std = mean * 0.01 * (1.0 + dice.random())
        numbers = {
            "mean": mean,
            "std": std,
            "err": std / math.sqrt(runs),
            "best": mean - 2 * std,
            "worst": mean + 3 * std,
        }
        lines[f"{key}.runs"] = str(runs)
        lines |= {f"{key}.{name}": repr(number) for name, number in numbers.items()}
    return lines | {"check": "fail" if trouble in ("failed-tests", "failed") else "pass"}


def _profiles(code: str, trouble: str | None) -> tuple[Evaluation, ...]:
    """A run per benchmark case, each with a report in the evaluator's base64 and a zip of traces."""
    if trouble in ("failed-tests", "crash", "evaluator-timeout"):
        return (_evaluation(code, "profile.0", False, trouble),)
    runs = []
    for i, case in enumerate(BENCHMARKS):
        report = f"Name            Duration\nsplit_kernel_{i}  {PUBLISHED_TIMES[i]:.3f} us  \u00b5?>~\n"
        encoded = base64.b64encode(report.encode(), altchars=b"+*").decode()
        lines = {
            "benchmark-count": "1",
            "benchmark.0.spec": _spec_line(case),
            "benchmark.0.report": encoded,
            "check": "pass",
        }
        runs.append(Evaluation(f"profile.{i}", False, True, lines, trace=_trace(i)))
    return tuple(runs)


def _trace(i: int) -> bytes:
    """A zip with the files that rocPROF leaves at its root; the same bytes every time."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in (
            ("combined.pftrace", f"trace {i}"),
            (f"{4000 + i}_kernel_trace.csv", "Kernel_Name,Start,End\n"),
        ):
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), text)
    return packed.getvalue()


def _spec_line(case: Spec) -> str:
    return "; ".join(f"{key}: {value}" for key, value in case.items())


def _score(means: Sequence[float]) -> Decimal:
    """Geometric mean of nanoseconds, in seconds, with the digits of a PostgreSQL NUMERIC."""
    seconds = math.exp(sum(math.log(mean / 1e9) for mean in means) / len(means))
    return Decimal(f"{seconds:.21f}")


def _dice(*words: str) -> random.Random:
    return random.Random(hashlib.sha256("\0".join(words).encode()).digest())
