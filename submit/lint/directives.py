"""`#!POPCORN` lines, as the server reads them and as the official client does.

The server reads lines from the first one while each starts with `#` or `//` in column 0; the first other line, a
blank one included, ends the block. The official client reads every such line of the file, and the last one wins.
"""

import re
from dataclasses import dataclass

MARKS = ("#!POPCORN", "//!POPCORN")
KEYS = {"gpu": "gpu", "gpus": "gpu", "leaderboard": "leaderboard"}

# What str.split() splits into.
_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Directive:
    """One line whose first word is a mark.

    offset: of the line's first character in the text. words: of the line, the mark first. starts: where each word
    starts in the text. in_block: the server reads it.
    """

    offset: int
    words: tuple[str, ...]
    starts: tuple[int, ...]
    in_block: bool

    @property
    def key(self) -> str | None:
        """ "gpu" or "leaderboard", or None for what is neither."""
        return KEYS.get(self.words[1].lower()) if len(self.words) > 1 else None

    @property
    def values(self) -> tuple[str, ...]:
        return self.words[2:]


class Directives:
    """All directives of a text, in order.

    all: every line that starts with a mark in column 0. lookalikes: comment lines that a reader takes for directives
    and that neither the server nor the official client does, as (offset, line).
    """

    def __init__(self, text: str) -> None:
        self.all: list[Directive] = []
        self.lookalikes: list[tuple[int, str]] = []
        offset = 0
        in_block = True
        for line in text.splitlines(keepends=True):
            if line.startswith(("#", "//")):
                words = line.split()
                if words[0] in MARKS:
                    starts = tuple(offset + word.start() for word in _WORD.finditer(line))
                    self.all.append(Directive(offset, tuple(words), starts, in_block))
                elif _looks_like_one(words):
                    self.lookalikes.append((offset, line.rstrip()))
            else:
                in_block = False
            offset += len(line)

    @property
    def read_by_server(self) -> list[Directive]:
        return [directive for directive in self.all if directive.in_block]

    @property
    def not_read_by_server(self) -> list[Directive]:
        return [directive for directive in self.all if not directive.in_block]


def _looks_like_one(words: list[str]) -> bool:
    """`# !POPCORN gpu X`, `#!popcorn gpu X`, `# POPCORN gpu X`: a mark written otherwise, then a key; without the
    exclamation mark only where one value and nothing more follows, since a sentence may start like that."""
    for width in (1, 2):
        mark = "".join(words[:width]).upper()
        if len(words) > width and words[width].lower() in KEYS:
            return mark in MARKS or (mark in ("#POPCORN", "//POPCORN") and len(words) == width + 2)
    return False
