"""Which opcodes Triton emits for gfx950, and whether the emulator has them: a sweep that compiles and runs nothing.

    python -m benchmarks.coverage --cache FOLDER [--launches 32] [--triton 3.6.0 ...] [--missing FILE]

Compiles the workloads of tests/workloads and the kernels that mxsub ships in many configs on four versions of Triton,
decodes every assembly as the virtual device does, and prints what is missing. What was compiled stays in FOLDER, so
that a sweep that was interrupted goes on, and one after a change of the emulator alone only decodes. Exits 1 when the
emulator lacks an opcode or a form of one, or an opcode has no instruction test.
"""

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.coverage_worker import COMPILING, kept
from mxsub import virtual
from tests.workloads.triton_versions import VERSIONS, environment_of

ROOT = Path(__file__).parents[1]
PROCESSES = 2
# A worker whose compiler has crashed is started again; the launch that did it counts as refused.
MOST_CRASHES = 50


def compile_all(folder: Path, version: str, count: int) -> None:
    """Compile what the folder lacks, in two processes."""
    running = {which: start(folder, version, count, which) for which in range(PROCESSES)}
    crashes = 0
    while running:
        for which, worker in list(running.items()):
            try:
                code = worker.wait(timeout=1)
            except subprocess.TimeoutExpired:
                continue
            del running[which]
            if code < 0 and crashes < MOST_CRASHES:  # by a signal
                crashes += 1
                running[which] = start(folder, version, count, which)
            elif code:
                sys.exit(
                    f"a worker for Triton {version} ended with exit status {code}: see {said(folder, version, which)}"
                )


def forget_interrupted(paths: Iterable[Path]) -> None:
    """A sweep that was ended in the middle of a launch has left it marked as one that ends the compiler."""
    for path in paths:
        if path.exists() and json.loads(gzip.decompress(path.read_bytes())).get("error") == COMPILING:
            path.unlink()


def said(folder: Path, version: str, which: int) -> Path:
    """The file with what a worker and its compiler print; a failing one prints its whole program."""
    return folder / f"worker-{version}-{which}.log"


def start(folder: Path, version: str, count: int, which: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "benchmarks.coverage_worker", folder, count, which, PROCESSES]
    environment = {**os.environ, **environment_of(version), "OMP_NUM_THREADS": "1"}
    with said(folder, version, which).open("a") as log:
        return subprocess.Popen([str(word) for word in command], cwd=ROOT, env=environment, stdout=log, stderr=log)


def decoded(path: Path) -> dict[str, Any]:
    """A kept result with its opcodes and problems in place of its assembly."""
    from mxsub.virtual.assembly import parse
    from mxsub.virtual.faults import UnsupportedInstruction
    from mxsub.virtual.machine import Program

    result: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    opcodes, problems = set(), set()
    for assembly in result.pop("assembly", ()):
        opcodes |= {instruction.opcode for instruction in parse(assembly).code}
        try:
            Program(assembly)
        except UnsupportedInstruction as error:
            problems |= set(error.problems)
    return {**result, "opcodes": sorted(opcodes), "problems": sorted(problems)}


def place(result: dict[str, Any]) -> str:
    """Where something was met, in a line."""
    said = [f"{key}={value}" for part in ("size", "config", "environment") for key, value in result[part].items()]
    return f"{result['workload']}, Triton {result['triton']}, {' '.join(said)}"


def report(results: list[dict[str, Any]], missing: Path | None) -> bool:
    """Print what was measured. Is everything there?"""
    from mxsub.virtual.machine import is_known
    from tests.instructions.coverage import TESTED

    good = [result for result in results if "error" not in result]
    counts = Counter(result["triton"] for result in good)
    print(f"compiled: {len(good):,} (" + ", ".join(f"{counts[v]:,} on Triton {v}" for v in sorted(counts)) + ")")
    for workload, count in Counter(result["workload"] for result in good).items():
        print(f"  {workload:<20} {count:5,}")
    refused: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for result in results:
        if "error" in result:
            refused[result["error"].splitlines()[0].partition(",")[0][:100]].append(result)
    print(f"refused by the compiler: {len(results) - len(good):,}")
    for reason, those in sorted(refused.items(), key=lambda item: -len(item[1])):
        print(f"  {len(those):4} {reason}; such as {place(those[0])}")
    met = first_seen(good, "opcodes").keys()
    known = {opcode for opcode in met if is_known(opcode)}
    problems = {shape(problem): result for problem, result in first_seen(good, "problems").items()}
    print(f"opcodes and forms of them that the emulator lacks: {len(problems):,}")
    lines = [f"{problem}: {place(result)}" for problem, result in sorted(problems.items())]
    for line in lines:
        print(f"  {line}")
    if missing is not None:
        missing.write_text("".join(f"{line}\n" for line in lines))
    untested = sorted(known - TESTED)
    print(f"opcodes without an instruction test: {', '.join(untested) or 'none'}")
    complete = (known & TESTED) - {re.split(r"_e32|_e64|_dpp|_sdwa| ", problem)[0] for problem in problems}
    print(f"opcodes implemented and tested: {len(complete):,} of {len(met):,} met, {len(complete) / len(met):.1%}")
    return complete == met


def shape(problem: str) -> str:
    """A problem without the numbers of registers, so that each form is listed once."""
    return re.sub(r"\b([vsa])(\d+\b|\[\d+:\d+\])", r"\1#", problem)


def first_seen(results: Iterable[dict[str, Any]], what: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for result in results:
        for entry in result[what]:
            found.setdefault(entry, result)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coverage")
    parser.add_argument("--cache", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--launches", type=int, default=32, metavar="N", help="of each workload and version of Triton")
    parser.add_argument("--triton", nargs="+", choices=VERSIONS, default=VERSIONS)
    parser.add_argument("--missing", type=Path, metavar="FILE", help="write what is missing there, too")
    arguments = parser.parse_args()
    arguments.cache.mkdir(parents=True, exist_ok=True)
    virtual.install()
    from benchmarks.coverage_plan import plan

    began = time.perf_counter()
    planned = plan(arguments.launches)
    results = []
    for version in arguments.triton:
        paths = [kept(arguments.cache, launch.key(version)) for launch in planned]
        forget_interrupted(paths)
        there = sum(path.exists() for path in paths)
        print(f"Triton {version}: {len(paths):,} launches, {there:,} of them compiled before", flush=True)
        compile_all(arguments.cache.resolve(), version, arguments.launches)
        with ProcessPoolExecutor(PROCESSES) as pool:
            results += pool.map(decoded, paths, chunksize=8)
    complete = report(results, arguments.missing)
    print(f"{time.perf_counter() - began:.0f} s")
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
