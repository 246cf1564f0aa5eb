"""MX031: what KernelGuard notices and lets pass."""

from collections.abc import Iterator

from mxsub.submit.lint.guard_findings import hits
from mxsub.submit.lint.rule import Hit, Rule
from mxsub.submit.lint.source import Source


def check(source: Source) -> Iterator[Hit]:
    yield from hits(source, filtering=False)


RULE = Rule(
    code="MX031",
    name="kernelguard-notices",
    severity="warning",
    judge="kernelguard",
    finds="patterns that KernelGuard matches and does not reject a submission for",
    why=(
        "the service runs the submission all the same; but people review the top of the board, and they start from "
        "these marks"
    ),
    example="""\
from utils import make_match_reference
fast = torch.compile(slow)
""",
    fix="Write it so that no pattern matches, where that costs nothing.",
    check=check,
)
