"""What the instructions of a program did in a launch, by instruction; and sums of it."""

from collections import Counter
from dataclasses import dataclass, field

from mxsub.virtual.inspection.lines import Distinct, LineMap


@dataclass
class InstructionUse:
    """One instruction of the code.

    visits: waves that ran it. lanes: that were on, over all visits, where it is a vector or memory instruction.
    accesses: of memory, one a wave (two for ds_read2 and its kind). bytes: that lanes asked for. lines: of the cache,
    of each access those that differ. cycles, conflicts: of LDS, see banks.py.
    """

    visits: int = 0
    lanes: int = 0
    accesses: int = 0
    bytes: int = 0
    lines: int = 0
    cycles: int = 0
    conflicts: int = 0


@dataclass
class BufferUse:
    """What a launch reads of one buffer of global memory, or writes to it.

    argument: the kernel's name for it. size: the buffer's, bytes. modifiers: cache modifiers -> bytes.
    """

    argument: str
    size: int
    map: LineMap
    bytes: int = 0
    lines: int = 0
    modifiers: Counter[str] = field(default_factory=Counter)

    @property
    def distinct(self) -> Distinct:
        return self.map.distinct()
