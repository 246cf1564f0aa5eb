"""The functions that the pseudo-code uses without defining them.

Conversions are named after their types (`f32_to_fp4_scale`); others are in a table. What no document settles is said at
the function.
"""

import math
import re
from collections.abc import Callable
from typing import Any

from tests.pseudocode import reals
from tests.pseudocode.reals import FORMATS, NAN, Real
from tests.pseudocode.state import State
from tests.pseudocode.values import Type, Value, boolean, converted, of_integer, of_real, reinterpreted, type_named

_CONVERSION = re.compile(r"(\w+?)_to_(snorm|unorm|[a-z]+\d+)(_sr)?(_scale)?$", re.IGNORECASE)
_NORMALIZED = {"snorm": ("i", 32767), "unorm": ("u", 65535)}

# (the first 1201 bits of the fraction of 2 / pi)
TWO_OVER_PI_BITS = 1201


def two_over_pi() -> int:
    """By Machin's formula, with bits to spare."""
    extra = TWO_OVER_PI_BITS + 64

    def arctangent_of_inverse(n: int) -> int:
        term = total = (1 << extra) // n
        k, sign = 3, -1
        while term:
            term //= n * n
            total += sign * (term // k)
            k, sign = k + 2, -sign
        return total

    pi = 4 * (4 * arctangent_of_inverse(5) - arctangent_of_inverse(239))
    return (2 << 2 * extra) // pi >> extra - TWO_OVER_PI_BITS


def _fused(a: Value, b: Value, c: Value, state: State) -> Value:
    return of_real(a.type, reals.add(reals.multiply(a.real, b.real), c.real), state.rounding)


def _rounded_to_whole(mode: str) -> Callable[..., Value]:
    return lambda a, state: of_real(a.type, reals.whole(a.real, mode))


def _fraction(a: Value, state: State) -> Value:
    return of_real(a.type, reals.add(a.real, -reals.whole(a.real, "floor")), state.rounding)


def _is_even(a: Value, state: State) -> Value:
    real = a.real
    return boolean(real.kind == "finite" and (real.exponent > 0 or real.mantissa >> -real.exponent & 1 == 0))


def _exponent(a: Value, state: State) -> Value:
    """The field, without the bias taken off."""
    shape = FORMATS[a.type]
    return of_integer(("i", 32), a.bits >> shape.mantissa_bits & (1 << shape.exponent_bits) - 1)


def _mantissa(a: Value, state: State) -> Value:
    """The number with the exponent of a half."""
    shape = FORMATS[a.type]
    field = (1 << shape.exponent_bits) - 1 << shape.mantissa_bits
    return Value(a.type, a.bits & ~field | shape.bias - 1 << shape.mantissa_bits)


def _put_together(sign: Value, exponent: Value, mantissa: Value, state: State) -> Value:
    return Value(("f", 32), (sign.bits & 1) << 31 | (exponent.bits & 255) << 23 | mantissa.bits & 0x7FFFFF)


def _is_nan(a: Value, state: State) -> Value:
    return boolean(a.real.kind == "nan")


def _is_quiet(a: Value) -> bool:
    return bool(a.bits >> FORMATS[a.type].mantissa_bits - 1 & 1)


def _quieted(a: Value, state: State) -> Value:
    return Value(a.type, a.bits | 1 << FORMATS[a.type].mantissa_bits - 1)


def _approximated(function: Callable[[float], float]) -> Callable[..., Value]:
    """In double precision, then rounded: good enough for what the hardware itself only approximates."""

    def compute(a: Value, state: State) -> Value:
        return of_real(a.type, _guarded(function, reals.to_float(a.real)), state.rounding)

    return compute


def _guarded(function: Callable[[float], float], x: float) -> Real:
    try:
        return reals.from_float(function(x))
    except (ValueError, OverflowError):
        return NAN


def _log2(x: float) -> float:
    return -math.inf if x == 0 else math.log2(x)


def _power(base: Value, exponent: Value, state: State) -> Value:
    x = reals.to_float(exponent.real)
    if math.isinf(x) or math.isnan(x):
        return of_real(base.type, reals.from_float(0.0 if x < 0 else x))
    x = min(max(x, -1070.0), 1000.0)
    return of_real(base.type, reals.from_float(math.exp2(x) if base.real == _TWO else reals.to_float(base.real) ** x))


_TWO = reals.decode(0x40000000, FORMATS["f", 32])


def _sign_extended(a: Value, state: State) -> Value:
    return of_integer(("i", 64), of_integer(("i", a.type[1]), a.bits).integer)


def _sign_extended_from_bit(a: Value, width: Value, state: State) -> Value:
    """The `width` low bits as a signed number; nothing changes where they are all there are."""
    count = width.integer
    if not 0 < count < a.type[1]:
        return a
    return of_integer(a.type, of_integer(("i", count), a.bits).integer)


def _extreme(sign: int, name: str) -> Callable[..., Value]:
    """IEEE 754-2019 minimum and maximum: a NaN wins, and -0 is below +0."""

    def compute(*values: Any) -> Value:
        *candidates, _ = values
        for value in candidates:
            if value.real.kind == "nan":
                return Value(value.type, FORMATS[value.type].nan or 0)
        best = candidates[0]
        for value in candidates[1:]:
            order = reals.compare(value.real, best.real)
            if order == sign or (order == 0 and value.real.negative == (sign < 0)):
                best = value
        return best

    compute.__name__ = name
    return compute


# Arrays that the text declares and leaves empty. v_cvt_off_f32_i4: sixteenths, of a signed 4-bit number.
TABLES = {
    "CVT_OFF_TABLE": [
        of_real(("f", 32), reals.from_integer(of_integer(("i", 4), k).integer).scaled(-4)) for k in range(16)
    ]
}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "fma": _fused,
    "trunc": _rounded_to_whole("trunc"),
    "floor": _rounded_to_whole("floor"),
    "fract": _fraction,
    "isEven": _is_even,
    "exponent": _exponent,
    "mantissa": _mantissa,
    "float32": _put_together,
    "sign": lambda a, state: boolean(a.real.negative),
    "abs": lambda a, state: Value(a.type, a.bits & (1 << a.type[1] - 1) - 1),
    "isNAN": _is_nan,
    "isQuietNAN": lambda a, state: boolean(a.real.kind == "nan" and _is_quiet(a)),
    "isSignalNAN": lambda a, state: boolean(a.real.kind == "nan" and not _is_quiet(a)),
    "cvtToQuietNAN": _quieted,
    "sqrt": lambda a, state: of_real(a.type, reals.square_root(a.real), state.rounding),
    "log2": _approximated(_log2),
    "sin": _approximated(math.sin),
    "cos": _approximated(math.cos),
    "pow": _power,
    "ldexp": lambda a, e, state: of_real(a.type, a.real.scaled(e.integer), state.rounding),
    "signext": _sign_extended,
    "signext_from_bit": _sign_extended_from_bit,
    "bitCount": lambda a, state: of_integer(("u", 32), a.bits.bit_count()),
    "two_over_pi": lambda state: Value(("b", TWO_OVER_PI_BITS), two_over_pi()),
    "HwRegWriteMask": lambda register, privileged, state: Value(("b", 32), 0xFFFFFFFF),
    "nop": lambda state: Value(("b", 32), 0),
    **{
        f"v_{name}{count}_{t}": _extreme(sign, name)
        for name, sign in (("minimum", -1), ("maximum", 1))
        for count in ("", "3")
        for t in ("f16", "f32")
    },
}


