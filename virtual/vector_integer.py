"""Vector integer arithmetic and bit operations: one line per opcode."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.assembly import Instruction
from mxsub.virtual.operations import Function, Table, made_operation, operation
from mxsub.virtual.waves import LANE

Array = npt.NDArray[Any]
U8, U16, U32, U64, I64 = np.uint8, np.uint16, np.uint32, np.uint64, np.int64


def _high(a: Array, b: Array) -> Array:
    """The upper 32 bits of the 64-bit product."""
    wide = I64 if a.dtype.kind == "i" else U64
    product: Array = a.astype(wide) * b.astype(wide)
    return product >> 32


def _u24(a: Array) -> Array:
    return a & 0xFFFFFF


def _i24(a: Array) -> Array:
    unused = 8 * a.itemsize - 24
    return (a << unused) >> unused


def _median(a: Array, b: Array, c: Array) -> Array:
    return np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c))


def _with_carry(total: Array) -> tuple[Array, Array]:
    """A sum or difference in 64 bits, and its carry or borrow."""
    return total, (total >> U64(32)) != 0


def _mad_signed(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """64-bit multiply-add, and the sign that the sum has in 65 bits."""
    product: Array = a.astype(I64) * b
    total: Array = product + c
    overflowed = ((product ^ total) & (c ^ total)) < 0
    return total, (total < 0) ^ overflowed


def _bit_field(a: Array, offset: Array, width: Array) -> Array:
    offset, width = offset & 31, width & 31
    if a.dtype.kind == "u":
        field: Array = (a >> offset) & ((U32(1) << width) - U32(1))
        return field
    unused = (32 - width) & 31
    return np.where(width == 0, 0, ((a >> offset) << unused) >> unused)


def _reversed_bits(a: Array) -> Array:
    bits = np.unpackbits(np.ascontiguousarray(a).view(U8), bitorder="little").reshape(-1, 32)
    return np.packbits(bits, axis=1).view(">u4").astype(U32).reshape(a.shape)


def _first_bit_high(a: Array) -> Array:
    """Zeros above the highest one; -1 where there is none. Exact: float64 holds every 32-bit integer."""
    return np.where(a == 0, -1, 32 - np.frexp(a.astype(np.float64))[1])


def _first_bit_low(a: Array) -> Array:
    return np.where(a == 0, -1, np.bitwise_count((a & (~a + U32(1))) - U32(1)).astype(I64))


def next_random(a: Array) -> Array:
    """v_prng: the next state of a linear feedback shift register."""
    following: Array = (a << U32(1)) ^ (a >> U32(31)) * U32(197)
    return following


def _truth_table(instruction: Instruction) -> Function:
    """v_bitop3: bit 4a + 2b + c of the table is the result for the bits a, b, c."""
    table = int(instruction.modifiers.get("bitop3", 0))
    if table in _NAMED_TABLES:
        return _NAMED_TABLES[table]

    def compute(a: Array, b: Array, c: Array) -> Array:
        result: Array | None = None
        for row in range(8):
            if table >> row & 1:
                term = (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
                result = term if result is None else result | term
        return np.zeros((1, 1), a.dtype) if result is None else result

    return compute


# The same results in fewer steps, for tables that compilers use often.
_NAMED_TABLES: dict[int, Function] = {
    0xEC: lambda a, b, c: (a & c) | b,
    0xF8: lambda a, b, c: a | (b & c),
    0xEA: lambda a, b, c: (a & b) | c,
    0x96: lambda a, b, c: a ^ b ^ c,
    0x36: lambda a, b, c: (a | c) ^ b,
    0x6C: lambda a, b, c: b ^ (a & c),
    0x78: lambda a, b, c: a ^ (b & c),
    0xC8: lambda a, b, c: (a | c) & b,
    0xE0: lambda a, b, c: a & (b | c),
    0xFE: lambda a, b, c: a | b | c,
    0x80: lambda a, b, c: a & b & c,
    0x40: lambda a, b, c: a & b & ~c,
    0x20: lambda a, b, c: a & ~b & c,
}


def _below(first_lane: int) -> Array:
    """For each lane, ones for the lanes below it among the 32 from first_lane on."""
    ones: Array = (U64(1) << np.clip(LANE - first_lane, 0, 32).astype(U64)) - U64(1)
    return ones.astype(U32)


_BELOW_LOW, _BELOW_HIGH = _below(0), _below(32)


def _table() -> Table:
    table: Table = {}

    def add(name: str, signature: str, function: Callable[..., Any]) -> None:
        table[name] = operation(signature, function)

    for name in ("v_mov_b32", "v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32"):
        add(name, "u32=u32", lambda a: a)
    add("v_mov_b64", "u64=i64", lambda a: a.view(U64))
    add("v_not_b32", "u32=u32", np.invert)
    add("v_bfrev_b32", "u32=u32", _reversed_bits)
    add("v_ffbh_u32", "i32=u32", _first_bit_high)
    add("v_ffbh_i32", "i32=i32", lambda a: _first_bit_high(np.where(a < 0, ~a, a)))
    add("v_ffbl_b32", "i32=u32", _first_bit_low)
    add("v_bcnt_u32_b32", "u32=u32 u32", lambda a, b: np.bitwise_count(a) + b)
    add("v_cndmask_b32", "u32=u32 u32 mask", lambda a, b, m: np.where(m, b, a))
    for t in ("u32", "i32", "u16", "i16"):
        # The newer ones of 16 bits, which have op_sel, keep the other half of their register.
        kept = f"{t}+" if "16" in t else t
        add(f"v_add_{t}", f"{'i16+' if t == 'i16' else t}={t} {t}", np.add)
        add(f"v_sub_{t}", f"{'i16+' if t == 'i16' else t}={t} {t}", np.subtract)
        add(f"v_max_{t}", f"{t}={t} {t}", np.maximum)
        add(f"v_min_{t}", f"{t}={t} {t}", np.minimum)
        add(f"v_max3_{t}", f"{kept}={t} {t} {t}", lambda a, b, c: np.maximum(np.maximum(a, b), c))
        add(f"v_min3_{t}", f"{kept}={t} {t} {t}", lambda a, b, c: np.minimum(np.minimum(a, b), c))
        add(f"v_med3_{t}", f"{kept}={t} {t} {t}", _median)
    for t in ("u32", "u16"):
        add(f"v_subrev_{t}", f"{t}={t} {t}", lambda a, b: b - a)
    add("v_add_co_u32", "u32 mask=u32 u32", lambda a, b: _with_carry(a.astype(U64) + b))
    add("v_addc_co_u32", "u32 mask=u32 u32 mask", lambda a, b, c: _with_carry(a.astype(U64) + b + c))
    add("v_sub_co_u32", "u32 mask=u32 u32", lambda a, b: _with_carry(a.astype(U64) - b))
    add("v_subrev_co_u32", "u32 mask=u32 u32", lambda a, b: _with_carry(b.astype(U64) - a))
    add("v_subb_co_u32", "u32 mask=u32 u32 mask", lambda a, b, c: _with_carry(a.astype(U64) - b - c))
    add("v_subbrev_co_u32", "u32 mask=u32 u32 mask", lambda a, b, c: _with_carry(b.astype(U64) - a - c))
    add("v_add3_u32", "u32=u32 u32 u32", lambda a, b, c: a + b + c)
    add("v_xad_u32", "u32=u32 u32 u32", lambda a, b, c: (a ^ b) + c)
    add("v_mul_lo_u32", "u32=u32 u32", np.multiply)
    add("v_mul_hi_u32", "u32=u32 u32", _high)
    add("v_mul_hi_i32", "i32=i32 i32", _high)
    add("v_mul_lo_u16", "u16=u16 u16", np.multiply)
    add("v_mul_u32_u24", "u32=u32 u32", lambda a, b: _u24(a) * _u24(b))
    add("v_mul_i32_i24", "i32=i32 i32", lambda a, b: _i24(a) * _i24(b))
    add("v_mul_hi_u32_u24", "u32=u32 u32", lambda a, b: _high(_u24(a), _u24(b)))
    add("v_mul_hi_i32_i24", "i32=i32 i32", lambda a, b: _high(_i24(a), _i24(b)))
    add("v_mad_u32_u24", "u32=u32 u32 u32", lambda a, b, c: _u24(a) * _u24(b) + c)
    add("v_mad_i32_i24", "i32=i32 i32 i32", lambda a, b, c: _i24(a) * _i24(b) + c)
    add("v_mad_u64_u32", "u64 mask=u32 u32 u64", lambda a, b, c: ((r := a.astype(U64) * b + c), r < c))
    add("v_mad_i64_i32", "i64 mask=i32 i32 i64", _mad_signed)
    for t in ("u16", "i16"):
        add(f"v_mad_{t}", f"{t}+={t} {t} {t}", lambda a, b, c: a * b + c)
        add(f"v_mad_legacy_{t}", f"{t}={t} {t} {t}", lambda a, b, c: a * b + c)
        add(f"v_mad_{t[0]}32_{t}", f"{t[0]}32={t} {t} {t[0]}32", lambda a, b, c: a.astype(c.dtype) * b + c)

    for name, function in (("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)):
        add(f"v_{name}_b32", "u32=u32 u32", function)
    add("v_xnor_b32", "u32=u32 u32", lambda a, b: ~(a ^ b))
    add("v_or3_b32", "u32=u32 u32 u32", lambda a, b, c: a | b | c)
    add("v_and_or_b32", "u32=u32 u32 u32", lambda a, b, c: (a & b) | c)
    add("v_bfi_b32", "u32=u32 u32 u32", lambda a, b, c: (a & b) | (~a & c))
    add("v_bfm_b32", "u32=u32 u32", lambda a, b: ((U32(1) << (a & 31)) - U32(1)) << (b & 31))
    add("v_bfe_u32", "u32=u32 u32 u32", _bit_field)
    add("v_bfe_i32", "i32=i32 i32 i32", _bit_field)
    add("v_lshl_or_b32", "u32=u32 u32 u32", lambda a, b, c: (a << (b & 31)) | c)
    add("v_lshl_add_u32", "u32=u32 u32 u32", lambda a, b, c: (a << (b & 31)) + c)
    add("v_add_lshl_u32", "u32=u32 u32 u32", lambda a, b, c: (a + b) << (c & 31))
    add("v_lshl_add_u64", "u64=u64 u32 u64", lambda a, b, c: (a << (b & 7)) + c)
    for bits, amount in ((16, "u16"), (32, "u32"), (64, "u32")):
        add(f"v_lshlrev_b{bits}", f"u{bits}={amount} u{bits}", lambda s, a, m=bits - 1: a << (s & m).astype(a.dtype))
        add(f"v_lshrrev_b{bits}", f"u{bits}={amount} u{bits}", lambda s, a, m=bits - 1: a >> (s & m).astype(a.dtype))
        add(f"v_ashrrev_i{bits}", f"i{bits}={amount} i{bits}", lambda s, a, m=bits - 1: a >> (s & m).astype(a.dtype))
    add("v_alignbit_b32", "u32=u32 u32 u32", lambda a, b, s: (a.astype(U64) << U64(32) | b) >> (s & 31))
    add("v_mbcnt_lo_u32_b32", "u32=u32 u32", lambda m, a: np.bitwise_count(m & _BELOW_LOW) + a)
    add("v_mbcnt_hi_u32_b32", "u32=u32 u32", lambda m, a: np.bitwise_count(m & _BELOW_HIGH) + a)
    add("v_prng_b32", "u32=u32", next_random)
    add("v_cvt_pk_u16_u32", "u32=u32 u32", lambda a, b: np.minimum(a, 0xFFFF) | np.minimum(b, 0xFFFF) << U32(16))
    add("v_cvt_pk_i16_i32", "2xi16=i32 i32", lambda a, b: np.clip(np.stack(np.broadcast_arrays(a, b)), -0x8000, 0x7FFF))
    table["v_bitop3_b32"] = made_operation("u32=u32 u32 u32", _truth_table)
    table["v_bitop3_b16"] = made_operation("u16+=u16 u16 u16", _truth_table)

    for t in ("u16", "i16"):
        add(f"v_pk_add_{t}", f"2x{t}=2x{t} 2x{t}", np.add)
        add(f"v_pk_sub_{t}", f"2x{t}=2x{t} 2x{t}", np.subtract)
        add(f"v_pk_max_{t}", f"2x{t}=2x{t} 2x{t}", np.maximum)
        add(f"v_pk_min_{t}", f"2x{t}=2x{t} 2x{t}", np.minimum)
        add(f"v_pk_mad_{t}", f"2x{t}=2x{t} 2x{t} 2x{t}", lambda a, b, c: a * b + c)
    add("v_pk_mul_lo_u16", "2xu16=2xu16 2xu16", np.multiply)
    add("v_pk_lshlrev_b16", "2xu16=2xu16 2xu16", lambda s, a: a << (s & 15))
    add("v_pk_lshrrev_b16", "2xu16=2xu16 2xu16", lambda s, a: a >> (s & 15))
    add("v_pk_ashrrev_i16", "2xi16=2xi16 2xi16", lambda s, a: a >> (s & 15))
    return table


OPERATIONS = _table()
