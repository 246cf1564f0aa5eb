"""Atomic read-modify-write instructions, on global memory and LDS."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.addresses import GLOBAL, LDS, Address, Reached, buffer_address, flat_address, lds_address, reach
from mxsub.virtual.assembly import Instruction
from mxsub.virtual.formats import bf16_to_f32, f32_to_bf16
from mxsub.virtual.pieces import Piece, get, put
from mxsub.virtual.waves import LANES, Waves

Array = npt.NDArray[Any]
Step = Callable[[Waves], Any]


@dataclass(frozen=True)
class Atomic:
    """function: of what is in memory and the lane's data, as arrays (lanes, elements) of `dtype`.

    size: bytes in memory. data_size: bytes of the lane's data; a compare-and-swap takes two values.
    """

    dtype: str
    function: Callable[[Array, Array], Array]
    size: int = 4
    data_size: int = 4


def _swap(old: Array, data: Array) -> Array:
    return data


def _compare_and_swap(old: Array, data: Array) -> Array:
    """The data of global ones: the new value, then the expected one."""
    return np.where(old == data[..., 1:], data[..., :1], old)


def _compare_and_store(old: Array, data: Array) -> Array:
    """The data of LDS ones: the expected value, then the new one."""
    return np.where(old == data[..., :1], data[..., 1:], old)


def _add_bf16(old: Array, data: Array) -> Array:
    return f32_to_bf16(bf16_to_f32(old) + bf16_to_f32(data))


def _increment(old: Array, limit: Array) -> Array:
    return np.where(old >= limit, 0, old + old.dtype.type(1))


def _decrement(old: Array, limit: Array) -> Array:
    return np.where((old == 0) | (old > limit), limit, old - old.dtype.type(1))


_INTEGER: dict[str, tuple[str, Callable[[Array, Array], Array]]] = {
    "add": ("u", np.add),
    "sub": ("u", np.subtract),
    "and": ("u", np.bitwise_and),
    "or": ("u", np.bitwise_or),
    "xor": ("u", np.bitwise_xor),
    "swap": ("u", _swap),
    "umax": ("u", np.maximum),
    "umin": ("u", np.minimum),
    "smax": ("i", np.maximum),
    "smin": ("i", np.minimum),
    "inc": ("u", _increment),
    "dec": ("u", _decrement),
}
_ATOMICS = {
    "add_f32": Atomic("f4", np.add),
    "add_f64": Atomic("f8", np.add, 8, 8),
    "max_f64": Atomic("f8", np.fmax, 8, 8),
    "min_f64": Atomic("f8", np.fmin, 8, 8),
    "pk_add_f16": Atomic("f2", np.add),
    "pk_add_bf16": Atomic("u2", _add_bf16),
    "cmpswap": Atomic("u4", _compare_and_swap, 4, 8),
    "cmpswap_x2": Atomic("u8", _compare_and_swap, 8, 16),
}
for _name, (_kind, _function) in _INTEGER.items():
    _ATOMICS[_name] = Atomic(f"{_kind}4", _function)
    _ATOMICS[f"{_name}_x2"] = Atomic(f"{_kind}8", _function, 8, 8)

_LDS_ATOMICS = {
    "ds_add_f32": _ATOMICS["add_f32"],
    "ds_add_f64": _ATOMICS["add_f64"],
    "ds_pk_add_f16": _ATOMICS["pk_add_f16"],
    "ds_pk_add_bf16": _ATOMICS["pk_add_bf16"],
    "ds_max_f32": Atomic("f4", np.fmax),
    "ds_min_f32": Atomic("f4", np.fmin),
    "ds_cmpst_b32": Atomic("u4", _compare_and_store, 4, 8),
}
for _bits, _suffix in ((32, ""), (64, "_x2")):
    for _verb, _type, _name in (
        ("add", "u", "add"),
        ("sub", "u", "sub"),
        ("inc", "u", "inc"),
        ("dec", "u", "dec"),
        ("and", "b", "and"),
        ("or", "b", "or"),
        ("xor", "b", "xor"),
        ("max", "u", "umax"),
        ("min", "u", "umin"),
        ("max", "i", "smax"),
        ("min", "i", "smin"),
    ):
        _LDS_ATOMICS[f"ds_{_verb}_{_type}{_bits}"] = _ATOMICS[f"{_name}{_suffix}"]
_RETURNING = {"_rtn_".join(name.rsplit("_", 1)): atomic for name, atomic in _LDS_ATOMICS.items()}
_RETURNING["ds_wrxchg_rtn_b32"] = _ATOMICS["swap"]
_RETURNING["ds_wrxchg_rtn_b64"] = _ATOMICS["swap_x2"]


def is_known(family: str, what: str) -> bool:
    return family != "scratch" and what in _ATOMICS


def is_known_lds(opcode: str) -> bool:
    return opcode in _LDS_ATOMICS or opcode in _RETURNING


def bind(instruction: Instruction, family: str, what: str) -> Step:
    """An atomic on global memory. It returns what was there when its modifiers say so (sc0)."""
    atomic = _ATOMICS[what]
    operands = list(instruction.operands)
    returns = "sc0" in instruction.modifiers or "glc" in instruction.modifiers
    if family == "buffer":
        source = operands.pop(0).register
        target = source if returns else None
        vector, resource, scalar = operands
        address = buffer_address(instruction, vector, resource, scalar, atomic.size)
    else:
        target = operands.pop(0).register if returns else None
        source = operands.pop(1).register
        address = flat_address(instruction, operands[0], operands[1] if len(operands) > 1 else None)
    return _atomic(GLOBAL, address, atomic, lambda waves: get(waves, source, Piece(atomic.data_size)), target)


def bind_lds(instruction: Instruction) -> Step:
    """An atomic on LDS."""
    operands = list(instruction.operands)
    target = None
    if instruction.opcode in _RETURNING:
        atomic = _RETURNING[instruction.opcode]
        target = operands.pop(0).register
    else:
        atomic = _LDS_ATOMICS[instruction.opcode]
    base, *sources = operands
    address = lds_address(instruction, base, int(instruction.modifiers.get("offset", 0)))
    each = Piece(atomic.data_size // len(sources))
    firsts = [source.register for source in sources]

    def data(waves: Waves) -> Array:
        parts = [get(waves, first, each) for first in firsts]
        shape = np.broadcast_shapes(*(part.shape for part in parts))
        return np.concatenate([np.broadcast_to(part, shape) for part in parts], -1)

    return _atomic(LDS, address, atomic, data, target)


def _atomic(space: str, address: Address, atomic: Atomic, source: Callable[[Waves], Array], target: int | None) -> Step:
    """Lanes that hit the same place go one after another, in the order of waves and lanes."""
    dtype, size = np.dtype(atomic.dtype), atomic.size

    def run(waves: Waves) -> None:
        reached = address(waves)
        addresses = np.broadcast_to(reached.addresses, (waves.count, LANES))
        found = reach(waves, space, Reached(addresses, reached.mask))
        if found is None:
            return
        memory, access = found
        access.is_atomic = True
        data = np.ascontiguousarray(access.pick(source(waves))).view(dtype)
        place = access.flat if access.bank is None else access.flat + (access.bank << 40)
        before = np.array(memory.load(access, size))
        left = np.arange(len(data))
        while len(left):
            first = np.unique(place[left], return_index=True)[1]
            now = left[first]
            turn = access.part(now)
            before[now] = memory.load(turn, size).reshape(len(now), size)
            new = atomic.function(before[now].view(dtype), data[now])
            memory.store(turn, np.ascontiguousarray(new, dtype).view(np.uint8))
            left = np.delete(left, first)
        if target is not None:
            # Lanes out of a buffer resource's range get zeros.
            mask = reached.mask if reached.zeroed is None else waves.active()
            put(waves, target, access.spread(before), Piece(size), mask)

    return run
