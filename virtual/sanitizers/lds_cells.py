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
    """One instruction's access, kept for later.

    pc: the instruction. verb: READS, WRITES or UPDATES. data: of WRITES the bytes, uint8 (accesses, size).
    """

    waves: Waves
    pc: int
    access: Access
    size: int
    verb: str
    data: Array | None = None

    def values(self, granule: int) -> Array:
        """What is stored to each of the cells, as unsigned integers."""
        assert self.data is not None
        return np.ascontiguousarray(self.data).view(f"u{granule}").reshape(-1)

    def cells(self, granule: int, lds_bytes: int) -> tuple[Array, Array]:
        """Flat: the cells of `granule` bytes (which divide the size), each with the row of the wave that reaches it.

        lds_bytes: of each workgroup.
        """
        access = self.access
        assert access.bank is not None
        row, first, bank = access.rows(), access.flat, access.bank
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
