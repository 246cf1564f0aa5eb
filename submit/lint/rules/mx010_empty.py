"""MX010: an empty file."""

from collections.abc import Iterator

from mxsub.submit.lint.rule import Hit, Rule
from mxsub.submit.lint.source import Source


def check(source: Source) -> Iterator[Hit]:
    if not source.data:
        yield Hit(1, 1, "the file is empty")


RULE = Rule(
    code="MX010",
    name="empty",
    severity="error",
    judge="service",
    finds="a file of no bytes",
    why="the service refuses it with 'Empty file submitted'",
    example="(a file of 0 bytes)",
    fix="Submit the file that you meant; `mxsub build` renders one.",
    check=check,
    needs="bytes",
)
