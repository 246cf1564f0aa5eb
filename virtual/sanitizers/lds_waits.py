"""sync, in LDS: writes that are not complete when another wave, or the wave itself, reads.

A barrier waits for waves and not for what they have under way: a wave has to wait for its writes (lgkmcnt), and for its
loads from global memory to LDS (vmcnt), before the barrier behind which others read them. What a wave writes to LDS it
may read itself at once, but not what it loads there.
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.findings import Places
from mxsub.virtual.memory import READS, Access
from mxsub.virtual.register_uses import is_load_to_lds
from mxsub.virtual.sanitizers.lds_cells import LdsAccess
from mxsub.virtual.sanitizers.waits import waits
from mxsub.virtual.watching import Launched, Step, Watcher
from mxsub.virtual.waves import Waves

Array = npt.NDArray[Any]

_VM = re.compile(r"(?:global|buffer|scratch|flat)_(?:load|store|atomic)")
_LDS, _VMEM = "lgkmcnt", "vmcnt"


@dataclass
class UnderWay:
    """A write. counter: the one that counts it. number: by row of its waves, among what that counts of each wave.
    barriers: by row, how many barriers its workgroup had passed."""

    entry: LdsAccess
    counter: str
    number: Array
    barriers: Array


class LdsWaits(Watcher):
    """Follows the counters of every wave, and keeps the writes that are not known to be complete."""

    def begin(self, launched: Launched) -> None:
        self._code = launched.program.code
        self._lds_bytes = launched.lds_bytes
        self._waves_per_workgroup = launched.waves_per_workgroup

    def begin_batch(self, waves: Waves, workgroups: Array, places: Places) -> None:
        def zeros() -> dict[str, Array]:
            return {counter: np.zeros(waves.count, np.int64) for counter in (_LDS, _VMEM)}

        # By wave, for each counter: accesses so far; of those, complete; and complete at the last barrier.
        self._issued, self._complete, self._at_barrier = zeros(), zeros(), zeros()
        self._barriers = np.zeros(len(workgroups), np.int64)
        self._writes: list[UnderWay] = []
        self._places = places

    def around(self, pc: int, step: Step | None) -> Step | None:
        instruction = self._code[pc]
        if instruction.opcode == "s_waitcnt":
            left = dict(zip((_VMEM, _LDS), waits(instruction), strict=True))

            def wait(waves: Waves) -> None:
                who = waves.wave
                for counter, count in left.items():
                    complete = self._complete[counter]
                    complete[who] = np.maximum(complete[who], self._issued[counter][who] - count)
                if self._waves_per_workgroup == 1:  # nobody else reads, so that nobody waits at a barrier
                    self._at_barrier = self._complete
                    self._writes = [write for write in self._writes if not self._settled(write)]

            return wait
        if instruction.opcode.startswith("ds_"):
            counter = _LDS
        elif _VM.match(instruction.opcode):
            counter = _VMEM
        else:
            return step

        def issue(waves: Waves) -> object:
            self._issued[counter][waves.wave] += 1
            return None if step is None else step(waves)

        return issue

    def released(self, workgroups: Array) -> None:
        self._barriers[workgroups] += 1
        waves = (workgroups[:, None] * self._waves_per_workgroup + np.arange(self._waves_per_workgroup)).reshape(-1)
        for counter, complete in self._complete.items():
            self._at_barrier[counter][waves] = complete[waves]
        self._writes = [write for write in self._writes if not self._settled(write)]

    def _settled(self, write: UnderWay) -> bool:
        """Is it complete for all who may read it?"""
        wave = write.entry.waves.wave
        return bool((write.number <= self._at_barrier[write.counter][wave]).all())

    def accessed(self, waves: Waves, space: str, access: Access, size: int, verb: str) -> None:
        if space != "LDS":
            return
        entry = LdsAccess(waves, waves.pc, access, size, verb)
        if verb != READS:
            counter = _VMEM if is_load_to_lds(self._code[waves.pc]) else _LDS
            if counter == _LDS and self._waves_per_workgroup == 1:
                return
            number, barriers = self._issued[counter][waves.wave], self._barriers[waves.workgroup]
            self._writes.append(UnderWay(entry, counter, number, barriers))
            return
        for write in self._writes:
            self._compare(write, entry)

    def _compare(self, write: UnderWay, read: LdsAccess) -> None:
        """Report what a read has of a write that may not be complete."""
        writers, readers = write.entry.waves, read.waves
        early = write.number > self._at_barrier[write.counter][writers.wave]
        # In the same stretch between barriers it is a race, if it is another wave's.
        passed = early & (write.barriers < self._barriers[writers.workgroup])
        own = np.zeros(len(early), np.bool_)
        if write.counter == _VMEM:
            own = write.number > self._complete[_VMEM][writers.wave]
        if not (passed | own).any():
            return
        granule = min(write.entry.unit(), read.unit())
        cell, row = write.entry.cells(granule, self._lds_bytes)
        owner = np.full(int(cell.max()) + 1, -1, np.int64)
        owner[cell] = row
        cell, row = read.cells(granule, self._lds_bytes)
        inside = cell < len(owner)
        by = np.where(inside, owner[np.where(inside, cell, 0)], -1)
        same = writers.wave[by] == readers.wave[row]
        late = (by >= 0) & np.where(same, own[by], passed[by])
        if late.any():
            index = int(np.argmax(late))
            before = "" if same[index] else " before the barrier"
            readers.shared.find(
                readers,
                "sync",
                f"reads LDS that {self._places.instruction(write.entry.pc)} fills, for which no s_waitcnt "
                f"{write.counter} has waited{before}: the hardware may read what was there before",
                row=int(row[index]),
                count=len(np.unique(row[late])),
                kind=f"late {write.counter}",
            )
