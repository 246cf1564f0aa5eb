"""Vector conversions between number formats: one line per opcode.

The FP4 ones (v_cvt_scalef32_*) take the scale's exponent field only. What the hardware makes of NaN is not documented;
here it becomes 6 with its sign, as infinity does.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.assembly import Instruction
from mxsub.virtual.formats import E2M1_PAIR, bf16_to_f32, f32_to_bf16, to_e2m1
from mxsub.virtual.operands import DTYPES
from mxsub.virtual.operations import Function, Table, made_operation, operation

Array = npt.NDArray[Any]
F16, F32, F64, U16, U32 = np.float16, np.float32, np.float64, np.uint16, np.uint32


def _to_integer(dtype: np.dtype[Any]) -> Function:
    """Truncates, saturating; NaN becomes 0."""
    limits = np.iinfo(dtype)

    def convert(x: Array) -> Array:
        whole = np.nan_to_num(np.trunc(x.astype(F64)), nan=0.0, posinf=limits.max, neginf=limits.min)
        clipped: Array = np.clip(whole, limits.min, limits.max)
        return clipped

    return convert


def _two_halves(low: Array, high: Array) -> Array:
    """Two arrays of 16-bit patterns to the words that hold them."""
    return low.astype(U32) | high.astype(U32) << U32(16)


def _towards_zero_f16(x: Array) -> Array:
    """float32 to float16 bits, truncated; what is too large becomes the largest finite number."""
    half = x.astype(F16)
    bits = half.view(U16)
    too_far = np.abs(half.astype(F32)) > np.abs(x)
    return np.where(too_far, bits - U16(1), bits)


# By a scale's exponent field: what it multiplies by, as float64, and what undoes it, as float32 (exact).
_SCALES = np.ldexp(1.0, np.arange(256) - 127)
_INVERSE_SCALES = np.ldexp(1.0, 127 - np.arange(256)).astype(np.float32)


def _exponent_field(scale: Array) -> Array:
    field: Array = scale.view(U32) >> U32(23) & U32(255)
    return field


_FLOATS_OF_WORD: dict[str, Callable[[Array], tuple[Array, Array]]] = {
    "bf16": lambda word: ((word << U32(16)).view(F32), (word & U32(0xFFFF0000)).view(F32)),
    "f16": lambda word: (
        word.astype(U16).view(F16).astype(F32),
        (word >> U32(16)).astype(U16).view(F16).astype(F32),
    ),
}


def _to_fp4(instruction: Instruction) -> Function:
    """Two floats to one byte of the destination, which op_sel[2:3] picks; the other bytes stay."""
    shift = U32(8 * (instruction.bit("op_sel", 2) + 2 * instruction.bit("op_sel", 3)))
    kept = U32(0xFFFFFFFF ^ 255 << int(shift))

    def convert(low: Array, high: Array, scale: Array, old: Array) -> Array:
        factor = np.take(_INVERSE_SCALES, _exponent_field(scale))
        byte = to_e2m1(low * factor) | to_e2m1(high * factor) << U32(4)
        word: Array = byte << shift | (old & kept)
        return word

    source = instruction.opcode.rpartition("_")[2]
    if source == "f32":
        return convert
    floats = _FLOATS_OF_WORD[source]
    return lambda word, scale, old: convert(*floats(word), scale, old)


def _from_fp4(instruction: Instruction) -> Function:
    """One byte of the source, which op_sel[0:1] picks, to two floats."""
    shift = U32(8 * (instruction.bit("op_sel", 0) + 2 * instruction.bit("op_sel", 1)))

    def floats(word: Array, scale: Array) -> Array:
        factor = np.take(_SCALES, _exponent_field(scale))
        pair = np.take(E2M1_PAIR, word >> shift & U32(255), axis=0) * factor[..., None]
        return np.ascontiguousarray(np.moveaxis(pair.astype(F32), -1, 0))

    if "_bf16_" not in instruction.opcode:
        return floats

    def bf16(word: Array, scale: Array) -> Array:
        halves = f32_to_bf16(floats(word, scale))
        return _two_halves(halves[0], halves[1])

    return bf16


def _table() -> Table:
    table: Table = {}
    numbers = ("f32", "f64", "f16", "u32", "i32", "u16", "i16")
    for source in numbers:
        for target in numbers:
            if source != target and "f" in source + target:
                convert = (lambda a: a) if target[0] == "f" else _to_integer(DTYPES[target])
                table[f"v_cvt_{target}_{source}"] = operation(f"{target}={source}", convert)
    for k in range(4):
        table[f"v_cvt_f32_ubyte{k}"] = operation("f32=u32", lambda a, k=k: a >> U32(8 * k) & U32(255))
    table["v_cvt_f32_bf16"] = operation("f32=u16", bf16_to_f32)
    table["v_cvt_pk_bf16_f32"] = operation("u32=f32 f32", lambda a, b: _two_halves(f32_to_bf16(a), f32_to_bf16(b)))
    table["v_cvt_pk_f16_f32"] = operation("2xf16=f32 f32", lambda a, b: np.stack(np.broadcast_arrays(a, b)))
    table["v_cvt_pkrtz_f16_f32"] = operation(
        "u32=f32 f32", lambda a, b: _two_halves(_towards_zero_f16(a), _towards_zero_f16(b))
    )
    table["v_pack_b32_f16"] = operation("2xu16=u16 u16", lambda a, b: np.stack(np.broadcast_arrays(a, b)))
    table["v_cvt_scalef32_pk_fp4_f32"] = made_operation("u32=f32 f32 f32 old", _to_fp4)
    for source in ("bf16", "f16"):
        table[f"v_cvt_scalef32_pk_fp4_{source}"] = made_operation("u32=u32 f32 old", _to_fp4)
    table["v_cvt_scalef32_pk_bf16_fp4"] = made_operation("u32=u32 f32", _from_fp4)
    table["v_cvt_scalef32_pk_f16_fp4"] = made_operation("2xf16=u32 f32", _from_fp4)
    table["v_cvt_scalef32_pk_f32_fp4"] = made_operation("2xf32=u32 f32", _from_fp4)
    return table


OPERATIONS = _table()