def conversion(name: str) -> Callable[..., Value] | None:
    """The function that a name such as `f16_to_i16`, `bf16_to_fp8_scale` or `f32_to_fp6_sr_scale` means, if any."""
    match = _CONVERSION.match(name)
    if not match:
        return None
    source, target = type_named(match[1]), type_named(match[2])
    stochastic, scaled = bool(match[3]), bool(match[4])
    if match[2] in _NORMALIZED:
        kind, factor = _NORMALIZED[match[2]]
        return lambda a, state: _normalized(reinterpreted(a, source), (kind, 16), factor)
    if source is None or target is None:
        return None
    if target[0] in "ui":
        # To bytes of colours, to nearest: no document says so; shadPS4 has it from the console's hardware.
        rounding = reals.NEAREST_EVEN if target == ("u", 8) else "trunc"
        return lambda a, state: _to_integer(reinterpreted(a, source), target, rounding)
    if stochastic:
        return lambda a, seed, *scale: _stochastic(reinterpreted(a, source), seed.bits, target, scale[:-1])
    if scaled:
        return lambda a, scale, state: _scaled(reinterpreted(a, source), scale.integer, target)
    return lambda a, state: _to_float(reinterpreted(a, source), target, state)


def _to_float(a: Value, target: Type, state: State) -> Value:
    if target[1] <= 8:
        return Value(target, reals.encode(a.real, FORMATS[target]))
    return converted(a, target, state.rounding)


