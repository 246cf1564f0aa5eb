"""A submission's place in the ranking."""

from collections.abc import Sequence
from dataclasses import dataclass

from mxsub.submit.kernelbot import RankingEntry
from mxsub.submit.scores import MICROSECONDS_PER_SECOND


@dataclass(frozen=True)
class Place:
    """rank: ties share one. of: how many are ranked. mean: us. best: whether it is this very submission that is
    ranked, or an earlier one of the user's. ahead: the next better rank, its user and its mean in us; None at the top.
    """

    rank: int
    of: int
    submission: int
    user: str | None
    mean: float
    ahead: RankingEntry | None

    @property
    def gap(self) -> float | None:
        """How much faster the next better rank is, in us."""
        return None if self.ahead is None else self.mean - microseconds(self.ahead)

    @property
    def gap_percent(self) -> float | None:
        """The same as a share of the own mean."""
        return None if self.gap is None else 100 * self.gap / self.mean

    def to_dict(self) -> dict[str, object]:
        ahead = self.ahead and {
            "rank": self.ahead.rank, "user": self.ahead.user_name, "mean": microseconds(self.ahead),
        }  # fmt: skip
        return {
            "rank": self.rank, "of": self.of, "submission": self.submission, "user": self.user, "mean": self.mean,
            "unit": "us", "ahead": ahead, "gap": self.gap,
        }  # fmt: skip


def place_of(ranking: Sequence[RankingEntry], user_id: str | None) -> Place | None:
    """Where a user stands; None for one that is not ranked. ranking: all of it, best first."""
    own = next((entry for entry in ranking if user_id is not None and entry.user_id == user_id), None)
    if own is None:
        return None
    better = [entry for entry in ranking if entry.rank < own.rank]
    ahead = max(better, key=lambda entry: entry.rank) if better else None
    return Place(own.rank, len(ranking), own.submission_id, own.user_name, microseconds(own), ahead)


def microseconds(entry: RankingEntry) -> float:
    """A ranked score, which is in seconds, in us."""
    return float(entry.score) * MICROSECONDS_PER_SECOND
