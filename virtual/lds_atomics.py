"""Atomic read-modify-write instructions on LDS."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.addresses import LDS, lds_address, vector_register
from mxsub.virtual.assembly import Instruction, Operand
from mxsub.virtual.atomics import FLOAT, INTEGER, Atomic, swap, update
from mxsub.virtual.faults import UnsupportedForm
from mxsub.virtual.lds_instructions import both, pair_offsets, parts_of
from mxsub.virtual.pieces import Piece, get
from mxsub.virtual.waves import Waves

Array = npt.NDArray[Any]
Step = Callable[[Waves], None]
Binder = Callable[[Instruction], Step]


def _compare_and_store(old: Array, data: Array) -> Array:
    """The data: the expected value, then the new one; the other way round than on global memory."""
    return np.where(old == data[..., :1], data[..., 1:], old)


def _masked_or(old: Array, data: Array) -> Array:
    """The data: the bits to clear, then those to set."""
    masked: Array = (old & ~data[..., :1]) | data[..., 1:]
    return masked


def _wrap(old: Array, data: Array) -> Array:
    """The data: what is taken off, and what is added to what is less than that."""
    return np.where(old >= data[..., :1], old - data[..., :1], old + data[..., 1:])


# In LDS's names: verb and type -> verb of INTEGER.
_INTEGER = {
    ("add", "u"): "add",
    ("sub", "u"): "sub",
    ("inc", "u"): "inc",
    ("dec", "u"): "dec",
    ("and", "b"): "and",
    ("or", "b"): "or",
    ("xor", "b"): "xor",
    ("max", "u"): "umax",
    ("min", "u"): "umin",
    ("max", "i"): "smax",
    ("min", "i"): "smin",
}


def _atomics() -> dict[str, Atomic]:
    """The end of an opcode's name -> what it does, for those that come with and without a result."""
    table = dict(FLOAT)
    for bits in (32, 64):
        size = bits // 8
        for (verb, kind), name in _INTEGER.items():
            sign, function = INTEGER[name]
            table[f"{verb}_{kind}{bits}"] = Atomic(f"{sign}{size}", function, size, size)
        table[f"rsub_u{bits}"] = Atomic(f"u{size}", lambda old, data: data - old, size, size)
        table[f"mskor_b{bits}"] = Atomic(f"u{size}", _masked_or, size, 2 * size)
        table[f"cmpst_b{bits}"] = Atomic(f"u{size}", _compare_and_store, size, 2 * size)
        table[f"cmpst_f{bits}"] = Atomic(f"f{size}", _compare_and_store, size, 2 * size)
    return table


def _sources(operands: list[Operand], size: int) -> Callable[[Waves], Array]:
    """The data of an instruction, which is in one or two operands, each of `size` bytes."""
    if any(operand.count != size // 4 for operand in operands):
        raise UnsupportedForm(f"data in other than {size // 4} vector registers")
    firsts, piece = [vector_register(operand) for operand in operands], Piece(size)

    def read(waves: Waves) -> Array:
        parts = [get(waves, first, piece) for first in firsts]
        shape = np.broadcast_shapes(*(part.shape for part in parts))
        return np.concatenate([np.broadcast_to(part, shape) for part in parts], -1)

    return read


def _binder(atomic: Atomic, returns: bool) -> Binder:
    def bind(instruction: Instruction) -> Step:
        operands = list(instruction.operands)
        target = vector_register(operands.pop(0)) if returns else None
        base, *sources = operands
        if len(sources) != atomic.data_size // atomic.size:
            raise UnsupportedForm(f"{len(sources)} data operands")
        address = lds_address(instruction, base, int(instruction.modifiers.get("offset", 0)))
        return update(LDS, address, atomic, _sources(sources, atomic.size), target)

    return bind


def _exchange_two(size: int, stride: int) -> Binder:
    atomic = Atomic(f"u{size}", swap, size, size)

    def bind(instruction: Instruction) -> Step:
        target, base, *sources = instruction.operands
        steps = []
        parts = parts_of(target, size // 4)
        for offset, source, part in zip(pair_offsets(instruction, size, stride), sources, parts, strict=True):
            address = lds_address(instruction, base, offset)
            steps.append(update(LDS, address, atomic, _sources([source], size), part.register))
        named = {base.register} | {source.register + k for source in sources for k in range(source.count)}
        if named & set(range(target.register, target.register + target.count)):
            raise UnsupportedForm("a result in the registers of its operands")
        return both(*steps)

    return bind


def _table() -> dict[str, Binder]:
    table: dict[str, Binder] = {}
    for name, atomic in _atomics().items():
        verb, _, kind = name.rpartition("_")
        table[f"ds_{name}"] = _binder(atomic, False)
        table[f"ds_{verb}_rtn_{kind}"] = _binder(atomic, True)
    table["ds_wrap_rtn_b32"] = _binder(Atomic("u4", _wrap, 4, 8), True)
    for bits in (32, 64):
        size = bits // 8
        table[f"ds_wrxchg_rtn_b{bits}"] = _binder(Atomic(f"u{size}", swap, size, size), True)
        table[f"ds_wrxchg2_rtn_b{bits}"] = _exchange_two(size, 1)
        table[f"ds_wrxchg2st64_rtn_b{bits}"] = _exchange_two(size, 64)
    return table


BINDERS = _table()
