"""The configs in a submission's text: a row for each shape, or for each condition that stands for other shapes.

Found by reading, not by running: a module-level dictionary whose keys are tuples of integers and whose values are
`dict(...)` or `{...}`, and a module-level function that returns such dictionaries.
"""

import ast
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

OTHERWISE = "other shapes"


@dataclass(frozen=True)
class Name:
    """A value that is no number, string or truth value: its source text. Also `None`, as no value is None here."""

    text: str

    def __str__(self) -> str:
        return self.text


Value = int | float | str | bool | None | Name
Config = Mapping[str, Value]


def shown_value(value: Value) -> str:
    """A value as it stands in a submission: strings with quotes, names without."""
    if isinstance(value, Name):
        return value.text
    return f'"{value}"' if isinstance(value, str) and '"' not in value else repr(value)


def configs_in(text: str) -> dict[str, Config]:
    """A config for each row, in the text's order; empty for text that does not parse or has none.

    Rows are called "16x2112x7168", or by a function's condition, "m <= 16", or OTHERWISE. Where two tables give the
    same row, the later one's gets its name in front: "CONFIGS_FP8 16x2112x7168".
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _rows_in(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}


def _rows_in(tree: ast.Module) -> dict[str, Config]:
    rows: dict[str, Config] = {}
    for statement in tree.body:
        for table, row, config in _rows_of(statement):
            rows[f"{table} {row}" if row in rows else row] = config
    return rows


def _rows_of(statement: ast.stmt) -> Iterator[tuple[str, str, Config]]:
    """(name of the table or function, row, config) of one module-level statement."""
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        yield from _rows_of_table(statement.targets[0].id, statement.value)
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
        yield from _rows_of_table(statement.target.id, statement.value)
    elif isinstance(statement, ast.FunctionDef):
        for row, config in _returned(statement.body):
            yield statement.name, row, config


def _rows_of_table(name: str, value: ast.expr) -> Iterator[tuple[str, str, Config]]:
    if not isinstance(value, ast.Dict):
        return
    for key, entry in zip(value.keys, value.values, strict=True):
        shape = _shape(key)
        config = _config(entry)
        if shape and config is not None:
            yield name, shape, config


def _shape(key: ast.expr | None) -> str:
    """`(16, 2112, 7168)` as 16x2112x7168; empty for what is no tuple of integers."""
    if not isinstance(key, ast.Tuple) or not key.elts:
        return ""
    sizes = [size.value for size in key.elts if isinstance(size, ast.Constant) and type(size.value) is int]
    return "x".join(map(str, sizes)) if len(sizes) == len(key.elts) else ""


def _returned(body: list[ast.stmt]) -> Iterator[tuple[str, Config]]:
    """The configs that a function returns from its own body, or from an `if` or `elif` in it, by its condition."""
    for statement in body:
        if isinstance(statement, ast.Return):
            config = _config(statement.value)
            if config:
                yield OTHERWISE, config
        while isinstance(statement, ast.If):
            for inner in statement.body:
                config = _config(inner.value) if isinstance(inner, ast.Return) else None
                if config:
                    yield ast.unparse(statement.test), config
            if len(statement.orelse) != 1 or not isinstance(statement.orelse[0], ast.If):
                yield from _returned(statement.orelse)
                break
            statement = statement.orelse[0]


def _config(node: ast.expr | None) -> Config | None:
    """`dict(a=1)` or `{"a": 1}` as a mapping; None for anything else."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict" and not node.args:
        return {keyword.arg or f"**{ast.unparse(keyword.value)}": _value(keyword.value) for keyword in node.keywords}
    if isinstance(node, ast.Dict):
        config: dict[str, Value] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                config[f"**{ast.unparse(value)}"] = _value(value)
            elif isinstance(key, ast.Constant) and isinstance(key.value, str):
                config[key.value] = _value(value)
            else:
                return None
        return config
    return None


def _value(node: ast.expr) -> Value:
    negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    literal = node.operand if negative and isinstance(node, ast.UnaryOp) else node
    if isinstance(literal, ast.Constant) and isinstance(literal.value, int | float | str | bool):
        if not negative:
            return literal.value
        if isinstance(literal.value, int | float):
            return -literal.value
    return Name(ast.unparse(node))
