"""Expressions of the pseudo-code: every node becomes a function of a frame, once per text."""

from collections.abc import Callable
from typing import Any

from tests.pseudocode import reals, tree
from tests.pseudocode.arithmetic import COMPARISONS, arithmetic, compare, is_denormal, shift
from tests.pseudocode.frame import Evaluator, Frame, Returned, is_architectural
from tests.pseudocode.grammar import PseudoCodeError
from tests.pseudocode.naming import MEMORIES, bank_name, base_name, dotted_name, is_signed_zero, what_is_sliced
from tests.pseudocode.places import MemoryPlace, Place, RegisterPlace, VariablePlace, narrowed
from tests.pseudocode.values import (
    Value,
    boolean,
    cast,
    of_integer,
    of_real,
    reinterpreted,
    type_named,
)

_MODES = {"ROUND_NEAREST_EVEN": reals.NEAREST_EVEN, "ROUND_TOWARD_ZERO": reals.TOWARD_ZERO}
_SPECIAL_NUMBERS = {
    "INF": Value(("f", 64), 0x7FF << 52),
    "NAN": Value(("f", 64), 0x7FF8 << 48),
    "PI": of_real(("f", 64), reals.from_float(3.141592653589793)),
    "OVERFLOW_F32": Value(("f", 32), 0x7F800000),
    "OVERFLOW_F64": Value(("f", 64), 0x7FF << 52),
    "UNDERFLOW_F32": Value(("f", 32), 0),
    "UNDERFLOW_F64": Value(("f", 64), 0),
}


def expression(node: Any) -> Evaluator:
    """A function of the frame that gives the node's value."""
    return _EXPRESSIONS[type(node)](node)


def _number(node: tree.Number) -> Evaluator:
    value = node.value
    return lambda frame: value


def _name(node: tree.Name) -> Evaluator:
    name = node.name
    if name in _SPECIAL_NUMBERS:
        value = _SPECIAL_NUMBERS[name]
        return lambda frame: value
    if name == "ROUND_MODE":
        return lambda frame: frame.state.rounding
    if name in _MODES:
        mode = _MODES[name]
        return lambda frame: mode

    def read(frame: Frame) -> Any:
        known = frame.variables.get(name)
        if known is not None:
            return known
        if not is_architectural(name):
            raise PseudoCodeError(f"{name} has no value")
        return frame.state.value(name)

    return read


def _member(node: tree.Member) -> Evaluator:
    type_ = type_named(node.name)
    if type_ is None:
        return _name(tree.Name(dotted_name(node)))
    if isinstance(node.base, tree.Index) and bank_name(node.base):
        place = place_of(node)
        return lambda frame: place(frame).read()
    base = expression(node.base)
    return lambda frame: reinterpreted(base(frame), type_, frame.state.rounding)


def _index(node: tree.Index) -> Evaluator:
    if bank_name(node):
        place = place_of(node)
        return lambda frame: place(frame).read()
    base, index = expression(what_is_sliced(node.base)), expression(node.index)

    def read(frame: Frame) -> Value:
        value, at = base(frame), index(frame).integer
        if isinstance(value, list):
            return value[at]
        return Value(("b", 1), value.bits >> at & 1)

    return read


def _slice(node: tree.Slice) -> Evaluator:
    base, high, low = expression(what_is_sliced(node.base)), expression(node.high), expression(node.low)

    def read(frame: Frame) -> Value:
        bits, first, last = base(frame).bits, low(frame).integer, high(frame).integer
        if first <= last:
            return of_integer(("b", last - first + 1), bits >> first)
        width = first - last + 1
        digits = f"{bits >> last & (1 << width) - 1:0{width}b}"
        return Value(("b", width), int(digits[::-1], 2))

    return read


def _slice_up(node: tree.SliceUp) -> Evaluator:
    base, start, width = expression(what_is_sliced(node.base)), expression(node.start), expression(node.width)
    return lambda frame: of_integer(("b", width(frame).integer), base(frame).bits >> start(frame).integer)


