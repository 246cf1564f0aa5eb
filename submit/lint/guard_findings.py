"""KernelGuard's matches as places in a submission, each explained."""

from collections.abc import Iterator

from mxsub.submit.lint.guard_patterns import PATTERNS, UNKNOWN
from mxsub.submit.lint.guard_places import locate
from mxsub.submit.lint.rule import Hit
from mxsub.submit.lint.source import Source


def hits(source: Source, *, filtering: bool) -> Iterator[Hit]:
    """The matches that get the submission rejected, or the others; none where there is no verdict."""
    verdict = source.verdict
    if verdict is None:
        return
    for match in verdict.matches:
        if match.filters != filtering:
            continue
        offset = locate(source, match)
        line, column = source.place(offset or 0)
        known = PATTERNS.get(match.pattern, UNKNOWN)
        where = "" if offset is not None else ", in a place that it does not tell"
        consequence = (
            "the service would reject this before benchmark, profile and leaderboard runs, not before test"
            if filtering
            else "noticed, and not rejected for it"
        )
        yield Hit(
            line,
            column,
            f"KernelGuard's {match.pattern} ({match.severity}): the code {known.meaning}{where} "
            f"[{_one_line(match.evidence)}]; {consequence}",
            known.fix,
        )


def _one_line(evidence: str) -> str:
    return " ".join(evidence.split())
