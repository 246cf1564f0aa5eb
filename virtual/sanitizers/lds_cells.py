"""The pieces of LDS that an access reaches for, in numbers that compare across waves and workgroups."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.memory import Access
from mxsub.virtual.waves import Waves

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class LdsAccess:
    """One instruction's access, kept for later. pc: the instruction. verb: READS, WRITES or UPDATES."""

    waves: Waves
    pc: int
    access: Access
    size: int
    verb: str

    def cells(self, granule: int, lds_bytes: int, workgroups: Array | None = None) -> tuple[Array, Array]:
        """Flat: the cells of `granule` bytes (which divide the size), each with the row of the wave that reaches it.

        lds_bytes: of each workgroup. workgroups: only those of them, bool by number; None for all.
        """
        access = self.access
        assert access.bank is not None
        row, first, bank = access.rows(), access.flat, access.bank
        if workgroups is not None and not workgroups.all():
            chosen = workgroups[bank]
            row, first, bank = row[chosen], first[chosen], bank[chosen]
        cell = first // granule + bank * -(-lds_bytes // granule)
        count = self.size // granule
        if count > 1:
            cell = (cell[:, None] + np.arange(count)).reshape(-1)
            row = np.repeat(row, count)
        return cell, row

    def unit(self) -> int:
        """The largest power of two that divides the size and all addresses."""
        bits = int(np.bitwise_or.reduce(self.access.flat)) | self.size | 16
        return bits & -bits
