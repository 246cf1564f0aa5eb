"""Sparse A of matrix instructions: of each four elements along K it holds two, and an index says which two.

A register of the index has in each lane two bits for each element of A that the lane holds, low bits first, in as many
sets as it has room for; section 7.5 of AMD's CDNA4 manual. As measured on a gfx950 (one-hot operands, public), A has
consecutive parts of K in its groups of lanes, and B, twice as long, the chunks of 128 bits of matrix_layout.py.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.assembly import Instruction, Operand
from mxsub.virtual.faults import UnsupportedForm
from mxsub.virtual.matrix_layout import InputLayout
from mxsub.virtual.matrix_operands import Matrices
from mxsub.virtual.waves import LANES, Waves

Array = npt.NDArray[Any]
U32 = np.uint32


class SparseIndex:
    """The positions along K of the elements of A."""

    def __init__(self, instruction: Instruction, operand: Operand, layout: InputLayout) -> None:
        """layout: of A. Without cbsz, abid picks the set; with it, it is the first. Raises UnsupportedForm."""
        if operand.kind != "vector" or operand.count != 1:
            raise UnsupportedForm("a sparse index in other than one vector register")
        self._register = operand.register
        self._layout = layout
        sets = 32 // (2 * layout.elements)
        chosen = 0 if instruction.modifiers.get("cbsz", 0) & 3 else instruction.modifiers.get("abid", 0) % sets
        self._shifts = 2 * (chosen * layout.elements + np.arange(layout.elements, dtype=U32)).astype(U32)

    def positions(self, waves: Waves) -> Array:
        """(waves or 1, R, K / 2)."""
        word = waves.v[self._register]
        picks = np.broadcast_to(word, (len(word), LANES))[..., None] >> self._shifts & U32(3)
        packed = self._layout.by_row(picks).reshape(len(word), self._layout.rows, self._layout.depth)
        return 4 * (np.arange(self._layout.depth) // 2) + packed


def sparse_product(first: Matrices, positions: Array, second: Matrices) -> Array:
    """A times B transposed, (waves, 1, R, R). Only what the index picks of B takes part, so that no zero of A meets an
    infinity."""
    a, b = first.all()[:, 0], second.all()[:, 0].swapaxes(1, 2)  # (waves, R, K / 2), (waves, K, R)
    count = max(len(a), len(b), len(positions))
    a, positions = np.broadcast_to(a, (count, *a.shape[1:])), np.broadcast_to(positions, (count, *positions.shape[1:]))
    b = np.broadcast_to(b, (count, *b.shape[1:]))
    rows = a.shape[1]
    product = np.empty((count, 1, rows, b.shape[2]), np.result_type(a, b))
    for row in range(rows):
        picked = np.take_along_axis(b, positions[:, row, :, None], 1)
        product[:, 0, row] = np.matmul(a[:, row, None], picked)[:, 0]
    return product
