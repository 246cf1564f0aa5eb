"""race, in global memory: two workgroups that write to one address, with nothing that says who comes last."""

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.findings import Places
from mxsub.virtual.memory import READS, UPDATES, Access, Buffer
from mxsub.virtual.sanitizers.ordering import Ordering
from mxsub.virtual.watching import Launched, Watcher
from mxsub.virtual.waves import Waves

Array = npt.NDArray[Any]
I32, I64 = np.int32, np.int64

_STORE_SIZES = ((1, re.compile(r"_(?:store|atomic)_(?:byte|ubyte)")), (2, re.compile(r"_store_short")))
_DWORD = 4


class Written:
    """Of each cell of a buffer the last write. workgroup: its number and 1, 0 for none. atomic: was it one? pc: the
    instruction. stretch: of the workgroup, see ordering.py; only where there are atomics."""

    def __init__(self, cells: int, ordered: bool) -> None:
        self.workgroup = np.zeros(cells, I32)
        self.pc = np.zeros(cells, I32)
        self.atomic = np.zeros(cells, np.bool_)
        self.stretch = np.zeros(cells if ordered else 0, I32)


class Writers(Watcher):
    """Keeps who wrote what during a launch."""

    def begin(self, launched: Launched) -> None:
        opcodes = [instruction.opcode for instruction in launched.program.code]
        sizes = [size for size, small in _STORE_SIZES if any(map(small.search, opcodes))]
        self._granule = min(sizes, default=_DWORD)
        self._ordering = Ordering() if launched.program.has_atomics else None
        self._buffers: dict[int, Written] = {}

    def begin_batch(self, waves: Waves, workgroups: Array, places: Places) -> None:
        self._numbers = workgroups
        self._places = places

    def accessed(self, waves: Waves, space: str, access: Access, size: int, verb: str) -> None:
        if space != "global" or verb == READS:
            return
        row = access.rows()
        workgroup = self._numbers[waves.workgroup[row]]
        for buffer, which in waves.shared.memory.owners(access, size):
            self._compare(waves, buffer, access, size, verb, row[which], workgroup[which], which)
        # After the comparison: an atomic says nothing of a plain store to its own place, which may as well come later.
        if verb == UPDATES and self._ordering is not None:
            # Locks and counters are one lane's; many lanes at once add up results.
            lanes = np.bincount(row, minlength=waves.count)
            for index in np.flatnonzero(lanes[row] == 1):
                self._ordering.synchronize(int(workgroup[index]), int(access.flat[index]))

    def _compare(
        self,
        waves: Waves,
        buffer: Buffer,
        access: Access,
        size: int,
        verb: str,
        row: Array,
        workgroup: Array,
        which: Any,
    ) -> None:
        written = self._buffers.get(buffer.base)
        if written is None:
            written = Written(-(-buffer.size // self._granule) + 4, self._ordering is not None)
            self._buffers[buffer.base] = written
        cell = (access.flat[which] - buffer.base) // self._granule
        count = max(size // self._granule, 1)
        cell = (cell[:, None] + np.arange(count)).reshape(-1)
        row, number = np.repeat(row, count), np.repeat(workgroup.astype(I32) + 1, count)
        before = written.workgroup[cell]
        other = (before != 0) & (before != number)
        if verb == UPDATES:  # two atomics need no order
            other &= ~written.atomic[cell]
        if other.any() and self._ordering is not None:
            other = self._unordered(self._ordering, other, before, number, written.stretch[cell])
        if other.any():
            self._report(waves, buffer, row, other, before, written.pc[cell])
        written.workgroup[cell], written.pc[cell], written.atomic[cell] = number, waves.pc, verb == UPDATES
        if verb != UPDATES:
            same_time = written.workgroup[cell] != number
            if same_time.any():
                self._report(waves, buffer, row, same_time, written.workgroup[cell], np.full(len(cell), waves.pc))
        if self._ordering is not None:
            stretches = {int(one): self._ordering.stretch(int(one) - 1) for one in np.unique(number)}
            written.stretch[cell] = [stretches[int(one)] for one in number]

    def _unordered(self, ordering: Ordering, other: Array, before: Array, number: Array, stretch: Array) -> Array:
        result = other.copy()
        triples = np.stack([before, number, stretch], 1)[other]
        for earlier, mine, part in np.unique(triples, axis=0).tolist():
            if ordering.comes_before(earlier - 1, part, mine - 1):
                result &= ~((before == earlier) & (number == mine) & (stretch == part))
        return result

    def _report(self, waves: Waves, buffer: Buffer, row: Array, other: Array, before: Array, pc: Array) -> None:
        index = int(np.argmax(other))
        waves.shared.find(
            waves,
            "race",
            f"writes to {buffer} where workgroup {int(before[index]) - 1} has written at "
            f"{self._places.instruction(int(pc[index]))}, with nothing that orders the two: the hardware runs "
            "workgroups in any order, and what either wrote may stay",
            row=int(row[index]),
            count=len(np.unique(row[other])),
            kind="two workgroups",
        )
