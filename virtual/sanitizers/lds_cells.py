"""The pieces of LDS that an access reaches for, in numbers that compare across waves and workgroups."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.memory import Access
from mxsub.virtual.waves import Waves

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class LdsAccess:
    """One instruction's access, kept for later.

    pc: the instruction. verb: READS, WRITES or UPDATES. data: of WRITES the bytes, uint8 (accesses, size).
    chosen: which of the flat accesses count, bool; None for all.
    """

    waves: Waves
    pc: int
    access: Access
    size: int
    verb: str
    data: Array | None = None
    chosen: Array | None = None

    def of(self, workgroups: Array) -> "LdsAccess | None":
        """The part of it that some workgroups made, bool by their number; None where there is none."""
        assert self.access.bank is not None
        chosen = workgroups[self.access.bank]
        if self.chosen is not None:
            chosen &= self.chosen
        return replace(self, chosen=chosen) if chosen.any() else None

    def is_alike(self, workgroups: int) -> bool:
        """Do all workgroups of the batch reach for the same places?"""
        access = self.access
        if access.mask is not None or self.chosen is not None or len(access.flat) % workgroups:
            return False
        by_group = access.flat.reshape(workgroups, -1)
        return bool((by_group == by_group[0]).all())

    def values(self, granule: int) -> Array:
        """What is stored to each of the cells, as unsigned integers."""
        assert self.data is not None
        data = self.data if self.chosen is None else self.data[self.chosen]
        return np.ascontiguousarray(data).view(f"u{granule}").reshape(-1)

    def cells(self, granule: int, lds_bytes: int) -> tuple[Array, Array]:
        """Flat: the cells of `granule` bytes (which divide the size), each with the row of the wave that reaches it.

        lds_bytes: of each workgroup.
        """
        access = self.access
        assert access.bank is not None
        row, first, bank = access.rows(), access.flat, access.bank
        if self.chosen is not None:
            row, first, bank = row[self.chosen], first[self.chosen], bank[self.chosen]
        cell = first // granule + bank * -(-lds_bytes // granule)
        count = self.size // granule
        if count > 1:
            cell = (cell[:, None] + np.arange(count)).reshape(-1)
            row = np.repeat(row, count)
        return cell, row

    def unit(self) -> int:
        """The largest power of two up to 8 that divides the size and all addresses."""
        bits = int(np.bitwise_or.reduce(self.access.flat)) | self.size | 8
        return bits & -bits
