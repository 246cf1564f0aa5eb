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


# OCP Microscaling Formats 1.0: e2m1, and the two 8-bit formats of OCP OFP8.
E2M1 = _values(4, 2, 1, 1)
E4M3 = _values(8, 4, 3, 7)
E4M3[[0x7F, 0xFF]] = np.nan
# e5m2 is float16 without its low byte.
E5M2 = (np.arange(256, dtype=np.uint16) << 8).view(np.float16).astype(np.float32)
# E8M0 as float64, 2**-127 to 2**127; the last code is NaN.
E8M0 = np.ldexp(1.0, np.arange(256) - 127)
E8M0[255] = np.nan
# byte -> the values of its low and its high half
E2M1_PAIR = np.stack([E2M1[np.arange(256) & 15], E2M1[np.arange(256) >> 4]], 1)

# Between the magnitudes of codes n and n + 1; on a tie the even code wins, so upwards where n is odd.
_E2M1_MIDDLES = (0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0)


def to_e2m1(x: Array) -> Array:
    """Floats to e2m1 codes, uint8: to nearest, ties to the even code, saturating at 6, sign kept; NaN becomes 6."""
    magnitude = np.abs(x)
    code = (magnitude > _E2M1_MIDDLES[0]).view(np.uint8)
    for below, middle in enumerate(_E2M1_MIDDLES[1:], 1):
        code = code + (magnitude >= middle if below % 2 else magnitude > middle).view(np.uint8)
    if np.isnan(magnitude).any():
        code = np.where(np.isnan(magnitude), np.uint8(7), code)
    return code | np.signbit(x).view(np.uint8) << 3


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
