"""MX016: lines that end with a lone carriage return."""

import re
from collections.abc import Iterator

from mxsub.submit.lint.rule import Hit, Rule
from mxsub.submit.lint.source import Source

_LONE = re.compile(r"\r(?!\n)")


def check(source: Source) -> Iterator[Hit]:
    lone = [match.start() for match in _LONE.finditer(source.text)]
    if lone:
        line, column = source.place(lone[0])
        yield Hit(line, column, f"the file holds {len(lone):,} lone carriage returns, the first one here")


RULE = Rule(
    code="MX016",
    name="line-ends",
    severity="warning",
    judge="runner",
    finds="carriage returns without a line feed after them; CRLF line ends are fine everywhere",
    why=(
        "the server, KernelGuard and Python end a line there, most editors do not show it, and what looks like the "
        "rest of a comment is then a line of code"
    ),
    example="# a comment(0D)x = 1",
    fix="Save the file with LF line ends.",
    check=check,
)
