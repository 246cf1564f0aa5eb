"""init: values that nothing has written, followed until they matter.

Of every register it is known which bits are undefined: all of them before its first write, in lanes that were off
then, and what a load takes from memory that torch.empty() made and nothing has written. An instruction with undefined
inputs runs several times, with zeros, ones and random bits in place of the undefined ones: bits of the result that
change depend on them and are undefined too. So a byte that a later instruction fills, or a mask takes away, is no
fault, and neither is a value that is selected away. It is one when an undefined value is an address, decides a branch
or EXEC, or is stored where others read it. (To blame the use, not the copy, is Memcheck's rule: Seward and Nethercote,
USENIX 2005.)
"""

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.assembly import Instruction
from mxsub.virtual.findings import Places
from mxsub.virtual.memory import READS, UPDATES, Access
from mxsub.virtual.register_uses import SCALAR, Uses, is_load_to_lds, name, registers, uses
from mxsub.virtual.registers import EXEC, SCC
from mxsub.virtual.watching import Launched, Step, Watcher
from mxsub.virtual.waves import LANES, POISON, Waves

Array = npt.NDArray[Any]
U32 = np.uint32

_ALL = np.full((1, 1), 0xFFFFFFFF, U32)
_SCC = SCALAR + SCC
_WHOLE_EXEC = (SCALAR + EXEC, SCALAR + EXEC + 1)
_MEMORY = ("global_", "flat_", "buffer_", "scratch_", "ds_", "s_load", "s_buffer_load")
_SWAP = re.compile("_swap")  # the one atomic that takes nothing from memory to what it writes
# Of LDS, only lanes change places: no address, no memory.
_LANES_ONLY = ("ds_bpermute", "ds_permute", "ds_swizzle")


