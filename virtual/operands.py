"""How operands are read and written: decoded once per instruction into small functions of the waves that run it.

The type of an operand says how many registers it takes and what they hold:

    u32 i32 f32 u64 i64 f64    as they say
    u16 i16 f16                the low half of a register, or the high one by op_sel
    mask                       a lane mask in a pair of scalar registers, as bool per lane
    2xu16 2xi16 2xf16 2xf32    both halves of a packed operand on a leading axis, as op_sel and op_sel_hi pick them
    2xbf16                     the same, read as float32
    6*u32                      so many registers on a leading axis
    word                       a register as it is, whatever neg and abs say

As a destination, 16-bit types clear the other half of the register; 'u16+', 'i16+' and 'f16+' keep it, and 'f16^+' is
the upper half.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.assembly import Instruction, Operand
from mxsub.virtual.faults import UnsupportedForm
from mxsub.virtual.operand_words import DTYPES, Reader, constant, register_reader
from mxsub.virtual.packed_operands import bfloat_reader, packed_reader
from mxsub.virtual.registers import SCC
from mxsub.virtual.waves import Waves

__all__ = ["DTYPES", "Reader", "Writer", "constant", "reader", "scalar_writer", "writer"]

Array = npt.NDArray[Any]
Writer = Callable[[Waves, Array, Array | None], None]

U16, U32, U64 = np.uint16, np.uint32, np.uint64

# SDWA selections: (first bit, bits)
_SELECTIONS = {
    "BYTE_0": (0, 8),
    "BYTE_1": (8, 8),
    "BYTE_2": (16, 8),
    "BYTE_3": (24, 8),
    "WORD_0": (0, 16),
    "WORD_1": (16, 16),
    "DWORD": (0, 32),
}


def reader(instruction: Instruction, operand: Operand, kind: str, position: int = 0) -> Reader:
    """A function that gives the operand's value, of the type `kind`.

    position: the number of the source among the sources, which modifiers such as op_sel go by.
    """
    if kind == "mask":
        return _lane_mask_reader(operand)
    if kind == "2xbf16":
        return bfloat_reader(instruction, operand, position)
    if kind.startswith("2x"):
        return packed_reader(instruction, operand, DTYPES[kind[2:]], position)
    if "*" in kind:
        return _several_reader(operand, int(kind.partition("*")[0]))
    if kind == "word":
        return _raw_reader(operand)
    dtype = DTYPES[kind.rstrip("+")]
    if operand.is_constant:
        value = constant(operand, dtype)
        return _modified(lambda waves: value, operand, dtype)
    if dtype.itemsize == 8:
        if operand.count == 1:
            raise UnsupportedForm(f"one register as {kind}")
        low, high = register_reader(operand), register_reader(operand, 1)
        return _modified(lambda waves: _joined(low(waves), high(waves)).view(dtype), operand, dtype)
    word = register_reader(operand)
    if instruction.encoding == "_sdwa":
        word = _sdwa_selected(word, instruction, position, operand.sign_extend)
    if dtype.itemsize == 2:
        shift = U32(16 * instruction.bit("op_sel", position))
        return _modified(lambda waves: (word(waves) >> shift).astype(U16).view(dtype), operand, dtype)
    if dtype == U32:
        return _modified(word, operand, dtype)
    return _modified(lambda waves: word(waves).view(dtype), operand, dtype)


def writer(instruction: Instruction, operand: Operand, kind: str, sources: int = 0) -> Writer:
    """A function (waves, value, lane mask) that stores a result of the type `kind`.

    sources: how many the instruction has; the bit of op_sel behind them says which half a 16-bit result goes to.
    """
    if not operand.is_register:
        raise UnsupportedForm("a destination that is no register")
    first = operand.register
    if kind == "mask":
        return lambda waves, value, mask: waves.set_lanes(first, value if mask is None else value & mask)
    if operand.kind == "scalar":
        return scalar_writer(operand, kind)
    if kind.startswith("2x"):
        return _packed_writer(first, DTYPES[kind[2:]])
    if "*" in kind:
        return _several_writer(first, int(kind.partition("*")[0]))
    dtype = DTYPES[kind.rstrip("^+")]
    if instruction.encoding == "_sdwa":
        return _sdwa_writer(instruction, first, dtype)
    if dtype.itemsize == 8:
        return _wide_writer(first, dtype)
    if dtype.itemsize == 2:
        high = instruction.bit("op_sel", sources) or int("^" in kind)
        return _half_writer(first, dtype, high, kind.endswith("+"))

    def write(waves: Waves, value: Array, mask: Array | None) -> None:
        value = np.asarray(value, dtype)
        waves.write(first, value if dtype == U32 else value.view(U32), mask)

    return write


def scalar_writer(operand: Operand, kind: str) -> Writer:
    """The same for scalar registers, which have no lanes to mask."""
    first, dtype = operand.register, DTYPES[kind]
    if operand.kind != "scalar":
        raise UnsupportedForm("a scalar result in something else than scalar registers")

    def write_one(waves: Waves, value: Array, mask: Array | None = None) -> None:
        waves.s[first] = np.asarray(value, dtype).view(U32)

    def write_two(waves: Waves, value: Array, mask: Array | None = None) -> None:
        words = np.asarray(value, dtype).view(U64)
        waves.s[first], waves.s[first + 1] = words.astype(U32), (words >> U64(32)).astype(U32)

    return write_two if dtype.itemsize == 8 else write_one


def _joined(low: Array, high: Array) -> Array:
    joined: Array = low | high.astype(U64) << U64(32)
    return joined


def _lane_mask_reader(operand: Operand) -> Reader:
    if operand.kind == "integer" and operand.constant in (0, -1):
        mask = np.full((1, 64), operand.constant == -1)
        return lambda waves: mask
    if operand.kind != "scalar" or operand.register == SCC:
        raise UnsupportedForm("a lane mask that is in no scalar registers")
    pair = operand.register
    return lambda waves: waves.lanes(pair)


def _modified(read: Reader, operand: Operand, dtype: np.dtype[Any]) -> Reader:
    """Adds the modifiers neg and abs, which only floating-point sources take, and bits that may be a number (b32)."""
    if not (operand.negate or operand.absolute):
        return read
    if dtype == U32:
        kept = U32(0x7FFFFFFF if operand.absolute else 0xFFFFFFFF)
        flipped = U32(0x80000000 if operand.negate else 0)
        return lambda waves: read(waves) & kept ^ flipped
    if dtype.kind != "f":
        raise UnsupportedForm("neg or abs of an integer")
    if operand.negate and operand.absolute:
        return lambda waves: -np.abs(read(waves))
    if operand.absolute:
        return lambda waves: np.abs(read(waves))
    return lambda waves: -read(waves)


def _sdwa_selected(read: Reader, instruction: Instruction, position: int, sign_extend: bool) -> Reader:
    shift, width = _SELECTIONS[instruction.modifiers.get(f"src{position}_sel", "DWORD")]
    if width == 32:
        return read
    if sign_extend:
        left, right = 32 - width - shift, 32 - width
        return lambda waves: ((read(waves) << U32(left)).view(np.int32) >> right).view(U32)
    ones = U32((1 << width) - 1)
    return lambda waves: (read(waves) >> U32(shift)) & ones


def _raw_reader(operand: Operand) -> Reader:
    if operand.is_constant:
        value = constant(operand, DTYPES["u32"])
        return lambda waves: value
    return register_reader(operand)


def _several_reader(operand: Operand, count: int) -> Reader:
    if operand.count != count or operand.negate or operand.absolute:
        raise UnsupportedForm(f"{operand.count} registers, or modified ones, for {count}")
    words = [register_reader(operand, k) for k in range(count)]
    return lambda waves: np.stack(np.broadcast_arrays(*[word(waves) for word in words]))


def _wide_writer(first: int, dtype: np.dtype[Any]) -> Writer:
    def write(waves: Waves, value: Array, mask: Array | None) -> None:
        words = np.asarray(value, dtype).view(U64)
        waves.write(first, words.astype(U32), mask)
        waves.write(first + 1, (words >> U64(32)).astype(U32), mask)

    return write


def _several_writer(first: int, count: int) -> Writer:
    def write(waves: Waves, value: Array, mask: Array | None) -> None:
        for k in range(count):
            waves.write(first + k, value[k], mask)

    return write


def _half_writer(first: int, dtype: np.dtype[Any], high: int, keep: bool) -> Writer:
    shift = U32(16 * high)
    kept = U32(0x0000FFFF if high else 0xFFFF0000)

    def write(waves: Waves, value: Array, mask: Array | None) -> None:
        word = np.asarray(value, dtype).view(U16).astype(U32) << shift
        waves.write(first, word | (waves.v[first] & kept) if keep or high else word, mask)

    return write


def _sdwa_writer(instruction: Instruction, first: int, dtype: np.dtype[Any]) -> Writer:
    shift, width = _SELECTIONS[instruction.modifiers.get("dst_sel", "DWORD")]
    unused = instruction.modifiers.get("dst_unused", "UNUSED_PAD")
    field = U32((1 << width) - 1 << shift)
    unused_above = 32 - width - shift

    def write(waves: Waves, value: Array, mask: Array | None) -> None:
        bits = np.asarray(value, dtype).view(f"u{dtype.itemsize}").astype(U32)
        word = (bits << U32(shift)) & field
        if unused == "UNUSED_SEXT":
            word = ((word << U32(unused_above)).view(np.int32) >> unused_above).view(U32)
        waves.write(first, word | (waves.v[first] & ~field) if unused == "UNUSED_PRESERVE" else word, mask)

    return write


def _packed_writer(first: int, dtype: np.dtype[Any]) -> Writer:
    def write(waves: Waves, value: Array, mask: Array | None) -> None:
        value = np.asarray(value, dtype)
        if dtype.itemsize == 4:
            waves.write(first, value[0].view(U32), mask)
            waves.write(first + 1, value[1].view(U32), mask)
        else:
            halves = value.view(U16).astype(U32)
            waves.write(first, halves[0] | halves[1] << U32(16), mask)

    return write
