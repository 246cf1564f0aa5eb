"""Relations between config values, as fragments declare them: `BLOCK_SIZE_N % 32 == 0`."""

import ast
import itertools
import operator
from collections.abc import Callable, Mapping
from typing import Any

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class UnknownNameError(Exception):
    """A relation speaks of a value that the config does not have."""


def holds(relation: str, values: Mapping[str, Any]) -> bool:
    """Whether a relation is true of these values.

    It may use names, constants, + - * // %, comparisons, `and`, `or` and `not`.
    Raises UnknownNameError for a name without a value, ValueError where it is written otherwise.
    """
    try:
        tree = ast.parse(relation, mode="eval")
    except SyntaxError:
        raise ValueError(f"'{relation}' is no relation") from None
    return bool(_evaluate(tree.body, values))


def names_in(relation: str) -> set[str]:
    """The names that a relation speaks of."""
    return {node.id for node in ast.walk(ast.parse(relation, mode="eval")) if isinstance(node, ast.Name)}


def _evaluate(node: ast.expr, values: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value):
            return value
        case ast.Name(name):
            if name not in values:
                raise UnknownNameError(name)
            return values[name]
        case ast.BinOp(left, kind, right) if type(kind) in _OPERATORS:
            return _OPERATORS[type(kind)](_evaluate(left, values), _evaluate(right, values))
        case ast.Compare(left, kinds, rights) if all(type(kind) in _OPERATORS for kind in kinds):
            operands = [_evaluate(side, values) for side in (left, *rights)]
            return all(
                _OPERATORS[type(kind)](*pair) for kind, pair in zip(kinds, itertools.pairwise(operands), strict=True)
            )
        case ast.BoolOp(kind, parts):
            results = (_evaluate(part, values) for part in parts)
            return all(results) if isinstance(kind, ast.And) else any(results)
        case ast.UnaryOp(ast.Not(), part):
            return not _evaluate(part, values)
    raise ValueError(f"'{ast.unparse(node)}' is not allowed in a relation")