class Definedness(Watcher):
    """Tags of registers: ("undefined", register) -> the undefined bits, uint32."""

    def begin(self, launched: Launched) -> None:
        self._code = launched.program.code
        self._random = np.random.default_rng(0)
        # The undefined bits of what the instruction at hand stores, by register; None where all is defined.
        self._to_store: list[Array | None] | None = None
        self._fetched: list[tuple[Access, int, Array]] = []
        # Of a sample, what other workgroups would have written is undefined, which is no fault: it is only followed.
        self._reports = not launched.is_sample

    def begin_batch(self, waves: Waves, workgroups: Array, places: Places) -> None:
        for register, array in enumerate(waves.v):
            if array is POISON:
                waves.tags["undefined", register] = _ALL
        for register, array in enumerate(waves.s):
            if array is POISON:
                waves.tags["undefined", SCALAR + register] = _ALL
        waves.tags["undefined", _SCC] = np.ones((1, 1), U32)
        # Of LDS and scratch: undefined bytes that were stored there, by memory.
        self._stored: dict[str, Array] = {}

    def around(self, pc: int, step: Step | None) -> Step | None:
        if step is None:
            return None
        instruction = self._code[pc]
        used = uses(instruction)
        if instruction.opcode.startswith(_MEMORY) and not instruction.opcode.startswith(_LANES_ONLY):
            return self._around_memory(instruction, used, step)
        if not used.writes:
            return self._around_decision(instruction, used, step)
        return self._around_computation(used, step)

    # --- what computes ---------------------------------------------------------------------------------------------

    def _around_computation(self, used: Uses, step: Step) -> Step:
        inputs = [("undefined", register) for register in sorted(used.reads | (used.writes if used.keeps else set()))]
        results = [("undefined", register) for register in sorted(used.writes)]
        sets_exec = _WHOLE_EXEC[0] in used.writes

        def run(waves: Waves) -> object:
            tags = waves.tags
            undefined = [key for key in inputs if key in tags]
            if undefined:
                bits = self._dependent(waves, step, [key[1] for key in undefined], [key[1] for key in results])
            mask = waves.active()
            result = step(waves)
            for key in results:
                old = tags.pop(key, None) if (key[1] < SCALAR and mask is None) or key[1] >= SCALAR else tags.get(key)
                new = bits[key[1]] if undefined else None
                if mask is not None and key[1] < SCALAR and old is not None:
                    old = np.where(mask, U32(0), old)
                    new = old if new is None else new | old
                if new is not None and new.any():
                    tags[key] = new
                elif key in tags:
                    del tags[key]
            if sets_exec and any(key in tags for key in results):
                self._decides(waves, "EXEC", results)
            return result

        return run

    def _dependent(self, waves: Waves, step: Step, inputs: list[int], results: list[int]) -> dict[int, Array]:
        """Which bits of the results depend on undefined bits of the inputs."""
        before = {register: _value(waves, register) for register in {*inputs, *results}}
        outcomes = []
        find = waves.shared.find
        waves.shared.find = _say_nothing  # these runs are no runs of the kernel
        for replace in (_as_it_is, _zeros, _ones, self._random_bits):
            for register in inputs:
                _set(waves, register, replace(before[register], waves.tags["undefined", register]))
            step(waves)
            outcomes.append({register: _value(waves, register) for register in results})
            for register, value in before.items():
                _set(waves, register, value)
        waves.shared.find = find
        return {
            register: np.bitwise_or.reduce(
                np.broadcast_arrays(*(outcomes[0][register] ^ other[register] for other in outcomes[1:]))
            )
            for register in results
        }

    def _random_bits(self, value: Array, undefined: Array) -> Array:
        shape = np.broadcast_shapes(undefined.shape, value.shape)
        result: Array = value ^ (self._random.integers(0, 1 << 32, shape, U32) & undefined)
        return result

    # --- what decides ----------------------------------------------------------------------------------------------

    def _around_decision(self, instruction: Instruction, used: Uses, step: Step) -> Step:
        inputs = [("undefined", register) for register in sorted(used.reads)]
        if not inputs:
            return step
        what = "a branch" if instruction.opcode.startswith("s_cbranch") else instruction.opcode

        def run(waves: Waves) -> object:
            if any(key in waves.tags for key in inputs):
                self._decides(waves, what, inputs)
            return step(waves)

        return run

    def _decides(self, waves: Waves, what: str, keys: list[tuple[str, int]]) -> None:
        undefined = [key for key in keys if key in waves.tags]
        for key in undefined:
            del waves.tags[key]  # said once, it is taken for defined
        if not self._reports:
            return
        waves.shared.find(
            waves,
            "init",
            f"lets {name(undefined[0][1])}, which depends on what nothing has written, decide {what}: the hardware may "
            "go either way",
            count=waves.count,
        )

    # --- what reaches memory ---------------------------------------------------------------------------------------

    def _around_memory(self, instruction: Instruction, used: Uses, step: Step) -> Step:
        opcode, operands = instruction.opcode, instruction.operands
        loads = bool(used.writes)
        data: list[int] = []
        if "store" in opcode or "write" in opcode or "atomic" in opcode or (opcode.startswith("ds_") and not loads):
            data = _data(instruction, loads)
        address = [register for register in sorted(used.reads) if register not in data]
        results = [register for operand in operands[:1] for register in registers(operand)] if loads else []
        to_global = not opcode.startswith(("ds_", "scratch_"))
        size_keeps = used.keeps and "_d16" in opcode

        def run(waves: Waves) -> object:
            for register in address:
                tag = waves.tags.get(("undefined", register))
                if tag is not None and (lanes := _on(waves, tag)).any():
                    self._report(waves, register, lanes, "takes its address from")
            bits: list[Array | None] = []
            for register in data:
                tag = waves.tags.get(("undefined", register))
                bits.append(tag)
                if tag is not None and to_global and (lanes := _on(waves, tag)).any():
                    self._report(waves, register, lanes, "stores")
            self._fetched.clear()
            self._to_store = bits if any(tag is not None for tag in bits) else None
            result = step(waves)
            self._loaded(waves, results, size_keeps)
            return result

        return run

    def _loaded(self, waves: Waves, results: list[int], keeps: bool) -> None:
        mask = waves.active()
        for k, register in enumerate(results):
            key = ("undefined", register)
            old = waves.tags.get(key)
            if register < SCALAR and mask is not None and old is not None:
                new: Array | None = np.where(mask, old if keeps else U32(0), old)
            else:
                new = old if keeps else None
            for access, size, undefined in self._fetched:
                lanes = access.spread(undefined)  # (waves, lanes, bytes)
                if size >= 4:
                    if 4 * k + 4 > size:
                        continue
                    part = np.ascontiguousarray(lanes[..., 4 * k : 4 * k + 4]).view(U32)[..., 0]
                else:
                    part = np.where(lanes.any(-1), U32(0xFFFFFFFF), U32(0))
                new = part if new is None else new | part
            if new is not None and new.any():
                waves.tags[key] = new
            else:
                waves.tags.pop(key, None)

    def accessed(self, waves: Waves, space: str, access: Access, size: int, verb: str) -> None:
        if space == "global":
            self._accessed_global(waves, access, size, verb)
            return
        stored = self._stored.get(space)
        to_store = self._to_store
        if verb == READS:
            if stored is not None:
                undefined = stored[_places(access, size, waves, space)]
                if undefined.any():
                    self._fetched.append((access, size, undefined))
            return
        if stored is None and to_store is None:
            return
        if stored is None:
            memory = waves.shared.lds if space == "LDS" else waves.shared.scratch
            stored = self._stored[space] = np.zeros(memory.capacity, np.uint8)
        stored[_places(access, size, waves, space)] = 0 if to_store is None else _bytes(to_store, access, size)

    def _accessed_global(self, waves: Waves, access: Access, size: int, verb: str) -> None:
        memory = waves.shared.memory
        # Of a sample other workgroups would have updated it too.
        is_part = verb == UPDATES and not self._reports
        if not memory.has_unwritten and not is_part:
            return
        opcode = self._code[waves.pc].opcode
        for buffer, which in memory.owners(access, size):
            if buffer.unwritten is None:
                if not is_part:
                    continue
                buffer.unwritten = np.zeros(buffer.size, np.uint8)
            place = (access.flat[which] - buffer.base)[:, None] + np.arange(size)
            if is_part:
                buffer.unwritten[place] = 1
            elif verb == UPDATES and not _SWAP.search(opcode) and (unwritten := buffer.unwritten[place]).any():
                undefined = np.zeros((len(access.flat), size), np.uint8)
                undefined[which] = unwritten
                buffer.unwritten[place] = 0  # said once, it is taken for defined
                self._report_place(waves, access, undefined, f"updates what nothing has written to {buffer}")
            elif verb != READS:
                bits = None if self._reports or self._to_store is None else _bytes(self._to_store, access, size)
                buffer.unwritten[place] = 0 if bits is None else bits[which] != 0
            elif (unwritten := buffer.unwritten[place]).any():
                undefined = np.zeros((len(access.flat), size), np.uint8)
                undefined[which] = np.where(unwritten, 255, 0)
                if is_load_to_lds(self._code[waves.pc]):
                    what = f"loads to LDS what nothing has written to {buffer}"
                    self._report_place(waves, access, undefined, what)
                else:
                    self._fetched.append((access, size, undefined))

    def _report_place(self, waves: Waves, access: Access, undefined: Array, what: str) -> None:
        """undefined: by access and byte, those that nothing has written."""
        if not self._reports:
            return
        row, lane = access.place(int(np.argmax(undefined.any(1))))
        sentence = f"{what}: the hardware takes whatever is there"
        count = len(np.unique(access.rows()[undefined.any(1)]))
        waves.shared.find(waves, "init", sentence, row=row, lane=lane, count=count, kind="memory")

    def _report(self, waves: Waves, register: int, lanes: Array, verb: str) -> None:
        if not self._reports:
            return
        row, lane = (int(index) for index in np.argwhere(lanes)[0])
        waves.tags.pop(("undefined", register))  # said once, it is taken for defined
        waves.shared.find(
            waves,
            "init",
            f"{verb} {name(register)}, of which bits depend on what nothing has written: the hardware has whatever was "
            "left in the register or in memory",
            row=row,
            lane=lane if lanes.shape[1] > 1 else None,
            count=int(lanes.any(1).sum()),
            kind=f"{verb} {register}",
        )


