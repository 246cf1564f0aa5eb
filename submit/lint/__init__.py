"""Judges a submission before it is sent, as the service will judge it afterwards.

lint(data) -> findings, sorted by place; none of them an error means that the service takes the file, KernelGuard
lets it run, and the runner's Python can import it.
"""

from mxsub.submit.lint.finding import Finding, Judge, Severity
from mxsub.submit.lint.guard import PendingVerdict

__all__ = ["Finding", "Judge", "Severity", "accepted", "explain", "lint", "rule_list"]


def lint(
    data: bytes,
    *,
    leaderboard: str | None = None,
    gpus: tuple[str, ...] = (),
    filename: str = "submission.py",
    verdict: PendingVerdict | None = None,
) -> list[Finding]:
    """All findings about a submission's bytes, sorted by place.

    leaderboard: the board that it is for; None leaves the file's own name of it unchecked.
    gpus: the GPUs that it may name; empty leaves them unchecked but for names that no board has.
    filename: the name that it will be posted under.
    verdict: KernelGuard's, where it was asked already: it takes longer than all the rest.
    """
    from mxsub.submit.lint.registry import all_rules
    from mxsub.submit.lint.source import Source

    source = Source(data, filename, leaderboard, gpus, verdict=verdict)
    found = (finding for rule in all_rules() for finding in rule.findings(source))
    return sorted(found, key=lambda finding: finding.order)


def accepted(findings: list[Finding]) -> bool:
    """No finding is an error."""
    return all(finding.severity != "error" for finding in findings)


def explain(name: str) -> str:
    """A rule's documentation, by code or name; UsageError for an unknown one."""
    from mxsub.submit.lint.registry import rule_named

    return rule_named(name).explain()


def rule_list() -> str:
    """One line a rule: code, name, severity, and what it finds."""
    from mxsub.submit.lint.registry import all_rules

    width = max(len(rule.name) for rule in all_rules())
    return "\n".join(f"{rule.code}  {rule.name:<{width}}  {rule.severity:<7}  {rule.finds}" for rule in all_rules())
