"""A and B of matrix instructions: registers unpacked to matrices of numbers, each distinct one once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.assembly import Operand
from mxsub.virtual.faults import UnsupportedForm
from mxsub.virtual.formats import E8M0
from mxsub.virtual.matrix_formats import BITS, numbers
from mxsub.virtual.matrix_layout import InputLayout
from mxsub.virtual.waves import LANES, Waves

Array = npt.NDArray[Any]
U32, U64, F32 = np.uint32, np.uint64, np.float32

# Elements up to this size have sums that float32 holds.
_SMALL_BITS = 6

# Elements that a scale is for.
_SCALED_TOGETHER = 32
# Powers of two are exact in float32 but for the largest; those, and NaN, need float64.
_E8M0_F32 = E8M0[:250].astype(F32)

# Unpacked operands that are kept for instructions that use them again.
_KEPT = 24

# What unpacking goes by, besides the registers, to a number for it.
_KINDS: dict[tuple[Any, ...], int] = {}

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


@dataclass(frozen=True)
class Scale:
    """operand: the register whose byte number `byte` has a lane's E8M0 scale."""

    operand: Operand
    byte: int


class MatrixOperand:
    """A or B of one instruction."""

    def __init__(
        self, operand: Operand, form: str, layout: InputLayout, lanes: Array | None = None, scale: Scale | None = None
    ) -> None:
        """lanes: from which lane each lane takes what it uses; None for itself. Raises UnsupportedForm."""
        if operand.kind != "vector" or operand.count != layout.words:
            raise UnsupportedForm(f"a matrix operand in other than {layout.words} vector registers")
        if scale is not None and scale.operand.kind != "vector":
            # LLVM's assembler lets no other through: the hardware reads them in odd ways (its pull request 158117).
            raise UnsupportedForm("scales that are not in a vector register")
        assert BITS[form] == layout.bits
        self._registers = range(operand.register, operand.register + operand.count)
        self._form = form
        self.layout = layout
        self._lanes = lanes
        self._scale = None if scale is None else scale.operand.register
        self._shift = U32(0 if scale is None else 8 * scale.byte)
        kind = form, layout, int(self._shift), None if lanes is None else lanes.tobytes()
        self._kind = _KINDS.setdefault(kind, len(_KINDS))

    def matrices(self, waves: Waves) -> Matrices:
        """Unpacked and scaled; kept for as long as the registers hold the same arrays."""
        words = [waves.v[register] for register in self._registers]
        scale = None if self._scale is None else waves.v[self._scale]
        key = (self._kind, *map(id, words), id(scale))
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
        if self._lanes is not None:
            bits = np.ascontiguousarray(bits[:, self._lanes])
        bits, which = _distinct(bits)
        layout = self.layout
        values = numbers(layout.by_row(bits[..., : len(words)]), self._form)
        values = values.reshape(*values.shape[:3], layout.depth)
        if layout.bits > _SMALL_BITS and values.dtype == F32:
            values = values.astype(np.float64)
        return Matrices(values if scale is None else self._scaled(values, bits[..., len(words) :]), which)

    def _scaled(self, values: Array, codes: Array) -> Array:
        codes = self.layout.by_block(codes)
        parts = values.reshape(*values.shape[:3], -1, _SCALED_TOGETHER)
        if codes.max() < len(_E8M0_F32):
            parts *= np.take(_E8M0_F32, codes)
        else:
            parts = parts * np.take(E8M0, codes)
        return parts.reshape(values.shape)


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
    if len(first) > count // 2:
        return bits, None
    chosen = flat[first]
    if not np.array_equal(flat, chosen[which]):
        return bits, None
    return bits[first], which