def _say_nothing(*what: object, **who: object) -> None:
    pass


def _as_it_is(value: Array, undefined: Array) -> Array:
    return value


def _zeros(value: Array, undefined: Array) -> Array:
    result: Array = value & ~undefined
    return result


def _ones(value: Array, undefined: Array) -> Array:
    result: Array = value | undefined
    return result


def _value(waves: Waves, register: int) -> Array:
    if register == _SCC:
        return waves.scc.astype(U32)
    return waves.v[register] if register < SCALAR else waves.s[register - SCALAR]


def _set(waves: Waves, register: int, value: Array) -> None:
    if register == _SCC:
        waves.scc = (value & U32(1)) != 0
    elif register < SCALAR:
        waves.v[register] = value
    else:
        waves.s[register - SCALAR] = value


def _on(waves: Waves, tag: Array) -> Array:
    """Undefined in lanes that are on, (waves, 64); (waves or 1, 1) for what all lanes share."""
    mask = waves.active()
    undefined: Array = tag != 0
    return undefined if mask is None else undefined & mask


def _data(instruction: Instruction, returns: bool) -> list[int]:
    """The registers that hold what is stored."""
    operands, opcode = instruction.operands, instruction.opcode
    if opcode.startswith("buffer_"):
        chosen = operands[:1]
    elif opcode.startswith("ds_"):
        chosen = operands[2 if returns else 1 :]
    else:
        chosen = operands[2:3] if returns else operands[1:2]
    return [register for operand in chosen for register in registers(operand)]


def _places(access: Access, size: int, waves: Waves, space: str) -> Array:
    memory = waves.shared.lds if space == "LDS" else waves.shared.scratch
    places: Array = memory.offsets(access)[:, None] + np.arange(size)
    return places


def _bytes(bits: list[Array | None], access: Access, size: int) -> Array:
    """The undefined bits of registers as those of the bytes that the lanes store, (accesses, size)."""
    words = [np.zeros((1, 1), U32) if tag is None else tag for tag in bits]
    joined = np.stack(np.broadcast_arrays(*words, np.zeros((1, LANES), U32))[:-1], -1)
    flat = np.ascontiguousarray(access.pick(joined)).view(np.uint8)
    return flat[:, :size]
