"""What the coverage sweep compiles: which workloads, at which sizes, in which configs and environments."""

import hashlib
import inspect
import itertools
import json
import random
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks import shipped_kernels
from tests.workloads.workload import NAMES, Workload, load

ROOT = Path(__file__).parents[1]

# What a submission may set that changes the machine code; the empty one weighs most.
ENVIRONMENTS: tuple[dict[str, str], ...] = (
    {},
    {},
    {},
    {},
    {"AMDGCN_USE_BUFFER_OPS": "0"},
    {"AMDGCN_USE_BUFFER_ATOMICS": "0"},
    {"AMDGCN_SCALARIZE_PACKED_FOPS": "1"},
    {"TRITON_HIP_USE_ASYNC_COPY": "1"},
    {"TRITON_HIP_USE_ASYNC_COPY": "1", "TRITON_HIP_USE_BLOCK_PINGPONG": "1"},
    {"TRITON_HIP_USE_IN_THREAD_TRANSPOSE": "1"},
    {"TRITON_DEFAULT_FP_FUSION": "0"},
)


@dataclass(frozen=True)
class Launch:
    """One call of a workload to be compiled."""

    workload: Workload
    size: dict[str, Any]
    config: dict[str, Any]
    environment: dict[str, str]

    def description(self) -> dict[str, Any]:
        """As JSON takes it."""
        return {
            "workload": self.workload.name,
            "size": {key: str(value) for key, value in self.size.items()},
            "config": self.config,
            "environment": self.environment,
        }

    def key(self, version: str) -> str:
        """The name of its result in the cache: another one as soon as anything about it is another."""
        text = json.dumps([version, self.description(), _sources(self.workload)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


@cache
def _sources(workload: Workload) -> str:
    """A hash of the files that a workload's kernels and launches come from."""
    paths = [Path(inspect.getfile(workload.run))]
    if workload is shipped_kernels.WORKLOAD:
        paths += [ROOT / "tests" / "kernel_cases.py", *sorted((ROOT / "kernels").glob("*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def plan(count: int) -> list[Launch]:
    """`count` launches of each workload, three times as many of the shipped kernels; the GPU must be there before."""
    chosen = [launch for name in NAMES for launch in launches(load(name), count)]
    return chosen + launches(shipped_kernels.WORKLOAD, 3 * count)


def launches(workload: Workload, count: int) -> list[Launch]:
    """Each size with the tests' config, then others drawn from the workload's space, `count` in all.

    The same ones each time. Fewer where the space has no more.
    """
    drawn = random.Random(workload.name)
    chosen: dict[str, Launch] = {}

    def add(launch: Launch) -> None:
        chosen.setdefault(json.dumps(launch.description(), sort_keys=True), launch)

    if workload.config:
        for size in workload.sizes:
            add(Launch(workload, size, workload.config, {}))
    number = len(workload.sizes) * len(set(map(str, ENVIRONMENTS)))
    for values in workload.space.values():
        number *= len(values)
    for turn in itertools.count():
        if len(chosen) >= min(count, number) or turn > 20 * count:
            break
        config = {key: drawn.choice(values) for key, values in workload.space.items()}
        size = workload.sizes[turn % len(workload.sizes)]
        add(Launch(workload, size, {**workload.config, **config}, drawn.choice(ENVIRONMENTS)))
    return list(chosen.values())
