"""The evaluator: python eval.py MODE CASEFILE, results as `key: value` lines on the descriptor POPCORN_FD.

MODE is test, benchmark, leaderboard or profile. CASEFILE has a case a line: `m: 8; n: 2112; k: 7168; seed: 124`.
Exit codes: 0 done, 112 a check failed (test and benchmark), 111 no POPCORN_FD, 2 wrong arguments, 113 bad CASEFILE,
1 an exception.
"""

import base64
import math
import multiprocessing
import os
import random
import re
import sys
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RAISED, CHECK_FAILED, NO_PIPE, USAGE, BAD_CASES = 1, 112, 111, 2, 113
DEFAULT_SEED = 42
SEED_STEP = 13
WARM_UP_REPEATS = 100
ENOUGH_RUNS, PRECISION, WALL_SECONDS = 3, 0.001, 120
NUMBER = re.compile(r"-?\d+$")
NAME = re.compile(r"[A-Za-z_]\w*$")


@dataclass(frozen=True)
class Case:
    """One line of CASEFILE: its text and its arguments for generate_input."""

    spec: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """How often and how long a case is timed. seconds: the budget of measured time."""

    repeats: int
    seconds: float
    recheck: bool


PLANS = {"benchmark": Plan(1000, 50, recheck=False), "leaderboard": Plan(100, 30, recheck=True)}
WARM_UPS = {
    "benchmark": Plan(WARM_UP_REPEATS, 0.1, recheck=False),
    "leaderboard": Plan(WARM_UP_REPEATS, 0.01, recheck=False),
}


@dataclass(frozen=True)
class Raised:
    """The traceback of an exception in the worker."""

    text: str


class WorkerRaised(Exception):
    """The worker's function raised an exception; its traceback is on stderr."""


class Worker:
    """The one process that imports torch and the submission, started by `spawn`."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self._pool = pool

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function gives there.

        Raises WorkerRaised where it raises, BrokenProcessPool where the process dies.
        """
        result = self._pool.submit(answer, function, *arguments).result()
        if isinstance(result, Raised):
            print(result.text, file=sys.stderr, end="", flush=True)
            raise WorkerRaised
        return result


class Results:
    """The lines of the result, on the descriptor that the runner reads."""

    def __init__(self, descriptor: int) -> None:
        self._file = os.fdopen(descriptor, "w", buffering=1)

    def log(self, key: str, value: object) -> None:
        text = str(value).replace("\n", "\\n")
        self._file.write(f"{key}: {text}\n")


def read_cases(path: Path, seed: int | None) -> list[Case]:
    """The cases of a file; with a seed of the run, each case's own seed is combined with it.

    Raises ValueError for a line that is not `key: value; key: value` with integers, true, false or names.
    """
    cases = []
    for line in path.read_text().splitlines():
        if not line.strip():
            continue
        arguments: dict[str, Any] = {}
        for part in line.split(";"):
            key, colon, value = (piece.strip() for piece in part.partition(":"))
            if not colon or not NAME.match(key) or not (NUMBER.match(value) or NAME.match(value)):
                raise ValueError(f"'{line}' is no case")
            arguments[key] = int(value) if NUMBER.match(value) else {"true": True, "false": False}.get(value, value)
        if seed is not None and "seed" in arguments:
            arguments["seed"] = combined(arguments["seed"], seed)
        cases.append(Case(line.strip(), arguments))
    return cases


def combined(a: int, b: int) -> int:
    """One seed of two, by Cantor's pairing."""
    return a + (a + b) * (a + b + 1) // 2


def statistics(durations: list[float]) -> dict[str, float | int]:
    """runs, mean, std (n - 1), err (of the mean), best and worst of durations in ns."""
    runs = len(durations)
    mean = sum(durations) / runs
    std = math.sqrt(sum((d - mean) ** 2 for d in durations) / (runs - 1)) if runs > 1 else 0.0
    return {
        "runs": runs,
        "mean": mean,
        "std": std,
        "err": std / math.sqrt(runs),
        "best": min(durations),
        "worst": max(durations),
    }


# --- in the worker process, which alone imports torch and the submission


