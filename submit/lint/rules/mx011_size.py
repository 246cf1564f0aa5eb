"""MX011: more bytes than the service takes."""

from collections.abc import Iterator

from mxsub.submit.lint.rule import Hit, Rule
from mxsub.submit.lint.source import Source

MOST_BYTES = 1_000_000


def check(source: Source) -> Iterator[Hit]:
    if len(source.data) > MOST_BYTES:
        yield Hit(1, 1, f"the file has {len(source.data):,} bytes, and the service takes {MOST_BYTES:,} at most")


RULE = Rule(
    code="MX011",
    name="size",
    severity="error",
    judge="service",
    finds=f"a file of more than {MOST_BYTES:,} bytes",
    why="the service refuses it with HTTP 413, 'Submission file is too large (limit: 1MB)'",
    example="(a file of 1,000,001 bytes)",
    fix="Take out data and generated tables; compute them on import instead.",
    check=check,
    needs="bytes",
)
