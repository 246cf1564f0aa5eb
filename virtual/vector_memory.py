"""Loads and stores on global memory and scratch: global_, flat_, scratch_ and buffer_."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.addresses import GLOBAL, LDS, SCRATCH, Address, Reached, flat_address, reach, vector_register
from mxsub.virtual.assembly import Instruction, Operand
from mxsub.virtual.buffer_addresses import buffer_address
from mxsub.virtual.faults import UnsupportedForm
from mxsub.virtual.memory import Access
from mxsub.virtual.pieces import LOADS, STORES, Piece, get, put
from mxsub.virtual.registers import M0
from mxsub.virtual.waves import LANE, LANES, Waves

Array = npt.NDArray[Any]
Step = Callable[[Waves], None]
Binder = Callable[[Instruction], Step]
U8, U32, I64 = np.uint8, np.uint32, np.int64

FAMILIES = ("global", "flat", "scratch", "buffer")
# What can go straight to LDS; gfx950 has no dwordx2.
_TO_LDS = ("ubyte", "sbyte", "ushort", "sshort", "dword", "dwordx3", "dwordx4")
_M0_OFFSET = U32(0x3FFFC)


def address_of(
    instruction: Instruction, family: str, operands: list[Operand], size: int, *, whole: bool = False
) -> Address:
    """operands: those that are left without the data. size: bytes of each lane; whole: see buffer_address."""
    if family == "buffer":
        vector, resource, scalar = operands
        return buffer_address(instruction, vector, resource, scalar, size, whole=whole)
    return flat_address(instruction, operands[0], operands[1] if len(operands) > 1 else None)


def _space(family: str) -> str:
    return SCRATCH if family == "scratch" else GLOBAL


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
    data = np.where(reached.zeroed[..., None], U8(0), data)
    for place, part in _single_dwords(waves, reached):
        data[..., place : place + 4] |= part.spread(waves.shared.memory.load(part, 4))
    return data, waves.active()


def _single_dwords(waves: Waves, reached: Reached) -> list[tuple[int, Access]]:
    """Of lanes that reach over the end of their buffer the dwords that do not: (byte of the data, access to it)."""
    if reached.dwords is None:
        return []
    parts = []
    for k in range(int(reached.dwords.max())):
        parts.append((4 * k, Access(reached.addresses + 4 * k, reached.dwords > k, waves=waves)))
    return parts


def _loading(family: str, piece: Piece) -> Binder:
    def bind(instruction: Instruction) -> Step:
        if "lds" in instruction.modifiers:
            address = address_of(instruction, family, instruction.operands, piece.size)
            return _load_to_lds(instruction, _space(family), address, piece)
        target, *operands = instruction.operands
        address, first, space = (
            address_of(instruction, family, operands, piece.size),
            vector_register(target),
            _space(family),
        )

        def run(waves: Waves) -> None:
            data, mask = _fetched(waves, space, address, piece.size)
            put(waves, first, data, piece, mask)

        return run

    return bind


def _storing(family: str, piece: Piece) -> Binder:
    def bind(instruction: Instruction) -> Step:
        operands = list(instruction.operands)
        first = vector_register(operands.pop(0 if family == "buffer" else 1))
        address, space = address_of(instruction, family, operands, piece.size), _space(family)

        def run(waves: Waves) -> None:
            reached = address(waves)
            addresses = np.broadcast_to(reached.addresses, (waves.count, LANES))
            found = reach(waves, space, Reached(addresses, reached.mask))
            data = get(waves, first, piece)
            if found is not None:
                memory, access = found
                memory.store(access, access.pick(data))
            for place, part in _single_dwords(waves, reached):
                waves.shared.memory.store(part, part.pick(data)[:, place : place + 4])

        return run

    return bind


def _loading_to_lds(family: str, piece: Piece) -> Binder:
    def bind(instruction: Instruction) -> Step:
        address = address_of(instruction, family, instruction.operands, piece.size)
        return _load_to_lds(instruction, _space(family), address, piece)

    return bind


def _load_to_lds(instruction: Instruction, space: str, address: Address, piece: Piece) -> Step:
    """The data of lane i lands at M0 + offset + 4 * i, of three and four dwords at 16 * i; what is less than a dword is
    extended to one. Sections 9.1.9 and 10.3 of AMD's CDNA4 manual."""
    if not any(LOADS[name] == piece for name in _TO_LDS):
        raise UnsupportedForm("data of this size straight to LDS")
    size, offset = max(piece.size, 4), int(instruction.modifiers.get("offset", 0))
    stride = 4 if size == 4 else 16

    def run(waves: Waves) -> None:
        data, mask = _fetched(waves, space, address, piece.size)
        if piece.size < 4:
            padded = np.zeros((*data.shape[:-1], 4), U8)
            padded[..., : piece.size] = data
            if piece.signed:
                padded[..., piece.size :] = np.where(data[..., -1:] > 127, U8(255), U8(0))
            data = padded
        targets = (waves.s[M0] & _M0_OFFSET).astype(I64) + offset + LANE * stride
        found = reach(waves, LDS, Reached(targets, mask))
        if found is not None:
            memory, access = found
            memory.store(access, access.pick(data))

    return run


def _table() -> dict[str, Binder]:
    table: dict[str, Binder] = {}
    for family in FAMILIES:
        table |= {f"{family}_load_{name}": _loading(family, piece) for name, piece in LOADS.items()}
        table |= {f"{family}_store_{name}": _storing(family, piece) for name, piece in STORES.items()}
    for name in _TO_LDS:
        table[f"global_load_lds_{name}"] = _loading_to_lds("global", LOADS[name])
        if "x" not in name:
            table[f"scratch_load_lds_{name}"] = _loading_to_lds("scratch", LOADS[name])
    return table


BINDERS = _table()
