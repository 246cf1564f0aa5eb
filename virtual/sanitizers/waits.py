"""sync: results of loads that are used before the s_waitcnt that they need.

Memory instructions run on while the wave goes on; s_waitcnt waits until at most so many of them are left. vmcnt
counts accesses to global memory and scratch, which end in the order of the code; lgkmcnt counts those to LDS, which do
too, and scalar loads, which do not (LLVM, "User Guide for AMDGPU Backend", and SIInsertWaitcnts.cpp, whose rules for
gfx9 these are). What may be under way is found for the whole program before it runs, along every path;
what is reported is what ran.
"""

import heapq
import re
from collections.abc import Iterator
from dataclasses import dataclass

from mxsub.virtual.assembly import Instruction
from mxsub.virtual.control_flow import successors
from mxsub.virtual.register_uses import Uses, is_load_to_lds, name, uses
from mxsub.virtual.watching import Launched, Step, Watcher
from mxsub.virtual.waves import Waves

_COUNTER = re.compile(r"(vm|lgkm)cnt\((\d+)\)")
# What is further back than the counters reach has to be complete: instructions stop when a counter is full.
_VM_DEPTH, _LGKM_DEPTH = 63, 15

Slot = frozenset[tuple[int, int]]
"""What one position of a queue may stand for: (register, the load that fills it)."""


@dataclass(frozen=True)
class UnderWay:
    """What may not have ended. vm, lds: in order, the newest last. scalar: in no order."""

    vm: tuple[Slot, ...] = ()
    lds: tuple[Slot, ...] = ()
    scalar: Slot = frozenset()

    def merged(self, other: "UnderWay") -> "UnderWay":
        """What may be under way where two paths meet."""
        return UnderWay(_aligned(self.vm, other.vm), _aligned(self.lds, other.lds), self.scalar | other.scalar)

    def without(self, register: int) -> "UnderWay":
        """All but what fills a register."""
        return UnderWay(
            _without(self.vm, register), _without(self.lds, register), _without((self.scalar,), register)[0]
        )


def _without(queue: tuple[Slot, ...], register: int) -> tuple[Slot, ...]:
    return tuple(frozenset(entry for entry in slot if entry[0] != register) for slot in queue)


def _aligned(a: tuple[Slot, ...], b: tuple[Slot, ...]) -> tuple[Slot, ...]:
    """Two queues as one, from their ends."""
    if len(a) < len(b):
        a, b = b, a
    start = len(a) - len(b)
    return a[:start] + tuple(x | y for x, y in zip(a[start:], b, strict=True))


def _newest(queue: tuple[Slot, ...], count: int) -> tuple[Slot, ...]:
    return queue[max(len(queue) - count, 0) :]


def waits(instruction: Instruction) -> tuple[int, int]:
    """How many accesses an s_waitcnt leaves under way: (vmcnt, lgkmcnt)."""
    named = {counter: int(count) for counter, count in _COUNTER.findall(instruction.text)}
    if not named and instruction.operands and instruction.operands[0].is_constant:
        bits = int(instruction.operands[0].constant)
        return bits & 15 | bits >> 10 & 48, bits >> 8 & 15
    return named.get("vm", _VM_DEPTH), named.get("lgkm", _LGKM_DEPTH)


def _after(state: UnderWay, pc: int, instruction: Instruction, used: Uses) -> UnderWay:
    opcode = instruction.opcode
    if opcode == "s_waitcnt":
        left, lgkm = waits(instruction)
        return UnderWay(_newest(state.vm, left), _newest(state.lds, lgkm), state.scalar if lgkm else frozenset())
    loaded = frozenset((register, pc) for register in used.writes)
    if opcode.startswith(("global_", "buffer_load", "buffer_store", "buffer_atomic", "scratch_", "flat_")):
        vm = (*state.vm, frozenset() if is_load_to_lds(instruction) else loaded)[-_VM_DEPTH:]
        lds = (*state.lds, loaded)[-_LGKM_DEPTH:] if opcode.startswith("flat_") else state.lds
        return UnderWay(vm, lds, state.scalar)
    if opcode.startswith("ds_") and opcode != "ds_nop":
        return UnderWay(state.vm, (*state.lds, loaded)[-_LGKM_DEPTH:], state.scalar)
    if opcode.startswith(("s_load", "s_buffer_load", "s_memtime", "s_memrealtime")):
        return UnderWay(state.vm, state.lds, state.scalar | loaded)
    return state


def too_early(code: list[Instruction], labels: dict[str, int], entry: int = 0) -> dict[int, tuple[int, int]]:
    """Instructions that use what may still be under way -> (register, the load). entry: where waves start."""
    used = [uses(instruction) for instruction in code]
    states: dict[int, UnderWay] = {}
    found: dict[int, tuple[int, int]] = {}
    # By place, so that what comes before a loop's end is known when the code behind the loop is looked at.
    incoming = {entry: UnderWay()}
    todo = [entry]
    while todo:
        pc = heapq.heappop(todo)
        state = incoming.pop(pc)
        if pc in states:
            merged = states[pc].merged(state)
            if merged == states[pc]:
                continue
            state = merged
        states[pc] = state
        for register, load in _conflicts(state, code[pc], used[pc]):
            found.setdefault(pc, (register, load))
            state = state.without(register)  # said once
        after = _after(state, pc, code[pc], used[pc])
        for following in successors(code, labels, pc):
            if following in incoming:
                incoming[following] = incoming[following].merged(after)
            else:
                incoming[following] = after
                heapq.heappush(todo, following)
    return found


def _conflicts(state: UnderWay, instruction: Instruction, used: Uses) -> Iterator[tuple[int, int]]:
    """Loads into the same register by two accesses to global memory end in order, and need no wait."""
    into_global = instruction.opcode.startswith(("global_", "buffer_", "scratch_"))
    both = used.reads | used.writes
    in_vm = used.reads if into_global else both
    for slots, registers in ((state.vm, in_vm), (state.lds, both), ((state.scalar,), both)):
        if registers:
            for slot in slots:
                yield from sorted(entry for entry in slot if entry[0] in registers)


class Waits(Watcher):
    """Reports uses of what may still be under way, where they run."""

    def begin(self, launched: Launched) -> None:
        program = launched.program
        self._code = program.code
        self._early = too_early(program.code, program.labels, program.entry)

    def around(self, pc: int, step: Step | None) -> Step | None:
        if pc not in self._early:
            return step
        register, load = self._early[pc]
        loader = self._code[load]
        where = f" ({loader.source})" if loader.source else ""
        counter = "lgkmcnt" if loader.opcode.startswith(("ds_", "s_")) else "vmcnt"
        sentence = (
            f"uses {name(register)} before an s_waitcnt {counter} has waited for {loader.opcode}{where}, which fills "
            "it: the hardware may use what the register held before"
        )

        def run(waves: Waves) -> object:
            waves.shared.find(waves, "sync", sentence, count=waves.count)
            return None if step is None else step(waves)

        return run
