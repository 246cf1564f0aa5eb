"""Finds the line that made KernelGuard match: its answers say what, not where."""

import re
from functools import cache

from mxsub.submit.lint.entry_point import NAME
from mxsub.submit.lint.guard import Match
from mxsub.submit.lint.guard_patterns import PATTERNS, UNKNOWN
from mxsub.submit.lint.source import Source

# What evidence quotes from the code: `import reference`, `from reference import ref_kernel`.
_STATEMENT = re.compile(r"\A(?:import \S+|from \S+ import \S+)")
_WORDS = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*")
_ENTRY = re.compile(rf"^[ \t]*(?:async[ \t]+)?def[ \t]+{NAME}\b", re.MULTILINE)

# Matches that are all in comments are as good as none; more are not worth looking at.
_MOST_TRIES = 1000


def locate(source: Source, match: Match) -> int | None:
    """The offset of the text that a match is most likely about: what its evidence quotes, else what its pattern
    looks like, else the entry point; None where the file has none of them."""
    statement = _STATEMENT.match(match.evidence)
    if statement:
        found = _first_in_code(source, re.compile(re.escape(statement[0].rstrip(",")) + r"\b"))
        if found is not None:
            return found
    for clue in PATTERNS.get(match.pattern, UNKNOWN).clues:
        found = _first_in_code(source, _compiled(clue))
        if found is not None:
            return found
    quoted = [word for word in _WORDS.findall(match.evidence) if ("_" in word or "." in word) and word != NAME]
    for word in quoted:
        found = _first_in_code(source, re.compile(rf"\b{re.escape(word)}\b"))
        if found is not None:
            return found
    return _first_in_code(source, _ENTRY)


@cache
def _compiled(clue: str) -> re.Pattern[str]:
    return re.compile(clue)


def _first_in_code(source: Source, pattern: re.Pattern[str]) -> int | None:
    """The first match that is in no comment: KernelGuard looks into strings too, where C++ code is."""
    for tries, match in enumerate(pattern.finditer(source.text)):
        span = source.spans.at(match.start())
        if span is None or span.kind != "comment":
            return match.start()
        if tries > _MOST_TRIES:
            return None
    return None
