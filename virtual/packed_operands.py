"""Operands of two parts, both halves of a register or a pair of them, which op_sel and op_sel_hi pick."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.assembly import Instruction, Operand
from mxsub.virtual.faults import UnsupportedForm
from mxsub.virtual.formats import bf16_to_f32
from mxsub.virtual.operand_words import DTYPES, Reader, constant, register_reader
from mxsub.virtual.waves import Waves

Array = npt.NDArray[Any]
U16, U32 = np.uint16, np.uint32


def packed_reader(instruction: Instruction, operand: Operand, dtype: np.dtype[Any], position: int) -> Reader:
    """Both halves on a new first axis."""
    low, high = instruction.bit("op_sel", position), instruction.bit("op_sel_hi", position, 1)
    halves = _halves_reader(operand, dtype, low, high)
    signs = [instruction.bit(name, position) ^ operand.negate for name in ("neg_lo", "neg_hi")]
    if not any(signs):
        return lambda waves: np.stack(np.broadcast_arrays(*halves(waves)))
    if dtype.kind != "f":
        raise UnsupportedForm("neg of an integer")

    def read(waves: Waves) -> Array:
        parts = [-half if sign else half for half, sign in zip(halves(waves), signs, strict=True)]
        return np.stack(np.broadcast_arrays(*parts))

    return read


def bfloat_reader(instruction: Instruction, operand: Operand, position: int) -> Reader:
    low, high = instruction.bit("op_sel", position), instruction.bit("op_sel_hi", position, 1)
    halves = _halves_reader(operand, DTYPES["u16"], low, high)
    signs = np.array([instruction.bit(name, position) ^ operand.negate for name in ("neg_lo", "neg_hi")], U16) << U16(
        15
    )
    flips = signs.reshape(2, 1, 1)
    return lambda waves: bf16_to_f32(np.stack(np.broadcast_arrays(*halves(waves))) ^ flips)


def _halves_reader(
    operand: Operand, dtype: np.dtype[Any], low: int, high: int
) -> Callable[[Waves], tuple[Array, Array]]:
    """Reads the parts numbered `low` and `high` (0 or 1) of a packed operand."""
    if operand.is_constant:
        parts = _constant_halves(operand, dtype)
        return lambda waves: (parts[low], parts[high])
    if dtype.itemsize == 4:
        words = [register_reader(operand, k if operand.count > 1 else 0) for k in (0, 1)]
        first, second = words[low], words[high]
        return lambda waves: (first(waves).view(dtype), second(waves).view(dtype))
    word = register_reader(operand)
    shifts = U32(16 * low), U32(16 * high)

    def read(waves: Waves) -> tuple[Array, Array]:
        bits = word(waves)
        return (bits >> shifts[0]).astype(U16).view(dtype), (bits >> shifts[1]).astype(U16).view(dtype)

    return read


def _constant_halves(operand: Operand, dtype: np.dtype[Any]) -> tuple[Array, Array]:
    """Of 16 bits the halves of the 32-bit constant: a real one's high half is zero, a literal has both. Of 32 bits the
    constant twice."""
    value = constant(operand, dtype)
    if dtype.itemsize == 4:
        return value, value
    if operand.kind == "real":
        return value, np.zeros_like(value)
    low, high = (np.full((1, 1), int(operand.constant) >> shift & 0xFFFF, U16).view(dtype) for shift in (0, 16))
    return low, high
