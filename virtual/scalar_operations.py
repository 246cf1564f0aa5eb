"""Scalar arithmetic: one line per opcode."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
U32, U64, I32, I64 = np.uint32, np.uint64, np.int32, np.int64

# What becomes of SCC: it stays; it says whether the result is not zero; or the function gives it, after the result.
KEPT, NONZERO, GIVEN = "kept", "nonzero", "given"


@dataclass(frozen=True)
class ScalarOperation:
    """result: a type as operands.py names them, or none. sources: types; 'scc' is SCC, 'old' the result's register."""

    result: str
    sources: tuple[str, ...]
    function: Callable[..., Any]
    scc: str


def _add(a: Array, b: Array, carry: Any = 0) -> tuple[Array, Array]:
    total = a.astype(U64) + b + carry
    return total, total >> U64(32) != 0


def _subtract(a: Array, b: Array, borrow: Any = 0) -> tuple[Array, Array]:
    total = a.astype(U64) - b - borrow
    return total, total >> U64(63) != 0


def _with_overflow(function: Callable[..., Any]) -> Callable[..., tuple[Array, Array]]:
    def compute(a: Array, b: Array) -> tuple[Array, Array]:
        total = function(a.astype(I64), b.astype(I64))
        return total, total != total.astype(I32)

    return compute


def _bit_field(a: Array, field: Array) -> Array:
    """The field's offset is in its low bits, the width in bits 16 to 22."""
    bits, kind = 8 * a.itemsize, a.dtype.type
    width = np.minimum(field >> 16 & 127, bits)
    unused = np.minimum(bits - width, bits - 1).astype(kind)
    found: Array = (a >> (field & (bits - 1)).astype(kind)) << unused >> unused
    return np.where(width == 0, a - a, found)


def _bit_field_mask(width: Array, offset: Array, kind: Any) -> Array:
    low, one = 8 * kind().itemsize - 1, kind(1)
    mask: Array = ((one << (width & low).astype(kind)) - one) << (offset & low).astype(kind)
    return mask


def _lowest_one(a: Array) -> Array:
    return np.where(a == 0, -1, np.bitwise_count((a & (~a + a.dtype.type(1))) - a.dtype.type(1)).astype(I64))


def _zeros_above(a: Array) -> Array:
    """Zeros above the highest one, or -1."""
    bits, rest = 8 * a.itemsize, a
    highest = np.zeros(a.shape, I64)
    for step in (32, 16, 8, 4, 2, 1):
        if step < bits:
            reached = (rest >> a.dtype.type(step)) != 0
            highest = highest + step * reached
            rest = np.where(reached, rest >> a.dtype.type(step), rest)
    return np.where(a == 0, -1, bits - 1 - highest)


def _same_bits_above(a: Array) -> Array:
    """s_flbit_i32: bits from the top that equal the sign; -1 for 0 and -1."""
    return _zeros_above(np.where(a < 0, ~a, a).view(f"u{a.itemsize}"))


def _reversed_bits(a: Array) -> Array:
    bits = np.unpackbits(np.ascontiguousarray(a).view(np.uint8), axis=-1, bitorder="little")
    return np.packbits(bits, axis=-1).view(f">u{a.itemsize}").astype(a.dtype)


def _in_quads(a: Array) -> Array:
    """The lowest bit of each four: is there a one in them?"""
    one, two = a.dtype.type(1), a.dtype.type(2)
    pairs = a | a >> one
    lowest: Array = (pairs | pairs >> two) & a.dtype.type(0x1111111111111111 & np.iinfo(a.dtype).max)
    return lowest


def _whole_quads(a: Array) -> Array:
    """s_wqm: ones in every four bits in which there is one."""
    quads: Array = _in_quads(a) * a.dtype.type(15)
    return quads


def _quads(a: Array) -> Array:
    """s_quadmask: a bit for every four."""
    lowest, result = _in_quads(a), np.zeros_like(a)
    for k in range(2 * a.itemsize):
        result = result | (lowest >> a.dtype.type(3 * k) & a.dtype.type(1 << k))
    return result


