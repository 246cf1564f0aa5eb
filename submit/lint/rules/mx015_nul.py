"""MX015: NUL characters."""

from collections.abc import Iterator

from mxsub.submit.lint.rule import Hit, Rule
from mxsub.submit.lint.source import Source


def check(source: Source) -> Iterator[Hit]:
    offset = source.text.find("\0")
    if offset >= 0:
        line, column = source.place(offset)
        yield Hit(line, column, f"the file holds {source.text.count(chr(0)):,} NUL characters, the first one here")


RULE = Rule(
    code="MX015",
    name="nul",
    severity="error",
    judge="runner",
    finds="NUL characters (bytes 00)",
    why="Python refuses to read a source file with NUL in it, and the service's database cannot store such a text",
    example='x = "(00)"',
    fix=r"Write '\0' where a string needs one; a file full of them was saved as UTF-16.",
    check=check,
)
