"""MX012: too long for the runner's workflow, once compressed."""

import base64
import json
import zlib
from collections.abc import Iterator

from mxsub.submit.lint.rule import Hit, Rule
from mxsub.submit.lint.rules.mx011_size import MOST_BYTES
from mxsub.submit.lint.source import Source

MOST = 55_000
NEAR = 50_000


def compressed_length(text: str) -> int:
    """Characters of a submission as the launcher sends it: JSON, zlib, base64."""
    return len(base64.b64encode(zlib.compress(json.dumps({"submission.py": text}).encode())))


def check(source: Source) -> Iterator[Hit]:
    if len(source.data) <= NEAR * 3 // 5 or len(source.data) > MOST_BYTES:
        return  # It cannot grow that long; or it is refused before (MX011).
    length = compressed_length(source.text)
    if length > NEAR:
        over = "over" if length > MOST else "near"
        yield Hit(
            1,
            1,
            f"compressed, the file has {length:,} characters, {over} the {MOST:,} or so that the runner's workflow "
            "takes",
        )


RULE = Rule(
    code="MX012",
    name="compressed-size",
    severity="warning",
    judge="runner",
    finds=f"a file whose compressed, base64-coded form has more than {NEAR:,} characters",
    why=(
        "the launcher hands submission and task files to a GitHub workflow as one input, compressed and base64-coded, "
        "and GitHub takes 65,535 characters in all, of which the task's files need about 10,000; the service accepts "
        "a longer one, and its job then fails"
    ),
    example="(45,000 bytes of base64 or other data that does not compress)",
    fix="Take out embedded data and binaries; text of code alone hardly gets there.",
    check=check,
)
