"""Vector floating-point arithmetic and comparisons: one line per opcode. Denormals are kept, as Triton's code sets."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.formats import bf16_to_f32
from mxsub.virtual.operands import DTYPES
from mxsub.virtual.operations import Table, operation

Array = npt.NDArray[Any]
F32, F64, U32, I32 = np.float32, np.float64, np.uint32, np.int32


def fused_multiply_add(a: Array, b: Array, c: Array) -> Array:
    """a * b + c, rounded once.

    For float32 and float16 the product is exact in float64, and the sum is rounded to odd there (its last bit is set
    when it is inexact), after which rounding to the narrow type rounds right. For float64 the sum is in extended
    precision and may, very rarely, be off by one in the last place.
    """
    if a.dtype == F64:
        return (a.astype(np.longdouble) * b + c).astype(F64)
    product = a.astype(F64) * b.astype(F64)
    addend = c.astype(F64)
    total: Array = product + addend
    part = total - product
    error = (product - (total - part)) + (addend - part)
    inexact = (error != 0) & np.isfinite(total)
    if inexact.any():
        bits = total.view(np.uint64)
        towards_zero = (error < 0) != (total < 0)
        truncated = bits - (inexact & towards_zero)
        total = np.where(inexact, truncated | np.uint64(1), bits).view(F64)
    return total


def maximum_number(a: Array, b: Array) -> Array:
    """IEEE maxNum: a NaN gives the other operand; +0 is above -0."""
    result = np.fmax(a, b)
    if not result.all():
        result = np.where((result == 0) & ~(np.signbit(a) & np.signbit(b)), result.dtype.type(0), result)
    return result


def minimum_number(a: Array, b: Array) -> Array:
    """IEEE minNum: a NaN gives the other operand; -0 is below +0."""
    result = np.fmin(a, b)
    if not result.all():
        result = np.where((result == 0) & (np.signbit(a) | np.signbit(b)), -result.dtype.type(0), result)
    return result


def _median(a: Array, b: Array, c: Array) -> Array:
    """The middle one; with a NaN among them the smallest of the others."""
    middle = np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c))
    nan = np.isnan(middle)
    return np.where(nan, minimum_number(minimum_number(a, b), c), middle) if nan.any() else middle


def _in_class(x: Array, wanted: Array) -> Array:
    """v_cmp_class: is the class of the number, one of ten, in a set of them?"""
    limits = np.finfo(x.dtype)
    size, nan, negative = np.abs(x), np.isnan(x), np.signbit(x)
    quiet = x.view(f"u{x.itemsize}") >> (limits.nmant - 1) & 1
    index = np.where(np.isinf(x), 2, np.where(size >= limits.smallest_normal, 3, np.where(size > 0, 4, 5)))
    index = np.where(nan, quiet, np.where(negative, index, 11 - index))
    chosen: Array = (wanted >> index.astype(U32) & 1) != 0
    return chosen


def _exponent_field(x: Array) -> Array:
    mantissa_bits = np.finfo(x.dtype).nmant
    bits = x.view(f"u{x.itemsize}").astype(np.int64)
    field: Array = bits >> mantissa_bits & (1 << 8 * x.itemsize - 1 - mantissa_bits) - 1
    return field


def _is_denormal(x: Array) -> Array:
    denormal: Array = (x != 0) & (np.abs(x) < np.finfo(x.dtype).smallest_normal)
    return denormal


def _division_scale(x: Array, denominator: Array, numerator: Array) -> tuple[Array, Array]:
    """v_div_scale: scales the numerator or the denominator of a division away from over- and underflow, and says
    whether v_div_fmas must scale the quotient. As AMD's pseudo-code has it."""
    x, denominator, numerator = np.broadcast_arrays(x, denominator, numerator)
    single = x.dtype == F32
    far, tiny, step = (96, 23, 64) if single else (768, 53, 128)
    up, down = np.ldexp(x, step), np.ldexp(x, -step)
    reciprocal_denormal = _is_denormal(1.0 / denominator.astype(F64))
    quotient_denormal = _is_denormal(numerator / denominator)
    of_denominator, of_numerator = x == denominator, x == numerator
    nan = np.full(x.shape, np.nan, x.dtype)
    false, true = np.zeros(x.shape, np.bool_), np.ones(x.shape, np.bool_)
    cases: list[tuple[Array, Array, Array]] = [  # condition, result, scale the quotient
        ((numerator == 0) | (denominator == 0), nan, false),
        (
            _exponent_field(numerator) - _exponent_field(denominator) >= far,
            np.where(of_denominator, up, x),
            true,
        ),
        (_is_denormal(denominator), up, false),
        (reciprocal_denormal & quotient_denormal, np.where(of_denominator, up, x), true),
        (reciprocal_denormal, down, false),
        (quotient_denormal, np.where(of_numerator, up, x), true),
        (_exponent_field(numerator) <= tiny, up, false),
    ]
    conditions = [condition for condition, _, _ in cases]
    result = np.select(conditions, [value for _, value, _ in cases], x)
    return result.astype(x.dtype), np.select(conditions, [scale for _, _, scale in cases], false)