def _call(node: tree.Call) -> Evaluator:
    name, arguments = node.name, [expression(argument) for argument in node.arguments]

    def run(frame: Frame) -> Value:
        values = [argument(frame) for argument in arguments]
        if name not in frame.functions:
            return frame.call(frame, name, values)
        parameters, body = frame.functions[name]
        inner = Frame(frame.state, frame.call)
        inner.variables.update(zip(parameters, values, strict=True))
        try:
            body(inner)
        except Returned as returned:
            return returned.value
        raise PseudoCodeError(f"{name} returns nothing")

    return run


def _cast(node: tree.Cast) -> Evaluator:
    type_, argument = node.type, expression(node.argument)
    if type_ == ("b", 1201):  # 1201'B(2.0 / PI): so many bits of the fraction
        return lambda frame: frame.call(frame, "two_over_pi", [])
    return lambda frame: cast(argument(frame), type_, frame.state.rounding)


def _unary(node: tree.Unary) -> Evaluator:
    argument, sign = expression(node.argument), node.operator
    if sign == "+":
        return argument
    if sign == "!":
        return lambda frame: boolean(not argument(frame))
    if sign == "~":
        return lambda frame: (lambda value: of_integer(value.type, ~value.bits))(argument(frame))

    def negate(frame: Frame) -> Value:
        value = argument(frame)
        if value.is_float:
            return Value(value.type, value.bits ^ 1 << value.type[1] - 1)
        return of_integer(("i", max(32, value.type[1])), -value.integer)

    return negate


def _binary(node: tree.Binary) -> Evaluator:
    sign = node.operator
    if sign == "==" and base_name(node.right) == "DENORM":
        left = expression(node.left)
        return lambda frame: boolean(is_denormal(left(frame)))
    if sign == "==" and is_signed_zero(node.right):
        left, zero = expression(node.left), expression(node.right)
        return lambda frame: boolean(left(frame).real.is_zero and left(frame).bits == zero(frame).bits)
    if sign == "*":
        for power, other in ((node.left, node.right), (node.right, node.left)):
            power = power.argument if isinstance(power, tree.Cast) else power
            if isinstance(power, tree.Binary) and power.operator == "**":
                return _scaled(other, power)
    first, second = expression(node.left), expression(node.right)
    if sign == "&&":
        return lambda frame: boolean(bool(first(frame)) and bool(second(frame)))
    if sign == "||":
        return lambda frame: boolean(bool(first(frame)) or bool(second(frame)))
    if sign in ("<<", ">>"):
        return lambda frame: shift(sign, first(frame), second(frame))
    if sign in COMPARISONS:
        return lambda frame: compare(sign, first(frame), second(frame))
    if sign == "**":
        raise PseudoCodeError("a power that is no factor")
    return lambda frame: arithmetic(sign, first(frame), second(frame), frame.state.rounding)


def _scaled(other: Any, power: tree.Binary) -> Evaluator:
    """x * 2.0 ** n, rounded once."""
    argument, exponent = expression(other), expression(power.right)

    def run(frame: Frame) -> Value:
        value = argument(frame)
        return of_real(value.type, value.real.scaled(exponent(frame).integer), frame.state.rounding)

    return run


def _conditional(node: tree.Conditional) -> Evaluator:
    condition, yes, no = (expression(part) for part in (node.condition, node.yes, node.no))
    return lambda frame: yes(frame) if condition(frame) else no(frame)


def _concatenation(node: tree.Concatenation) -> Evaluator:
    parts = [expression(part) for part in node.parts]

    def run(frame: Frame) -> Value:
        bits = width = 0
        for part in parts:
            value = part(frame)
            bits, width = bits << value.type[1] | value.bits, width + value.type[1]
        return Value(("b", width), bits)

    return run


