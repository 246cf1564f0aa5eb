"""MX001: the word that the service bans."""

import re
from collections.abc import Iterator

from mxsub.submit.lint.rule import Hit, Rule
from mxsub.submit.lint.source import Source

# The server lower-cases the text and looks for the six letters; no other character lower-cases to one of them.
WORD = "stream"
_WORD = re.compile(WORD, re.IGNORECASE | re.ASCII)
_IDENTIFIER_LEFT = re.compile(r"\w*\Z")
_IDENTIFIER_RIGHT = re.compile(r"\w*")

# A file with more is either generated or no submission; the last finding says how many there are.
MOST = 200
# Longer "identifiers" are data; without a limit, a megabyte of letters would be cut out once for each occurrence.
LONGEST = 60


def check(source: Source) -> Iterator[Hit]:
    places = [match.start() for match in _WORD.finditer(source.text)]
    for offset in places[:MOST]:
        line, column = source.place(offset)
        yield Hit(line, column, _message(source, offset))
    if len(places) > MOST:
        line, column = source.place(places[MOST])
        yield Hit(
            line,
            column,
            f"the banned word '{WORD}' stands here and {len(places) - MOST - 1:,} times more after it, "
            f"{len(places):,} times in all",
        )


def _message(source: Source, offset: int) -> str:
    identifier = _identifier(source.text, offset)
    span = source.spans.at(offset)
    place = f"in a {span.kind}" if span else "in the code"
    if len(identifier) == len(WORD):
        return f"the banned word '{WORD}' stands {place}"
    return f"'{identifier}' {place} holds the banned word '{WORD}'"


def _identifier(text: str, offset: int) -> str:
    """The identifier around a word, cut where it is far longer than any real one."""
    left = _IDENTIFIER_LEFT.search(text[max(offset - LONGEST, 0) : offset])
    right = _IDENTIFIER_RIGHT.match(text[offset : offset + LONGEST])
    return (left[0] if left else "") + (right[0] if right else "")


RULE = Rule(
    code="MX001",
    name="banned-word",
    severity="error",
    judge="service",
    finds=f"the six letters '{WORD}' in a row, in any case, anywhere in the file: code, comments and strings alike",
    why=(
        "the service refuses the whole file with HTTP 500 and 'Your code contains work on another stream', because "
        "work on a second queue would run outside the timed interval; it looks at letters, not at meaning"
    ),
    example="""\
# upstream fix for Triton 3.6
queue = torch.cuda.current_stream()
source = "cudaStream_t queue;"
""",
    fix=(
        "Reword comments and rename identifiers (upstream: source, original; downstream: later, consumer); launch "
        "kernels without naming a queue. Never assemble the word: getting round the ban is grounds for "
        "disqualification."
    ),
    check=check,
)
