"""What a lint rule is: its documentation, kept as text, and the function that finds."""

import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from mxsub.submit.lint.finding import Finding, Judge, Severity
from mxsub.submit.lint.source import Source

WIDTH = 100


@dataclass(frozen=True)
class Hit:
    """A place that a rule found: a 1-based line and column, and what is wrong there in one sentence.

    fix, severity: where they differ from the rule's own.
    """

    line: int
    column: int
    message: str
    fix: str | None = None
    severity: Severity | None = None


Check = Callable[[Source], Iterator[Hit]]
Needs = Literal["bytes", "text", "python"]


@dataclass(frozen=True)
class Rule:
    """One rule.

    code: "MX001". name: "banned-word". severity: of its findings, unless one says otherwise. judge: who minds.
    finds, why, fix: sentences. example: a submission, or the part of one, that is flagged.
    check: yields the places, in any order. needs: "bytes" where it also judges what is not UTF-8 text, "text", or
        "python" where it is about Python files only.
    details: more text for `mxsub explain`; may be empty.
    """

    code: str
    name: str
    severity: Severity
    judge: Judge
    finds: str
    why: str
    example: str
    fix: str
    check: Check
    needs: Needs = "text"
    details: str = ""

    def applies(self, source: Source) -> bool:
        """A rule about text has nothing to say of an empty file, or of one that is not text."""
        if self.needs == "bytes":
            return True
        readable = bool(source.data) and source.decode_error is None
        return readable and (source.is_python or self.needs != "python")

    def findings(self, source: Source) -> Iterator[Finding]:
        if not self.applies(source):
            return
        for hit in self.check(source):
            yield Finding(
                rule=self.code,
                name=self.name,
                severity=hit.severity or self.severity,
                judge=self.judge,
                line=hit.line,
                column=hit.column,
                message=hit.message,
                why=self.why,
                fix=hit.fix or self.fix,
            )

    def explain(self) -> str:
        """The rule's documentation, as `mxsub explain` prints it."""
        parts = [
            f"{self.code} {self.name} ({self.severity})",
            "",
            _paragraph("Finds", self.finds),
            _paragraph("Why", self.why),
            _paragraph("Fix", self.fix),
            "",
            "Flagged, for example:",
            "",
            textwrap.indent(self.example.rstrip("\n"), "    "),
        ]
        if self.details:
            parts += ["", self.details.rstrip("\n")]
        return "\n".join(parts)


def _paragraph(label: str, text: str) -> str:
    return textwrap.fill(f"{label + ':':<7}{text}", WIDTH, subsequent_indent=" " * 7, break_on_hyphens=False)
