"""MX002: a directive that the server refuses to read."""

from collections.abc import Iterator

from mxsub.submit.lint.directives import Directive
from mxsub.submit.lint.rule import Hit, Rule
from mxsub.submit.lint.source import Source


def check(source: Source) -> Iterator[Hit]:
    """The server stops at the first one; the others are shown too, as they would be next."""
    seen: dict[str, int] = {}
    for directive in source.directives.read_by_server:
        position, message = _complaint(directive, seen)
        if message:
            line, column = source.place(directive.starts[position])
            yield Hit(line, column, message)
        elif directive.key:
            seen[directive.key] = source.place(directive.offset)[0]


def _complaint(directive: Directive, seen: dict[str, int]) -> tuple[int, str]:
    """Which word of it is wrong and why, in the server's order of checks; an empty sentence where none is."""
    words = directive.words
    if len(words) == 1:
        return 0, f"'{words[0]}' alone is refused by the server with 'list index out of range'"
    if len(words) == 2:
        return 1, f"the directive '{words[1]}' has no value, and the server refuses it"
    if directive.key is None:
        return (
            1,
            f"there is no directive '{words[1]}', and the server refuses it; there are 'gpu' and 'leaderboard'",
        )
    if directive.key in seen:
        return (
            1,
            f"'{words[1]}' is given again after line {seen[directive.key]}, and the server refuses the second",
        )
    return 0, ""


RULE = Rule(
    code="MX002",
    name="directive-refused",
    severity="error",
    judge="service",
    finds="`#!POPCORN` lines in the first comment block that are unknown, incomplete or given twice",
    why=(
        "the server reads the comment lines from the top of the file to the first line that is none, and refuses the "
        "submission at the first directive that it cannot read; the official client takes no notice of any of these"
    ),
    example="""\
#!POPCORN leaderboard amd-mxfp4-mm
#!POPCORN gpu
#!POPCORN team blue
#!POPCORN leaderboard amd-mixed-mla
""",
    fix="Keep one line '#!POPCORN leaderboard NAME' and one '#!POPCORN gpu GPU', and no other.",
    check=check,
)
