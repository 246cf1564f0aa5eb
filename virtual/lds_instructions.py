"""Loads and stores on LDS: ds_read, ds_write and their kin."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.addresses import LDS, Reached, lds_place, reach, vector_register
from mxsub.virtual.assembly import Instruction, Operand
from mxsub.virtual.pieces import LDS_READS, LDS_WRITES, Piece, get, put
from mxsub.virtual.registers import M0
from mxsub.virtual.waves import LANE, LANES, Waves

Array = npt.NDArray[Any]
Step = Callable[[Waves], None]
Binder = Callable[[Instruction], Step]
U8, U32, I64 = np.uint8, np.uint32, np.int64

_DWORD = Piece(4)
TRANSPOSED_WITH_LANES_OFF = (
    "a transposing LDS read ran with lanes switched off, which AMD rules out: what those lanes would read is missing"
)


def _offset(instruction: Instruction) -> int:
    return int(instruction.modifiers.get("offset", 0))


def _reading(piece: Piece) -> Binder:
    def bind(instruction: Instruction) -> Step:
        target, base = instruction.operands
        return read_lds(base, _offset(instruction), target, piece)

    return bind


def _writing(piece: Piece) -> Binder:
    def bind(instruction: Instruction) -> Step:
        base, source = instruction.operands
        return _write_lds(base, _offset(instruction), source, piece)

    return bind


def pair_offsets(instruction: Instruction, size: int, stride: int) -> list[int]:
    """Of the two places of an instruction, in bytes; its offsets are in units of `stride` pieces of `size` bytes."""
    return [size * stride * int(instruction.modifiers.get(f"offset{k}", 0)) for k in (0, 1)]


def parts_of(target: Operand, words: int) -> list[Operand]:
    """The two halves of the registers that get what was at two places."""
    return [Operand("vector", target.register + k * words, words) for k in (0, 1)]


def _reading_two(piece: Piece, stride: int) -> Binder:
    def bind(instruction: Instruction) -> Step:
        target, base = instruction.operands
        words = piece.size // 4
        offsets = pair_offsets(instruction, piece.size, stride)
        parts = zip(offsets, parts_of(target, words), strict=True)
        steps = [read_lds(base, offset, part, piece) for offset, part in parts]
        if base.register in range(target.register, target.register + words):
            steps.reverse()  # the first one would overwrite the address
        return both(*steps)

    return bind


def _writing_two(piece: Piece, stride: int) -> Binder:
    def bind(instruction: Instruction) -> Step:
        base, *sources = instruction.operands
        parts = zip(pair_offsets(instruction, piece.size, stride), sources, strict=True)
        return both(*(_write_lds(base, offset, source, piece) for offset, source in parts))

    return bind


def both(first: Step, second: Step) -> Step:
    """One step after the other."""

    def run(waves: Waves) -> None:
        first(waves)
        second(waves)

    return run


def read_lds(base: Operand, offset: int, target: Operand, piece: Piece) -> Step:
    """From the address in a vector register, plus an offset."""
    address, first = vector_register(base), vector_register(target)

    def run(waves: Waves) -> None:
        place = lds_place(waves, address, offset, piece.size, "reads")
        if place is not None:
            data = place.access.spread(waves.shared.lds.read(place))
            put(waves, first, data, piece, place.access.mask)

    return run


def _write_lds(base: Operand, offset: int, source: Operand, piece: Piece) -> Step:
    address, first = vector_register(base), vector_register(source)

    def run(waves: Waves) -> None:
        place = lds_place(waves, address, offset, piece.size, "writes")
        if place is not None:
            waves.shared.lds.write(place, place.access.pick(get(waves, first, piece)))

    return run


def _by_lane(waves: Waves, offset: int) -> Reached:
    """ds_*_addtid: a word a lane from M0 and an offset on."""
    start = (waves.s[M0] & U32(0xFFFF)).astype(I64) + offset
    return Reached(start + 4 * LANE, waves.active())


def _read_by_lane(instruction: Instruction) -> Step:
    first, offset = vector_register(instruction.operands[0]), _offset(instruction)

    def run(waves: Waves) -> None:
        found = reach(waves, LDS, _by_lane(waves, offset))
        if found is not None:
            memory, access = found
            put(waves, first, access.spread(memory.load(access, 4)), _DWORD, access.mask)

    return run


def _write_by_lane(instruction: Instruction) -> Step:
    first, offset = vector_register(instruction.operands[0]), _offset(instruction)

    def run(waves: Waves) -> None:
        found = reach(waves, LDS, _by_lane(waves, offset))
        if found is not None:
            memory, access = found
            memory.store(access, access.pick(get(waves, first, _DWORD)))

    return run


def _reading_transposed(bits: int) -> Binder:
    """ds_read_*_tr: of 16 lanes each reads a part of a row, one after another, of a matrix of 16 columns of `bits`-bit
    elements; lane i of them gets column i.

    A lane reads 64 bits, of 6-bit elements 96. Source: Triton's LinearLayoutConversions.cpp (chooseDsReadTrLayout), as
    its compiled products come out right, and section 11.4 of AMD's CDNA4 manual, of which rows the first instruction
    of two loads.
    """
    size = 12 if bits == 6 else 8
    per_lane = 8 * size // bits  # as many rows as a lane gets elements
    lanes_a_row = 16 // per_lane
    lane, row = np.arange(LANES)[:, None], np.arange(per_lane)
    source_lane = lane // 16 * 16 + lanes_a_row * row + lane % 16 // per_lane
    source_element = lane % 16 % per_lane + 0 * row

    def bind(instruction: Instruction) -> Step:
        target, base = (vector_register(operand) for operand in instruction.operands)
        offset = _offset(instruction)

        def run(waves: Waves) -> None:
            place = lds_place(waves, base, offset, size, "reads")
            if place is None:
                return
            if place.access.mask is not None:
                waves.shared.find(waves, "exec", TRANSPOSED_WITH_LANES_OFF, count=waves.count)
            elements = _elements(place.access.spread(waves.shared.lds.read(place)), bits)
            turned = _joined(elements[:, source_lane, source_element], bits)
            put(waves, target, turned, Piece(size), place.access.mask)

        return run

    return bind


def _elements(data: Array, bits: int) -> Array:
    """Bytes, uint8 (waves, 64, size), to elements of `bits` bits, low bits first."""
    if bits >= 8:
        return data.view(f"u{bits // 8}")
    apart = np.unpackbits(data, axis=-1, bitorder="little").reshape(*data.shape[:-1], -1, bits)
    return np.packbits(apart, axis=-1, bitorder="little")[..., 0]


def _joined(elements: Array, bits: int) -> Array:
    """The way back."""
    if bits >= 8:
        return np.ascontiguousarray(elements).view(U8)
    apart = np.unpackbits(elements[..., None], axis=-1, bitorder="little")[..., :bits]
    return np.packbits(apart.reshape(*elements.shape[:-1], -1), axis=-1, bitorder="little")


def _table() -> dict[str, Binder]:
    table: dict[str, Binder] = {f"ds_read_{name}": _reading(piece) for name, piece in LDS_READS.items()}
    table |= {f"ds_write_{name}": _writing(piece) for name, piece in LDS_WRITES.items()}
    for middle, stride in (("2", 1), ("2st64", 64)):
        for name in ("b32", "b64"):
            table[f"ds_read{middle}_{name}"] = _reading_two(LDS_READS[name], stride)
            table[f"ds_write{middle}_{name}"] = _writing_two(LDS_WRITES[name], stride)
    table["ds_read_addtid_b32"] = _read_by_lane
    table["ds_write_addtid_b32"] = _write_by_lane
    for bits in (4, 6, 8, 16):
        table[f"ds_read_b{96 if bits == 6 else 64}_tr_b{bits}"] = _reading_transposed(bits)
    return table


BINDERS = _table()