def _assignment(node: tree.Assignment) -> Evaluator:
    value = expression(node.value)
    if node.target == tree.Name("ROUND_MODE"):

        def set_mode(frame: Frame) -> None:
            frame.state.rounding = value(frame)

        return set_mode
    if isinstance(node.target, tree.Concatenation):
        return _split_assignment(node.target, value)
    if isinstance(node.value, tree.Name) and node.value.name == "ROUND_MODE":
        name = node.target.name
        return lambda frame: frame.variables.__setitem__(name, value(frame))
    place, sign = place_of(node.target), node.operator
    read = expression(node.target) if sign else None

    def assign(frame: Frame) -> Value:
        result = value(frame)
        mode = frame.state.rounding
        if read is not None:
            result = arithmetic(sign, read(frame), result, mode)
        place(frame).write(result, mode)
        return result

    return assign


def _split_assignment(target: tree.Concatenation, value: Evaluator) -> Evaluator:
    places = [place_of(part) for part in reversed(target.parts)]

    def assign(frame: Frame) -> Value:
        result = value(frame)
        bits = result.bits
        for place in places:
            part = place(frame)
            width = part.width or 32
            part.write(of_integer(("b", width), bits), frame.state.rounding)
            bits >>= width
        return result

    return assign


_EXPRESSIONS: dict[type, Callable[[Any], Evaluator]] = {
    tree.Number: _number,
    tree.Name: _name,
    tree.Member: _member,
    tree.Index: _index,
    tree.Slice: _slice,
    tree.SliceUp: _slice_up,
    tree.Call: _call,
    tree.Cast: _cast,
    tree.Unary: _unary,
    tree.Binary: _binary,
    tree.Conditional: _conditional,
    tree.Concatenation: _concatenation,
    tree.Assignment: _assignment,
}


def place_of(node: Any) -> Evaluator:
    """A function of the frame that gives the place that the node names."""
    if isinstance(node, tree.Name):
        return _name_place(node.name)
    if isinstance(node, tree.Member):
        type_ = type_named(node.name)
        if type_ is None:
            return _name_place(dotted_name(node))
        base = place_of(node.base)
        return lambda frame: narrowed(base(frame), 0, type_[1], type_)
    if isinstance(node, tree.Index):
        if bank_name(node):
            return _bank_place(node)
        return _element_place(node)
    if isinstance(node, tree.Slice):
        base, high, low = place_of(what_is_sliced(node.base)), expression(node.high), expression(node.low)

        def part(frame: Frame) -> Place:
            first, last = low(frame).integer, high(frame).integer
            return narrowed(base(frame), first, last - first + 1, None)

        return part
    raise PseudoCodeError(f"no place: {node}")


def _name_place(name: str) -> Evaluator:
    if is_architectural(name):
        return lambda frame: (
            VariablePlace(frame.variables, name, frame.variables[name])
            if name in frame.variables
            else RegisterPlace(frame.state.names, name)
        )
    return lambda frame: VariablePlace(frame.variables, name, frame.variables.get(name))


def _bank_place(node: tree.Index) -> Evaluator:
    name, index = bank_name(node), expression(node.index)
    if name in MEMORIES:
        return lambda frame: MemoryPlace(frame.state.memory, index(frame).bits)
    if name == "SGPR":
        return lambda frame: RegisterPlace(frame.state.sgpr, index(frame).integer)
    if name == "VGPR":
        lane = expression(node.base.index)
        return lambda frame: RegisterPlace(frame.state.vgpr, (lane(frame).integer, index(frame).integer))
    return lambda frame: RegisterPlace(frame.state.names, f"{name}[{index(frame).integer}]")


def _element_place(node: tree.Index) -> Evaluator:
    index = expression(node.index)
    array = node.base.name if isinstance(node.base, tree.Name) else ""
    base = place_of(what_is_sliced(node.base))

    def place(frame: Frame) -> Place:
        at = index(frame).integer
        known = frame.variables.get(array)
        if isinstance(known, list):
            return VariablePlace(known, at, known[at])
        return narrowed(base(frame), at, 1, None)

    return place
