"""Runs the workloads of tests/workloads on the virtual MI355X, on any of the versions of Triton.

    python -m benchmarks.workloads [--triton 3.8.0] [NAME ...]

Prints a line for each size: the time of the host, compiling included, and whether the results are the reference's.
Exits 1 where some are not. Other versions of Triton than the runner's are installed by `make tritons`.
"""

import argparse
import sys
import time

from tests.workloads.running import on_version
from tests.workloads.triton_versions import INSTALLED, VERSIONS
from tests.workloads.workload import NAMES


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.workloads")
    parser.add_argument("names", nargs="*", choices=[[], *NAMES], metavar="NAME", default=[])
    parser.add_argument("--triton", choices=VERSIONS, default=INSTALLED, metavar="VERSION")
    arguments = parser.parse_args()
    began = time.perf_counter()
    lines = on_version(arguments.triton, "tests.workloads.running", arguments.names or list(NAMES))
    print(f"Triton {next(lines)['triton']}", flush=True)
    right = count = 0
    for line in lines:
        print(f"{line['name']:<20} {line['case']:<90} {line['seconds']:6.2f} s  {line['outcome']}", flush=True)
        count += 1
        right += line["outcome"] == "right"
    print(f"{right} of {count} right, {time.perf_counter() - began:.1f} s")
    return 0 if right == count else 1


if __name__ == "__main__":
    sys.exit(main())