def _to_integer(a: Value, target: Type, rounding: str) -> Value:
    """Rounded and clipped; a NaN becomes 0."""
    real = a.real
    low, high = (0, (1 << target[1]) - 1) if target[0] == "u" else (-1 << target[1] - 1, (1 << target[1] - 1) - 1)
    if real.kind == "nan":
        return Value(target, 0)
    if real.kind == "infinite":
        return of_integer(target, low if real.negative else high)
    whole = reals.whole(real, rounding)
    number = whole.mantissa << max(whole.exponent, 0)
    return of_integer(target, min(max(-number if whole.negative else number, low), high))


def _normalized(a: Value, target: Type, factor: int) -> Value:
    """The number, clipped to [-1, 1] or [0, 1], times the factor, to the nearest integer; a NaN becomes 0."""
    real = a.real
    if real.kind == "nan" or (real.negative and target[0] == "u"):
        return Value(target, 0)
    if reals.compare(Real(real.kind, False, real.mantissa, real.exponent), reals.from_integer(1)) != -1:
        return of_integer(target, -factor if real.negative else factor)
    whole = reals.whole(reals.multiply(real, reals.from_integer(factor)), reals.NEAREST_EVEN)
    number = whole.mantissa << max(whole.exponent, 0)
    return of_integer(target, -number if whole.negative else number)


def _scaled(a: Value, scale: int, target: Type) -> Value:
    """By an E8M0 scale, where 255 is NaN: divided by it on the way to a narrow format, multiplied on the way back."""
    exponent = scale - 127
    number = a.real.scaled(-exponent if target[1] <= 8 else exponent)
    if scale == 255:
        number = Real("nan", number.negative)
    return Value(target, reals.encode(number, FORMATS[target]))


def stochastically_rounded(a: Value, seed: int, target: Type, exponent: int) -> Value:
    """The number times 2**exponent with as many of the seed's top bits added as are cut off of the source's mantissa.

    No document defines it; as AMD's headers emulate it on the host (hip/amd_detail/amd_hip_ocp_host.hpp,
    from_float_sr): what a denormal result cannot hold of the source's mantissa is cut off before the random bits come.
    """
    form, source = FORMATS[target], FORMATS[a.type]
    number = a.real.scaled(exponent)
    if number.kind != "finite" or number.is_zero:
        return Value(target, reals.encode(number, form))
    random_bits = source.mantissa_bits - form.mantissa_bits
    lowest = 1 - form.bias
    top = max(number.mantissa.bit_length() - 1 + number.exponent, lowest)
    # In units of the source's last bit, for a number of this exponent.
    cut = number.exponent - (top - source.mantissa_bits)
    units = number.mantissa << cut if cut >= 0 else number.mantissa >> -cut
    rounded = units + (seed >> 32 - random_bits) >> random_bits
    result = Real("finite", number.negative, rounded, top - form.mantissa_bits)
    return Value(target, reals.encode(result, form, reals.TOWARD_ZERO_TO_INFINITY))


def _stochastic(a: Value, seed: int, target: Type, scale: tuple[Value, ...]) -> Value:
    if scale and scale[0].integer == 255:
        return Value(target, reals.encode(Real("nan", a.real.negative), FORMATS[target]))
    return stochastically_rounded(a, seed, target, 127 - scale[0].integer if scale else 0)
