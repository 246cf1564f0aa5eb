"""The registers of the waves that run together.

Registers hold numpy arrays that are never written in place: an instruction puts a new array into the register. An array
has the shape (waves, 64), or 1 in place of either number where the value is the same for all waves (kernel arguments)
or all lanes (scalars): numpy broadcasts, so uniform values stay small on their own. That arrays are immutable also lets
what was derived from one (a lane mask, an unpacked matrix operand) be kept for as long as the register still holds it.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.banked_memory import BankedMemory
from mxsub.virtual.memory import GlobalMemory
from mxsub.virtual.registers import EXEC, SCALAR_REGISTERS, VECTOR_REGISTERS

if TYPE_CHECKING:
    from mxsub.virtual.watching import Watcher

Array = npt.NDArray[Any]

LANES = 64
LANE: Array = np.arange(LANES, dtype=np.int64)[None]

# In registers that nothing has written: a NaN, and as an address out of all bounds.
POISON: Array = np.full((1, 1), 0x7FF7A5A5, np.uint32)


def pack_lanes(mask: Array) -> tuple[Array, Array]:
    """A lane mask, bool (waves, 64), to the pair of scalar registers that holds it."""
    packed = np.packbits(np.broadcast_to(mask, (mask.shape[0], LANES)), axis=1, bitorder="little")
    # Numpy lays out the mask of what went through lane patterns the other way round.
    words = np.ascontiguousarray(packed).view(np.uint32)
    return words[:, :1], words[:, 1:]


def unpack_lanes(low: Array, high: Array) -> Array:
    """A pair of scalar registers to the lane mask, bool (waves, 64)."""
    words = np.empty((max(len(low), len(high)), 2), np.uint32)
    words[:, :1], words[:, 1:] = low, high
    return np.unpackbits(words.view(np.uint8), axis=1, bitorder="little").view(np.bool_)


class Shared:
    """What the waves of one batch share.

    matrices: unpacked matrix operands, by the arrays they came from. watchers: who sees the accesses.
    find: takes down a finding: (waves, sanitizer, sentence, **who), see Findings.add.
    """

    def __init__(
        self,
        memory: GlobalMemory,
        lds: BankedMemory,
        scratch: BankedMemory,
        find: Callable[..., None],
        watchers: "Sequence[Watcher]" = (),
    ) -> None:
        self.memory = memory
        self.lds = lds
        self.scratch = scratch
        self.find = find
        self.watchers = watchers
        self.matrices: dict[tuple[Any, ...], tuple[Any, ...]] = {}


class Waves:
    """Waves at one program counter.

    wave, workgroup: of each row, within the batch. count: how many waves. pc: index of the instruction that runs, or
    that is next. age: how often they have let others pass. spent: instructions since then, while others waited.
    v, s: the registers; v holds the accumulation registers too. tags: what sanitizers know of registers, by a key of
    theirs: arrays (waves, 64), or 1 in place of either; what is not there is zero.
    """

    def __init__(self, shared: Shared, wave: Array, workgroup: Array) -> None:
        self.shared = shared
        self.wave = wave
        self.workgroup = workgroup
        self.count = len(wave)
        self.pc = 0
        self.age = 0
        self.spent = 0
        self.v: list[Array] = [POISON] * VECTOR_REGISTERS
        self.s: list[Array] = [POISON] * SCALAR_REGISTERS
        self.scc: Array = np.zeros((1, 1), np.bool_)
        self.tags: dict[Any, Array] = {}
        # scalar register pair -> (low, high, the lane mask, are all lanes in it)
        self._masks: dict[int, tuple[Array, Array, Array, bool]] = {}

    def _mask(self, pair: int) -> tuple[Array, Array, Array, bool]:
        low, high, known = self.s[pair], self.s[pair + 1], self._masks.get(pair)
        if known is None or known[0] is not low or known[1] is not high:
            mask = unpack_lanes(low, high)
            known = self._masks[pair] = (low, high, mask, bool(mask.all()))
        return known

    def lanes(self, pair: int) -> Array:
        """The lane mask that a scalar register pair holds, bool (waves or 1, 64)."""
        return self._mask(pair)[2]

    def set_lanes(self, pair: int, mask: Array) -> None:
        """Put a lane mask into a scalar register pair."""
        mask = np.broadcast_to(mask, (mask.shape[0], LANES))
        low, high = pack_lanes(mask)
        self.s[pair], self.s[pair + 1] = low, high
        self._masks[pair] = (low, high, mask, bool(mask.all()))

    def active(self) -> Array | None:
        """The lanes that EXEC has on, or None where every lane of every wave is on."""
        known = self._mask(EXEC)
        return None if known[3] else known[2]

    def write(self, register: int, value: Array, mask: Array | None) -> None:
        """Put a value, uint32, into the lanes of a vector register; mask None is all of them."""
        self.v[register] = value if mask is None else np.where(mask, value, self.v[register])

    def full(self, register: int) -> Array:
        """A vector register in its full shape, (waves, 64)."""
        return np.broadcast_to(self.v[register], (self.count, LANES))

    def take(self, rows: Array) -> "Waves":
        """Some of the waves, by row."""
        part = Waves(self.shared, self.wave[rows], self.workgroup[rows])
        part.pc, part.age, part.spent = self.pc, self.age, self.spent
        part.v = [_pick(array, rows) for array in self.v]
        part.s = [_pick(array, rows) for array in self.s]
        part.scc = _pick(self.scc, rows)
        part.tags = {key: _pick(array, rows) for key, array in self.tags.items()}
        return part

    def join(self, other: "Waves") -> "Waves":
        """These waves and others at the same instruction."""
        wave = np.concatenate([self.wave, other.wave])
        order = np.argsort(wave)
        both = Waves(self.shared, wave[order], np.concatenate([self.workgroup, other.workgroup])[order])
        both.pc, both.age, both.spent = self.pc, max(self.age, other.age), max(self.spent, other.spent)
        counts = self.count, other.count
        both.v = [_concatenate(x, y, counts, order) for x, y in zip(self.v, other.v, strict=True)]
        both.s = [_concatenate(x, y, counts, order) for x, y in zip(self.s, other.s, strict=True)]
        both.scc = _concatenate(self.scc, other.scc, counts, order)
        for key in self.tags.keys() | other.tags.keys():
            x, y = self.tags.get(key), other.tags.get(key)
            none = np.zeros((1, 1), x.dtype if x is not None else y.dtype if y is not None else np.uint32)
            both.tags[key] = _concatenate(none if x is None else x, none if y is None else y, counts, order)
        return both


def _pick(array: Array, rows: Array) -> Array:
    return array if array.shape[0] == 1 else array[rows]


def _concatenate(x: Array, y: Array, counts: tuple[int, int], order: Array) -> Array:
    if x is y or (x.shape == y.shape and x.shape[0] == 1 and np.array_equal(x, y)):
        return x
    width = max(x.shape[1], y.shape[1])
    both = np.concatenate([np.broadcast_to(x, (counts[0], width)), np.broadcast_to(y, (counts[1], width))])
    return both[order]
