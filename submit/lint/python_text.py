"""A submission as Python reads it: the tree, or why there is none, and which text is comment or string."""

import ast
import bisect
import re
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

RUNNER_PYTHON = (3, 12)

# What Python 3.12 reads and older ones do not: f-strings that reuse their quotes, type parameters, `type` statements.
_NEWER_SYNTAX = re.compile(
    r"""\b(?:[fF][rR]?|[rR][fF])["']|^\s*type\s+\w+|\bdef\s+\w+\s*\[|\bclass\s+\w+\s*\[""", re.MULTILINE
)

# Comments and strings of Python, also of text that does not parse; an unclosed string ends with its line, an
# unclosed triple-quoted one with the text. Each alternative always matches to an end, so a scan is linear.
_TOKENS = re.compile(
    r"""(?P<comment>\#[^\r\n]*)
    |(?P<prefix>\b[A-Za-z]{1,2})?
     (?P<string>\"{3}(?:\\.|[^\\])*?(?:\"{3}|\Z)|'{3}(?:\\.|[^\\])*?(?:'{3}|\Z)
     |\"(?:\\.|[^"\\\r\n])*(?:\"|(?=[\r\n])|\Z|\\\Z)|'(?:\\.|[^'\\\r\n])*(?:'|(?=[\r\n])|\Z|\\\Z))""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Problem:
    """Why Python cannot read a text.

    kind: "syntax"; "newer" where this Python is older than the runner's, which may read it; "depth" where the
        parser gives up on nesting, at a depth that differs between Python versions.
    line, column: 1-based; columns count characters.
    """

    kind: Literal["syntax", "newer", "depth"]
    message: str
    line: int
    column: int


@dataclass(frozen=True)
class Parsed:
    """The tree of a text, or the problem that there is none."""

    tree: ast.Module | None
    problem: Problem | None


def parse(data: bytes) -> Parsed:
    """Parses and compiles a file's bytes as the runner's Python 3.12, as far as this Python can tell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(data, feature_version=RUNNER_PYTHON)
            compile(tree, "submission.py", "exec", dont_inherit=True)
        except SyntaxError as error:
            return Parsed(None, _syntax_problem(error, data))
        except (RecursionError, MemoryError):
            return Parsed(None, Problem("depth", "nested too deeply", 1, 1))
        except ValueError as error:
            return Parsed(None, Problem("syntax", str(error), 1, 1))
    return Parsed(tree, None)


def _syntax_problem(error: SyntaxError, data: bytes) -> Problem:
    line, column = max(error.lineno or 1, 1), max(error.offset or 1, 1)
    message = error.msg or "invalid syntax"
    if "too many nested" in message or "too deep" in message or "recursion" in message:
        return Problem("depth", message, line, column)
    if sys.version_info < RUNNER_PYTHON:
        last = error.end_lineno or line
        lines = data.decode("utf-8", "replace").splitlines()[line - 1 : last]
        if message.startswith("f-string") or _NEWER_SYNTAX.search("\n".join(lines)):
            return Problem("newer", message, line, column)
    return Problem("syntax", message, line, column)


@dataclass(frozen=True)
class Span:
    """A comment or a string of a text, from `start` to before `end`."""

    kind: Literal["comment", "string"]
    start: int
    end: int


class Spans:
    """The comments and strings of a text, in order."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def all(self) -> tuple[Span, ...]:
        return tuple(self._scan())

    @cached_property
    def _starts(self) -> list[int]:
        return [span.start for span in self.all]

    def _scan(self) -> Iterator[Span]:
        for match in _TOKENS.finditer(self._text):
            kind: Literal["comment", "string"] = "comment" if match["comment"] else "string"
            yield Span(kind, match.start(kind), match.end())

    def at(self, offset: int) -> Span | None:
        """The comment or string that holds the character at `offset`."""
        position = bisect.bisect_right(self._starts, offset) - 1
        if position >= 0 and offset < self.all[position].end:
            return self.all[position]
        return None
