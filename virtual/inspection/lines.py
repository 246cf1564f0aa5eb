"""The cache lines that a launch touches, and how many distinct ones: in all, on each die, in each workgroup.

Those are what the levels of memory must deliver at least, cold: HBM each line of the launch once, the Infinity Cache
each line once to every die (XCD) that wants it, a die's L2 each line once to every workgroup.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.inspection.architecture import DIES, LINE_BYTES, die_of
from mxsub.virtual.memory import Buffer

Array = npt.NDArray[Any]

_SHIFT = LINE_BYTES.bit_length() - 1


@dataclass(frozen=True)
class Distinct:
    """Lines: distinct ones of the launch, the sum over the dies of each one's, and over the workgroups."""

    launch: int = 0
    dies: int = 0
    workgroups: int = 0

    def __add__(self, other: "Distinct") -> "Distinct":
        return Distinct(self.launch + other.launch, self.dies + other.dies, self.workgroups + other.workgroups)


def lines_of(addresses: Array) -> Array:
    """Addresses to line numbers."""
    return addresses >> _SHIFT


def distinct_in_rows(lines: Array, mask: Array | None) -> Array:
    """How many different lines each row, int64 (rows, lanes), has; mask: the lanes that count, None for all."""
    nowhere = np.iinfo(np.int64).max
    if mask is not None:
        lines = np.where(mask, lines, nowhere)
    steps = np.diff(lines, axis=1)
    if (steps < 0).any():
        lines = np.sort(lines, axis=1)
        steps = np.diff(lines, axis=1)
    found: Array = 1 + (steps != 0).sum(1)
    return found if mask is None else found - (lines[:, -1] == nowhere)


class LineMap:
    """Which lines of one buffer the workgroups touch; batch by batch."""

    def __init__(self, buffer: Buffer) -> None:
        self._first = buffer.base >> _SHIFT
        self._count = (buffer.end - 1 >> _SHIFT) - self._first + 1
        self._dies = np.zeros((DIES, self._count), np.bool_)
        self._of_workgroups = 0
        # Of the batch that runs: by workgroup and line. Pages that nobody touches cost nothing.
        self._batch: Array = np.zeros((0, 0), np.bool_)
        self._low, self._high = self._count, 0

    def begin_batch(self, workgroups: int) -> None:
        self._batch = np.zeros((workgroups, self._count), np.bool_)
        self._low, self._high = self._count, 0

    def touch(self, workgroups: Array, lines: Array) -> None:
        """workgroups: of the batch; lines: as lines_of gives them. Flat, of equal length."""
        own = lines - self._first
        self._low, self._high = min(self._low, int(own.min())), max(self._high, int(own.max()) + 1)
        self._batch[workgroups, own] = True

    def end_batch(self, numbers: Array) -> None:
        """numbers: of the batch's workgroups, in the grid."""
        if self._low >= self._high:
            return
        reached = self._batch[: len(numbers), self._low : self._high]
        self._of_workgroups += int(reached.sum())
        dies = np.array([die_of(int(number)) for number in numbers])
        for die in np.unique(dies):
            self._dies[die, self._low : self._high] |= reached[dies == die].any(0)
        self._batch = np.zeros((0, 0), np.bool_)

    def distinct(self) -> Distinct:
        return Distinct(int(self._dies.any(0).sum()), int(self._dies.sum()), self._of_workgroups)
