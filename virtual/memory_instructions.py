"""Loads and stores: what each opcode moves, between registers and which memory."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual import atomics, lanes
from mxsub.virtual.addresses import (
    GLOBAL,
    LDS,
    SCRATCH,
    Address,
    Reached,
    buffer_address,
    flat_address,
    lds_place,
    reach,
)
from mxsub.virtual.assembly import Instruction, Operand
from mxsub.virtual.faults import UnsupportedForm
from mxsub.virtual.memory import Access
from mxsub.virtual.operands import reader
from mxsub.virtual.pieces import PIECES, Piece, get, put
from mxsub.virtual.registers import M0
from mxsub.virtual.waves import LANE, LANES, Waves

Array = npt.NDArray[Any]
Step = Callable[[Waves], Any]
U8, U32, I64 = np.uint8, np.uint32, np.int64

_FAMILY = re.compile(r"(global|flat|scratch|buffer)_(load_lds|load|store|atomic)_(\w+)$")
_DS = re.compile(r"ds_(read|write)(2st64|2)?_(\w+)$")
_SCALAR_LOAD = re.compile(r"s_(buffer_)?load_dword(?:x(\d+))?$")

_TRANSPOSED = "ds_read_b64_tr_b16"

# Caches and ordering: in lockstep everything is seen at once.
_WITHOUT_EFFECT = {"buffer_wbl2", "buffer_inv", "buffer_wbinvl1", "buffer_wbinvl1_vol", "buffer_gl0_inv", "ds_nop"}


def is_known(opcode: str) -> bool:
    """Is it the opcode of a memory instruction that is emulated?"""
    if opcode in _WITHOUT_EFFECT or opcode in lanes.LDS_BINDERS or opcode == _TRANSPOSED or _SCALAR_LOAD.match(opcode):
        return True
    if match := _FAMILY.match(opcode):
        return atomics.is_known(*match.group(1, 3)) if match[2] == "atomic" else match[3] in PIECES
    if match := _DS.match(opcode):
        return match[3] in PIECES
    return atomics.is_known_lds(opcode)


def touches_memory_atomically(opcode: str) -> bool:
    """Is it an atomic on global memory? Kernels with them may wait for other workgroups."""
    match = _FAMILY.match(opcode)
    return match is not None and match[2] == "atomic"


def bind(instruction: Instruction) -> Step | None:
    """A function that runs the instruction, or None for one without effect. Raises UnsupportedForm."""
    opcode = instruction.opcode
    if opcode in _WITHOUT_EFFECT:
        return None
    if opcode == _TRANSPOSED:
        return _load_transposed(instruction)
    if opcode in lanes.LDS_BINDERS:
        return lanes.LDS_BINDERS[opcode](instruction)
    if match := _SCALAR_LOAD.match(opcode):
        return _scalar_load(instruction, bool(match[1]), int(match[2] or 1))
    if match := _DS.match(opcode):
        return _bind_ds(instruction, match[1], match[2], PIECES[match[3]])
    if opcode.startswith("ds_"):
        return atomics.bind_lds(instruction)
    match = _FAMILY.match(opcode)
    assert match is not None
    family, verb, what = match.groups()
    if verb == "atomic":
        return atomics.bind(instruction, family, what)
    piece = PIECES[what]
    space = SCRATCH if family == "scratch" else GLOBAL
    operands = list(instruction.operands)
    if verb == "load_lds" or "lds" in instruction.modifiers:
        return _load_to_lds(instruction, _address(instruction, family, operands, piece.size), piece)
    if verb == "load":
        target = operands.pop(0)
        return _load(space, _address(instruction, family, operands, piece.size), target, piece)
    source = operands.pop(0 if family == "buffer" else 1)
    return _store(space, _address(instruction, family, operands, piece.size), source, piece)


def _address(instruction: Instruction, family: str, operands: list[Operand], size: int) -> Address:
    if family == "buffer":
        vector, resource, scalar = operands
        return buffer_address(instruction, vector, resource, scalar, size)
    return flat_address(instruction, operands[0], operands[1] if len(operands) > 1 else None)


def _vector_register(operand: Operand) -> int:
    if operand.kind != "vector":
        raise UnsupportedForm("data that is not in vector registers")
    return operand.register


def _fetched(waves: Waves, space: str, address: Address, size: int) -> tuple[Array, Array | None]:
    """The bytes of each lane, and the lanes to write them to."""
    reached = address(waves)
    found = reach(waves, space, reached)
    if found is None:
        data: Array = np.zeros((1, 1, size), U8)
    else:
        memory, access = found
        data = access.spread(memory.load(access, size))
    if reached.zeroed is None:
        return data, reached.mask
    return np.where(reached.zeroed[..., None], U8(0), data), waves.active()


def _load(space: str, address: Address, target: Operand, piece: Piece) -> Step:
    first = _vector_register(target)

    def run(waves: Waves) -> None:
        data, mask = _fetched(waves, space, address, piece.size)
        put(waves, first, data, piece, mask)

    return run


def _store(space: str, address: Address, source: Operand, piece: Piece) -> Step:
    first = _vector_register(source)

    def run(waves: Waves) -> None:
        reached = address(waves)
        addresses = np.broadcast_to(reached.addresses, (waves.count, LANES))
        found = reach(waves, space, Reached(addresses, reached.mask))
        if found is not None:
            memory, access = found
            memory.store(access, access.pick(get(waves, first, piece)))

    return run


def _load_to_lds(instruction: Instruction, address: Address, piece: Piece) -> Step:
    """From global memory to LDS: the data of lane i lands at M0 + offset + i * size."""
    size, offset = max(piece.size, 4), int(instruction.modifiers.get("offset", 0))

    def run(waves: Waves) -> None:
        data, mask = _fetched(waves, GLOBAL, address, piece.size)
        if piece.size < 4:  # LDS gets whole dwords
            padded = np.zeros((*data.shape[:-1], 4), U8)
            padded[..., : piece.size] = data
            if piece.signed:
                padded[..., piece.size :] = np.where(data[..., -1:] > 127, U8(255), U8(0))
            data = padded
        targets = (waves.s[M0] & U32(0xFFFF)).astype(I64) + offset + LANE * size
        found = reach(waves, LDS, Reached(targets, mask))
        if found is not None:
            memory, access = found
            memory.store(access, access.pick(data))

    return run


def _bind_ds(instruction: Instruction, verb: str, pair: str | None, piece: Piece) -> Step:
    operands = list(instruction.operands)
    target = operands.pop(0) if verb == "read" else None
    base, *sources = operands
    if not pair:
        offset = int(instruction.modifiers.get("offset", 0))
        return _read_lds(base, offset, target, piece) if target else _write_lds(base, offset, sources[0], piece)
    unit = piece.size * (64 if pair == "2st64" else 1)
    offsets = [unit * int(instruction.modifiers.get(f"offset{k}", 0)) for k in (0, 1)]
    if target is None:
        return _both(*(_write_lds(base, o, s, piece) for o, s in zip(offsets, sources, strict=True)))
    words = piece.size // 4
    targets = [Operand("vector", target.register + k * words, words) for k in (0, 1)]
    steps = [_read_lds(base, o, t, piece) for o, t in zip(offsets, targets, strict=True)]
    if base.register in range(target.register, target.register + words):
        steps.reverse()  # the first one would overwrite the address
    return _both(*steps)


def _read_lds(base: Operand, offset: int, target: Operand, piece: Piece) -> Step:
    address, first = _vector_register(base), _vector_register(target)

    def run(waves: Waves) -> None:
        place = lds_place(waves, address, offset, piece.size, "reads")
        if place is not None:
            data = place.access.spread(waves.shared.lds.read(place))
            put(waves, first, data, piece, place.access.mask)

    return run


def _write_lds(base: Operand, offset: int, source: Operand, piece: Piece) -> Step:
    address, first = _vector_register(base), _vector_register(source)

    def run(waves: Waves) -> None:
        place = lds_place(waves, address, offset, piece.size, "writes")
        if place is not None:
            waves.shared.lds.write(place, place.access.pick(get(waves, first, piece)))

    return run


def _load_transposed(instruction: Instruction) -> Step:
    """ds_read_b64_tr_b16: 16 lanes read four 16-bit elements each, in all a matrix of 4 rows of 16; lane i of them gets
    column i. (Layout: chooseDsReadTrLayout in Triton's LinearLayoutConversions.cpp.)"""
    target, base = (_vector_register(operand) for operand in instruction.operands)
    offset = int(instruction.modifiers.get("offset", 0))
    lane, row = np.arange(LANES)[:, None], np.arange(4)
    source_lane, source_element = lane // 16 * 16 + 4 * row + lane % 16 // 4, lane % 4

    def run(waves: Waves) -> None:
        place = lds_place(waves, base, offset, 8, "reads")
        if place is not None:
            elements = place.access.spread(waves.shared.lds.read(place)).view(np.uint16)
            turned = np.ascontiguousarray(elements[:, source_lane, source_element])
            put(waves, target, turned.view(U8), PIECES["b64"], place.access.mask)

    return run


def _both(first: Step, second: Step) -> Step:
    def run(waves: Waves) -> None:
        first(waves)
        second(waves)

    return run


def _scalar_load(instruction: Instruction, from_buffer: bool, count: int) -> Step:
    target, base, extra = instruction.operands
    first = target.register
    more = reader(instruction, extra, "u32")
    offset = int(instruction.modifiers.get("offset", 0))
    size = 4 * count

    def load(waves: Waves, addresses: Array) -> None:
        access = Access(addresses, waves=waves)
        data = access.spread(waves.shared.memory.load(access, size))
        words = np.ascontiguousarray(data).view(U32)
        for k in range(count):
            waves.s[first + k] = words[..., k]

    if not from_buffer:
        read = reader(instruction, base, "u64")
        return lambda waves: load(waves, (read(waves).astype(I64) + more(waves) + offset) & -4)

    resource = base.register

    def load_from_buffer(waves: Waves) -> None:
        """Words past the end of the buffer resource are zero."""
        low, high, records = (waves.s[resource + k] for k in range(3))
        start = low.astype(I64) | (high & U32(0xFFFF)).astype(I64) << 32
        within = (more(waves).astype(I64) + offset) & -4
        for k in range(count):
            place = within + 4 * k
            inside = np.broadcast_to(place + 4 <= records.astype(I64), np.broadcast_shapes(place.shape, records.shape))
            word: Array = np.zeros(inside.shape, U32)
            if inside.any():
                access = Access(start + place, inside, waves=waves)
                word = access.spread(waves.shared.memory.load(access, 4)).view(U32)[..., 0]
            waves.s[first + k] = word

    return load_from_buffer
