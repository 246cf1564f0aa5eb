"""Operators on typed values."""

import operator
from collections.abc import Callable

from tests.pseudocode import reals
from tests.pseudocode.values import Type, Value, boolean, of_integer, of_real


def _common(a: Value, b: Value) -> Type:
    """The type that an operation on both has: as in C, with integers of at least 32 bits."""
    if a.is_float or b.is_float:
        floats = [x.type for x in (a, b) if x.is_float]
        return max(floats, key=lambda t: t[1])
    kind = "i" if a.type[0] == b.type[0] == "i" else "u"
    return kind, max(32, a.type[1], b.type[1])


_REAL_OPERATIONS = {
    "+": reals.add,
    "-": lambda a, b: reals.add(a, -b),
    "*": reals.multiply,
    "/": reals.divide,
}
_INTEGER_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.floordiv,
    "%": operator.mod,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
COMPARISONS: dict[str, Callable[[int | None], bool]] = {
    "==": lambda order: order == 0,
    "!=": lambda order: order != 0,
    "<>": lambda order: order is not None and order != 0,
    "<": lambda order: order == -1,
    "<=": lambda order: order in (-1, 0),
    ">": lambda order: order == 1,
    ">=": lambda order: order in (0, 1),
}


def arithmetic(sign: str, a: Value, b: Value, mode: str) -> Value:
    type_ = _common(a, b)
    if type_[0] in "ui":
        return of_integer(type_, _INTEGER_OPERATIONS[sign](a.integer, b.integer))
    return of_real(type_, _REAL_OPERATIONS[sign](a.real, b.real), mode)


def shift(sign: str, a: Value, b: Value) -> Value:
    type_ = ("i" if a.type[0] == "i" else "u", max(32, a.type[1]))
    return of_integer(type_, a.integer << b.bits if sign == "<<" else a.integer >> b.bits)


def compare(sign: str, a: Value, b: Value) -> Value:
    if a.is_float or b.is_float:
        order = reals.compare(a.real, b.real)
    else:
        type_ = _common(a, b)
        x, y = of_integer(type_, a.integer).integer, of_integer(type_, b.integer).integer
        order = (x > y) - (x < y)
    return boolean(COMPARISONS[sign](order))


def is_denormal(a: Value) -> bool:
    mantissa_bits = reals.FORMATS[a.type].mantissa_bits
    real = a.real
    return real.kind == "finite" and 0 < real.mantissa < 1 << mantissa_bits
