"""What the waves of one workgroup ran, in order, and where each access to memory found its lines."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from mxsub.virtual.inspection.architecture import L1_BYTES, LINE_BYTES

Array = npt.NDArray[Any]


@dataclass
class Reach:
    """One access, of one wave.

    bytes: that lanes asked for. lines: of the cache, by number. again: how many of them the workgroup has touched
    before, but the unit's L1 no longer holds. cycles: of LDS.
    """

    bytes: int = 0
    lines: tuple[int, ...] = ()
    again: int = 0
    cycles: int = 0


@dataclass
class WaveTrace:
    """pcs: the instructions, by number. reaches: position in pcs -> what that instruction reached for."""

    pcs: list[int] = field(default_factory=list)
    reaches: dict[int, Reach] = field(default_factory=dict)


class WorkgroupTrace:
    """waves: of the workgroup, in order."""

    def __init__(self, waves: int) -> None:
        self.waves = [WaveTrace() for _ in range(waves)]
        self._ever: set[int] = set()
        self._held: OrderedDict[int, None] = OrderedDict()  # lines that L1 has: the last ones used

    def ran(self, wave: int, pc: int) -> None:
        self.waves[wave].pcs.append(pc)

    def reached(self, wave: int, bytes_asked: int, lines: Array, cycles: int) -> None:
        """The instruction that the wave runs has reached for memory. lines: numbers of distinct global ones."""
        trace = self.waves[wave]
        reach = trace.reaches.setdefault(len(trace.pcs) - 1, Reach())
        reach.bytes += bytes_asked
        reach.cycles += cycles
        touched = tuple(int(line) for line in lines)
        reach.lines += touched
        reach.again += sum(self._touch(line) for line in touched)

    def _touch(self, line: int) -> bool:
        """Has the workgroup had the line before, and L1 lost it?"""
        lost = line in self._ever and line not in self._held
        self._ever.add(line)
        self._held[line] = None
        self._held.move_to_end(line)
        if len(self._held) > L1_BYTES // LINE_BYTES:
            self._held.popitem(last=False)
        return lost
