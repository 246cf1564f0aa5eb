"""Statements of the pseudo-code, likewise."""

from collections.abc import Callable
from typing import Any

from tests.pseudocode import tree
from tests.pseudocode.expressions import expression
from tests.pseudocode.frame import Evaluator, Frame, Returned
from tests.pseudocode.functions import TABLES
from tests.pseudocode.values import Value, of_integer


class _Broken(Exception):
    pass


def block(nodes: tuple[Any, ...]) -> Evaluator:
    """A function of the frame that runs the statements."""
    steps = [_STATEMENTS.get(type(node), expression)(node) for node in nodes]

    def run(frame: Frame) -> None:
        for step in steps:
            step(frame)

    return run


def _if(node: tree.If) -> Evaluator:
    cases = [(expression(condition), block(body)) for condition, body in node.cases]
    otherwise = block(node.otherwise)

    def run(frame: Frame) -> None:
        for condition, body in cases:
            if condition(frame):
                return body(frame)
        return otherwise(frame)

    return run


def _for(node: tree.For) -> Evaluator:
    name, first, last, body = node.name, expression(node.first), expression(node.last), block(node.body)

    def run(frame: Frame) -> None:
        start, end = first(frame), last(frame)
        for number in range(start.integer, end.integer + 1):
            frame.variables[name] = of_integer((start.type[0], 32), number)
            try:
                body(frame)
            except _Broken:
                return

    return run


def _break(node: tree.Break) -> Evaluator:
    def run(frame: Frame) -> None:
        raise _Broken

    return run


def _return(node: tree.Return) -> Evaluator:
    value = expression(node.value)

    def run(frame: Frame) -> None:
        raise Returned(value(frame))

    return run


def _declaration(node: tree.Declaration) -> Evaluator:
    name, type_, count = node.name, node.type, node.count

    def run(frame: Frame) -> None:
        if name == "S":  # the sources, by number
            frame.variables[name] = [of_integer(type_, frame.state.value(f"S{k}").bits) for k in range(count or 0)]
        elif name in frame.state.names:
            frame.variables[name] = of_integer(type_, frame.state.names[name])
        elif count is None:
            frame.variables[name] = Value(type_, 0)
        else:
            table = TABLES.get(name)
            frame.variables[name] = [Value(type_, 0)] * count if table is None else table

    return run


def _function(node: tree.Function) -> Evaluator:
    name, parameters, body = node.name, node.parameters, block(node.body)

    def run(frame: Frame) -> None:
        frame.functions[name] = (parameters, body)

    return run


_STATEMENTS: dict[type, Callable[[Any], Evaluator]] = {
    tree.If: _if,
    tree.For: _for,
    tree.Break: _break,
    tree.Return: _return,
    tree.Declaration: _declaration,
    tree.Function: _function,
}
