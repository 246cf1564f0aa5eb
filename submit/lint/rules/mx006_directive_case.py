"""MX006: a board's name in upper case."""

from collections.abc import Iterator

from mxsub.submit.lint.rule import Hit, Rule
from mxsub.submit.lint.source import Source


def check(source: Source) -> Iterator[Hit]:
    for directive in source.directives.all:
        if directive.key != "leaderboard" or not directive.values:
            continue
        name = directive.values[0]
        refused_anyhow = directive.in_block and source.leaderboard not in (None, name)
        if name != name.lower() and not refused_anyhow:
            line, column = source.place(directive.starts[2])
            yield Hit(
                line,
                column,
                f"the official client posts this file to '{name.lower()}', and the server then refuses it for naming "
                f"'{name}'",
            )


RULE = Rule(
    code="MX006",
    name="directive-case",
    severity="warning",
    judge="client",
    finds="a `#!POPCORN leaderboard` line with capital letters",
    why=(
        "the official client writes the board's name in lower case into the address, and the server compares that "
        "with the line as it stands"
    ),
    example="""\
#!POPCORN leaderboard AMD-mxfp4-mm
""",
    fix="Write the board's name in lower case.",
    check=check,
)
