"""Vector comparisons, whose results are lane masks."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.operands import DTYPES
from mxsub.virtual.operations import Table, operation

Array = npt.NDArray[Any]


def _in_class(x: Array, wanted: Array) -> Array:
    """v_cmp_class: is the class of the number, one of ten, in a set of them?"""
    limits = np.finfo(x.dtype)
    size, nan, negative = np.abs(x), np.isnan(x), np.signbit(x)
    quiet = x.view(f"u{x.itemsize}") >> (limits.nmant - 1) & 1
    index = np.where(np.isinf(x), 2, np.where(size >= limits.smallest_normal, 3, np.where(size > 0, 4, 5)))
    index = np.where(nan, quiet, np.where(negative, index, 11 - index))
    chosen: Array = (wanted >> index.astype(np.uint32) & 1) != 0
    return chosen


def _never(a: Array, b: Array) -> Array:
    return np.zeros(np.broadcast_shapes(a.shape, b.shape), np.bool_)


_ORDERED: dict[str, Callable[..., Any]] = {
    "lt": np.less,
    "eq": np.equal,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_OF_FLOATS: dict[str, Callable[..., Any]] = {
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
_OF_INTEGERS: dict[str, Callable[..., Any]] = {
    **_ORDERED,
    "ne": np.not_equal,
    "f": _never,
    "t": lambda a, b: ~_never(a, b),
}


def _table() -> Table:
    table: Table = {}
    for verb in ("cmp", "cmpx"):
        for t, dtype in DTYPES.items():
            for name, function in (_OF_FLOATS if dtype.kind == "f" else _OF_INTEGERS).items():
                table[f"v_{verb}_{name}_{t}"] = operation(f"mask={t} {t}", function)
            if dtype.kind == "f":
                table[f"v_{verb}_class_{t}"] = operation(f"mask={t} u32", _in_class)
    return table


OPERATIONS = _table()
