"""Counts what a launch asks of the GPU: instructions, bytes, cache lines, LDS cycles. The watcher `counts`."""

from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.addresses import GLOBAL, LDS
from mxsub.virtual.findings import Places
from mxsub.virtual.inspection.banks import Conflicts
from mxsub.virtual.inspection.findings import Launch, findings_of
from mxsub.virtual.inspection.instructions import work_of
from mxsub.virtual.inspection.lines import LineMap, distinct_in_rows, lines_of
from mxsub.virtual.inspection.opcodes import class_of
from mxsub.virtual.inspection.resources import occupancy_of, resources_of, spread_of
from mxsub.virtual.inspection.roofline import roofline_of
from mxsub.virtual.inspection.traffic import traffic_of
from mxsub.virtual.inspection.usage import BufferUse, InstructionUse
from mxsub.virtual.memory import READS, Access, Buffer
from mxsub.virtual.watching import Launched, Step, Watcher
from mxsub.virtual.waves import LANES, Waves

Array = npt.NDArray[Any]

CACHE_MODIFIERS = ("sc0", "sc1", "nt")


class Counting(Watcher):
    """uses: of each instruction of the program. reads, writes: of each buffer, by its address; an atomic writes."""

    def begin(self, launched: Launched) -> None:
        self.launched = launched
        code = launched.program.code
        self.uses = [InstructionUse() for _ in code]
        self.reads: dict[int, BufferUse] = {}
        self.writes: dict[int, BufferUse] = {}
        self.workgroups_run = 0
        self._classes = [class_of(instruction.opcode) for instruction in code]
        self._modifiers = [
            " ".join(name for name in CACHE_MODIFIERS if name in instruction.modifiers) for instruction in code
        ]
        self._conflicts = Conflicts()
        self._numbers: Array = np.zeros(0, np.int64)

    def begin_batch(self, waves: Waves, workgroups: Array, places: Places) -> None:
        self._end_batch()
        self._numbers = workgroups
        self.workgroups_run += len(workgroups)
        for use in (*self.reads.values(), *self.writes.values()):
            use.map.begin_batch(len(workgroups))

    def end(self) -> None:
        self._end_batch()

    def _end_batch(self) -> None:
        for use in (*self.reads.values(), *self.writes.values()):
            use.map.end_batch(self._numbers)

    def notes(self) -> dict[str, Any]:
        launch = self.launch()
        return {
            "counts": {
                "workgroups": launch.spread.workgroups,
                "workgroups_counted": self.workgroups_run,
                "waves_per_workgroup": launch.waves_per_workgroup,
                "resources": launch.resources.to_dict(),
                "occupancy": launch.occupancy.to_dict(),
                "spread": launch.spread.to_dict(),
                "work": launch.work.to_dict(),
                "traffic": launch.traffic.to_dict(),
                "roofline": roofline_of(launch.work, launch.traffic).to_dict(),
                "findings": findings_of(launch),
            }
        }

    @property
    def workgroups(self) -> int:
        """Of the grid."""
        grid = self.launched.grid
        return grid[0] * grid[1] * grid[2]

    @property
    def scale(self) -> float:
        """How many times the workgroups that ran the launch has."""
        return self.workgroups / max(self.workgroups_run, 1)

    def launch(self) -> Launch:
        """What was counted; of a part of the workgroups, as many times as that part is of all."""
        launched, scale = self.launched, self.scale
        code, waves = launched.program.code, launched.waves_per_workgroup
        resources = resources_of(launched.program, launched.lds_bytes)
        return Launch(
            code=code,
            uses=self.uses,
            waves_per_workgroup=waves,
            resources=resources,
            occupancy=occupancy_of(resources, waves),
            spread=spread_of(self.workgroups),
            work=work_of(code, self.uses, scale),
            traffic=traffic_of(code, self.uses, self.reads.values(), self.writes.values(), scale),
        )

    def around(self, pc: int, step: Step | None) -> Step | None:
        use = self.uses[pc]
        if self._classes[pc] not in ("vector", "matrix"):

            def run(waves: Waves) -> Any:
                use.visits += waves.count
                return step(waves) if step is not None else None

            return run

        def run_lanes(waves: Waves) -> Any:
            use.visits += waves.count
            mask = waves.active()
            use.lanes += waves.count * LANES if mask is None else _lanes_on(mask, waves.count)
            return step(waves) if step is not None else None

        return run_lanes

    def accessed(self, waves: Waves, space: str, access: Access, size: int, verb: str) -> None:
        use, scalar = self.uses[waves.pc], self._scalar(waves.pc)
        rows, columns = access.shape
        # Of a row that stands for all waves, or a lane that stands for all lanes, there is one copy.
        waves_each = waves.count if rows == 1 else 1
        lanes = len(access.flat) * waves_each * (LANES if columns == 1 and not scalar else 1)
        use.accesses += waves.count
        use.lanes += lanes
        use.bytes += lanes * size
        addresses = access.spread(access.flat)
        if space == GLOBAL:
            first, last = lines_of(addresses), lines_of(addresses + (size - 1))
            count = distinct_in_rows(first, access.mask)
            if (first != last).any():
                both = None if access.mask is None else np.concatenate([access.mask, access.mask], 1)
                count = distinct_in_rows(np.concatenate([first, last], 1), both)
            lines = count * waves_each
            use.lines += int(lines.sum())
            self._touch(waves, access, size, verb, lanes * size, lines)
        elif space == LDS:
            cycles = self._conflicts.cycles(addresses, access.mask, size, verb) * waves_each
            use.cycles += int(cycles[:, 0].sum())
            use.conflicts += int(cycles[:, 1].sum())

    def _scalar(self, pc: int) -> bool:
        """Does the instruction load once a wave, not once a lane?"""
        return self._classes[pc] == "scalar load"

    def _touch(self, waves: Waves, access: Access, size: int, verb: str, count: int, lines: Array) -> None:
        """Take down which lines of which buffers the workgroups reach."""
        table = self.reads if verb == READS else self.writes
        memory = waves.shared.memory
        for number, (buffer, which) in enumerate(memory.parts(access, size)):
            use = table.get(buffer.base)
            if use is None:
                use = table[buffer.base] = self._buffer_use(buffer)
            if number == 0:  # an access to several buffers is put down to the first
                use.bytes += count
                use.lines += int(lines.sum())
                use.modifiers[self._modifiers[waves.pc]] += count
            flat = access.flat[which]
            if access.shape[0] == 1 < waves.count:
                reached = np.unique(np.concatenate([lines_of(flat), lines_of(flat + (size - 1))]))
                workgroups = np.unique(waves.workgroup)
                use.map.touch(np.repeat(workgroups, len(reached)), np.tile(reached, len(workgroups)))
                continue
            workgroups = waves.workgroup[access.rows()[which]]
            first, last = lines_of(flat), lines_of(flat + (size - 1))
            use.map.touch(workgroups, first)
            if (first != last).any():
                use.map.touch(workgroups, last)

    def _buffer_use(self, buffer: Buffer) -> BufferUse:
        lines = LineMap(buffer)
        lines.begin_batch(len(self._numbers))
        return BufferUse(buffer.name.partition(" (")[0].removeprefix("the "), buffer.size, lines)


def _lanes_on(mask: Array, waves: int) -> int:
    """Of a mask (waves, 64), or (1, 64) for all of them."""
    return int(mask.sum()) * (waves if len(mask) == 1 else 1)
