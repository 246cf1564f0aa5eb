"""MX008: a comment that looks like a directive and is none."""

from collections.abc import Iterator

from mxsub.submit.lint.rule import Hit, Rule
from mxsub.submit.lint.source import Source


def check(source: Source) -> Iterator[Hit]:
    for offset, text in source.directives.lookalikes:
        line, column = source.place(offset)
        yield Hit(line, column, f"'{text[:60]}' is a plain comment for the server and for the official client")


RULE = Rule(
    code="MX008",
    name="directive-lookalike",
    severity="warning",
    judge="client",
    finds="comments such as `# !POPCORN gpu MI355X` or `#!popcorn gpu MI355X`",
    why="a directive's first word must be exactly '#!POPCORN' or '//!POPCORN', in capitals and with no space in it",
    example="""\
# !POPCORN leaderboard amd-mxfp4-mm
#!popcorn gpu MI355X
""",
    fix="Write '#!POPCORN' without a space and in capitals, or reword the comment.",
    check=check,
)
