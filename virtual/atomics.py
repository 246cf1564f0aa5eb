"""Atomic read-modify-write instructions: what they compute, and those on global memory."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.addresses import GLOBAL, Address, Reached, reach, vector_register
from mxsub.virtual.assembly import Instruction
from mxsub.virtual.formats import bf16_to_f32, f32_to_bf16
from mxsub.virtual.pieces import Piece, get, put
from mxsub.virtual.vector_memory import address_of
from mxsub.virtual.waves import LANES, Waves

Array = npt.NDArray[Any]
Step = Callable[[Waves], None]
Binder = Callable[[Instruction], Step]
Function = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class Atomic:
    """function: of what is in memory, (lanes, elements) of `dtype`, and the lane's data, of which there may be more.

    size: bytes in memory. data_size: bytes of the lane's data; a compare-and-swap takes two values.
    """

    dtype: str
    function: Function
    size: int = 4
    data_size: int = 4


def swap(old: Array, data: Array) -> Array:
    return data


def _compare_and_swap(old: Array, data: Array) -> Array:
    """The data: the new value, then the expected one."""
    return np.where(old == data[..., 1:], data[..., :1], old)


def _add_bf16(old: Array, data: Array) -> Array:
    return f32_to_bf16(bf16_to_f32(old) + bf16_to_f32(data))


def _increment(old: Array, limit: Array) -> Array:
    return np.where(old >= limit, 0, old + old.dtype.type(1))


def _decrement(old: Array, limit: Array) -> Array:
    return np.where((old == 0) | (old > limit), limit, old - old.dtype.type(1))


def _smaller(old: Array, data: Array) -> Array:
    """Section 9.2.3 of AMD's CDNA4 manual: -0 is less than 0, a quiet NaN more than all, a signalling one wins."""
    least = np.where((data < old) | (data == old) & np.signbit(data) | np.isnan(old), data, old)
    return _with_signalling_first(old, data, least)


def _larger(old: Array, data: Array) -> Array:
    """The same, a quiet NaN less than all."""
    most = np.where((data > old) | (data == old) & np.signbit(old) | np.isnan(old), data, old)
    return _with_signalling_first(old, data, most)


def _with_signalling_first(old: Array, data: Array, chosen: Array) -> Array:
    """A signalling NaN is the result, made quiet."""
    bits = np.dtype(f"u{old.itemsize}")
    quiet = bits.type(1 << (22 if old.itemsize == 4 else 51))
    for value in (data, old):  # what is in memory comes first
        words = value.view(bits)
        signals = np.isnan(value) & ((words & quiet) == 0)
        chosen = np.where(signals, (words | quiet).view(value.dtype), chosen)
    return chosen


# verb of 32- and 64-bit integers -> (are they signed?, function)
INTEGER: dict[str, tuple[str, Function]] = {
    "add": ("u", np.add),
    "sub": ("u", np.subtract),
    "and": ("u", np.bitwise_and),
    "or": ("u", np.bitwise_or),
    "xor": ("u", np.bitwise_xor),
    "swap": ("u", swap),
    "umax": ("u", np.maximum),
    "umin": ("u", np.minimum),
    "smax": ("i", np.maximum),
    "smin": ("i", np.minimum),
    "inc": ("u", _increment),
    "dec": ("u", _decrement),
}
FLOAT = {
    "add_f32": Atomic("f4", np.add),
    "add_f64": Atomic("f8", np.add, 8, 8),
    "min_f32": Atomic("f4", _smaller),
    "max_f32": Atomic("f4", _larger),
    "min_f64": Atomic("f8", _smaller, 8, 8),
    "max_f64": Atomic("f8", _larger, 8, 8),
    "pk_add_f16": Atomic("f2", np.add),
    "pk_add_bf16": Atomic("u2", _add_bf16),
}
# The end of an opcode's name on global memory. There is no min_f32 and max_f32.
_ATOMICS = {name: atomic for name, atomic in FLOAT.items() if name not in ("min_f32", "max_f32")}
_ATOMICS["cmpswap"] = Atomic("u4", _compare_and_swap, 4, 8)
_ATOMICS["cmpswap_x2"] = Atomic("u8", _compare_and_swap, 8, 16)
for _name, (_kind, _function) in INTEGER.items():
    _ATOMICS[_name] = Atomic(f"{_kind}4", _function)
    _ATOMICS[f"{_name}_x2"] = Atomic(f"{_kind}8", _function, 8, 8)


def _binder(family: str, atomic: Atomic) -> Binder:
    """It returns what was there when its modifiers say so (sc0)."""

    def bind(instruction: Instruction) -> Step:
        operands = list(instruction.operands)
        returns = "sc0" in instruction.modifiers or "glc" in instruction.modifiers
        if family == "buffer":
            source = vector_register(operands.pop(0))
            target = source if returns else None
        else:
            target = vector_register(operands.pop(0)) if returns else None
            source = vector_register(operands.pop(1))
        address = address_of(instruction, family, operands, atomic.size, whole=True)
        piece = Piece(atomic.data_size)
        return update(GLOBAL, address, atomic, lambda waves: get(waves, source, piece), target)

    return bind


def update(space: str, address: Address, atomic: Atomic, source: Callable[[Waves], Array], target: int | None) -> Step:
    """Lanes that hit the same place go one after another, in the order of waves and lanes."""
    dtype, size = np.dtype(atomic.dtype), atomic.size

    def run(waves: Waves) -> None:
        reached = address(waves)
        addresses = np.broadcast_to(reached.addresses, (waves.count, LANES))
        found = reach(waves, space, Reached(addresses, reached.mask))
        before: Array = np.zeros((1, 1, size), np.uint8)
        if found is not None:
            memory, access = found
            access.is_atomic = True
            data = np.ascontiguousarray(access.pick(source(waves))).view(dtype)
            place = access.flat if access.bank is None else access.flat + (access.bank << 40)
            old = np.array(memory.load(access, size))
            left = np.arange(len(data))
            while len(left):
                first = np.unique(place[left], return_index=True)[1]
                now = left[first]
                turn = access.part(now)
                old[now] = memory.load(turn, size).reshape(len(now), size)
                new = atomic.function(old[now].view(dtype), data[now])
                memory.store(turn, np.ascontiguousarray(new, dtype).view(np.uint8))
                left = np.delete(left, first)
            before = access.spread(old)
        if target is not None:
            # Lanes out of a buffer resource's range get zeros.
            mask = reached.mask if reached.zeroed is None else waves.active()
            put(waves, target, before, Piece(size), mask)

    return run


BINDERS: dict[str, Binder] = {
    f"{family}_atomic_{name}": _binder(family, atomic)
    for family in ("global", "flat", "buffer")
    for name, atomic in _ATOMICS.items()
}
