"""Global memory: buffers at device addresses. Every access is checked."""

import bisect
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from mxsub.virtual.faults import LaunchError, Violation

if TYPE_CHECKING:
    from mxsub.virtual.waves import Waves

Array = npt.NDArray[Any]

READS, WRITES, UPDATES = "reads", "writes", "updates"
DWORD = 4

# Units in which bytes are moved. complex128 stands for 16 bytes: it is only ever copied.
UNITS: dict[int, Any] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}


def in_units(memory: Array, offsets: Array, size: int) -> tuple[Array, Array, int]:
    """The widest view of bytes in which every access is of whole units: (view, indices into it, bytes a unit)."""
    low_bits = int(np.bitwise_or.reduce(offsets, axis=None)) | size | 16
    unit = low_bits & -low_bits
    view = memory[: len(memory) // unit * unit].view(UNITS[unit])
    index = offsets // unit if unit > 1 else offsets
    if size != unit:
        index = index[..., None] + np.arange(size // unit)
    return view, index, unit


class Access:
    """What the lanes of some waves reach for with one instruction: only the lanes that are on, flat.

    flat: int64 addresses, one a lane that is on. bank: for banked memory, whose it is that the lane reaches for.
    waves: who reaches; None for what watchers shall not see. is_atomic: is it a read-modify-write? data: the bytes that
    are stored in banked memory, uint8 (accesses, size), while watchers are told.
    """

    def __init__(
        self, addresses: Array, mask: Array | None = None, bank: Array | None = None, waves: "Waves | None" = None
    ) -> None:
        """addresses: int64 (waves, 64), or 1 in place of either; mask: the lanes, None for all of them."""
        self.waves = waves
        self.is_atomic = False
        self.data: Array | None = None
        self.shape = addresses.shape if mask is None else np.broadcast_shapes(addresses.shape, mask.shape)
        self.mask = None if mask is None else np.broadcast_to(mask, self.shape)
        self.flat = self.pick(addresses)
        self.bank = None if bank is None else self.pick(bank)

    def pick(self, values: Array) -> Array:
        """Values by wave and lane (and more axes behind) to those of the lanes that are on, flat."""
        values = np.broadcast_to(values, self.shape + values.shape[2:])
        return values[self.mask] if self.mask is not None else values.reshape(-1, *values.shape[2:])

    def spread(self, values: Array) -> Array:
        """Flat values back to waves and lanes; lanes that are off get zeros, which nobody uses."""
        if self.mask is None:
            return values.reshape(*self.shape, *values.shape[1:])
        result = np.zeros(self.shape + values.shape[1:], values.dtype)
        result[self.mask] = values
        return result

    def rows(self) -> Array:
        """Which of the waves each of the flat accesses belongs to."""
        return self.pick(np.arange(self.shape[0])[:, None])

    def place(self, index: int) -> tuple[int, int | None]:
        """The row, and the lane where it is one lane's, of one of the flat accesses."""
        if self.mask is not None:
            row, lane = (int(x) for x in np.argwhere(self.mask)[index])
        else:
            row, lane = (int(x) for x in np.unravel_index(index, self.shape))
        return row, lane if self.shape[1] > 1 else None

    def seen(self, space: str, size: int, verb: str, unit: int) -> None:
        """Tell the watchers, and take down what is misaligned. unit: bytes to which all of it is aligned."""
        waves = self.waves
        if waves is None:
            return
        shared = waves.shared
        if unit < size and unit < DWORD:
            self._misaligned(space, size, verb)
        for watcher in shared.watchers:
            watcher.accessed(waves, space, self, size, UPDATES if self.is_atomic else verb)

    def _misaligned(self, space: str, size: int, verb: str) -> None:
        waves = self.waves
        assert waves is not None
        wanted = min(size, DWORD)
        off = np.flatnonzero(self.flat % wanted)
        if not len(off):  # it is aligned to a smaller unit than it needs, but to that
            return
        row, lane = self.place(int(off[0]))
        sentence = (
            f"{verb} {size} bytes of {space} memory at an address that is no multiple of {wanted}: the hardware takes "
            "it apart into several accesses, and only where ROCm has switched unaligned access on"
        )
        waves.shared.find(waves, "memory", sentence, row=row, lane=lane, count=len(np.unique(self.rows()[off])))

    def part(self, which: Array) -> "Access":
        """Some of the flat accesses, by number; watchers have seen the whole."""
        return Access(self.flat[which, None], bank=None if self.bank is None else self.bank[which, None])

    def blame(self, index: int, what: str) -> NoReturn:
        """Raise a Violation for one of the flat accesses."""
        row, lane = self.place(index)
        raise Violation(what, row, lane, int(self.flat[index]))


class Buffer:
    """A piece of global memory: `data` (uint8, one dimension, the real bytes) at device addresses from `base` on.

    unwritten: of each byte 1 where nothing has written to it; None where that is not followed, or nothing is.
    """

    def __init__(self, name: str, data: Array, base: int, writable: bool = True) -> None:
        self.name = name
        self.data = data
        self.base = base
        self.writable = writable
        self.unwritten: Array | None = None

    @property
    def size(self) -> int:
        return len(self.data)

    @property
    def end(self) -> int:
        return self.base + len(self.data)

    def __str__(self) -> str:
        """As messages show it: `b_ptr (uint8 [180, 4096], 737,280 bytes)`."""
        size = f"{self.size:,} bytes"
        return f"{self.name[:-1]}, {size})" if self.name.endswith(")") else f"{self.name} ({size})"


class GlobalMemory:
    """Buffers at device addresses, far apart, so that an offset out of one never lands in another."""

    FIRST = 0x1000_0000_0000
    GAP = 1 << 32
    ALIGNMENT = 2 << 20

    def __init__(self) -> None:
        self._buffers: list[Buffer] = []  # by address
        self._bases: list[int] = []

    @property
    def has_unwritten(self) -> bool:
        """Is there a buffer of which it is followed what nothing has written?"""
        return any(buffer.unwritten is not None for buffer in self._buffers)

    def map(self, name: str, data: Array, writable: bool = True, base: int | None = None) -> Buffer:
        """Make bytes reachable.

        data: uint8, one dimension, a view of the memory itself. base: its device address; without one it gets a
        free one. Raises LaunchError when the range overlaps another buffer's.
        """
        if base is None:
            last = self._buffers[-1].end if self._buffers else self.FIRST - self.GAP
            base = -(-(last + self.GAP) // self.ALIGNMENT) * self.ALIGNMENT
        place = bisect.bisect_left(self._bases, base)
        neighbours = self._buffers[max(place - 1, 0) : place + 1]
        if any((base < other.end and other.base < base + len(data)) or base == other.base for other in neighbours):
            raise LaunchError(f"maps {name} at {base:#x}, where there is another buffer")
        buffer = Buffer(name, data, base, writable)
        self._buffers.insert(place, buffer)
        self._bases.insert(place, base)
        return buffer

    def unmap(self, buffer: Buffer) -> None:
        """Take a buffer away; accesses to its addresses are faults from now on."""
        place = self._buffers.index(buffer)
        del self._buffers[place], self._bases[place]

    def load(self, access: Access, size: int) -> Array:
        """The bytes, uint8 (accesses, size). Raises Violation."""
        parts = self._parts(access, size, writes=False)
        places = [in_units(buffer.data, access.flat[which] - buffer.base, size) for buffer, which in parts]
        access.seen("global", size, READS, min(unit for _, _, unit in places))
        if len(places) == 1:
            view, index, _ = places[0]
            return view.take(index).view(np.uint8).reshape(-1, size)
        result = np.empty((len(access.flat), size), np.uint8)
        for (view, index, _), (_, which) in zip(places, parts, strict=True):
            result[which] = view.take(index).view(np.uint8).reshape(-1, size)
        return result

    def store(self, access: Access, data: Array) -> None:
        """Write data, uint8 (accesses, size). Raises Violation, before anything is written."""
        size = data.shape[-1]
        parts = self._parts(access, size, writes=True)
        places = [in_units(buffer.data, access.flat[which] - buffer.base, size) for buffer, which in parts]
        access.seen("global", size, WRITES, min(unit for _, _, unit in places))
        for (view, index, unit), (_, which) in zip(places, parts, strict=True):
            view[index] = np.ascontiguousarray(data[which]).view(UNITS[unit]).reshape(index.shape)

    def parts(self, access: Access, size: int) -> list[tuple[Buffer, Any]]:
        """The buffers that an access in bounds reaches, each with which of the flat accesses it takes."""
        return self._parts(access, size, writes=False)

    def owners(self, access: Access, size: int) -> list[tuple[Buffer, Any]]:
        """The buffers that an access reaches, each with which of the flat accesses. Raises Violation."""
        return self._parts(access, size, writes=False)

    def _parts(self, access: Access, size: int, writes: bool) -> list[tuple[Buffer, Any]]:
        """The buffers that are reached, each with which of the flat accesses it takes. Raises Violation."""
        low, high = int(access.flat.min()), int(access.flat.max())
        place = bisect.bisect_right(self._bases, low) - 1
        if place >= 0 and high + size <= self._buffers[place].end:
            parts: list[tuple[Buffer, Any]] = [(self._buffers[place], slice(None))]
        else:
            owners = np.searchsorted(np.array(self._bases, np.int64), access.flat, "right") - 1
            ends = np.array([buffer.end for buffer in self._buffers] or [0], np.int64)
            outside = (owners < 0) | (access.flat + size > ends[owners])
            if outside.any():
                index = int(np.argmax(outside))
                access.blame(index, self._outside(int(access.flat[index]), size, writes))
            parts = [(self._buffers[owner], owners == owner) for owner in np.unique(owners)]
        if writes:
            for buffer, which in parts:
                if not buffer.writable:
                    index = 0 if isinstance(which, slice) else int(np.argmax(which))
                    access.blame(index, f"writes {size} bytes to {buffer}, which is read-only,")
        return parts

    def _outside(self, address: int, size: int, writes: bool) -> str:
        what = f"{'writes' if writes else 'reads'} {size} byte{'s' if size > 1 else ''}"
        reach = self.GAP // 2
        near = [b for b in self._buffers if b.base - reach <= address + size and address <= b.end + reach]
        if not near:
            return f"{what} far from any buffer"
        buffer = min(near, key=lambda b: max(b.base - address, address - b.end))
        if address >= buffer.end:
            return f"{what} {distance(address - buffer.end)} past the end of {buffer}"
        if address + size <= buffer.base:
            return f"{what} {distance(buffer.base - address)} before the start of {buffer}"
        if address < buffer.base:
            return f"{what} that begin {distance(buffer.base - address)} before the start of {buffer}"
        return f"{what} of which {address + size - buffer.end} lie past the end of {buffer}"


def distance(count: int) -> str:
    """How far outside: `right` (past the end) is no byte further."""
    return f"{count:,} bytes" if count > 1 else "right" if count == 0 else "1 byte"
