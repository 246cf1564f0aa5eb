"""Multiply-add with one rounding, which numpy lacks."""

from fractions import Fraction
from math import isfinite, ldexp
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
F64, U64 = np.float64, np.uint64

# Between these no step of the exact sum below over- or underflows, nor is its result denormal.
_SAFE = 2.0**-400, 2.0**400
_SPLITTER = 2.0**27 + 1


def fused_multiply_add(a: Array, b: Array, c: Array, shift: Array | None = None) -> Array:
    """a * b + c, rounded once; of float64, times 2**shift before the rounding.

    For float32 and float16 the product is exact in float64, and the sum is rounded to odd there (its last bit is set
    when it is inexact), after which rounding to the narrow type rounds right: it is given as float64.
    """
    if a.dtype == F64:
        return _of_doubles(a, b, c, shift)
    product = a.astype(F64) * b.astype(F64)
    return _sum_rounded_to_odd(product, c.astype(F64))


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum, and what the rounding took away (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _sum_rounded_to_odd(a: Array, b: Array) -> Array:
    total, error = _two_sum(a, b)
    inexact = (error != 0) & np.isfinite(total)
    if inexact.any():
        bits = total.view(U64)
        towards_zero = (error < 0) != (total < 0)
        truncated = bits - (inexact & towards_zero)
        total = np.where(inexact, truncated | U64(1), bits).view(F64)
    return total


def _of_doubles(a: Array, b: Array, c: Array, shift: Array | None) -> Array:
    """By Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums" (2008); far from 1 with fractions."""
    a, b, c = np.broadcast_arrays(a, b, c)
    product, low = _two_product(a, b)
    upper, lower = _two_sum(c, low)
    high, rest = _two_sum(product, upper)
    result = high + _sum_rounded_to_odd(lower, rest)
    small, large = _SAFE
    safe = np.ones(a.shape, np.bool_)
    for x in (a, b, c, result):
        size = np.abs(x)
        safe &= ((size > small) & (size < large)) | ((x == 0) & (x is not result))
    if shift is not None:
        safe &= np.broadcast_to(shift, a.shape) == 0
    if not safe.all():
        shifts = np.broadcast_to(np.int32(0) if shift is None else shift, a.shape)
        result = np.array(result)
        for at in np.argwhere(~safe):
            index = tuple(at)
            result[index] = _one(float(a[index]), float(b[index]), float(c[index]), int(shifts[index]))
    return result


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded product, and what the rounding took away (Dekker)."""
    product = a * b
    a_high, b_high = (_SPLITTER * x - (_SPLITTER * x - x) for x in (a, b))
    a_low, b_low = a - a_high, b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _one(a: float, b: float, c: float, shift: int) -> float:
    if not (isfinite(a) and isfinite(b)):
        return a * b + c
    if not isfinite(c):
        return c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c if c == 0 or a * b == 0 else 0.0
    exact *= Fraction(2) ** shift
    try:
        return float(exact)  # a quotient of integers, rounded to nearest even
    except OverflowError:
        return ldexp(-1.0 if exact < 0 else 1.0, 1023) * 2