def answer(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function gives. Whatever it raises becomes a text, since not every exception survives the way back."""
    try:
        return function(*arguments)
    except BaseException:
        return Raised(traceback.format_exc())


def submitted() -> Callable[[Any], Any]:
    """custom_kernel of the submission; an exit in its import is an error like any other."""
    try:
        import submission
    except SystemExit as exit:
        raise RuntimeError(f"submission.py calls sys.exit({exit.code!r}) in its import") from exit
    if not callable(getattr(submission, "custom_kernel", None)):
        raise RuntimeError("submission.py defines no custom_kernel")
    return submission.custom_kernel


def set_seed(seed: int) -> None:
    """Gives the worker's generators the seed of the run."""
    import torch

    random.seed(seed)
    torch.manual_seed(seed)


def clone(data: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(item.clone() if hasattr(item, "clone") else item for item in data)


def test_case(arguments: dict[str, Any]) -> tuple[bool, str]:
    """Runs the submission once on a copy of the inputs and checks what it gives."""
    import torch
    from reference import check_implementation, generate_input

    custom_kernel = submitted()
    data = generate_input(**arguments)
    torch.cuda.synchronize()
    output = custom_kernel(clone(data))
    torch.cuda.synchronize()
    return check_implementation(data, output)


def time_case(arguments: dict[str, Any], plan: Plan) -> tuple[bool, str, dict[str, float | int]]:
    """Times the submission by device events, the caches flushed before each call.

    Returns whether every checked result was right, the message of the first that was not, and the statistics.
    """
    import torch
    from reference import check_implementation, generate_input
    from utils import flush_caches

    custom_kernel = submitted()
    arguments = dict(arguments)
    data = generate_input(**arguments)
    kept = clone(data)
    output = custom_kernel(data)
    torch.cuda.synchronize()
    right, message = check_implementation(kept, output)
    if not right:
        return False, message, {}
    durations: list[float] = []
    begun = time.monotonic()
    for _ in range(plan.repeats):
        if plan.recheck:
            if "seed" in arguments:
                arguments["seed"] += SEED_STEP
            data = generate_input(**arguments)
            kept = clone(data)
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        flush_caches()
        start.record()
        output = custom_kernel(data)
        end.record()
        torch.cuda.synchronize()
        durations.append(start.elapsed_time(end) * 1e6)
        if plan.recheck:
            right, message = check_implementation(kept, output)
            if not right:
                return False, message, {}
        del output
        figures = statistics(durations)
        precise = figures["mean"] == 0 or figures["err"] / figures["mean"] < PRECISION
        spent = figures["mean"] * figures["runs"] > plan.seconds * 1e9
        late = time.monotonic() - begun > WALL_SECONDS
        if len(durations) >= ENOUGH_RUNS and (precise or spent or late):
            break
    return True, "", statistics(durations)


def profile_case(arguments: dict[str, Any]) -> str:
    """torch.profiler's table of one call."""
    import torch
    from reference import generate_input
    from torch.profiler import ProfilerActivity, profile

    custom_kernel = submitted()
    data = generate_input(**arguments)
    activities = [ProfilerActivity.CPU]
    if ProfilerActivity.CUDA in torch.profiler.supported_activities():
        activities.append(ProfilerActivity.CUDA)
    with profile(activities=activities) as recorded:
        custom_kernel(data)
        torch.cuda.synchronize()
    return str(recorded.key_averages().table(row_limit=20))


# --- in the evaluator's own process


def run_tests(results: Results, worker: Worker, cases: list[Case]) -> int:
    results.log("test-count", len(cases))
    passed = True
    for number, case in enumerate(cases):
        results.log(f"test.{number}.spec", case.spec)
        right, message = worker.run(test_case, case.arguments)
        results.log(f"test.{number}.status", "pass" if right else "fail")
        if not right:
            results.log(f"test.{number}.error", message)
        elif message:
            results.log(f"test.{number}.message", message)
        passed = passed and right
    results.log("check", "pass" if passed else "fail")
    return 0 if passed else CHECK_FAILED


def run_benchmarks(results: Results, worker: Worker, cases: list[Case], mode: str) -> int:
    """Benchmark and leaderboard mode; the latter stops at the first case that fails."""
    ranked = mode == "leaderboard"
    if cases:
        worker.run(time_case, cases[0].arguments, WARM_UPS[mode])
    results.log("benchmark-count", len(cases))
    passed = True
    for number, case in enumerate(cases):
        key = f"benchmark.{number}"
        if not ranked:
            results.log(f"{key}.spec", case.spec)
        right, message, figures = worker.run(time_case, case.arguments, PLANS[mode])
        if ranked:
            results.log(f"{key}.spec", case.spec)
        for name, value in figures.items():
            results.log(f"{key}.{name}", value)
        if not right:
            results.log(f"{key}.status", "fail")
            results.log(f"{key}.error", message)
            passed = False
            if ranked:
                break
    results.log("check", "pass" if passed else "fail")
    return 0 if passed or ranked else CHECK_FAILED


def run_profiles(results: Results, worker: Worker, cases: list[Case]) -> int:
    results.log("benchmark-count", len(cases))
    for number, case in enumerate(cases):
        results.log(f"benchmark.{number}.spec", case.spec)
        table = worker.run(profile_case, case.arguments)
        results.log(f"benchmark.{number}.report", base64.b64encode(table.encode(), b"+*").decode())
    results.log("check", "pass")
    return 0


def main(arguments: list[str]) -> int:
    if "POPCORN_FD" not in os.environ:
        return NO_PIPE
    if len(arguments) < 2 or arguments[0] not in ("test", "benchmark", "leaderboard", "profile"):
        print("usage: eval.py test|benchmark|leaderboard|profile CASEFILE", file=sys.stderr)
        return USAGE
    mode, path = arguments[:2]
    own_seed = os.environ.get("POPCORN_SEED")
    try:
        seed = int(own_seed) if own_seed else None
        cases = read_cases(Path(path), seed)
    except (OSError, ValueError) as error:
        print(f"cannot read the cases: {error}", file=sys.stderr)
        return BAD_CASES
    results = Results(int(os.environ["POPCORN_FD"]))
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as pool:
        worker = Worker(pool)
        try:
            worker.run(set_seed, DEFAULT_SEED if seed is None else seed)
            if mode == "test":
                return run_tests(results, worker, cases)
            if mode == "profile":
                return run_profiles(results, worker, cases)
            return run_benchmarks(results, worker, cases, mode)
        except WorkerRaised:
            return RAISED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
