"""MX004: a directive that the server does not see and the official client does."""

from collections.abc import Iterator

from mxsub.submit.lint.rule import Hit, Rule
from mxsub.submit.lint.source import BYTE_ORDER_MARK, Source


def check(source: Source) -> Iterator[Hit]:
    if source.text.startswith(BYTE_ORDER_MARK):
        return  # MX013 says that no directive of such a file is read.
    unread = source.directives.not_read_by_server
    if not unread:
        return
    ends = _line_that_ends_the_block(source)
    what = _what_ends_it(source, ends)
    for directive in unread:
        line, column = source.place(directive.offset)
        yield Hit(
            line,
            column,
            f"the server does not read this directive: its block of comment lines ends with line {ends}{what}",
        )


def _line_that_ends_the_block(source: Source) -> int:
    offset = 0
    for line in source.text.splitlines(keepends=True):
        if not line.startswith(("#", "//")):
            break
        offset += len(line)
    return source.place(offset)[0]


def _what_ends_it(source: Source, line: int) -> str:
    start = source.offset_of_line(line)
    text = source.text[start : source.offset_of_line(line + 1)].strip()
    if not text:
        return ", which is blank"
    if text.lstrip("rRbBuU").startswith(('"""', "'''")):
        return ", where a docstring starts"
    return ", which is no comment"


RULE = Rule(
    code="MX004",
    name="directive-not-read",
    severity="warning",
    judge="client",
    finds="`#!POPCORN` lines after the first comment block: after a blank line, a docstring or code",
    why=(
        "the server stops reading directives at the first line that starts with neither '#' nor '//', while the "
        "official client reads them in the whole file and lets the last one win, so the two disagree on the file"
    ),
    example='''\
"""My kernel."""
#!POPCORN leaderboard amd-mxfp4-mm
''',
    fix="Move the directives to the very top of the file, with no blank line before or between them.",
    check=check,
)
