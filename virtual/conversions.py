"""Vector conversions between numbers of 16 bits and more: one line per opcode."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.formats import bf16_to_f32, f32_to_bf16
from mxsub.virtual.mode import is_overflow_clamped_anywhere, overflow_clamped
from mxsub.virtual.operands import DTYPES
from mxsub.virtual.operations import Function, Table, operation

Array = npt.NDArray[Any]
F16, F32, F64, I32, U16, U32 = np.float16, np.float32, np.float64, np.int32, np.uint16, np.uint32

# target and sources of the plain ones
_PLAIN = {
    "f32": ("f16", "f64", "i32", "u32"),
    "f64": ("f32", "i32", "u32"),
    "f16": ("f32", "i16", "u16"),
    "i32": ("f32", "f64"),
    "u32": ("f32", "f64"),
    "i16": ("f16",),
    "u16": ("f16",),
}


def _to_integer(dtype: np.dtype[Any], rounded: Callable[[Array], Array] = np.trunc) -> Function:
    """Rounds, saturating; NaN becomes 0."""
    limits = np.iinfo(dtype)

    def convert(x: Array) -> Array:
        whole = np.nan_to_num(rounded(x).astype(F64), nan=0.0, posinf=limits.max, neginf=limits.min)
        clipped: Array = np.clip(whole, limits.min, limits.max)
        return clipped

    return convert


def _normalized(low: int, high: int) -> Function:
    """The number, clipped to [-1, 1] or [0, 1], times `high`, to the nearest integer; NaN becomes 0."""

    def convert(x: Array) -> Array:
        whole: Array = np.rint(np.clip(np.nan_to_num(x.astype(F64), nan=0.0), -1.0 if low else 0.0, 1.0) * high)
        return whole

    return convert


def two_halves(low: Array, high: Array) -> Array:
    """Two arrays of 16-bit patterns to the words that hold them."""
    return low.astype(U32) | high.astype(U32) << U32(16)


def _towards_zero_f16(x: Array) -> Array:
    """float32 to float16 bits, truncated; what is too large becomes the largest finite number."""
    half = x.astype(F16)
    bits = half.view(U16)
    too_far = np.abs(half.astype(F32)) > np.abs(x)
    return np.where(too_far, bits - U16(1), bits)


def _bf16_bits(x: Array, mode: Array) -> Array:
    """To nearest even; what overflows is the largest number where MODE says so."""
    bits = f32_to_bf16(x)
    if not is_overflow_clamped_anywhere(mode):
        return bits
    too_large = (bits & U16(0x7FFF) == 0x7F80) & np.isfinite(x) & overflow_clamped(mode)
    return np.where(too_large, bits - U16(1), bits)


def _stochastically(mantissa_bits: int, to_nearest_bits: Callable[[Array], Array]) -> Function:
    """float32 to the bits of a format of 16 bits: the top bits of a random word are added to what is cut off.

    As AMD's headers emulate it (hip/amd_detail/amd_hip_ocp_host.hpp, from_float_sr): of a number that becomes denormal,
    what is below the float32's own last bit is cut off first.
    """
    random_bits = 23 - mantissa_bits
    bias, largest = (15, 0x7BFF) if mantissa_bits == 10 else (127, 0x7F7F)

    def convert(x: Array, seed: Array, mode: Array) -> Array:
        random = seed >> U32(32 - random_bits)
        size = x.view(U32) & U32(0x7FFFFFFF)
        normal = ((size + random) >> U32(random_bits)).astype(np.int64) - (127 - bias << mantissa_bits)
        units = np.floor(np.abs(x).astype(F64) * 2.0 ** (23 - (1 - bias)))
        small = np.abs(x) < F32(2.0 ** (1 - bias))
        denormal = (np.where(small, units, 0).astype(np.int64) + random) >> random_bits
        code = np.where(small, denormal, normal)
        code = np.where(code > largest, np.where(overflow_clamped(mode) & np.isfinite(x), largest, largest + 1), code)
        code = np.where(np.isfinite(x), code, to_nearest_bits(x) & 0x7FFF)
        signed: Array = code.astype(U16) | (x.view(U32) >> U32(16) & U32(0x8000)).astype(U16)
        return signed

    return convert


def _table() -> Table:
    table: Table = {}

    def add(name: str, signature: str, function: Callable[..., Any]) -> None:
        table[name] = operation(signature, function)

    for target, sources in _PLAIN.items():
        for source in sources:
            convert = (lambda a: a) if target[0] == "f" else _to_integer(DTYPES[target])
            add(f"v_cvt_{target}_{source}", f"{target}={source}", convert)
    for k in range(4):
        add(f"v_cvt_f32_ubyte{k}", "f32=u32", lambda a, k=k: a >> U32(8 * k) & U32(255))
    add("v_cvt_rpi_i32_f32", "i32=f32", _to_integer(DTYPES["i32"], lambda a: np.floor(a + F32(0.5))))
    add("v_cvt_flr_i32_f32", "i32=f32", _to_integer(DTYPES["i32"], np.floor))
    add("v_cvt_off_f32_i4", "f32=i32", lambda a: (a << 28 >> 28) / F32(16))
    add("v_cvt_norm_i16_f16", "i16=f16", _normalized(-0x7FFF, 0x7FFF))
    add("v_cvt_norm_u16_f16", "u16=f16", _normalized(0, 0xFFFF))
    for t in ("f32", "f16"):
        for target, convert in (("i16", _normalized(-0x7FFF, 0x7FFF)), ("u16", _normalized(0, 0xFFFF))):
            pair = lambda a, b, f=convert: np.stack(np.broadcast_arrays(f(a), f(b)))  # noqa: E731
            add(f"v_cvt_pknorm_{target}_{t}", f"2x{target}={t} {t}", pair)
    add("v_cvt_f32_bf16", "f32=u16", bf16_to_f32)
    add("v_cvt_pk_bf16_f32", "u32=f32 f32 mode", lambda a, b, m: two_halves(_bf16_bits(a, m), _bf16_bits(b, m)))
    add("v_cvt_pk_f16_f32", "2xf16=f32 f32", lambda a, b: np.stack(np.broadcast_arrays(a, b)))
    add("v_cvt_pkrtz_f16_f32", "u32=f32 f32", lambda a, b: two_halves(_towards_zero_f16(a), _towards_zero_f16(b)))
    add("v_pack_b32_f16", "2xu16=u16 u16", lambda a, b: np.stack(np.broadcast_arrays(a, b)))
    f16_bits = _stochastically(10, lambda x: x.astype(F16).view(U16))
    add("v_cvt_sr_f16_f32", "u16+=f32 u32 mode", f16_bits)
    add("v_cvt_sr_bf16_f32", "u16+=f32 u32 mode", _stochastically(7, f32_to_bf16))
    return table


OPERATIONS = _table()
