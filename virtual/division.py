"""The steps of a division, and of the reduction of large angles.

AMD's pseudo-code for v_div_scale and v_div_fmas does not give the quotients that LLVM's sequence of them relies on: it
asks whether a float32's reciprocal is denormal as a float64, and its factor serves one direction only. What is here is
how AMD's own emulator has them (ROCm/rocm-systems, rocjitsu, division.h), which says that it was checked on hardware.
"""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.fused import fused_multiply_add
from mxsub.virtual.operations import Table, operation

Array = npt.NDArray[Any]
F32, F64 = np.float32, np.float64

# By the type: the difference of exponents from which a quotient is scaled, the exponent up to which a numerator is
# tiny, the exponent of the scale, and the exponent's bias.
_SCALING = {np.dtype(F32): (96, 24, 64, 127), np.dtype(F64): (768, 53, 128, 1023)}


def _exponent_field(x: Array) -> Array:
    mantissa_bits = np.finfo(x.dtype).nmant
    bits = x.view(f"u{x.itemsize}").astype(np.int64)
    field: Array = bits >> mantissa_bits & (1 << 8 * x.itemsize - 1 - mantissa_bits) - 1
    return field


def _scale(x: Array, denominator: Array, numerator: Array) -> tuple[Array, Array]:
    """v_div_scale: scales the numerator or the denominator, whichever x is, away from over- and underflow, and says
    whether v_div_fmas must scale the quotient."""
    x, denominator, numerator = np.broadcast_arrays(x, denominator, numerator)
    far, tiny, step, bias = _SCALING[x.dtype]
    of_denominator = x.view(f"u{x.itemsize}") == denominator.view(f"u{x.itemsize}")
    below, above = _exponent_field(denominator), _exponent_field(numerator)
    huge_quotient, small_quotient = above - below >= far, above - below <= -far
    conditions = [huge_quotient, below == 0, below >= 2 * bias - 1, small_quotient, above <= tiny]
    shifts = [
        np.where(of_denominator, step, 0),
        np.full(x.shape, step),
        np.where(small_quotient & ~of_denominator, 0, -step),
        np.where(of_denominator, 0, step),
        np.full(x.shape, step),
    ]
    shift = np.select(conditions, shifts, 0)
    scaled = huge_quotient | ((below != 0) & small_quotient)
    result = np.where((numerator == 0) | (denominator == 0), x.dtype.type(np.nan), np.ldexp(x, shift.astype(np.int32)))
    return result.astype(x.dtype), scaled


def _fma(a: Array, b: Array, c: Array, scaled: Array) -> Array:
    """v_div_fmas: undoes the scaling of v_div_scale; the direction follows from the quotient c."""
    _, _, step, bias = _SCALING[a.dtype]
    shift = np.where(scaled, np.where(_exponent_field(c) > bias, step, -step), 0).astype(np.int32)
    if a.dtype == F32:  # in float64, so that it is rounded to float32 after the scaling
        return np.ldexp(fused_multiply_add(a, b, c), shift)
    return fused_multiply_add(a, b, c, shift)


def _fixup(quotient: Array, denominator: Array, numerator: Array) -> Array:
    """v_div_fixup: the special cases of a division; a quotient that is NaN for no such reason came from an overflow."""
    quotient, denominator, numerator = np.broadcast_arrays(quotient, denominator, numerator)
    dtype = quotient.dtype
    sign = np.where(np.signbit(denominator) ^ np.signbit(numerator), -1, 1).astype(dtype)
    conditions = [
        np.isnan(numerator),
        np.isnan(denominator),
        ((denominator == 0) & (numerator == 0)) | (np.isinf(denominator) & np.isinf(numerator)),
        (denominator == 0) | np.isinf(numerator),
        np.isinf(denominator) | (numerator == 0),
    ]
    values = [numerator, denominator, np.full_like(quotient, np.nan), sign * dtype.type(np.inf), sign * dtype.type(0)]
    if dtype in _SCALING:
        lowest = -(np.finfo(dtype).nmant + _SCALING[dtype][3])
        conditions.append(_exponent_field(numerator) - _exponent_field(denominator) < lowest)
        values.append(sign * dtype.type(0))
        conditions.append(np.isnan(quotient))
        values.append(sign * dtype.type(np.inf))
    return np.select(conditions, values, sign * np.abs(quotient))


@cache
def _pieces_of_two_over_pi() -> Array:
    """By a shift, the 53 bits of the fraction of 2/pi that follow so many bits, of 1201 that the hardware has."""
    bits = 1201
    fraction = _two_over_pi(bits)
    last = 31 * 53 + 2047 - 1077
    return np.array([float((fraction << shift >> bits - 53) & (1 << 53) - 1) for shift in range(last + 1)])


def _two_over_pi(bits: int) -> int:
    """floor(2/pi * 2**bits), with pi by Machin's formula."""
    precision = bits + 64

    def arctangent_of_inverse(n: int) -> int:
        power, total, k = (1 << precision) // n, 0, 1
        while power:
            total += power // k if k % 4 == 1 else -(power // k)
            power, k = power // (n * n), k + 2
        return total

    pi = 16 * arctangent_of_inverse(5) - 4 * arctangent_of_inverse(239)
    return (2 << precision + bits) // pi


def _angle_piece(x: Array, piece: Array) -> Array:
    """v_trig_preop: the piece of 2/pi by which a large angle is multiplied."""
    exponent = _exponent_field(x)
    shift = (piece & np.uint32(31)).astype(np.int64) * 53 + np.maximum(exponent - 1077, 0)
    scale = -53 - shift + np.where(exponent >= 1968, 128, 0)
    piece_of: Array = np.ldexp(_pieces_of_two_over_pi()[shift], scale.astype(np.int32))
    return piece_of


def _table() -> Table:
    table: Table = {}
    for t in ("f32", "f64"):
        table[f"v_div_scale_{t}"] = operation(f"{t} mask={t} {t} {t}", _scale)
        table[f"v_div_fmas_{t}"] = operation(f"{t}={t} {t} {t} vcc", _fma)
        table[f"v_div_fixup_{t}"] = operation(f"{t}={t} {t} {t}", _fixup)
    table["v_div_fixup_f16"] = operation("f16+=f16 f16 f16", _fixup)
    table["v_div_fixup_legacy_f16"] = operation("f16=f16 f16 f16", _fixup)
    table["v_trig_preop_f64"] = operation("f64=f64 u32", _angle_piece)
    return table


OPERATIONS = _table()
