"""Conflicts of LDS accesses: how many cycles an access takes, and how many of them because lanes meet in a bank.

The hardware serves a wave's lanes in groups, one group a cycle, and a cycle more for every further word that lanes of a
group want of one bank; lanes that want the same word share it. Which lanes form a group depends on the width.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.memory import READS
from mxsub.virtual.waves import LANES

Array = npt.NDArray[Any]

WORD = 4


@dataclass(frozen=True)
class Grouping:
    """banks: of 4 bytes each. groups: lane numbers, (groups, lanes)."""

    banks: int
    groups: Array


def _runs(lanes: int) -> Array:
    """Groups of lanes with consecutive numbers."""
    return np.arange(LANES).reshape(-1, lanes)


def _quads(*groups: tuple[int, ...]) -> Array:
    """Groups of fours of lanes, given for the first 32; the others are alike."""
    half = np.array([[4 * quad + k for quad in group for k in range(4)] for group in groups])
    return np.concatenate([half, half + LANES // 2])


# (verb, bytes of a lane) -> grouping. Measured: HipKittens (arXiv 2511.08083), analysis/paper_experiments/phases, for
# reads of 8, 12 and 16 bytes and writes of 8; the Composable Kernel documentation ("LDS bank conflicts") for writes of
# 16. Assumed: reads of up to 4 bytes like those of 8, in one group of 64 lanes, which is the bandwidth of 64 banks;
# writes of up to 4 bytes and of 12 like the other writes, with 32 banks.
_READS = {
    4: Grouping(64, _runs(64)),
    8: Grouping(64, _runs(32)),
    12: Grouping(32, _quads((0, 5), (1, 4), (2, 7), (3, 6))),
    16: Grouping(64, _quads((0, 3, 5, 6), (1, 2, 4, 7))),
}
_WRITES = {
    4: Grouping(32, _runs(32)),
    8: Grouping(32, _runs(16)),
    12: Grouping(32, _runs(8)),
    16: Grouping(32, _runs(8)),
}


def grouping(verb: str, size: int) -> Grouping:
    """verb: of the access, see memory.py; an atomic goes as a write. size: bytes of a lane."""
    table = _READS if verb == READS else _WRITES
    return table[min(width for width in table if width >= min(size, 16))]


class Conflicts:
    """Counts the cycles of accesses; patterns that come again are looked up."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int, bytes], tuple[int, int]] = {}

    def cycles(self, addresses: Array, mask: Array | None, size: int, verb: str) -> Array:
        """(waves, 2): the cycles that each wave's access takes, and how many of them are due to conflicts.

        addresses: int64 (waves, 64), bytes. mask: the lanes that are on, None for all.
        """
        wanted = addresses if mask is None else np.where(mask, addresses, -1)
        wanted = np.ascontiguousarray(np.broadcast_to(wanted, (len(wanted), LANES)))
        result = np.empty((len(wanted), 2), np.int64)
        for row, lanes in enumerate(wanted):
            key = (verb, size, lanes.tobytes())
            if key not in self._known:
                self._known[key] = _cycles(lanes, size, grouping(verb, size))
            result[row] = self._known[key]
        return result


def _cycles(lanes: Array, size: int, how: Grouping) -> tuple[int, int]:
    """lanes: int64 (64,), the byte addresses, -1 where a lane is off."""
    taken = needed = 0
    words = -(-size // WORD)
    for group in how.groups:
        first = lanes[group]
        first = first[first >= 0] // WORD
        if not len(first):
            continue
        distinct = np.unique(first[:, None] + np.arange(words))
        needed += 1
        taken += int(np.bincount(distinct % how.banks).max())
    return taken, taken - needed
