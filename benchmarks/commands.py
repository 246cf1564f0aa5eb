"""How long the commands take, each in processes of its own, and how much memory the tests take: medians.

    python -m benchmarks.commands

Prints a row a measurement, with the bound that the project holds itself to.
"""

import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

MXSUB = [sys.executable, "-c", "from mxsub.cli import main; main()"]
ROOT = Path(__file__).resolve().parent.parent


def seconds(command: list[str], times: int, before: Callable[[], None] | None = None) -> float:
    """The median wall time of a command that has to succeed; `before` runs, untimed, ahead of each."""
    taken = []
    for _ in range(times):
        if before:
            before()
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def row(what: str, value: float, bound: float, unit: str = "s") -> None:
    print(f"{what:<64} {value:8.3f} {unit:<4} bound {bound:g} {unit}{'' if value < bound else '   OVER'}", flush=True)


def main() -> None:
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    with tempfile.TemporaryDirectory() as scratch:
        built = Path(scratch) / "submission.py"
        caches = Path(scratch) / "triton"
        os.environ["TRITON_CACHE_DIR"] = str(caches)
        os.environ["XDG_CACHE_HOME"] = str(Path(scratch) / "cache")
        build = [*MXSUB, "build", "-o", str(built)]
        row("mxsub --help", seconds([*MXSUB, "--help"], 11), 0.15)
        row("mxsub build", seconds(build, 11), 0.4)
        lint = [*MXSUB, "lint", str(built)]

        def forget_verdicts() -> None:
            shutil.rmtree(Path(scratch) / "cache", ignore_errors=True)

        row("mxsub lint, new text", seconds(lint, 7, forget_verdicts), 0.6)
        row("mxsub lint, text seen before", seconds(lint, 7), 0.6)

        def forget_kernels() -> None:
            shutil.rmtree(caches, ignore_errors=True)

        for variant in ("constexpr", "runtime"):
            subprocess.run([*build, "--variant", variant, "--force"], check=True, capture_output=True, cwd=ROOT)
            test = [*MXSUB, "test", str(built)]
            cold = seconds(test, 3, forget_kernels)
            timed = seconds([*test, "--mode", "benchmark"], 3)
            row(f"{variant}: 4 test shapes, test mode, compiling 10 shapes", cold, 20)
            row(f"{variant}: 6 benchmark shapes, benchmark mode", timed, 20)
            row(f"{variant}: the ten shapes together", cold + timed, 20)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    row("peak memory of any process", peak, 2, "GiB")


if __name__ == "__main__":
    main()
