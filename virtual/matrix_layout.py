"""Where matrix instructions have the elements of their matrices (sections 7.1.4, 7.1.5 and 7.5 of AMD's CDNA4 manual).

A wave's 64 lanes are `groups` along K x `blocks` x R rows (of A; columns of B), the last running fastest. A lane holds
the part of its row that its group has, in `chunks`: in each, the groups have consecutive parts of K in turn. There is
one chunk up to 128 bits a lane, and of 6-bit elements; else a chunk is 128 bits.

C and D have `tall` rows in consecutive registers of a lane, 4 (of 64-bit elements 1), then the lanes' next R columns.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.waves import LANES

Array = npt.NDArray[Any]

_CHUNK_BITS = 128


@dataclass(frozen=True)
class InputLayout:
    """Of A or B. bits: of an element; depth: K, of a sparse A half of the instruction's."""

    rows: int
    depth: int
    blocks: int
    bits: int

    @property
    def groups(self) -> int:
        return LANES // (self.rows * self.blocks)

    @property
    def elements(self) -> int:
        """Of a lane."""
        return self.depth // self.groups

    @property
    def words(self) -> int:
        """Registers of a lane."""
        return self.elements * self.bits // 32

    @property
    def chunks(self) -> int:
        return 1 if self.bits == 6 else max(1, self.elements * self.bits // _CHUNK_BITS)

    def by_row(self, lanes: Array) -> Array:
        """What lanes hold, (waves, 64, n), in the order of K: (waves, blocks, R, chunks, groups, n / chunks)."""
        parts = lanes.reshape(len(lanes), self.groups, self.blocks, self.rows, self.chunks, -1)
        return np.ascontiguousarray(parts.transpose(0, 2, 3, 4, 1, 5))

    def by_block(self, lanes: Array) -> Array:
        """The same of what lanes hold once for all of their elements."""
        parts = lanes.reshape(len(lanes), self.groups, self.blocks, self.rows, -1)
        return np.ascontiguousarray(parts.transpose(0, 2, 3, 1, 4))


def by_register(products: Array, tall: int) -> Array:
    """Products, (waves, blocks, R, R), as lanes hold them: (elements of a lane, waves, 64)."""
    count, blocks, rows, _ = products.shape
    together = -(-LANES * tall // (rows * rows))  # blocks in one register
    groups = LANES // (together * rows)
    parts = products.reshape(count, blocks // together, together, rows // (tall * groups), groups, tall, rows)
    return parts.transpose(1, 3, 5, 0, 2, 4, 6).reshape(-1, count, LANES)


def broadcast_lanes(cbsz: int, abid: int) -> Array | None:
    """From which lane each lane takes A: of the 2**cbsz blocks of lanes, block `abid` stands for all."""
    size = LANES >> cbsz
    return np.arange(LANES) % size + size * abid if cbsz else None


# From which lane each lane takes B, by blgp.
_LANE = np.arange(LANES)
LANE_PATTERNS: tuple[Array | None, ...] = (
    None,
    _LANE % 32,
    _LANE % 32 + 32,
    (_LANE + 16) % 64,
    *(_LANE % 16 + 16 * k for k in range(4)),
)
