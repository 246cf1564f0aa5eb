"""Runs workloads on the virtual MI355X: `python -m tests.workloads.running NAME ...`, a line of JSON for each size.

{"name", "case": size and variant in words, "seconds": of the host, compiling included, "outcome": "right" or the error,
 "findings": what the sanitizers found that the environment asks for, as [sanitizer, kernel, sentence]}
"""

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mxsub import virtual
from tests.workloads.triton_versions import environment_of

ROOT = Path(__file__).parents[2]
NOTHING: Mapping[str, str] = {}


def outcomes(names: list[str]) -> Iterator[dict[str, Any]]:
    """The outcome of each size in the tests' config and its variants."""
    from tests.workloads.workload import check, load

    for name in names:
        workload = load(name)
        for variant, size in itertools.product(({}, *workload.variants), workload.sizes):
            said = {key: getattr(value, "__name__", str(value)) for key, value in {**size, **variant}.items()}
            case = ", ".join(f"{key} {value.removeprefix('torch.')}" for key, value in said.items())
            start = time.perf_counter()
            try:
                check(workload, size, variant)
                outcome = "right"
            except Exception as error:
                outcome = f"{type(error).__name__}: {' '.join(str(error).split())}"
            seconds = time.perf_counter() - start
            yield {"name": name, "case": case, "seconds": seconds, "outcome": outcome, "findings": new_findings()}


def new_findings() -> list[list[str]]:
    """What the launch log has of them; it is emptied."""
    log = os.environ.get(virtual.LOG_VARIABLE)
    if not log or not Path(log).exists():
        return []
    entries = [json.loads(line) for line in Path(log).read_text().splitlines()]
    Path(log).write_text("")
    return [
        [found["sanitizer"], entry["kernel"], found["sentence"]]
        for entry in entries
        for found in ([entry] if entry["event"] == "finding" else entry.get("findings", []))
    ]


def on_version(
    version: str, module: str, arguments: list[str], environment: Mapping[str, str] = NOTHING
) -> Iterator[dict[str, Any]]:
    """What a module prints, line by line, in a process with that version of Triton and these variables.

    Raises FileNotFoundError where the version is not installed, RuntimeError with what the process said where it fails.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment_of(version), "OMP_NUM_THREADS": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        yield json.loads(line)
    _, said = process.communicate()
    if process.returncode:
        raise RuntimeError(said[-4000:])


if __name__ == "__main__":
    virtual.install()
    import triton

    print(json.dumps({"triton": triton.__version__}), flush=True)
    for result in outcomes(sys.argv[1:]):
        print(json.dumps(result), flush=True)
