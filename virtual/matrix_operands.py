"""A and B of matrix instructions: registers unpacked to float32 matrices, each distinct one once."""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.assembly import Operand
from mxsub.virtual.faults import UnsupportedForm
from mxsub.virtual.formats import E2M1, E4M3, E5M2, E8M0, bf16_to_f32
from mxsub.virtual.waves import LANES, Waves

Array = npt.NDArray[Any]
U16, U32, U64, F32 = np.uint16, np.uint32, np.uint64, np.float32

BITS = {"fp8": 8, "bf8": 8, "fp4": 4, "bf16": 16, "f16": 16}
_CODES = {"fp8": E4M3, "bf8": E5M2, "fp4": E2M1}
# Powers of two are exact in float32 but for the largest; those, and NaN, need float64.
_E8M0_F32 = E8M0[:250].astype(F32)

# Unpacked operands that are kept for instructions that use them again.
_KEPT = 24

# Odd factors of a sum that differs, nearly always, where words do. Which waves are alike is then compared in full.
_FACTORS = np.random.default_rng(0).integers(0, 1 << 63, 64 * 9, dtype=U64) | U64(1)


@dataclass(frozen=True)
class Matrices:
    """values: float (distinct matrices, blocks, R, K). which: of each wave, by number; None where all are distinct."""

    values: Array
    which: Array | None

    def all(self) -> Array:
        """(waves or 1, blocks, R, K)."""
        return self.values if self.which is None else self.values[self.which]


@functools.cache
def _table(form: str) -> Array:
    """Sixteen bits of small numbers to those numbers as float32, all of them together in one item of the table."""
    bits = BITS[form]
    codes = np.arange(1 << 16)[:, None] >> np.arange(0, 16, bits) & (1 << bits) - 1
    table: Array = np.ascontiguousarray(_CODES[form][codes]).view(np.complex128 if bits == 4 else U64)[:, 0]
    return table


def _numbers(bits: Array, form: str) -> Array:
    """uint16 (..., halfwords) to float32 (..., elements)."""
    if form == "bf16":
        return bf16_to_f32(bits)
    if form == "f16":
        return bits.view(np.float16).astype(F32)
    numbers: Array = np.take(_table(form), bits).view(F32)
    return numbers


class MatrixOperand:
    """A or B of one instruction, and which byte of a register has its scales."""

    def __init__(self, operand: Operand, form: str, rows: int, depth: int, scale: Operand | None, byte: int) -> None:
        """rows, depth: R and K of the instruction. Raises UnsupportedForm."""
        needed = depth * rows * (16 if rows == 4 else 1) * BITS[form] // LANES // 32
        if operand.kind != "vector" or operand.count != needed:
            raise UnsupportedForm(f"a matrix operand in other than {needed} vector registers")
        if scale is not None and scale.kind != "vector":
            # The hardware reads other scales in odd ways (LLVM pull request 158117).
            raise UnsupportedForm("scales that are not in a vector register")
        self._registers = range(operand.register, operand.register + operand.count)
        self._form = form
        self._rows = rows
        self._scale = None if scale is None else scale.register
        self._shift = U32(8 * byte)

    def matrices(self, waves: Waves) -> Matrices:
        """Unpacked and scaled; kept for as long as the registers hold the same arrays."""
        words = [waves.v[register] for register in self._registers]
        scale = None if self._scale is None else waves.v[self._scale]
        key = (self._form, self._rows, int(self._shift), *map(id, words), id(scale))
        kept = waves.shared.matrices
        if key not in kept:
            if len(kept) >= _KEPT:
                kept.pop(next(iter(kept)))
            # The arrays are kept too, so that no other array can get their ids.
            kept[key] = (self._unpacked(words, scale), words, scale)
        matrices: Matrices = kept[key][0]
        return matrices

    def _unpacked(self, words: list[Array], scale: Array | None) -> Matrices:
        parts = words if scale is None else [*words, scale >> self._shift & U32(255)]
        count = max(len(part) for part in parts)
        bits = np.stack([np.broadcast_to(part, (count, LANES)) for part in parts], -1)
        bits, which = _distinct(bits)
        values = _numbers(self._by_row(np.ascontiguousarray(bits[..., : len(words)]).view(U16)), self._form)
        if scale is not None:
            codes = self._by_row(bits[..., len(words) :])
            if codes.max() < len(_E8M0_F32):
                values *= np.take(_E8M0_F32, codes)
            else:
                values = values * np.take(E8M0, codes)
        return Matrices(values.reshape(*values.shape[:3], -1), which)

    def _by_row(self, lanes: Array) -> Array:
        """(waves, 64, x) to (waves, blocks, rows, groups along k, x)."""
        groups = LANES // self._rows
        if self._rows == 4:
            return lanes.reshape(len(lanes), groups, self._rows, 1, -1)
        by_group = lanes.reshape(len(lanes), groups, self._rows, -1)
        return np.ascontiguousarray(by_group.swapaxes(1, 2))[:, None]


def _distinct(bits: Array) -> tuple[Array, Array | None]:
    """Of (waves, 64, x) words the distinct ones, and which of them each wave has; all and None where most differ.

    In a product many waves hold the same tile of A or B: all that share a row or a column of the output.
    """
    count = len(bits)
    if count < 8:
        return bits, None
    flat = bits.reshape(count, -1).view(U64)
    sums = flat @ _FACTORS[: flat.shape[1]]
    _, first, which = np.unique(sums, return_index=True, return_inverse=True)
    if len(first) > count // 8:
        return bits, None
    chosen = flat[first]
    if not np.array_equal(flat, chosen[which]):
        return bits, None
    return bits[first], which