def _division_fma(a: Array, b: Array, c: Array, scaled: Array) -> Array:
    """v_div_fmas: undoes the scaling of v_div_scale. By how much follows from that, and the direction from the quotient
    c, as AMD's manual of the third generation says; the newer pseudo-code's constant factor cannot serve both."""
    step, bias = (64, 127) if a.dtype == F32 else (128, 1023)
    result = fused_multiply_add(a, b, c)  # in float64, so that it is rounded to the narrow type after the scaling
    return np.where(scaled, np.ldexp(result, np.where(_exponent_field(c) > bias, step, -step)), result)


def _division_fixup(quotient: Array, denominator: Array, numerator: Array) -> Array:
    """v_div_fixup: the special cases of a division. As AMD's pseudo-code has it; and a quotient that is NaN for no such
    reason came from an overflow on the way."""
    quotient, denominator, numerator = np.broadcast_arrays(quotient, denominator, numerator)
    dtype = quotient.dtype
    negative = np.signbit(denominator) ^ np.signbit(numerator)
    sign = np.where(negative, -1, 1).astype(dtype)
    lowest = {"float32": -150, "float64": -1075}.get(dtype.name)
    conditions = [
        np.isnan(numerator),
        np.isnan(denominator),
        ((denominator == 0) & (numerator == 0)) | (np.isinf(denominator) & np.isinf(numerator)),
        (denominator == 0) | np.isinf(numerator),
        np.isinf(denominator) | (numerator == 0),
    ]
    values = [numerator, denominator, np.full_like(quotient, np.nan), sign * dtype.type(np.inf), sign * dtype.type(0)]
    if lowest is not None:
        conditions.append(_exponent_field(numerator) - _exponent_field(denominator) < lowest)
        values.append(sign * dtype.type(0))
    conditions.append(np.isnan(quotient))
    values.append(sign * dtype.type(np.inf))
    return np.select(conditions, values, sign * np.abs(quotient))


def _minus_floor(a: Array) -> Array:
    """v_fract: below 1 even where the subtraction rounds up."""
    below_one = np.nextafter(a.dtype.type(1), a.dtype.type(0))
    fraction: Array = np.minimum(a - np.floor(a), below_one)
    return fraction


def _exact_maximum3(a: Array, b: Array, c: Array) -> Array:
    """IEEE-754 2019 maximum: a NaN wins; +0 is above -0."""
    result = np.maximum(np.maximum(a, b), c)
    if not result.all():
        negative = np.signbit(a) & np.signbit(b) & np.signbit(c)
        result = np.where((result == 0) & ~negative, result.dtype.type(0), result)
    return result


def _exact_minimum3(a: Array, b: Array, c: Array) -> Array:
    result = np.minimum(np.minimum(a, b), c)
    if not result.all():
        negative = np.signbit(a) | np.signbit(b) | np.signbit(c)
        result = np.where((result == 0) & negative, -result.dtype.type(0), result)
    return result


def _dot_product(a: Array, b: Array, c: Array) -> Array:
    """The products of both halves added to c, one after the other."""
    total: Array = c + a[0] * b[0]
    total += a[1] * b[1]
    return total


def _never(a: Array, b: Array) -> Array:
    return np.zeros(np.broadcast_shapes(a.shape, b.shape), np.bool_)


