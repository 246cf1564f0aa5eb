"""Exact numbers, and their rounding to binary floating-point formats.

A finite number is mantissa * 2**exponent with a Python integer as its mantissa, so sums and products are exact.
Quotients and roots carry more bits than any format holds and a last bit that says whether something was cut off, which
rounds right.
"""

import struct
from dataclasses import dataclass
from math import isqrt
from typing import NamedTuple

# The last is toward zero too, but what is too large becomes infinite.
NEAREST_EVEN, TOWARD_ZERO, TOWARD_ZERO_TO_INFINITY = "nearest even", "toward zero", "toward zero to infinity"

# More bits than the widest format has, twice over.
_QUOTIENT_BITS = 140


class Format(NamedTuple):
    """exponent_bits, mantissa_bits: of the fields. infinities: else the all-ones exponent is as any other.
    nan: the code of a NaN without its sign, None where the format has none."""

    exponent_bits: int
    mantissa_bits: int
    infinities: bool
    nan: int | None

    @property
    def bias(self) -> int:
        return (1 << self.exponent_bits - 1) - 1

    @property
    def width(self) -> int:
        return 1 + self.exponent_bits + self.mantissa_bits

    @property
    def largest(self) -> int:
        """The code of the largest finite number."""
        if self.infinities:
            return ((1 << self.exponent_bits) - 1 << self.mantissa_bits) - 1
        top = (1 << self.width - 1) - 1
        return top if self.nan is None else top - 1


# By the letters and the width of a type in the pseudo-code. 8 bits are those of OCP OFP8, fewer those of OCP MX.
FORMATS = {
    ("f", 64): Format(11, 52, True, 0x7FF8 << 48),
    ("f", 32): Format(8, 23, True, 0x7FC00000),
    ("f", 16): Format(5, 10, True, 0x7E00),
    ("bf", 16): Format(8, 7, True, 0x7FC0),
    ("fp", 8): Format(4, 3, False, 0x7F),
    ("bf", 8): Format(5, 2, True, 0x7E),
    ("fp", 6): Format(2, 3, False, None),
    ("bf", 6): Format(3, 2, False, None),
    ("fp", 4): Format(2, 1, False, None),
}


@dataclass(frozen=True, slots=True)
class Real:
    """kind: 'finite', 'infinite' or 'nan'. mantissa is not negative; negative is the sign, of zeros too."""

    kind: str
    negative: bool = False
    mantissa: int = 0
    exponent: int = 0

    @property
    def is_zero(self) -> bool:
        return self.kind == "finite" and self.mantissa == 0

    def __neg__(self) -> "Real":
        return Real(self.kind, not self.negative, self.mantissa, self.exponent)

    def scaled(self, exponent: int) -> "Real":
        """Times 2**exponent."""
        return Real(self.kind, self.negative, self.mantissa, self.exponent + exponent)


NAN, INFINITY = Real("nan"), Real("infinite")


def from_integer(number: int) -> Real:
    return Real("finite", number < 0, abs(number), 0)


def decode(bits: int, shape: Format) -> Real:
    field = bits >> shape.mantissa_bits & (1 << shape.exponent_bits) - 1
    fraction = bits & (1 << shape.mantissa_bits) - 1
    negative = bool(bits >> shape.width - 1 & 1)
    if shape.infinities and field == (1 << shape.exponent_bits) - 1:
        return Real("nan" if fraction else "infinite", negative)
    if not shape.infinities and shape.nan is not None and bits & (1 << shape.width - 1) - 1 == shape.nan:
        return Real("nan", negative)
    if field:
        fraction |= 1 << shape.mantissa_bits
    return Real("finite", negative, fraction, max(field, 1) - shape.bias - shape.mantissa_bits)


def encode(number: Real, shape: Format, mode: str = NEAREST_EVEN) -> int:
    """The code of the rounded number. What is too large becomes infinite; NaN where there is a NaN but no infinity;
    the largest number where there is neither, or toward zero. A NaN of a format without becomes the largest number."""
    sign = int(number.negative) << shape.width - 1
    nan = shape.largest if shape.nan is None else shape.nan
    if number.kind == "nan":
        return sign | nan
    infinite = shape.largest + 1 if shape.infinities else nan
    if number.kind == "infinite":
        return sign | infinite
    if number.mantissa == 0:
        return sign
    lowest = 1 - shape.bias - shape.mantissa_bits
    exponent = max(number.mantissa.bit_length() - shape.mantissa_bits - 1 + number.exponent, lowest)
    mantissa, cut = number.mantissa, exponent - number.exponent
    if cut <= 0:
        mantissa <<= -cut
    else:
        rest = mantissa & (1 << cut) - 1
        mantissa >>= cut
        half = 1 << cut - 1
        if mode == NEAREST_EVEN and (rest > half or (rest == half and mantissa & 1)):
            mantissa += 1
    # The leading one of a normal number adds itself to the exponent field, and a carry out of the mantissa one more.
    code = mantissa if exponent == lowest else mantissa + (exponent - lowest << shape.mantissa_bits)
    if code > shape.largest:
        code = shape.largest if mode == TOWARD_ZERO else infinite
    return sign | code


