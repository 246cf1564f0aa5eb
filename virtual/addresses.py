"""How each family of memory instructions spells the addresses that its lanes reach for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.assembly import Instruction, Operand
from mxsub.virtual.banked_memory import BankedMemory, Place
from mxsub.virtual.faults import UnsupportedForm
from mxsub.virtual.memory import Access, GlobalMemory
from mxsub.virtual.operands import reader
from mxsub.virtual.waves import LANE, LANES, Waves

Array = npt.NDArray[Any]
U32, I64 = np.uint32, np.int64

GLOBAL, LDS, SCRATCH = "global", "LDS", "scratch"


@dataclass(frozen=True)
class Reached:
    """addresses: int64 (waves, 64), or 1 in place of either. mask: lanes that reach memory, None for all.
    zeroed: lanes that get zeros instead, out of a buffer resource's range; None for none. dwords: of lanes among those
    how many dwords are within it after all; None where there is no such lane."""

    addresses: Array
    mask: Array | None
    zeroed: Array | None = None
    dwords: Array | None = None


Address = Callable[[Waves], Reached]


def reach(waves: Waves, space: str, reached: Reached) -> tuple[GlobalMemory | BankedMemory, Access] | None:
    """The memory and the access to it, or None where no lane is on."""
    addresses, shared = reached.addresses, waves.shared
    if space == GLOBAL:
        access = Access(addresses, reached.mask, waves=waves)
        return (shared.memory, access) if len(access.flat) else None
    # Each workgroup has LDS of its own, each lane its own scratch.
    addresses = np.broadcast_to(addresses, (waves.count, LANES))
    if space == LDS:
        access = Access(addresses, reached.mask, waves.workgroup[:, None], waves)
        return (shared.lds, access) if len(access.flat) else None
    access = Access(addresses, reached.mask, waves.wave[:, None] * LANES + LANE, waves)
    return (shared.scratch, access) if len(access.flat) else None


def vector_register(operand: Operand) -> int:
    """The number of the first vector register. Raises UnsupportedForm where there is none."""
    if operand.kind != "vector":
        raise UnsupportedForm("data or an address that is not in vector registers")
    return operand.register


def flat_address(instruction: Instruction, vector: Operand, base: Operand | None) -> Address:
    """global_, flat_ and scratch_: a vector address or offset, a scalar base or none, and the instruction's offset."""
    offset = int(instruction.modifiers.get("offset", 0))
    has_vector, has_base = vector.kind != "name", base is not None and base.kind != "name"
    if not has_base:
        if not has_vector:
            only = np.full((1, 1), offset, I64)
            return lambda waves: Reached(only, waves.active())
        address = reader(instruction, vector, "u64" if vector.count == 2 else "u32")
        return lambda waves: Reached(address(waves).astype(I64) + offset, waves.active())
    assert base is not None
    start = reader(instruction, base, "u64" if base.count == 2 else "u32")
    if not has_vector:
        return lambda waves: Reached(start(waves).astype(I64) + offset, waves.active())
    address = reader(instruction, vector, "u32")
    return lambda waves: Reached(start(waves).astype(I64) + address(waves) + offset, waves.active())


def lds_address(instruction: Instruction, operand: Operand, offset: int) -> Address:
    """ds_: a vector address and the instruction's offset, in 32 bits: LLVM gives negative addresses an offset."""
    address = reader(instruction, operand, "u32")
    return lambda waves: Reached((address(waves) + U32(offset)).astype(I64), waves.active())


# Loops reach for the same places in LDS again and again.
_KEPT_PLACES = 128


def lds_place(waves: Waves, register: int, offset: int, size: int, verb: str) -> Place | None:
    """Where an LDS access by the address in a vector register lands; None where no lane is on. Raises Violation."""
    address, mask, lds = waves.v[register], waves.active(), waves.shared.lds
    key = (id(address), id(mask), id(waves.workgroup), offset, size)
    kept = lds.places.get(key)
    if kept is not None:
        place: Place | None = kept[0]
        return place
    addresses = np.broadcast_to((address + U32(offset)).astype(I64), (waves.count, LANES))
    access = Access(addresses, mask, waves.workgroup[:, None], waves)
    place = lds.place(access, size, verb) if len(access.flat) else None
    if len(lds.places) >= _KEPT_PLACES:
        lds.places.pop(next(iter(lds.places)))
    lds.places[key] = (place, address, mask, waves.workgroup)
    return place
