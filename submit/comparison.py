"""Two versions side by side: what changed, and what came of it."""

from dataclasses import dataclass
from pathlib import Path

from mxsub.submit.diff import Difference, diff
from mxsub.submit.history import History
from mxsub.submit.inspect.side_by_side import SideBySide, side_by_side
from mxsub.submit.listing.result_comparison import ResultComparison, compare_results
from mxsub.submit.reference import submission_of, version_of


@dataclass(frozen=True)
class Comparison:
    """results: None where there is no history to have any. inspected: None where `mxsub inspect` has not seen both
    versions with a shape in common."""

    difference: Difference
    results: ResultComparison | None = None
    inspected: SideBySide | None = None

    def to_dict(self) -> dict[str, object]:
        return {
            **self.difference.to_dict(),
            "results": self.results and self.results.to_dict(),
            "inspected": self.inspected and self.inspected.to_dict(),
        }


def compare(a: str, b: str, folder: Path, context: int) -> Comparison:
    """What changed between two versions, each a file, or a tag, submission number or hash of the project's history; the
    results of each, for a number those of that submission; and what `mxsub inspect` found of both.

    Raises UsageError where there is no such version.
    """
    difference = diff(version_of(a, folder), version_of(b, folder), context)
    history = History.around_or_none(folder)
    if history is None:
        return Comparison(difference)
    hashes = difference.old.sha256, difference.new.sha256
    with history:
        named = submission_of(a, history), submission_of(b, history)
        return Comparison(difference, compare_results(history, hashes, named), _inspected(history, hashes))


def _inspected(history: History, hashes: tuple[str, str]) -> SideBySide | None:
    if hashes[0] == hashes[1]:
        return None
    old, new = (
        {shape: record.content for shape, record in history.inspections.of(sha256).items()} for sha256 in hashes
    )
    return side_by_side(old, new) if old.keys() & new.keys() else None
