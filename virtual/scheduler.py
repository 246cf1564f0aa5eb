"""Runs the waves of one batch of workgroups in lockstep: of the waves, those at the lowest instruction go first."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.assembly import Instruction
from mxsub.virtual.faults import EndlessLoop, IllegalAccess, Violation
from mxsub.virtual.scalar import BARRIER, END, Branch
from mxsub.virtual.waves import Waves

Array = npt.NDArray[Any]
Step = Callable[[Waves], Any]

# Instructions, run while others wait, after which waves that keep looping let those pass.
_PATIENCE = 5_000


class Batch:
    """Workgroups that run together.

    steps: the code, as functions; None for what has no effect. names: of the batch's workgroups, for messages.
    visits: how many waves ran each instruction; counted up here. limit: of instructions, against endless loops.
    """

    def __init__(
        self,
        code: list[Instruction],
        steps: list[Step | None],
        names: Callable[[int], str],
        workgroups: int,
        waves_per_workgroup: int,
        visits: list[int],
        limit: int,
    ) -> None:
        self._code = code
        self._steps = steps
        self._names = names
        self._waves_per_workgroup = waves_per_workgroup
        self._visits = visits
        self._limit = limit
        self._executed = 0
        self._alive = np.full(workgroups, waves_per_workgroup)
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
                pc += 1
                result = step(group) if step is not None else None
                if result is None:
                    continue
                group.pc, last = pc, pc - 1
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
                        continue
                    self._parked.append(group)
                    self._release()
                    return
                if others_at is not None and pc > others_at:
                    break
                if executed > _PATIENCE and self._ready:
                    break
                if executed + self._executed > self._limit:
                    raise EndlessLoop(f"does not end: {self._limit:,} instructions ran {self._place(group, 0, last)}")
            group.pc = pc
            self._ready.append(group)
        except Violation as violation:
            place = self._place(group, violation.row, pc - 1, violation.lane, violation.address)
            raise IllegalAccess(f"{violation.what} {place}") from None
        finally:
            self._executed += executed
            if self._ready or self._parked:
                # Counted over the barriers, too, that a loop may have in it.
                group.spent += executed
                if group.spent > _PATIENCE:
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

    def _place(self, group: Waves, row: int, pc: int, lane: int | None = None, address: int | None = None) -> str:
        instruction = self._code[min(pc, len(self._code) - 1)]
        row = min(row, group.count - 1)  # row 0 stands for all where all do the same
        who = [
            f"workgroup {self._names(int(group.workgroup[row]))}",
            f"wave {group.wave[row] % self._waves_per_workgroup}",
        ]
        if lane is not None:
            who.append(f"lane {lane}")
        if address is not None:
            who.append(f"address {address:#x}")
        return f"at {instruction.source or 'an unknown line'}: {instruction.text} ({', '.join(who)})"
