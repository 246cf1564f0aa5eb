"""How each family of memory instructions spells the addresses that its lanes reach for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.assembly import Instruction, Operand, integer
from mxsub.virtual.banked_memory import BankedMemory, Place
from mxsub.virtual.faults import UnsupportedForm, Violation
from mxsub.virtual.memory import Access, GlobalMemory
from mxsub.virtual.operands import reader
from mxsub.virtual.waves import LANE, LANES, Waves

Array = npt.NDArray[Any]
U32, I64 = np.uint32, np.int64

GLOBAL, LDS, SCRATCH = "global", "LDS", "scratch"

OFFSET_WRAPS = (
    "a buffer offset wrapped around at 32 bits: a negative offset plus the instruction's own; on the hardware such an "
    "access may miss"
)


@dataclass(frozen=True)
class Reached:
    """addresses: int64 (waves, 64), or 1 in place of either. mask: lanes that reach memory, None for all.
    zeroed: lanes that get zeros instead, out of a buffer resource's range; None for none."""

    addresses: Array
    mask: Array | None
    zeroed: Array | None = None


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


def buffer_address(instruction: Instruction, vector: Operand, resource: Operand, scalar: Operand, size: int) -> Address:
    """buffer_: raw buffers. What ends past the resource's number of records reads zero and writes nothing.

    Of the offset's parts only the vector one and the instruction's add up in 32 bits (as on gfx950:
    ROCm/rocm-systems pull request 10928).
    """
    if "idxen" in instruction.modifiers or "addr64" in instruction.modifiers:
        raise UnsupportedForm("structured buffers")
    if resource.kind != "scalar" or resource.count != 4:
        raise UnsupportedForm("a buffer resource that is not in four scalar registers")
    offset = U32(instruction.modifiers.get("offset", 0))
    own = reader(instruction, vector if "offen" in instruction.modifiers else integer(0), "u32")
    extra, first = reader(instruction, scalar, "u32"), resource.register

    def address(waves: Waves) -> Reached:
        low, high, records = waves.s[first], waves.s[first + 1], waves.s[first + 2].astype(I64)
        base = low.astype(I64) | (high & U32(0xFFFF)).astype(I64) << 32
        start = own(waves)
        if offset and start.max() > ~offset:
            waves.shared.find(waves, "memory", OFFSET_WRAPS, count=waves.count)
        within = (start + offset).astype(I64) + extra(waves)
        active = waves.active()
        outside = within + size > records
        if not outside.any():
            return Reached(base + within, active)
        shape = np.broadcast_shapes(outside.shape, base.shape, (1, LANES))
        outside = np.broadcast_to(outside, shape)
        inside = ~outside if active is None else active & ~outside
        straddling = outside & (within < records) if active is None else outside & (within < records) & active
        if straddling.any():
            row, lane = (int(x) for x in np.argwhere(straddling)[0])
            place = int(np.broadcast_to(base + within, straddling.shape)[row, lane])
            raise Violation(f"reaches over the end of its buffer resource with {size} bytes", row, lane, place)
        return Reached(np.broadcast_to(base + within, shape), inside, outside)

    return address


def lds_address(instruction: Instruction, operand: Operand, offset: int) -> Address:
    """ds_: a vector address and the instruction's offset."""
    address = reader(instruction, operand, "u32")
    return lambda waves: Reached(address(waves).astype(I64) + offset, waves.active())


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
    addresses = np.broadcast_to(address.astype(I64) + offset, (waves.count, LANES))
    access = Access(addresses, mask, waves.workgroup[:, None], waves)
    place = lds.place(access, size, verb) if len(access.flat) else None
    if len(lds.places) >= _KEPT_PLACES:
        lds.places.pop(next(iter(lds.places)))
    lds.places[key] = (place, address, mask, waves.workgroup)
    return place