_ORDERED: dict[str, Callable[..., Any]] = {
    "lt": np.less,
    "eq": np.equal,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_FLOAT_COMPARISONS: dict[str, Callable[..., Any]] = {
    **_ORDERED,
    "lg": lambda a, b: (a < b) | (a > b),
    "o": lambda a, b: (a == a) & (b == b),
    "u": lambda a, b: (a != a) | (b != b),
    "neq": np.not_equal,
    "nlt": lambda a, b: ~(a < b),
    "nle": lambda a, b: ~(a <= b),
    "ngt": lambda a, b: ~(a > b),
    "nge": lambda a, b: ~(a >= b),
    "nlg": lambda a, b: ~((a < b) | (a > b)),
    "f": _never,
    "tru": lambda a, b: ~_never(a, b),
}
_INTEGER_COMPARISONS: dict[str, Callable[..., Any]] = {
    **_ORDERED,
    "ne": np.not_equal,
    "f": _never,
    "t": lambda a, b: ~_never(a, b),
}


def _table() -> Table:
    table: Table = {}

    def add(name: str, signature: str, function: Callable[..., Any]) -> None:
        table[name] = operation(signature, function)

    for t in ("f32", "f64", "f16"):
        one, two, three = f"{t}={t}", f"{t}={t} {t}", f"{t}={t} {t} {t}"
        add(f"v_add_{t}", two, np.add)
        add(f"v_sub_{t}", two, np.subtract)
        add(f"v_subrev_{t}", two, lambda a, b: b - a)
        add(f"v_mul_{t}", two, np.multiply)
        add(f"v_max_{t}", two, maximum_number)
        add(f"v_min_{t}", two, minimum_number)
        add(f"v_max3_{t}", three, lambda a, b, c: maximum_number(maximum_number(a, b), c))
        add(f"v_min3_{t}", three, lambda a, b, c: minimum_number(minimum_number(a, b), c))
        add(f"v_med3_{t}", three, _median)
        add(f"v_fma_{t}", three, fused_multiply_add)
        add(f"v_fmac_{t}", f"{t}={t} {t} old", fused_multiply_add)
        add(f"v_rcp_{t}", one, np.reciprocal)
        add(f"v_rsq_{t}", one, lambda a: 1 / np.sqrt(a))
        add(f"v_sqrt_{t}", one, np.sqrt)
        add(f"v_rndne_{t}", one, np.rint)
        add(f"v_trunc_{t}", one, np.trunc)
        add(f"v_floor_{t}", one, np.floor)
        add(f"v_ceil_{t}", one, np.ceil)
        add(f"v_fract_{t}", one, _minus_floor)
        add(f"v_frexp_mant_{t}", one, lambda a: np.where(np.isfinite(a), np.frexp(a)[0], a))
        add(f"v_ldexp_{t}", f"{t}={t} {'i16' if t == 'f16' else 'i32'}", lambda a, e: np.ldexp(a, e.astype(I32)))
        add(f"v_cmp_class_{t}", f"mask={t} u32", _in_class)
        add(f"v_cmpx_class_{t}", f"mask={t} u32", _in_class)
        add(f"v_div_fixup_{t}", three, _division_fixup)
    for t in ("f32", "f16"):
        add(f"v_exp_{t}", f"{t}={t}", np.exp2)
        add(f"v_log_{t}", f"{t}={t}", np.log2)
        add(f"v_sin_{t}", f"{t}={t}", lambda a: np.sin(a.astype(F64) * (2 * np.pi)))
        add(f"v_cos_{t}", f"{t}={t}", lambda a: np.cos(a.astype(F64) * (2 * np.pi)))
        add(f"v_pk_add_{t}", f"2x{t}=2x{t} 2x{t}", np.add)
        add(f"v_pk_mul_{t}", f"2x{t}=2x{t} 2x{t}", np.multiply)
        add(f"v_pk_fma_{t}", f"2x{t}=2x{t} 2x{t} 2x{t}", fused_multiply_add)
    for t in ("f32", "f64"):
        add(f"v_div_scale_{t}", f"{t} mask={t} {t} {t}", _division_scale)
        add(f"v_div_fmas_{t}", f"{t}={t} {t} {t} vcc", _division_fma)
        add(f"v_frexp_exp_i32_{t}", f"i32={t}", lambda a: np.where(np.isfinite(a), np.frexp(a)[1], 0))
    add("v_frexp_exp_i16_f16", "i16=f16", lambda a: np.where(np.isfinite(a), np.frexp(a)[1], 0))
    add("v_dot2c_f32_bf16", "f32=2xu16 2xu16 old", lambda a, b, c: _dot_product(bf16_to_f32(a), bf16_to_f32(b), c))
    add("v_dot2c_f32_f16", "f32=2xf16 2xf16 old", lambda a, b, c: _dot_product(a.astype(F32), b.astype(F32), c))
    add("v_dot2_f32_bf16", "f32=2xu16 2xu16 f32", lambda a, b, c: _dot_product(bf16_to_f32(a), bf16_to_f32(b), c))
    add("v_rcp_iflag_f32", "f32=f32", np.reciprocal)
    add("v_fmamk_f32", "f32=f32 f32 f32", fused_multiply_add)
    add("v_fmaak_f32", "f32=f32 f32 f32", fused_multiply_add)
    add("v_maximum3_f32", "f32=f32 f32 f32", _exact_maximum3)
    add("v_minimum3_f32", "f32=f32 f32 f32", _exact_minimum3)
    add("v_pk_maximum3_f16", "2xf16=2xf16 2xf16 2xf16", _exact_maximum3)
    add("v_pk_minimum3_f16", "2xf16=2xf16 2xf16 2xf16", _exact_minimum3)
    add("v_pk_max_f16", "2xf16=2xf16 2xf16", maximum_number)
    add("v_pk_min_f16", "2xf16=2xf16 2xf16", minimum_number)
    add("v_pk_mov_b32", "2xf32=2xf32 2xf32", lambda a, b: np.stack(np.broadcast_arrays(a[0], b[0])))
    for t, dtype in DTYPES.items():
        comparisons = _FLOAT_COMPARISONS if dtype.kind == "f" else _INTEGER_COMPARISONS
        for name, function in comparisons.items():
            add(f"v_cmp_{name}_{t}", f"mask={t} {t}", function)
            add(f"v_cmpx_{name}_{t}", f"mask={t} {t}", function)
    return table


OPERATIONS = _table()
