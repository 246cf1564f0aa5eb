"""Addresses of buffer instructions, by the buffer resource in four scalar registers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.addresses import Address, Reached
from mxsub.virtual.assembly import Instruction, Operand, integer
from mxsub.virtual.faults import UnsupportedForm, Violation
from mxsub.virtual.operands import reader
from mxsub.virtual.waves import LANES, Waves

Array = npt.NDArray[Any]
U32, I64 = np.uint32, np.int64

OFFSET_WRAPS = (
    "a buffer offset wrapped around at 32 bits: a negative offset plus the instruction's own; on the hardware such an "
    "access may miss"
)
OVER_THE_END = "reaches over the end of its buffer resource: the dwords past it read as zero, and are not written"
_SWIZZLES = U32(1 << 31)  # of the second word
_ADDS_LANE = U32(1 << 23)  # of the fourth


@dataclass(frozen=True)
class Resource:
    """base, in bytes; stride, in bytes, of a structured buffer; records, of those, or bytes of a raw one: int64."""

    base: Array
    stride: Array
    records: Array


class ResourceReader:
    """Decodes the buffer resource of an instruction, once for the same words. Section 9.1.8 of AMD's CDNA4 manual."""

    def __init__(self, operand: Operand) -> None:
        """Raises UnsupportedForm."""
        if operand.kind != "scalar" or operand.count != 4:
            raise UnsupportedForm("a buffer resource that is not in four scalar registers")
        self._first = operand.register
        self._words: list[Array] = []
        self._resource: Resource | None = None

    def resource(self, waves: Waves) -> Resource:
        """Raises Violation for a kind that no compiler makes for gfx950."""
        words = waves.s[self._first : self._first + 4]
        if self._resource is None or any(new is not old for new, old in zip(words, self._words, strict=True)):
            low, high, records, flags = words
            if (high & _SWIZZLES).any() or (flags & _ADDS_LANE).any():
                raise Violation("uses a buffer resource that swizzles or adds lanes' numbers: not emulated", 0, None, 0)
            base = low.astype(I64) | (high & U32(0xFFFF)).astype(I64) << 32
            self._words = words
            self._resource = Resource(base, (high >> U32(16) & U32(0x3FFF)).astype(I64), records.astype(I64))
        return self._resource


def buffer_address(
    instruction: Instruction, vector: Operand, resource: Operand, scalar: Operand, size: int, *, whole: bool = False
) -> Address:
    """What is not within the resource's range reads zero and writes nothing: of a raw buffer what ends past its number
    of bytes, dword by dword; of a structured one (idxen) what has an index past its number of records.

    Of the offset's parts only the vector one and the instruction's add up in 32 bits; the range check takes the scalar
    one in. AMD's own emulator has both from a gfx950 (ROCm/rocm-systems, pull request 10928 and addr_calc_buffer.h);
    its manual leaves the scalar offset out of the check. size: bytes. whole: all dwords or none (atomics).
    """
    has_index, has_offset = "idxen" in instruction.modifiers, "offen" in instruction.modifiers
    read_resource = ResourceReader(resource)
    offset = U32(instruction.modifiers.get("offset", 0))
    if has_offset and has_index:  # the index in the first register, the offset in the second
        own = reader(instruction, Operand("vector", vector.register + 1), "u32")
    else:
        own = reader(instruction, vector if has_offset else integer(0), "u32")
    read_index = reader(instruction, Operand("vector", vector.register) if has_index else integer(0), "u32")
    extra = reader(instruction, scalar, "u32")

    def address(waves: Waves) -> Reached:
        found = read_resource.resource(waves)
        start = own(waves)
        if offset and start.max() > ~offset:
            waves.shared.find(waves, "memory", OFFSET_WRAPS, count=waves.count)
        within = (start + offset).astype(I64) + extra(waves)
        addresses = found.base + within
        if has_index:
            index = read_index(waves).astype(I64)
            addresses = addresses + index * found.stride
            outside = np.where(found.stride != 0, index >= found.records, within + size > found.records)
        else:
            outside = within + size > found.records
        active = waves.active()
        if not outside.any():
            return Reached(addresses, active)
        shape = np.broadcast_shapes(outside.shape, addresses.shape, (1, LANES))
        outside, addresses = np.broadcast_to(outside, shape), np.broadcast_to(addresses, shape)
        inside = ~outside if active is None else active & ~outside
        dwords = None
        if size > 4 and not whole:
            left = np.where(outside, (found.records - within) // 4, 0)
            if has_index:
                left = np.where(found.stride != 0, 0, left)
            left = left if active is None else np.where(active, left, 0)
            if (left > 0).any():
                waves.shared.find(waves, "memory", OVER_THE_END, count=int((left > 0).any(1).sum()))
                dwords = left
        return Reached(addresses, inside, outside, dwords)

    return address
