"""What has to be true of a text before it may leave: lint accepts it, and it has passed here, this very text."""

from collections.abc import Set
from dataclasses import dataclass

# What a local run in a mode is worth: each line's modes, any of which will do, for every mode to submit in.
NEEDED: dict[str, tuple[frozenset[str], ...]] = {
    "test": (frozenset({"test"}),),
    "benchmark": (frozenset({"benchmark", "leaderboard"}),),
    "profile": (frozenset({"profile", "benchmark", "leaderboard"}),),
    "leaderboard": (frozenset({"test"}), frozenset({"leaderboard"})),
}


@dataclass(frozen=True)
class Gate:
    """refusals: why lint refuses the text, a sentence each. missing: the modes of `mxsub test` that it has yet to
    pass."""

    refusals: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def open(self) -> bool:
        return not self.refusals and not self.missing

    @property
    def skipped(self) -> list[str]:
        """What `--force` goes without, a phrase each."""
        return [f"lint's refusal ({refusal})" for refusal in self.refusals] + [
            f"`mxsub test --mode {mode}`, which this text has not passed here" for mode in self.missing
        ]


def missing_modes(mode: str, passed: Set[str]) -> tuple[str, ...]:
    """The modes of `mxsub test` that are still to be passed before a submission in a mode."""
    return tuple(mode if mode in choice else min(choice) for choice in NEEDED[mode] if not choice & passed)
