"""Number formats that numpy lacks."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def _values(bits: int, exponent_bits: int, mantissa_bits: int, bias: int) -> Array:
    """Every value of a small format without infinities, as float32, by its code."""
    code = np.arange(1 << bits)
    exponent = (code >> mantissa_bits) & ((1 << exponent_bits) - 1)
    mantissa = code & ((1 << mantissa_bits) - 1)
    fraction = np.where(exponent == 0, 0, 1) + mantissa / (1 << mantissa_bits)
    sign = np.where(code >> (exponent_bits + mantissa_bits), -1.0, 1.0)
    values: Array = sign * fraction * 2.0 ** (np.maximum(exponent, 1) - bias)
    return values.astype(np.float32)


# OCP Microscaling Formats 1.0: e2m1, e2m3 and e3m2, and the two 8-bit formats of OCP OFP8.
E2M1 = _values(4, 2, 1, 1)
E2M3 = _values(6, 2, 3, 1)
E3M2 = _values(6, 3, 2, 3)
E4M3 = _values(8, 4, 3, 7)
E4M3[[0x7F, 0xFF]] = np.nan
# e5m2 is float16 without its low byte.
E5M2 = (np.arange(256, dtype=np.uint16) << 8).view(np.float16).astype(np.float32)
# E8M0 as float64, 2**-127 to 2**127; the last code is NaN.
E8M0 = np.ldexp(1.0, np.arange(256) - 127)
E8M0[255] = np.nan
# byte -> the values of its low and its high half
E2M1_PAIR = np.stack([E2M1[np.arange(256) & 15], E2M1[np.arange(256) >> 4]], 1)


def to_e2m1(x: Array) -> Array:
    """float32 to e2m1 codes, uint32: to nearest, ties to the even code, saturating at 6, sign kept.

    NaN becomes 6 with its sign. Codes are steps of 0.5 up to 2, of 1 up to 4 and of 2 up to 6; of the three roundings
    the one that holds is the smallest.
    """
    magnitude = np.fmin(np.abs(x), np.float32(6))
    code = np.minimum(np.rint(magnitude + magnitude), np.rint(magnitude) + np.float32(2))
    code = np.minimum(code, np.rint(magnitude * np.float32(0.5)) + np.float32(4))
    signed: Array = code.astype(np.uint32) | x.view(np.uint32) >> 28 & 8
    return signed


def bf16_to_f32(bits: Array) -> Array:
    """bfloat16 bit patterns, uint16, to float32."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def f32_to_bf16(x: Array) -> Array:
    """float32 to bfloat16 bit patterns, uint16: to nearest even; NaNs stay (quiet) NaNs."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    rounded = (bits + (0x7FFF + ((bits >> 16) & 1))) >> 16
    nan = np.isnan(x)
    if nan.any():
        rounded = np.where(nan, (bits >> 16) | 0x40, rounded)
    return rounded.astype(np.uint16)
