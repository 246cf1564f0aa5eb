"""Number formats that numpy lacks."""

from dataclasses import dataclass
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


@dataclass(frozen=True)
class Narrow:
    """A format of 8 bits or fewer.

    values: float32 by the code. exponent_bits, mantissa_bits: of its fields. largest, overflow, nan: the codes, without
    the sign, of the largest number, of what is larger, and of NaN; in formats without infinities and NaN all are the
    same, as AMD's headers have it (hip/amd_detail/amd_hip_ocp_host.hpp).
    """

    values: Array
    exponent_bits: int
    mantissa_bits: int
    largest: int
    overflow: int
    nan: int

    @property
    def lowest_exponent(self) -> int:
        """Of a normal number."""
        return 2 - (1 << self.exponent_bits - 1)

    @property
    def sign_shift(self) -> np.uint32:
        """From the sign of a float32 to that of the format."""
        return np.uint32(31 - self.exponent_bits - self.mantissa_bits)


FP8 = Narrow(E4M3, 4, 3, 0x7E, 0x7F, 0x7F)
BF8 = Narrow(E5M2, 5, 2, 0x7B, 0x7C, 0x7E)
FP6 = Narrow(E2M3, 2, 3, 0x1F, 0x1F, 0x1F)
BF6 = Narrow(E3M2, 3, 2, 0x1F, 0x1F, 0x1F)
FP4 = Narrow(E2M1, 2, 1, 7, 7, 7)


def to_e2m1(x: Array) -> Array:
    """The magnitudes of float32 to e2m1 codes without their signs, uint32: to nearest, ties to the even code,
    saturating at 6; NaN becomes 6.

    Codes are steps of 0.5 up to 2, of 1 up to 4 and of 2 up to 6; of the three roundings the one that holds is the
    smallest.
    """
    magnitude = np.fmin(np.abs(x), np.float32(6))
    code = np.minimum(np.rint(magnitude + magnitude), np.rint(magnitude) + np.float32(2))
    code = np.minimum(code, np.rint(magnitude * np.float32(0.5)) + np.float32(4))
    codes: Array = code.astype(np.uint32)
    return codes


def to_narrow(x: Array, form: Narrow, clamps: Any) -> Array:
    """The magnitudes of float32 to codes without their signs, uint32: to nearest, ties to the even code.

    clamps: does what overflows become the largest number? bool, of a shape that broadcasts.
    """
    cut = 23 - form.mantissa_bits
    size = np.abs(x)
    bits = size.view(np.uint32)
    rounded = (bits + ((bits >> np.uint32(cut) & np.uint32(1)) + np.uint32((1 << cut - 1) - 1))) >> np.uint32(cut)
    normal = rounded - np.uint32(127 + form.lowest_exponent - 1 << form.mantissa_bits)
    # Added to this, a small number loses what is below the format's last bit.
    anchor = np.float32(2.0 ** (form.lowest_exponent - form.mantissa_bits + 23))
    code = np.where(size < 2.0**form.lowest_exponent, (size + anchor).view(np.uint32) - anchor.view(np.uint32), normal)
    return _within(code, x, form, clamps)


def to_narrow_stochastically(x: Array, seed: Array, source_bits: int, form: Narrow, clamps: Any) -> Array:
    """The same with random bits, the top ones of `seed`, added to those that are cut off.

    x: float32 of a number whose mantissa has `source_bits`. As AMD's headers emulate it (from_float_sr): of a number
    that becomes denormal, what is below the source's own last bit is cut off first.
    """
    random_bits = source_bits - form.mantissa_bits
    random = (seed >> np.uint32(32 - random_bits)).astype(np.int64)
    size = np.abs(x)
    normal = (size.view(np.uint32).astype(np.int64) >> 23 - source_bits) + random >> random_bits
    normal = normal - (127 + form.lowest_exponent - 1 << form.mantissa_bits)
    small = size < 2.0**form.lowest_exponent
    units = np.where(small, size, 0).astype(np.float64) * 2.0 ** (source_bits - form.lowest_exponent)
    code = np.where(small, np.floor(units).astype(np.int64) + random >> random_bits, normal)
    return _within(code, x, form, clamps).astype(np.uint32)


def _within(code: Array, x: Array, form: Narrow, clamps: Any) -> Array:
    code = np.where(code > form.largest, np.where(clamps, form.largest, form.overflow).astype(code.dtype), code)
    return np.where(np.isnan(x), code.dtype.type(form.nan), code)


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
