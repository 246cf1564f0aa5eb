"""Runs the workloads of tests/workloads on the virtual MI355X, on any installed version of Triton.

    python -m benchmarks.workloads [--triton 3.8.0] [NAME ...]

Prints a line for each size: the time of the host, compiling included, and whether it equals the reference. Exits 1
where one does not. With --triton it runs in a process that takes Triton from .venv/triton-VERSION (`make tritons`).
"""

import argparse
import itertools
import os
import subprocess
import sys
import time
from pathlib import Path

from mxsub import virtual

ROOT = Path(__file__).parents[1]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.workloads")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--triton", metavar="VERSION")
    arguments = parser.parse_args()
    if arguments.triton:
        return on_version(arguments.triton, arguments.names)
    return run(arguments.names)


def on_version(version: str, names: list[str]) -> int:
    """The same in a process with another Triton."""
    from tests.workloads.triton_versions import environment_of

    command = [sys.executable, "-m", "benchmarks.workloads", *names]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **environment_of(version)}, check=False).returncode


def run(names: list[str]) -> int:
    virtual.install()
    import triton

    from tests.workloads.workload import NAMES, check, load

    print(f"Triton {triton.__version__}", flush=True)
    wrong = count = 0
    began = time.perf_counter()
    for name in names or NAMES:
        workload = load(name)
        for variant, size in itertools.product(({}, *workload.variants), workload.sizes):
            start = time.perf_counter()
            try:
                check(workload, size, variant)
                outcome = "right"
            except Exception as error:
                outcome = f"WRONG: {' '.join(str(error).split())}"
                wrong += 1
            count += 1
            shown = ", ".join(
                f"{key} {str(value).removeprefix('torch.')}" for key, value in {**size, **variant}.items()
            )
            print(f"{name:<20} {shown:<90} {time.perf_counter() - start:6.2f} s  {outcome}", flush=True)
    print(f"{count - wrong} of {count} right, {time.perf_counter() - began:.1f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
