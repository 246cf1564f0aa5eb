"""Conflicts of LDS accesses: the experiments by which the hardware's groups were measured, and their consequences."""

import numpy as np
import pytest

from mxsub.virtual.inspection.banks import Conflicts
from mxsub.virtual.memory import READS, WRITES

LANES = np.arange(64, dtype=np.int64)


def cycles(addresses: np.ndarray, size: int, verb: str = READS, mask: np.ndarray | None = None) -> tuple[int, int]:
    taken, conflicts = Conflicts().cycles(addresses[None], None if mask is None else mask[None], size, verb)[0]
    return int(taken), int(conflicts)


def two_lanes(first: int, second: int, apart: int, size: int, verb: str) -> int:
    """The conflicts of two lanes alone, the second reaching `apart` bytes further."""
    addresses, mask = np.zeros(64, np.int64), np.zeros(64, bool)
    addresses[second] = apart
    mask[[first, second]] = True
    return cycles(addresses, size, verb, mask)[1]


@pytest.mark.parametrize(
    ("size", "verb", "first", "together", "apart_from"),
    [
        (16, READS, 0, (1, 2, 3, 12, 15, 20, 27), (4, 8, 16, 31, 32)),
        (16, READS, 4, (5, 11, 16, 19, 28, 31), (0, 12, 20, 36)),
        (16, READS, 32, (35, 44, 52, 59), (0, 36, 48, 60)),
        (8, READS, 0, (1, 15, 16, 31), (32, 63)),
        (12, READS, 0, (1, 3, 20, 23), (4, 12, 24, 32)),
        (8, WRITES, 0, (1, 15), (16, 31, 32)),
        (16, WRITES, 8, (9, 15), (7, 16)),
    ],
)
def test_groups(size: int, verb: str, first: int, together: tuple[int, ...], apart_from: tuple[int, ...]) -> None:
    """As HipKittens measured it: two lanes that want one bank conflict where they are in one group."""
    assert [two_lanes(first, other, 1024, size, verb) for other in together] == [1] * len(together)
    assert [two_lanes(first, other, 1024, size, verb) for other in apart_from] == [0] * len(apart_from)


@pytest.mark.parametrize(
    ("size", "verb", "banks"), [(16, READS, 64), (8, READS, 64), (12, READS, 32), (8, WRITES, 32), (16, WRITES, 32)]
)
def test_banks(size: int, verb: str, banks: int) -> None:
    """The first bank that comes again."""
    others = [bank for bank in range(4, 129) if two_lanes(0, 1, 4 * bank, size, verb)]
    near = set(range(banks - size // 4 + 1, banks + size // 4))
    assert others[0] == min(near)
    assert near <= set(others)


@pytest.mark.parametrize(
    ("size", "verb", "taken"),
    [(4, READS, 1), (8, READS, 2), (16, READS, 4), (4, WRITES, 2), (8, WRITES, 4), (16, WRITES, 8)],
)
def test_neighbours_conflict_nowhere(size: int, verb: str, taken: int) -> None:
    assert cycles(LANES * size, size, verb) == (taken, 0)


def test_strides() -> None:
    assert cycles(LANES * 256, 4) == (64, 63)  # every lane wants bank 0
    assert cycles(LANES * 128, 4) == (32, 31)  # two banks between them
    assert cycles(LANES * 8, 4) == (2, 1)
    assert cycles(LANES * 12, 4) == (1, 0)  # 3 has no factor in common with 64


def test_the_same_word_is_shared() -> None:
    assert cycles(np.zeros(64, np.int64), 4) == (1, 0)
    assert cycles(LANES // 2 * 4, 4) == (1, 0)


def test_lanes_that_are_off_want_nothing() -> None:
    assert cycles(LANES * 256, 4, READS, LANES < 8) == (8, 7)
    assert cycles(LANES * 16, 16, READS, LANES < 4) == (1, 0)


def test_patterns_are_told_apart() -> None:
    """One object counts many: reads and writes, rows of several waves."""
    conflicts = Conflicts()
    both = np.stack([LANES * 16, LANES * 64])
    first = conflicts.cycles(both, None, 16, READS)
    assert first.tolist() == conflicts.cycles(both, None, 16, READS).tolist()
    assert first[0].tolist() == [4, 0]
    assert first[1, 1] > 0
    assert conflicts.cycles(both, None, 16, WRITES)[0].tolist() == [8, 0]
