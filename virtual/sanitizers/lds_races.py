"""race, in LDS: waves that reach for the same bytes, one of them writing, with no barrier between.

What waves do between two barriers is written down, and looked at when the barrier lets them go: in what order lockstep
ran it does not matter. Loops do the same again and again, so what was found free of races is known by its accesses.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.findings import Places
from mxsub.virtual.memory import READS, UPDATES, WRITES, Access
from mxsub.virtual.sanitizers.lds_cells import LdsAccess
from mxsub.virtual.watching import Launched, Watcher
from mxsub.virtual.waves import Waves

Array = npt.NDArray[Any]
I32 = np.int32

_NOBODY = -1
# Sequences of accesses that are known to be free of races.
_KEPT = 64


class LdsRaces(Watcher):
    """Watches what the waves of a workgroup do between two barriers."""

    def begin(self, launched: Launched) -> None:
        self._code = launched.program.code
        self._waves_per_workgroup = launched.waves_per_workgroup
        self._lds_bytes = launched.lds_bytes
        self._log: list[LdsAccess] = []

    def begin_batch(self, waves: Waves, workgroups: Array, places: Places) -> None:
        self._look(self._log)
        self._log = []
        self._workgroups = len(workgroups)
        self._places = places
        # The accesses are kept with it, so that their ids stay their own.
        self._clean: dict[tuple[Any, ...], list[Access]] = {}

    def accessed(self, waves: Waves, space: str, access: Access, size: int, verb: str) -> None:
        if space == "LDS" and self._waves_per_workgroup > 1:
            self._log.append(LdsAccess(waves, waves.pc, access, size, verb, access.data if verb == WRITES else None))

    def released(self, workgroups: Array) -> None:
        log = self._log
        if not log:
            return
        if len(workgroups) == self._workgroups:
            key = tuple((id(entry.access), entry.pc) for entry in log)
            if key not in self._clean and (self._is_clean(log) or self._look(log)) and len(self._clean) < _KEPT:
                self._clean[key] = [entry.access for entry in log]
            self._log = []
            return
        # Workgroups have come apart: of each access only their part is past the barrier.
        gone = np.zeros(self._workgroups, np.bool_)
        gone[workgroups] = True
        self._look([part for entry in log if (part := entry.of(gone))])
        self._log = [part for entry in log if (part := entry.of(~gone))]

    def end(self) -> None:
        self._look(self._log)

    def _is_clean(self, log: list[LdsAccess]) -> bool:
        """Is there no race whatever is written, as one workgroup shows where all do the same?"""
        if not all(entry.is_alike(self._workgroups) for entry in log):
            return False
        first = np.arange(self._workgroups) == 0
        return self._look([part for entry in log if (part := entry.of(first))], report=False)

    def _look(self, log: list[LdsAccess], report: bool = True) -> bool:
        """Report the races between accesses; is there none, whatever they write?

        That several waves write the same value to the same place is none: compilers have data in several waves.
        """
        if all(entry.verb == READS for entry in log):
            return True
        granule = min(entry.unit() for entry in log)
        cells = self._workgroups * -(-self._lds_bytes // granule)
        # Of each cell the wave that wrote it last, at which instruction, and a wave that has read it.
        wrote, read = np.full(cells, _NOBODY, I32), np.full(cells, _NOBODY, I32)
        writer, atomic, value = np.zeros(cells, I32), np.zeros(cells, np.bool_), np.zeros(cells, f"u{granule}")
        several_read = np.zeros(cells, np.bool_)
        clean = True
        for entry in log:
            cell, row = entry.cells(granule, self._lds_bytes)
            wave = entry.waves.wave[row].astype(I32)
            before = wrote[cell]
            conflict = (before != _NOBODY) & (before != wave)
            if entry.verb == UPDATES:  # two atomics need no order
                conflict &= ~atomic[cell]
            if entry.verb == WRITES:
                clean = clean and not conflict.any()
                values = entry.values(granule)
                conflict &= (value[cell] != values) | atomic[cell]
            if conflict.any():
                clean = False
                if not report:
                    return clean
                where = self._places.instruction(int(writer[cell[conflict]][0]))
                self._tell(entry, row, conflict, f"written at {where}")
            if entry.verb == READS:
                reader = read[cell]
                several_read[cell] |= (reader != _NOBODY) & (reader != wave)
                read[cell] = wave
                several_read[cell] |= read[cell] != wave
                continue
            reader = read[cell]
            conflict = several_read[cell] | ((reader != _NOBODY) & (reader != wave))
            if conflict.any():
                clean = False
                if not report:
                    return clean
                self._tell(entry, row, conflict, "read")
            wrote[cell], writer[cell], atomic[cell] = wave, entry.pc, entry.verb == UPDATES
            if entry.verb == WRITES:
                value[cell] = values
                conflict = wrote[cell] != wave
                clean = clean and not conflict.any()
                conflict &= value[cell] != values
                if conflict.any() and report:
                    self._tell(entry, row, conflict, "written with the same instruction")
        return clean

    def _tell(self, entry: LdsAccess, row: Array, conflict: Array, how: str) -> None:
        if entry.verb == READS:
            outcome = "read what was there before or what is written"
        elif how == "read":
            outcome = "overwrite it before it is read"
        else:
            outcome = "leave what either of them wrote"
        entry.waves.shared.find(
            entry.waves,
            "race",
            f"{entry.verb} LDS that another wave of the workgroup has {how}, with no barrier between them: on the "
            f"hardware waves run at their own speed, and may {outcome}",
            pc=entry.pc,
            row=int(row[np.argmax(conflict)]),
            count=len(np.unique(row[conflict])),
            kind=how.partition(" at ")[0],
        )
