"""What a lint rule reports: one place in a submission, what is wrong there, and what to do about it."""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]

# Who minds: the service when a submission is posted, KernelGuard before it is run, the runner's Python, or the
# official client that others will send the same file with.
Judge = Literal["service", "kernelguard", "runner", "client"]


@dataclass(frozen=True)
class Finding:
    """One finding. Errors keep a submission from running and passing; warnings do not.

    rule, name: e.g. "MX001", "banned-word". judge: who minds.
    line, column: 1-based; columns count characters.
    message: one sentence. why: the reason that the judge minds. fix: what to do.
    """

    rule: str
    name: str
    severity: Severity
    judge: Judge
    line: int
    column: int
    message: str
    why: str
    fix: str

    @property
    def hint(self) -> str:
        return self.fix

    @property
    def order(self) -> tuple[int, int, str, str]:
        """Sorts findings by place, then by rule, so that the same file always gives the same list."""
        return (self.line, self.column, self.rule, self.message)

    def to_text(self, filename: str) -> str:
        """`file:line:column: RULE name: message`."""
        return f"{filename}:{self.line}:{self.column}: {self.rule} {self.name}: {self.message}"

    def to_dict(self) -> dict[str, object]:
        return {
            "rule": self.rule,
            "name": self.name,
            "severity": self.severity,
            "judge": self.judge,
            "line": self.line,
            "column": self.column,
            "message": self.message,
            "why": self.why,
            "fix": self.fix,
        }
