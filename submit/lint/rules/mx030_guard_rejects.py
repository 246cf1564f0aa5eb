"""MX030: what KernelGuard rejects a submission for."""

import textwrap
from collections.abc import Iterator

from mxsub.submit.lint.guard_findings import hits
from mxsub.submit.lint.guard_patterns import PATTERNS
from mxsub.submit.lint.rule import WIDTH, Hit, Rule
from mxsub.submit.lint.source import Source


def check(source: Source) -> Iterator[Hit]:
    yield from hits(source, filtering=True)


def _pattern_list() -> str:
    lines = ["KernelGuard's patterns, and what each takes the code for:", ""]
    for name, pattern in PATTERNS.items():
        lines.append(f"    {name}")
        lines.append(textwrap.fill(pattern.meaning, WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 8))
    return "\n".join(lines)


RULE = Rule(
    code="MX030",
    name="kernelguard-rejects",
    severity="error",
    judge="kernelguard",
    finds="what makes KernelGuard classify a submission as hacked",
    why=(
        "the service asks KernelGuard before benchmark, profile and leaderboard runs, though not before test, and "
        "marks what it filters as hacked: no run, no score, and the attempt counts for the rate limit"
    ),
    example="""\
def custom_kernel(data):
    key = data[0].data_ptr()
    if key in _cache:
        return _cache[key]
    _cache[key] = out = compute(data)
    return out
""",
    fix="Compute every output afresh, and leave evaluator, clocks and torch as they are.",
    check=check,
    details=_pattern_list(),
)
