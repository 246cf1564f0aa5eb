"""MX013: a byte order mark, which hides the directives from the server."""

from collections.abc import Iterator

from mxsub.submit.lint.rule import Hit, Rule
from mxsub.submit.lint.source import BYTE_ORDER_MARK, Source


def check(source: Source) -> Iterator[Hit]:
    if source.text.startswith(BYTE_ORDER_MARK):
        lines = source.text[1:].split("\n", 1)[0].startswith(("#!POPCORN", "//!POPCORN"))
        yield Hit(
            1,
            1,
            "the file starts with a byte order mark"
            + (", so the server reads none of its directives" if lines else ", which the server takes for code"),
        )


RULE = Rule(
    code="MX013",
    name="byte-order-mark",
    severity="warning",
    judge="client",
    finds="the bytes EF BB BF at the start of the file",
    why=(
        "the server decodes the file as plain UTF-8, so that its first line starts with an invisible character and "
        "not with '#', and the block of directives ends before it begins"
    ),
    example="(EF BB BF)#!POPCORN leaderboard amd-mxfp4-mm",
    fix="Save the file as UTF-8 without a byte order mark.",
    check=check,
)
