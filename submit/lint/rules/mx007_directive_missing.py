"""MX007: no directive for the board or the GPU."""

from collections.abc import Iterator

from mxsub.submit.lint.rule import Hit, Rule
from mxsub.submit.lint.source import Source

_OPTIONS = {"leaderboard": "--leaderboard", "gpu": "--gpu"}


def check(source: Source) -> Iterator[Hit]:
    directives = source.directives
    given = {directive.key for directive in directives.all}
    if directives.lookalikes:
        return  # MX008 has the line that was meant.
    missing = [key for key in _OPTIONS if key not in given]
    if missing:
        lines = " and ".join(f"'#!POPCORN {key}'" for key in missing)
        options = " and ".join(_OPTIONS[key] for key in missing)
        yield Hit(1, 1, f"there is no {lines} line, so the official client needs {options}")


RULE = Rule(
    code="MX007",
    name="directive-missing",
    severity="warning",
    judge="client",
    finds="no `#!POPCORN leaderboard` or `#!POPCORN gpu` line in the file",
    why=(
        "the service needs neither, as mxsub posts a file to an address with both names in it; but the official "
        "client, and whoever gets the file from you, learns from these lines where it belongs"
    ),
    example="""\
import torch
""",
    fix="Start the file with '#!POPCORN leaderboard NAME' and '#!POPCORN gpu GPU'.",
    check=check,
)
