"""Follows the waves of one workgroup, and estimates from them how long the launch takes. The watcher `timing`."""

from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.addresses import GLOBAL, LDS
from mxsub.virtual.counting import Counting
from mxsub.virtual.findings import Places
from mxsub.virtual.inspection.lines import lines_of
from mxsub.virtual.inspection.timing.estimate import estimate
from mxsub.virtual.inspection.timing.trace import WorkgroupTrace
from mxsub.virtual.inspection.traffic import lines_read
from mxsub.virtual.memory import Access
from mxsub.virtual.watching import Launched, Step
from mxsub.virtual.waves import LANES, Waves

Array = npt.NDArray[Any]


class Tracing(Counting):
    """Counts as well. trace: of the workgroup in the middle of those that run."""

    def begin(self, launched: Launched) -> None:
        super().begin(launched)
        self.trace = WorkgroupTrace(launched.waves_per_workgroup)
        self._middle = self.workgroups // 2
        self._followed: int | None = None  # the traced workgroup's number in the batch that runs

    def begin_batch(self, waves: Waves, workgroups: Array, places: Places) -> None:
        super().begin_batch(waves, workgroups, places)
        place = int(np.searchsorted(workgroups, self._middle))
        done = bool(self.trace.waves[0].pcs)
        self._followed = None if done or place >= len(workgroups) else place

    def notes(self) -> dict[str, Any]:
        launch = self.launch()
        read = lines_read(self.reads.values(), self.scale)
        guess = estimate(launch.code, self.trace, launch.spread, launch.occupancy, read)
        return {**super().notes(), "timing": guess.to_dict()}

    def around(self, pc: int, step: Step | None) -> Step | None:
        counted = super().around(pc, step)
        assert counted is not None

        def run(waves: Waves) -> Any:
            if self._followed is not None:
                for row in np.flatnonzero(waves.workgroup == self._followed):
                    self.trace.ran(self._wave(waves, row), pc)
            return counted(waves)

        return run

    def accessed(self, waves: Waves, space: str, access: Access, size: int, verb: str) -> None:
        super().accessed(waves, space, access, size, verb)
        if self._followed is None:
            return
        addresses, rows = access.spread(access.flat), access.shape[0]
        for row in np.flatnonzero(waves.workgroup == self._followed):
            own = 0 if rows == 1 else row
            mask = None if access.mask is None else access.mask[own]
            lanes = addresses[own] if mask is None else addresses[own][mask]
            if not len(lanes):
                continue
            lines: Array = np.zeros(0, np.int64)
            cycles = 0
            if space == GLOBAL:
                lines = np.unique(np.concatenate([lines_of(lanes), lines_of(lanes + (size - 1))]))
            elif space == LDS:
                one = addresses[own : own + 1]
                cycles = int(self._conflicts.cycles(one, None if mask is None else mask[None], size, verb)[0, 0])
            count = LANES if access.shape[1] == 1 and not self._scalar(waves.pc) else len(lanes)
            self.trace.reached(self._wave(waves, row), count * size, lines, cycles)

    def _wave(self, waves: Waves, row: Any) -> int:
        return int(waves.wave[row]) % self.launched.waves_per_workgroup
