"""A board's ranking and the user's place in it."""

from dataclasses import dataclass

from mxsub.submit.aiter_times import AITER_TIMES
from mxsub.submit.kernelbot import KernelBot, KernelBotError, RankingEntry
from mxsub.submit.posting.placing import Place, microseconds, place_of
from mxsub.submit.scores import geometric_mean

NEIGHBOURS = 2


@dataclass(frozen=True)
class Standing:
    """ranking: all of it, best first. place: None for who is not ranked, or not known.
    known: there is an id to ask with. aiter: the geometric mean of
    aiter's times, us; None for a board without."""

    leaderboard: str
    gpu: str
    ranking: tuple[RankingEntry, ...]
    place: Place | None
    known: bool
    aiter: float | None

    def rows(self, top: int) -> list[RankingEntry | None]:
        """The first `top` entries and those around the user; None where some between are left out."""
        wanted = set(range(min(top, len(self.ranking))))
        for own, entry in enumerate(self.ranking):
            if self.place is not None and entry.submission_id == self.place.submission:
                wanted |= set(range(max(0, own - NEIGHBOURS), min(len(self.ranking), own + NEIGHBOURS + 1)))
        rows: list[RankingEntry | None] = []
        last = -1
        for position in sorted(wanted):
            if position > last + 1:
                rows.append(None)
            rows.append(self.ranking[position])
            last = position
        return rows

    def to_dict(self) -> dict[str, object]:
        return {
            "leaderboard": self.leaderboard,
            "gpu": self.gpu,
            "unit": "us",
            "place": self.place and self.place.to_dict(),
            "aiter_geometric_mean": self.aiter,
            "ranking": [
                {
                    "rank": entry.rank,
                    "user": entry.user_name,
                    "submission": entry.submission_id,
                    "file_name": entry.file_name,
                    "mean": microseconds(entry),
                }
                for entry in self.ranking
            ],
        }


def standing(bot: KernelBot, leaderboard: str, gpu: str) -> Standing:
    """Asks for a ranking; an open board's needs no id. Raises KernelBotError where it cannot be read."""
    ranking = bot.ranking(leaderboard, gpu)
    user = _user_id(bot, leaderboard)
    aiter = geometric_mean(list(AITER_TIMES.get(leaderboard, {}).values()))
    return Standing(leaderboard, gpu, tuple(ranking), place_of(ranking, user), bot.cli_id is not None, aiter)


def _user_id(bot: KernelBot, leaderboard: str) -> str | None:
    """No route tells it, but the user's own submissions have it."""
    if bot.cli_id is None:
        return None
    try:
        entries = bot.submissions(leaderboard, limit=1)
        return bot.submission(entries[0].id).user_id if entries else None
    except KernelBotError:
        # The ranking was readable, which is what was asked for.
        return None
