"""LDS and scratch: memory of which each workgroup, or each lane, has a bank of its own. Every access is checked."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.memory import READS, UNITS, WRITES, Access, distance, in_units

Array = npt.NDArray[Any]


@dataclass
class Place:
    """Where an access, found to be in bounds, lands: it may be used again while the addresses are the same.

    index: into the memory in units of `unit` bytes. written: is it known that all of it has been written?
    """

    access: Access
    size: int
    index: Array
    unit: int
    written: bool = False


class BankedMemory:
    """Banks of `size` bytes each. Knows what was ever written."""

    def __init__(self, name: str, banks: int, size: int) -> None:
        self.name = name
        self.size = size
        self._stride = size + 15 & -16
        self._data = np.zeros(banks * self._stride, np.uint8)
        self._written = np.zeros(banks * self._stride, np.uint8)
        # Of LDS: places by what they were made from, kept together with that, so that its ids stay its own.
        self.places: dict[tuple[Any, ...], tuple[Any, ...]] = {}

    @property
    def capacity(self) -> int:
        """Bytes of all banks, with what lies between them."""
        return len(self._data)

    def offsets(self, access: Access) -> Array:
        """Where in all banks the flat accesses begin."""
        assert access.bank is not None
        offsets: Array = access.flat + access.bank * self._stride
        return offsets

    def load(self, access: Access, size: int) -> Array:
        """The bytes, uint8 (accesses, size). Raises Violation, also for bytes that nothing has written."""
        return self.read(self.place(access, size, "reads"))

    def store(self, access: Access, data: Array) -> None:
        """Write data, uint8 (accesses, size). Raises Violation."""
        self.write(self.place(access, data.shape[-1], "writes"), data)

    def place(self, access: Access, size: int, verb: str) -> Place:
        """Where an access lands. Raises Violation, in words with the verb, when that is out of bounds."""
        if access.flat.min() < 0 or access.flat.max() + size > self.size:
            self._blame(access, size, verb)
        _, index, unit = in_units(self._data, self.offsets(access), size)
        return Place(access, size, index, unit)

    def read(self, place: Place) -> Array:
        """The bytes, uint8 (accesses, size). Raises Violation for bytes that nothing has written."""
        place.access.seen(self.name, place.size, READS, place.unit)
        if not place.written:
            marks = self._units(self._written, place).take(place.index).view(np.uint8)
            if not marks.all():
                index = int(np.argmax(~marks.reshape(-1, place.size).all(1)))
                place.access.blame(index, f"reads {place.size} bytes of {self.name} of which some were never written")
            place.written = True
        return self._units(self._data, place).take(place.index).view(np.uint8).reshape(-1, place.size)

    def write(self, place: Place, data: Array) -> None:
        """Write data, uint8 (accesses, size). Of accesses to the same bytes the last one wins."""
        place.access.data = data
        place.access.seen(self.name, place.size, WRITES, place.unit)
        place.access.data = None
        if not place.written:
            self._units(self._written, place)[place.index] = np.ones(place.unit, np.uint8).view(UNITS[place.unit])[0]
            place.written = True
        units = np.ascontiguousarray(data).view(UNITS[place.unit]).reshape(place.index.shape)
        self._units(self._data, place)[place.index] = units

    def _units(self, memory: Array, place: Place) -> Array:
        return memory.view(UNITS[place.unit])

    def _blame(self, access: Access, size: int, verb: str) -> None:
        index = int(np.argmax((access.flat < 0) | (access.flat + size > self.size)))
        address = int(access.flat[index])
        if address < 0:
            where = f"{-address:,} bytes before the start of"
        elif address >= self.size:
            where = f"{distance(address - self.size)} past the end of"
        else:
            where = f"of which {address + size - self.size} lie past the end of"
        access.blame(index, f"{verb} {size} bytes {where} {self.name} ({self.size:,} bytes)")
