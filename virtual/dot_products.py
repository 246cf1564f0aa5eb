"""Dot products of a few narrow numbers: one line per opcode. Products are added in turn, each sum rounded."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.operations import Table, operation

Array = npt.NDArray[Any]
F32, I64 = np.float32, np.int64


def _onto(a: Array, b: Array, c: Array) -> Array:
    """The products of both halves added to c."""
    a, b = a.astype(F32), b.astype(F32)
    total: Array = (c + a[0] * b[0]) + a[1] * b[1]
    return total


def _then(a: Array, b: Array, c: Array) -> Array:
    """c added to the products of both halves."""
    total: Array = a[0] * b[0] + a[1] * b[1] + c
    return total


def _fields(word: Array, bits: int, signed: bool) -> Array:
    """The numbers of `bits` bits in a word, from the lowest on, as int64 on a new first axis."""
    shifts = np.arange(0, 32, bits).reshape(-1, 1, 1)
    fields: Array = word.astype(I64) >> shifts & (1 << bits) - 1
    half = 1 << bits - 1
    return (fields ^ half) - half if signed else fields


def _of_integers(bits: int, signed: bool) -> Callable[..., Any]:
    def compute(a: Array, b: Array, c: Array) -> Array:
        total: Array = (_fields(a, bits, signed) * _fields(b, bits, signed)).sum(0) + c.astype(I64)
        return total

    return compute


def _table() -> Table:
    table: Table = {}
    for t in ("f16", "bf16"):
        table[f"v_dot2c_f32_{t}"] = operation(f"f32=2x{t} 2x{t} old", _onto)
    table["v_dot2_f32_f16"] = operation("f32=2xf16 2xf16 f32", _onto)
    table["v_dot2_f32_bf16"] = operation("f32=2xbf16 2xbf16 f32", _then)
    for count, bits in ((2, 16), (4, 8), (8, 4)):
        signed, unsigned = _of_integers(bits, True), _of_integers(bits, False)
        table[f"v_dot{count}_i32_i{bits}"] = operation("i32=u32 u32 i32", signed)
        table[f"v_dot{count}c_i32_i{bits}"] = operation("i32=u32 u32 old", signed)
        table[f"v_dot{count}_u32_u{bits}"] = operation("u32=u32 u32 u32", unsigned)
    return table


OPERATIONS = _table()
