"""The types of operands, their constants, and the registers that they are read from."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.assembly import Operand
from mxsub.virtual.faults import UnsupportedForm
from mxsub.virtual.registers import SCC
from mxsub.virtual.waves import Waves

Array = npt.NDArray[Any]
Reader = Callable[[Waves], Array]
U32 = np.uint32

DTYPES: dict[str, np.dtype[Any]] = {
    "u16": np.dtype(np.uint16),
    "i16": np.dtype(np.int16),
    "f16": np.dtype(np.float16),
    "u32": np.dtype(np.uint32),
    "i32": np.dtype(np.int32),
    "f32": np.dtype(np.float32),
    "u64": np.dtype(np.uint64),
    "i64": np.dtype(np.int64),
    "f64": np.dtype(np.float64),
}


def constant(operand: Operand, dtype: np.dtype[Any]) -> Array:
    """An inline constant or literal as a value of some type, shape (1, 1).

    An integer operation takes the bits of a real constant, a floating-point one the bits of an integer; a literal of a
    64-bit floating-point operation is its high half.
    """
    value = operand.constant
    if operand.kind == "real":
        if dtype.kind == "f":
            number = np.array(value, dtype)
        else:
            number = np.array(value, np.float64 if dtype.itemsize == 8 else np.float32)
            number = number.view(f"u{number.itemsize}").astype(dtype)
    else:
        bits = int(value)
        if dtype == np.float64 and not -16 <= bits <= 64:
            bits <<= 32
        number = np.array(bits & (1 << 8 * dtype.itemsize) - 1, f"u{dtype.itemsize}").view(dtype)
    return np.broadcast_to(number, (1, 1))


def register_reader(operand: Operand, offset: int = 0) -> Reader:
    """Reads one 32-bit register of an operand."""
    register = operand.register + offset
    if operand.kind == "vector":
        return lambda waves: waves.v[register]
    if operand.kind != "scalar":
        raise UnsupportedForm(f"operand {operand.name or operand.constant}")
    if operand.register == SCC:
        return lambda waves: waves.scc.astype(U32)
    return lambda waves: waves.s[register]
