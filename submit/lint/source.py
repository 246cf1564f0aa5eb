"""A submission as the rules see it: bytes, text, places, tree, directives and KernelGuard's verdict, each made once."""

import ast
import bisect
import re
from functools import cached_property

from mxsub.submit.lint.directives import Directives
from mxsub.submit.lint.entry_point import EntryPoint
from mxsub.submit.lint.guard import PendingVerdict, Verdict
from mxsub.submit.lint.python_text import Parsed, Spans, parse

_LINE_END = re.compile(r"\r\n|\r|\n")
BYTE_ORDER_MARK = "\ufeff"


class Source:
    """One submission, and what is known of where it goes.

    data: the file's bytes. filename: the name that it is posted under.
    leaderboard: the board that it is for, or None. gpus: the board's GPUs; empty where they are not known.
    judged: whether KernelGuard is asked, in the background, from now on.
    verdict: KernelGuard's, where it was asked already.
    """

    def __init__(
        self,
        data: bytes,
        filename: str,
        leaderboard: str | None,
        gpus: tuple[str, ...],
        *,
        judged: bool = True,
        verdict: PendingVerdict | None = None,
    ) -> None:
        self.data = data
        self.filename = filename
        self.leaderboard = leaderboard
        self.gpus = gpus
        self.decode_error: UnicodeDecodeError | None = None
        try:
            self.text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            self.decode_error = error
            self.text = ""
        readable = bool(data) and self.decode_error is None
        self._verdict = (verdict or PendingVerdict(self.text)) if judged and readable else None

    @property
    def is_python(self) -> bool:
        """The service also takes CUDA files, and an unknown name is judged as Python."""
        return not self.filename.endswith((".cu", ".cuh", ".cpp"))

    @cached_property
    def spans(self) -> Spans:
        return Spans(self.text)

    @cached_property
    def directives(self) -> Directives:
        return Directives(self.text)

    @cached_property
    def parsed(self) -> Parsed:
        """The tree, or why there is none; only for text that is UTF-8."""
        return parse(self.data)

    @cached_property
    def entry_point(self) -> EntryPoint | None:
        """How the file binds custom_kernel; None where it cannot be parsed."""
        return EntryPoint(self.parsed.tree) if self.parsed.tree else None

    @property
    def verdict(self) -> Verdict | None:
        """KernelGuard's verdict; waits for it. None for what never reaches it."""
        return self._verdict.result() if self._verdict else None

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    def place(self, offset: int) -> tuple[int, int]:
        """The 1-based line and column of a character."""
        line = bisect.bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def offset_of_line(self, line: int) -> int:
        """Where a 1-based line starts; the text's end for a line after the last."""
        return self._line_starts[line - 1] if line <= len(self._line_starts) else len(self.text)

    def place_of(self, node: ast.AST) -> tuple[int, int]:
        """The 1-based line and column of a node, whose own column counts UTF-8 bytes."""
        line: int = getattr(node, "lineno", 1)
        byte: int = getattr(node, "col_offset", 0)
        start = self.offset_of_line(line)
        before = self.text[start : start + byte].encode()[:byte].decode("utf-8", "replace")
        marked = line == 1 and self.text.startswith(BYTE_ORDER_MARK)
        return line, len(before) + 1 + marked
