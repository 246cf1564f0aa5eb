"""Registers of matrix operands to the numbers they hold."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.formats import E2M1, E2M3, E3M2, E4M3, E5M2, bf16_to_f32

Array = npt.NDArray[Any]
U8, U16, U32, U64, F32 = np.uint8, np.uint16, np.uint32, np.uint64, np.float32

BITS = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16, "i8": 8, "fp8": 8, "bf8": 8, "fp6": 6, "bf6": 6, "fp4": 4}
_CODES = {"fp8": E4M3, "bf8": E5M2, "fp6": E2M3, "bf6": E3M2, "fp4": E2M1}
# One item of a look-up table: all the numbers, float32, that its index holds the codes of.
_ITEM_OF_BYTES = {8: np.uint64, 16: np.complex128}


@functools.cache
def _table(form: str, together: int) -> Array:
    """`together` bits of small numbers to those numbers as float32, all of them in one item of the table."""
    bits = BITS[form]
    codes = np.arange(1 << together)[:, None] >> np.arange(0, together, bits) & (1 << bits) - 1
    numbers = np.ascontiguousarray(_CODES[form][codes])
    table: Array = numbers.view(_ITEM_OF_BYTES[numbers.shape[1] * 4])[:, 0]
    return table


def _looked_up(form: str, words: Array) -> Array:
    numbers: Array = np.take(_table(form, 16), words.view(U16)).view(F32)
    return numbers


def _six_bits(form: str, words: Array) -> Array:
    """Three bytes hold four numbers, as two pairs of 12 bits."""
    low, middle, high = np.moveaxis(words.view(U8).reshape(*words.shape[:-1], -1, 3).astype(U32), -1, 0)
    joined = low | middle << U32(8) | high << U32(16)
    pairs = np.stack([joined & U32(0xFFF), joined >> U32(12)], -1).reshape(*words.shape[:-1], -1)
    numbers: Array = np.take(_table(form, 12), pairs).view(F32)
    return numbers


# All are exact. float64 of float32 lets sums of their products be rounded but once.
_NUMBERS: dict[str, Callable[[Array], Array]] = {
    "f64": lambda words: words.view(np.float64),
    "f32": lambda words: words.view(F32).astype(np.float64),
    "f16": lambda words: words.view(np.float16).astype(F32),
    "bf16": lambda words: bf16_to_f32(words.view(U16)),
    "i8": lambda words: words.view(np.int8).astype(F32),
    "fp6": functools.partial(_six_bits, "fp6"),
    "bf6": functools.partial(_six_bits, "bf6"),
    "fp8": functools.partial(_looked_up, "fp8"),
    "bf8": functools.partial(_looked_up, "bf8"),
    "fp4": functools.partial(_looked_up, "fp4"),
}


def numbers(words: Array, form: str) -> Array:
    """uint32 (..., words), contiguous, to (..., elements), float32, or float64 of f32 and f64. Low bits come first."""
    return _NUMBERS[form](words)