def _doubled_bits(a: Array) -> Array:
    """s_bitreplicate: every bit twice."""
    bits = np.unpackbits(np.ascontiguousarray(a).view(np.uint8), axis=-1, bitorder="little")
    doubled: Array = np.packbits(np.repeat(bits, 2, axis=-1), axis=-1, bitorder="little").view(U64)
    return doubled


def _half(word: Array, high: int) -> Array:
    half: Array = word >> U32(16) if high else word & U32(0xFFFF)
    return half


_COMPARISONS: dict[str, Callable[..., Any]] = {
    "eq": np.equal,
    "lg": np.not_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
}
_LOGIC: dict[str, Callable[..., Any]] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "andn2": lambda a, b: a & ~b,
    "orn2": lambda a, b: a | ~b,
    "nand": lambda a, b: ~(a & b),
    "nor": lambda a, b: ~(a | b),
    "xnor": lambda a, b: ~(a ^ b),
}


def _table() -> dict[str, ScalarOperation]:
    table: dict[str, ScalarOperation] = {}

    def add(name: str, signature: str, function: Callable[..., Any], scc: str = KEPT) -> None:
        result, _, sources = signature.partition("=")
        table[name] = ScalarOperation(result, tuple(sources.split()), function, scc)

    # A 64-bit source that is a 32-bit constant is sign-extended by reading it as i64.
    add("s_mov_b32", "u32=u32", lambda a: a)
    add("s_mov_b64", "i64=i64", lambda a: a)
    add("s_movk_i32", "i32=i16", lambda a: a.astype(I32))
    add("s_cmovk_i32", "i32=i16 old scc", lambda a, old, c: np.where(c, a.astype(I32), old))
    add("s_sext_i32_i8", "i32=i32", lambda a: (a << 24) >> 24)
    add("s_sext_i32_i16", "i32=i32", lambda a: (a << 16) >> 16)
    add("s_abs_i32", "i32=i32", np.abs, NONZERO)
    add("s_absdiff_i32", "i32=i32 i32", lambda a, b: np.abs(a - b), NONZERO)
    add("s_add_u32", "u32=u32 u32", _add, GIVEN)
    add("s_sub_u32", "u32=u32 u32", _subtract, GIVEN)
    add("s_addc_u32", "u32=u32 u32 scc", _add, GIVEN)
    add("s_subb_u32", "u32=u32 u32 scc", _subtract, GIVEN)
    add("s_add_i32", "i32=i32 i32", _with_overflow(np.add), GIVEN)
    add("s_sub_i32", "i32=i32 i32", _with_overflow(np.subtract), GIVEN)
    add("s_addk_i32", "i32=old i16", _with_overflow(np.add), GIVEN)
    add("s_mulk_i32", "i32=old i16", lambda a, b: a * b.astype(I32))
    add("s_mul_i32", "i32=i32 i32", np.multiply)
    add("s_mul_hi_u32", "u32=u32 u32", lambda a, b: a.astype(U64) * b >> U64(32))
    add("s_mul_hi_i32", "i32=i32 i32", lambda a, b: a.astype(I64) * b >> 32)
    for t in ("i32", "u32"):
        add(f"s_min_{t}", f"{t}={t} {t}", lambda a, b: (np.minimum(a, b), a < b), GIVEN)
        add(f"s_max_{t}", f"{t}={t} {t}", lambda a, b: (np.maximum(a, b), a >= b), GIVEN)
    for bits in (32, 64):
        u, i = f"u{bits}", f"i{bits}"
        for name, function in _LOGIC.items():
            add(f"s_{name}_b{bits}", f"{i}={i} {i}", function, NONZERO)
        add(f"s_not_b{bits}", f"{i}={i}", np.invert, NONZERO)
        add(f"s_brev_b{bits}", f"{u}={u}", _reversed_bits)
        add(f"s_bcnt1_i32_b{bits}", f"u32={u}", lambda a: np.bitwise_count(a).astype(U32), NONZERO)
        add(f"s_bcnt0_i32_b{bits}", f"u32={u}", lambda a: np.bitwise_count(~a).astype(U32), NONZERO)
        add(f"s_ff1_i32_b{bits}", f"i32={u}", _lowest_one)
        add(f"s_ff0_i32_b{bits}", f"i32={u}", lambda a: _lowest_one(~a))
        add(f"s_flbit_i32_b{bits}", f"i32={u}", _zeros_above)
        add("s_flbit_i32" if bits == 32 else "s_flbit_i32_i64", f"i32={i}", _same_bits_above)
        shift = bits - 1
        add(f"s_lshl_b{bits}", f"{u}={u} u32", lambda a, s, m=shift: a << (s & m).astype(a.dtype), NONZERO)
        add(f"s_lshr_b{bits}", f"{u}={u} u32", lambda a, s, m=shift: a >> (s & m).astype(a.dtype), NONZERO)
        add(f"s_ashr_i{bits}", f"{i}={i} u32", lambda a, s, m=shift: a >> (s & m).astype(a.dtype), NONZERO)
        add(f"s_bfe_u{bits}", f"{u}={u} u32", _bit_field, NONZERO)
        add(f"s_bfe_i{bits}", f"{i}={i} u32", _bit_field, NONZERO)
        add(f"s_bfm_b{bits}", f"{u}=u32 u32", lambda a, b, k=U32 if bits == 32 else U64: _bit_field_mask(a, b, k))
        add(f"s_wqm_b{bits}", f"{u}={u}", _whole_quads, NONZERO)
        add(f"s_quadmask_b{bits}", f"{u}={u}", _quads, NONZERO)
        add(f"s_cselect_b{bits}", f"{i}={i} {i} scc", lambda a, b, c: np.where(c, a, b))
        add(f"s_cmov_b{bits}", f"{i}={i} old scc", lambda a, old, c: np.where(c, a, old))
        one = U32(1) if bits == 32 else U64(1)
        add(f"s_bitset0_b{bits}", f"{u}=u32 old", lambda b, a, o=one, m=shift: a & ~(o << (b & m).astype(a.dtype)))
        add(f"s_bitset1_b{bits}", f"{u}=u32 old", lambda b, a, o=one, m=shift: a | (o << (b & m).astype(a.dtype)))
        add(f"s_bitcmp0_b{bits}", f"={u} u32", lambda a, b, m=shift: (a >> (b & m).astype(a.dtype) & 1) == 0, GIVEN)
        add(f"s_bitcmp1_b{bits}", f"={u} u32", lambda a, b, m=shift: (a >> (b & m).astype(a.dtype) & 1) == 1, GIVEN)
    add("s_bitreplicate_b64_b32", "u64=u32", _doubled_bits)
    for k in range(1, 5):
        add(f"s_lshl{k}_add_u32", "u32=u32 u32", lambda a, b, k=k: _add(a.astype(U64) << U64(k), b), GIVEN)
    for name, x, y in (("ll", 0, 0), ("lh", 0, 1), ("hh", 1, 1)):
        add(f"s_pack_{name}_b32_b16", "u32=u32 u32", lambda a, b, x=x, y=y: _half(a, x) | _half(b, y) << U32(16))
    for name, function in _COMPARISONS.items():
        for t in ("u32", "i32"):
            add(f"s_cmp_{name}_{t}", f"={t} {t}", function, GIVEN)
        add(f"s_cmpk_{name}_i32", "=i32 i16", function, GIVEN)
        add(f"s_cmpk_{name}_u32", "=u32 u16", function, GIVEN)
    add("s_cmp_eq_u64", "=u64 u64", np.equal, GIVEN)
    add("s_cmp_lg_u64", "=u64 u64", np.not_equal, GIVEN)
    return table


OPERATIONS = _table()
