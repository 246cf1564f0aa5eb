"""Scalar loads and stores: one address a wave; section 8 of AMD's CDNA4 manual."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.assembly import Instruction
from mxsub.virtual.buffer_addresses import ResourceReader
from mxsub.virtual.faults import UnsupportedForm
from mxsub.virtual.memory import Access
from mxsub.virtual.operands import reader
from mxsub.virtual.waves import Waves

Array = npt.NDArray[Any]
Step = Callable[[Waves], None]
Binder = Callable[[Instruction], Step]
U8, U32, I64 = np.uint8, np.uint32, np.int64

# Of each word of an instruction: which waves have it within the buffer, and its address, both (waves or 1, 1).
_Places = Callable[[Waves], list[tuple[Array, Array]]]

_LOADED = {"dword": 1, "dwordx2": 2, "dwordx4": 4, "dwordx8": 8, "dwordx16": 16}
_STORED = {"dword": 1, "dwordx2": 2, "dwordx4": 4}


def _data(instruction: Instruction, count: int) -> int:
    operand = instruction.operands[0]
    if operand.kind != "scalar" or operand.count != count:
        raise UnsupportedForm(f"data in other than {count} scalar registers")
    return operand.register


def _address(instruction: Instruction) -> Callable[[Waves], Array]:
    """int64 (waves, 1), or 1 in place of the number. The two lowest bits do not count."""
    _, base, extra = instruction.operands
    start, more = reader(instruction, base, "u64"), reader(instruction, extra, "u32")
    offset = int(instruction.modifiers.get("offset", 0))
    if extra.is_constant:  # signed
        fixed = int(extra.constant) + offset
        return lambda waves: (start(waves).astype(I64) + fixed) & -4
    return lambda waves: (start(waves).astype(I64) + more(waves) + offset) & -4


def _words_of_buffer(instruction: Instruction, count: int) -> _Places:
    """What is past the end of the buffer resource is neither read nor written."""
    _, resource, extra = instruction.operands
    read_resource, more = ResourceReader(resource), reader(instruction, extra, "u32")
    offset = int(instruction.modifiers.get("offset", 0))

    def places(waves: Waves) -> list[tuple[Array, Array]]:
        found = read_resource.resource(waves)
        within = (more(waves).astype(I64) + offset) & -4
        size = found.records * np.maximum(found.stride, 1)
        shape = np.broadcast_shapes(within.shape, size.shape)
        return [
            (np.broadcast_to(within + 4 * k + 4 <= size, shape), (found.base & -4) + within + 4 * k)
            for k in range(count)
        ]

    return places


def _load(count: int) -> Binder:
    def bind(instruction: Instruction) -> Step:
        first, address = _data(instruction, count), _address(instruction)

        def run(waves: Waves) -> None:
            access = Access(address(waves), waves=waves)
            words = np.ascontiguousarray(access.spread(waves.shared.memory.load(access, 4 * count))).view(U32)
            for k in range(count):
                waves.s[first + k] = words[..., k]

        return run

    return bind


def _load_from_buffer(count: int) -> Binder:
    def bind(instruction: Instruction) -> Step:
        first, places = _data(instruction, count), _words_of_buffer(instruction, count)

        def run(waves: Waves) -> None:
            loaded = []
            for inside, address in places(waves):
                word: Array = np.zeros(inside.shape, U32)
                if inside.any():
                    access = Access(address, inside, waves=waves)
                    word = access.spread(waves.shared.memory.load(access, 4)).view(U32)[..., 0]
                loaded.append(word)
            waves.s[first : first + count] = loaded

        return run

    return bind


def _store(count: int) -> Binder:
    def bind(instruction: Instruction) -> Step:
        first, address = _data(instruction, count), _address(instruction)

        def run(waves: Waves) -> None:
            words, addresses = np.stack(np.broadcast_arrays(*waves.s[first : first + count]), -1), address(waves)
            shape = np.broadcast_shapes(addresses.shape, words.shape[:2])
            access = Access(np.broadcast_to(addresses, shape), waves=waves)
            waves.shared.memory.store(access, access.pick(words.view(U8)))

        return run

    return bind


def _store_to_buffer(count: int) -> Binder:
    def bind(instruction: Instruction) -> Step:
        first, places = _data(instruction, count), _words_of_buffer(instruction, count)

        def run(waves: Waves) -> None:
            for k, (inside, address) in enumerate(places(waves)):
                word = waves.s[first + k]
                shape = np.broadcast_shapes(inside.shape, word.shape)
                access = Access(np.broadcast_to(address, shape), np.broadcast_to(inside, shape), waves=waves)
                if len(access.flat):
                    waves.shared.memory.store(access, access.pick(np.ascontiguousarray(word)[..., None].view(U8)))

        return run

    return bind


def _table() -> dict[str, Binder]:
    table: dict[str, Binder] = {}
    for name, count in _LOADED.items():
        table[f"s_load_{name}"] = _load(count)
        table[f"s_buffer_load_{name}"] = _load_from_buffer(count)
    for name, count in _STORED.items():
        table[f"s_store_{name}"] = _store(count)
        table[f"s_buffer_store_{name}"] = _store_to_buffer(count)
    return table


BINDERS = _table()
