"""A submission as Python reads it: the tree, or why there is none, and which text is comment or string."""

import ast
import bisect
import codecs
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

_LINE_END = re.compile(r"\r\n|\r|\n")

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
    """Parses and compiles a UTF-8 file's bytes as the runner's Python 3.12, as far as this Python can tell."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(data, feature_version=RUNNER_PYTHON)
        except SyntaxError as error:
            line, column = _place_in_text(error, data)
            return Parsed(None, _problem(error, data, line, column))
        except (RecursionError, MemoryError):
            return Parsed(None, Problem("depth", "nested too deeply", 1, 1))
        except ValueError as error:
            return Parsed(None, Problem("syntax", str(error), 1, 1))
        try:
            compile(tree, "submission.py", "exec", dont_inherit=True)
        except SyntaxError as error:
            # The compiler counts UTF-8 bytes, as the tree does.
            line, column = error.lineno or 1, error.offset or 1
            before = _line(data, line).encode()[: column - 1].decode("utf-8", "replace")
            return Parsed(None, _problem(error, data, line, len(before) + 1))
        except (RecursionError, MemoryError):
            return Parsed(None, Problem("depth", "nested too deeply", 1, 1))
    return Parsed(tree, None)


def _place_in_text(error: SyntaxError, data: bytes) -> tuple[int, int]:
    """Where a parser's error is: before Python 3.13 its column counts bytes when it parses bytes, so that the place
    is taken from parsing the text, where that fails as well."""
    try:
        ast.parse(data.decode("utf-8-sig", "replace"), feature_version=RUNNER_PYTHON)
    except SyntaxError as again:
        error = again
    except (ValueError, RecursionError, MemoryError):
        return 1, 1
    return max(error.lineno or 1, 1), max(error.offset or 1, 1)


def _problem(error: SyntaxError, data: bytes, line: int, column: int) -> Problem:
    """The problem at a place, which is moved into the text where Python puts it after a line's end."""
    text = _line(data, line)
    column = min(column, len(text) + 1) + (line == 1 and data.startswith(codecs.BOM_UTF8))
    message = error.msg or "invalid syntax"
    if "too many nested" in message or "too deep" in message or "recursion" in message:
        return Problem("depth", message, line, column)
    if sys.version_info < RUNNER_PYTHON and (message.startswith("f-string") or _NEWER_SYNTAX.search(text)):
        return Problem("newer", message, line, column)
    return Problem("syntax", message, line, column)


def _line(data: bytes, line: int) -> str:
    """The text of a 1-based line as Python counts them, without a byte order mark; empty after the last."""
    lines = _LINE_END.split(data.decode("utf-8-sig", "replace"))
    return lines[line - 1] if line <= len(lines) else ""


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
