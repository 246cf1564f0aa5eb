"""Runs the waves of one batch of workgroups in lockstep: of the waves, those at the lowest instruction go first."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.branching import BARRIER, END, Branch
from mxsub.virtual.faults import EndlessLoop, IllegalAccess, Violation
from mxsub.virtual.findings import Places
from mxsub.virtual.watching import Step, Watcher
from mxsub.virtual.waves import Waves

Array = npt.NDArray[Any]

# Instructions, run while others wait, after which waves that keep looping let those pass: long enough that waves which
# take turns in different loops meet again behind them. Waves that wait for a lock only hold up who has it.
PATIENCE = 5_000
PATIENCE_WITH_LOCKS = 200


class Batch:
    """Workgroups that run together.

    steps: the code, as functions; None for what has no effect. places: for messages. visits: how many waves ran each
    instruction; counted up here. limit: of instructions, against endless loops. watchers: who hears of barriers.
    patience: how many instructions waves that keep looping may run while others wait.
    """

    def __init__(
        self,
        steps: list[Step | None],
        places: Places,
        workgroups: int,
        visits: list[int],
        limit: int,
        watchers: Sequence[Watcher],
        patience: int = PATIENCE,
    ) -> None:
        self._steps = steps
        self._places = places
        self._visits = visits
        self._limit = limit
        self._watchers = watchers
        self._patience = patience
        self._executed = 0
        self._alive = np.full(workgroups, places.waves_per_workgroup)
        self._ready: list[Waves] = []
        self._parked: list[Waves] = []  # at a barrier

    def run(self, waves: Waves) -> None:
        """Run to the end of all waves. Raises IllegalAccess, EndlessLoop."""
        self._ready = [waves]
        while self._ready:
            self._ready.sort(key=lambda group: (group.age, group.pc))
            group = self._ready.pop(0)
            while self._ready and self._ready[0].pc == group.pc:
                group = group.join(self._ready.pop(0))
            self._advance(group, min((other.pc for other in self._ready), default=None))

    def _advance(self, group: Waves, others_at: int | None) -> None:
        """Run a group until it ends, waits, splits, or comes to where others are."""
        steps, visits, count, pc = self._steps, self._visits, group.count, group.pc
        executed = 0
        try:
            while pc != others_at or not executed:
                step = steps[pc]
                visits[pc] += count
                executed += 1
                if step is None:
                    pc += 1
                    continue
                group.pc = last = pc
                pc += 1
                result = step(group)
                if result is None:
                    continue
                group.pc = pc
                if isinstance(result, Branch):
                    if not self._branch(group, result):
                        return
                    pc = group.pc
                elif result is END:
                    self._alive -= np.bincount(group.workgroup, minlength=len(self._alive))
                    self._release()
                    return
                elif result is BARRIER:
                    if self._all_are_here(group):
                        self._tell_watchers(self._alive > 0)
                        continue
                    self._parked.append(group)
                    self._release()
                    return
                if others_at is not None and pc > others_at:
                    break
                if executed > self._patience and self._ready:
                    break
                if executed + self._executed > self._limit:
                    raise EndlessLoop(f"does not end: {self._limit:,} instructions ran {self._place(group, last)}")
            group.pc = pc
            self._ready.append(group)
        except Violation as violation:
            address = "" if violation.address is None else f", address {violation.address:#x}"
            place = self._place(group, pc - 1, violation.row, violation.lane, address)
            raise IllegalAccess(f"{violation.what} {place}") from None
        finally:
            self._executed += executed
            if self._ready or self._parked:
                # Counted over the barriers, too, that a loop may have in it.
                group.spent += executed
                if group.spent > self._patience:
                    group.age, group.spent = group.age + 1, 0

    def _branch(self, group: Waves, branch: Branch) -> bool:
        """Move the group on; does it stay whole? If not, its parts are ready."""
        taken = branch.taken
        if taken is True or np.all(taken):
            group.pc = branch.target
        elif np.any(taken):
            goes = np.broadcast_to(taken, (group.count, 1))[:, 0]
            there, here = group.take(np.flatnonzero(goes)), group.take(np.flatnonzero(~goes))
            there.pc = branch.target
            self._ready += [here, there]
            return False
        return True

    def _all_are_here(self, group: Waves) -> bool:
        """Has every wave of the batch reached the barrier at which the group is?"""
        return not self._parked and not self._ready and group.count == self._alive.sum()

    def _release(self) -> None:
        """Let go the workgroups all of whose waves that have not ended are at a barrier."""
        if not self._parked:
            return
        parked_in = np.concatenate([group.workgroup for group in self._parked])
        free = np.bincount(parked_in, minlength=len(self._alive)) == self._alive
        self._tell_watchers(free & (self._alive > 0))
        parked = []
        for group in self._parked:
            goes = free[group.workgroup]
            if goes.all():
                self._ready.append(group)
            elif goes.any():
                self._ready.append(group.take(np.flatnonzero(goes)))
                parked.append(group.take(np.flatnonzero(~goes)))
            else:
                parked.append(group)
        self._parked = parked

    def _tell_watchers(self, released: Array) -> None:
        if self._watchers and released.any():
            for watcher in self._watchers:
                watcher.released(np.flatnonzero(released))

    def _place(self, group: Waves, pc: int, row: int = 0, lane: int | None = None, more: str = "") -> str:
        return f"at {self._places.instruction(pc)} ({self._places.who(group, row, lane)}{more})"
