"""MX003: a directive that names another board."""

from collections.abc import Iterator

from mxsub.submit.lint.rule import Hit, Rule
from mxsub.submit.lint.source import Source


def check(source: Source) -> Iterator[Hit]:
    if source.leaderboard is None:
        return
    named = [d for d in source.directives.read_by_server if d.key == "leaderboard" and d.values]
    for directive in named[:1]:
        name = directive.values[0]
        if name != source.leaderboard:
            only_case = name.lower() == source.leaderboard.lower()
            line, column = source.place(directive.starts[2])
            yield Hit(
                line,
                column,
                f"the file names the board '{name}', and is for '{source.leaderboard}'"
                + (": the server tells upper from lower case" if only_case else ""),
                f"Write '#!POPCORN leaderboard {source.leaderboard}', or leave the line out.",
            )


RULE = Rule(
    code="MX003",
    name="directive-board",
    severity="error",
    judge="service",
    finds="a `#!POPCORN leaderboard` line with another name than the board that the file is for, case included",
    why="the server compares it with the board's name in the address that the file is posted to, and refuses",
    example="""\
#!POPCORN leaderboard AMD-MXFP4-MM
""",
    fix="Write the board's name as the service spells it, or leave the line out.",
    check=check,
)
