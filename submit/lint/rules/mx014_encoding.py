"""MX014: bytes that are not UTF-8."""

from collections.abc import Iterator

from mxsub.submit.lint.rule import Hit, Rule
from mxsub.submit.lint.source import Source


def check(source: Source) -> Iterator[Hit]:
    error = source.decode_error
    if error is None:
        return
    before = source.data[: error.start].decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1) + 1
    yield Hit(
        line,
        column,
        f"the byte 0x{source.data[error.start]:02X} at offset {error.start:,} is not UTF-8 ({error.reason})",
    )


RULE = Rule(
    code="MX014",
    name="encoding",
    severity="error",
    judge="service",
    finds="a file that is not UTF-8 text",
    why="the service refuses it with 'Failed to decode submission file content as UTF-8'",
    example='x = "caf(E9)"  # the byte E9 of Latin-1',
    fix="Save the file as UTF-8.",
    check=check,
    needs="bytes",
)
