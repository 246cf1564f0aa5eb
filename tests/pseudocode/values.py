"""Typed values of the pseudo-code: bits, how many, and what they stand for."""

import re
from dataclasses import dataclass

from tests.pseudocode import reals
from tests.pseudocode.reals import FORMATS, Real

# u: unsigned, i: signed, b: bits, f bf fp: floating point
Type = tuple[str, int]
BIT: Type = ("u", 1)

_TYPE_NAME = re.compile(r"(u|i|b|f|bf|fp)(\d+)$")


def type_named(name: str) -> Type | None:
    """The type that a member such as `.f32` names, if it names one."""
    match = _TYPE_NAME.match(name)
    if not match:
        return None
    kind, width = match[1], int(match[2])
    return (kind, width) if kind in "uib" or (kind, width) in FORMATS else None


@dataclass(frozen=True, slots=True)
class Value:
    """bits: as an unsigned integer, fewer than 2**width."""

    type: Type
    bits: int

    @property
    def is_float(self) -> bool:
        return self.type[0] not in "uib"

    @property
    def integer(self) -> int:
        kind, width = self.type
        if kind == "i" and self.bits >> width - 1:
            return self.bits - (1 << width)
        return self.bits

    @property
    def real(self) -> Real:
        if self.is_float:
            return reals.decode(self.bits, FORMATS[self.type])
        return reals.from_integer(self.integer)

    def __bool__(self) -> bool:
        return self.bits != 0


def of_integer(type_: Type, number: int) -> Value:
    return Value(type_, number & (1 << type_[1]) - 1)


def of_real(type_: Type, number: Real, mode: str = reals.NEAREST_EVEN) -> Value:
    return Value(type_, reals.encode(number, FORMATS[type_], mode))


def boolean(truth: bool) -> Value:
    return Value(BIT, int(truth))


def converted(value: Value, type_: Type, mode: str = reals.NEAREST_EVEN) -> Value:
    """The number in another floating-point type. A NaN keeps its sign and the upper bits of its payload."""
    real, new = value.real, FORMATS[type_]
    if real.kind != "nan" or not value.is_float or not new.infinities:
        return of_real(type_, real, mode)
    old = FORMATS[value.type]
    up = new.mantissa_bits - old.mantissa_bits
    payload = value.bits & (1 << old.mantissa_bits) - 1
    payload = payload << up if up >= 0 else payload >> -up
    special = (1 << new.exponent_bits) - 1 << new.mantissa_bits
    if not payload:
        payload = new.nan & ~special
    return Value(type_, int(real.negative) << new.width - 1 | special | payload)


def reinterpreted(value: Value, type_: Type, mode: str = reals.NEAREST_EVEN) -> Value:
    """`value.type`: the same bits, fewer or with zeros above; between floating-point types the same number."""
    if value.type == type_:
        return value
    if value.is_float and type_[0] not in "uib":
        return converted(value, type_, mode)
    return of_integer(type_, value.bits)


def stored(value: Value, type_: Type, mode: str = reals.NEAREST_EVEN) -> Value:
    """What an assignment to a place of the type keeps: as above, with the sign of a signed integer extended."""
    if value.type[0] == "i" and type_[0] in "uib":
        return of_integer(type_, value.integer)
    return reinterpreted(value, type_, mode)


def cast(value: Value, type_: Type, mode: str = reals.NEAREST_EVEN) -> Value:
    """`32'F(value)`: the same number; bits, which hexadecimal constants are, too, are taken as they are."""
    kind, _ = type_
    if kind == "b":
        return of_integer(type_, value.bits if value.is_float else value.integer)
    if kind in "ui":
        number = reals.whole(value.real, "trunc")
        return of_integer(type_, (-1 if number.negative else 1) * (number.mantissa << max(number.exponent, 0)))
    if value.type[0] == "b":
        return of_integer(type_, value.bits)
    return converted(value, type_, mode)
