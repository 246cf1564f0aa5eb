"""What a run of an evaluator gives, and how its result lines are read."""

import base64
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from mxsub.submit.harness.case import parse_case
from mxsub.submit.harness.device import Device

Outcome = Literal["passed", "failed", "crashed", "timed out", "exited"]
# Times, and the spread between them, which may be none.
_TIMES, _SPREADS = ("mean", "best", "worst"), ("std", "err")
EMULATED_TIMES = "emulated: wave instructions executed, not time; a real GPU may rank configs otherwise"
_FIGURES = {"runs", *_TIMES, *_SPREADS}
_EQUAL = re.compile(r"bit-equal: (\d{1,18})/(\d{1,18})(?!\d)")
_RATIO = re.compile(r"error over tolerance: (\d+(?:\.\d+)?|nan|inf)")


@dataclass(frozen=True)
class Timing:
    """Of the calls of one case. mean, std, err (of the mean), best, worst: ns, or on a virtual GPU the
    wave instructions executed."""

    runs: int
    mean: float
    std: float
    err: float
    best: float
    worst: float


@dataclass(frozen=True)
class CaseResult:
    """One case.

    status: "pass", "fail", or "" where the run ended before it was known. timing: None for a case without figures, or
    with such as cannot be times.
    matched: (elements equal to the last bit, all elements); margin: the largest error as a share of its
    tolerance; both None where the task's checker does not say. report: the profiler's table, in profile mode.
    """

    spec: Mapping[str, Any]
    status: str
    error: str = ""
    message: str = ""
    timing: Timing | None = None
    matched: tuple[int, int] | None = None
    margin: float | None = None
    report: str = ""

    @property
    def shape(self) -> str:
        """m x n x k where the case has them, else all of it but the seed."""
        if {"m", "n", "k"} <= self.spec.keys():
            return f"{self.spec['m']}x{self.spec['n']}x{self.spec['k']}"
        return ", ".join(f"{key} {value}" for key, value in self.spec.items() if key != "seed")

    @property
    def label(self) -> str:
        """The shape with the seed: `8x2112x7168, seed 124`."""
        return f"{self.shape}, seed {self.spec['seed']}" if "seed" in self.spec else self.shape


@dataclass(frozen=True)
class SeedSummary:
    """Checks on fresh seeds. failed: the specs of those that did not pass; worst_margin: see CaseResult."""

    seeds: tuple[int, ...]
    passed: int
    total: int
    worst_margin: float | None
    failed: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class KernelCounts:
    """What all launches of one kernel executed: wave instructions by class."""

    kernel: str
    launches: int
    wave_instructions: Mapping[str, int]


@dataclass(frozen=True)
class KernelFinding:
    """What a sanitizer of the virtual GPU found at one instruction of a kernel, in all launches: see
    virtual.findings.Finding."""

    kernel: str
    sanitizer: str
    sentence: str
    source: str
    instruction: str
    place: str
    count: int


@dataclass(frozen=True)
class Emulation:
    """What the virtual GPU did. seconds: of the host, compiling left out."""

    launches: int
    wave_instructions: int
    seconds: float
    findings: tuple[KernelFinding, ...]
    kernels: tuple[KernelCounts, ...] = ()


@dataclass(frozen=True)
class Run:
    """One run of an evaluator.

    error: one sentence where it did not pass. expected: how many cases it had to run. exit_code: the evaluator's;
    None where it was ended here. signal: what it or its worker died of. duration: seconds. results: its lines as
    they came. stdout, stderr: of much output the beginning and the end.
    """

    mode: str
    device: Device
    outcome: Outcome
    error: str
    cases: tuple[CaseResult, ...]
    expected: int
    exit_code: int | None
    signal: str
    duration: float
    stdout: str
    stderr: str
    seeds: SeedSummary | None = None
    emulation: Emulation | None = None
    results: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"

    @property
    def geometric_mean(self) -> float | None:
        """Of the cases' means, in ns: what the board ranks by; None where a case has none."""
        means = [case.timing.mean for case in self.cases if case.timing]
        if not means or len(means) < self.expected or min(means) <= 0:
            return None
        return math.exp(sum(map(math.log, means)) / len(means))

    def to_dict(self) -> dict[str, object]:
        content = asdict(self)
        return {
            **content,
            "passed": self.passed,
            "timing_unit": timing_unit(self.device.virtual),
            "geometric_mean": self.geometric_mean,
        }


def timing_unit(virtual: bool) -> str:
    """Of a run's figures."""
    return "wave instructions executed, emulated" if virtual else "ns"


def parse_results(lines: str) -> dict[str, str]:
    """`key: value` lines, split at the first colon; a later key wins."""
    results: dict[str, str] = {}
    for line in lines.splitlines():
        key, colon, value = line.partition(":")
        if colon:
            results[key.strip()] = value.strip()
    return results


def case_results(results: Mapping[str, str], mode: str) -> tuple[CaseResult, ...]:
    """The cases of an evaluator's results, in order, as far as it got."""
    prefix = "test" if mode == "test" else "benchmark"
    found: list[CaseResult] = []
    while f"{prefix}.{len(found)}.spec" in results:
        key = f"{prefix}.{len(found)}."
        found.append(_case({name.removeprefix(key): value for name, value in results.items() if name.startswith(key)}))
    return tuple(found)


def _case(own: Mapping[str, str]) -> CaseResult:
    message = own.get("message", "")
    equal, ratio = _EQUAL.search(message), _RATIO.search(message)
    done = own.keys() >= _FIGURES or "report" in own
    return CaseResult(
        spec=parse_case(own["spec"]),
        status=own.get("status", "pass" if done else ""),
        error=own.get("error", "").replace("\\n", "\n"),
        message=message.replace("\\n", "\n"),
        timing=_timing(own),
        matched=(int(equal[1]), int(equal[2])) if equal else None,
        margin=float(ratio[1]) if ratio else None,
        report=_decoded(own.get("report", "")),
    )


def _timing(own: Mapping[str, str]) -> Timing | None:
    """A case's figures; None where one is missing, or is none that a clock gives: they may come from a service."""
    try:
        runs, values = int(own["runs"]), {name: float(own[name]) for name in (*_TIMES, *_SPREADS)}
    except (KeyError, ValueError):
        return None
    likely = (
        runs > 0
        and all(math.isfinite(value) for value in values.values())
        and all(values[name] > 0 for name in _TIMES)
        and all(values[name] >= 0 for name in _SPREADS)
    )
    return Timing(runs, **values) if likely else None


def _decoded(report: str) -> str:
    """A profiler's table: base64 with + and * for its last two digits."""
    try:
        return base64.b64decode(report, b"+*", validate=True).decode("utf-8", "replace")
    except ValueError:  # no base64, or not ASCII
        return report