def add(a: Real, b: Real) -> Real:
    if "nan" in (a.kind, b.kind) or (a.kind == b.kind == "infinite" and a.negative != b.negative):
        return NAN
    if a.kind == "infinite" or b.kind == "infinite":
        return a if a.kind == "infinite" else b
    if a.is_zero and b.is_zero:
        return Real("finite", a.negative and b.negative)
    exponent = min(a.exponent, b.exponent)
    total = sum((-x.mantissa if x.negative else x.mantissa) << x.exponent - exponent for x in (a, b))
    return Real("finite", total < 0, abs(total), exponent)


def multiply(a: Real, b: Real) -> Real:
    negative = a.negative != b.negative
    if "nan" in (a.kind, b.kind):
        return NAN
    if "infinite" in (a.kind, b.kind):
        return NAN if a.is_zero or b.is_zero else Real("infinite", negative)
    return Real("finite", negative, a.mantissa * b.mantissa, a.exponent + b.exponent)


def divide(a: Real, b: Real) -> Real:
    negative = a.negative != b.negative
    if "nan" in (a.kind, b.kind) or a.kind == b.kind == "infinite" or (a.is_zero and b.is_zero):
        return NAN
    if a.kind == "infinite" or b.is_zero:
        return Real("infinite", negative)
    if b.kind == "infinite" or a.is_zero:
        return Real("finite", negative)
    shift = _QUOTIENT_BITS + b.mantissa.bit_length()
    quotient, rest = divmod(a.mantissa << shift, b.mantissa)
    return Real("finite", negative, quotient << 1 | (rest != 0), a.exponent - b.exponent - shift - 1)


def square_root(a: Real) -> Real:
    if a.kind == "nan" or a.is_zero:
        return a
    if a.negative:
        return NAN
    if a.kind == "infinite":
        return a
    shift = 2 * _QUOTIENT_BITS + (a.exponent & 1)
    square = a.mantissa << shift
    root = isqrt(square)
    return Real("finite", False, root << 1 | (root * root != square), (a.exponent - shift >> 1) - 1)


def compare(a: Real, b: Real) -> int | None:
    """-1, 0 or 1; None for a NaN."""
    if "nan" in (a.kind, b.kind):
        return None
    x, y = _ordinal(a), _ordinal(b)
    if isinstance(x, float) or isinstance(y, float):
        first, second = (z if isinstance(z, float) else 0.0 for z in (x, y))
        return (first > second) - (first < second)
    exponent = min(a.exponent, b.exponent)
    x, y = x << a.exponent - exponent, y << b.exponent - exponent
    return (x > y) - (x < y)


def _ordinal(a: Real) -> int | float:
    if a.kind == "infinite":
        return float("-inf") if a.negative else float("inf")
    return -a.mantissa if a.negative else a.mantissa


def whole(a: Real, mode: str) -> Real:
    """A finite number rounded to an integer; mode: 'trunc', 'floor', 'ceil' or NEAREST_EVEN. The sign stays."""
    if a.kind != "finite" or a.exponent >= 0:
        return a
    cut = -a.exponent
    number, rest, half = a.mantissa >> cut, a.mantissa & (1 << cut) - 1, 1 << cut - 1
    up = {
        "trunc": False,
        "floor": a.negative and rest != 0,
        "ceil": not a.negative and rest != 0,
        NEAREST_EVEN: rest > half or (rest == half and number & 1 == 1),
    }[mode]
    return Real("finite", a.negative, number + up, 0)


def to_float(a: Real) -> float:
    """The nearest Python float; of functions that are only approximated."""
    if a.kind == "nan":
        return float("nan")
    bits = encode(a, FORMATS["f", 64])

    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def from_float(x: float) -> Real:

    return decode(struct.unpack("<Q", struct.pack("<d", x))[0], FORMATS["f", 64])
