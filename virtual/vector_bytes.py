"""Vector operations on the bytes of words: one line per opcode."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.operations import Function, Table, operation

Array = npt.NDArray[Any]
I32, I64, U16, U32, U64 = np.int32, np.int64, np.uint16, np.uint32, np.uint64
_BYTE = U32(255)


def _permute(a: Array, b: Array, selector: Array) -> Array:
    """Four bytes picked out of the eight of a:b; selectors 8 to 11 are signs, 12 is 0, above is 255."""
    if selector.size == 1:
        return _permute_alike(a, b, int(selector.reshape(-1)[0]))
    both: Array = a.astype(U64) << U64(32) | b
    result: Array = np.zeros((1, 1), U64)
    for k in range(4):
        pick = (selector >> U32(8 * k) & _BYTE).astype(U64)
        byte = both >> (8 * np.minimum(pick, 7)) & 255
        sign = np.where(both >> (16 * (np.clip(pick, 8, 11) - 8) + 15) & 1, 255, 0)
        byte = np.where(pick < 8, byte, np.where(pick < 12, sign, np.where(pick == 12, 0, 255)).astype(U64))
        result = result | byte << (8 * k)
    return result


def _permute_alike(a: Array, b: Array, selector: int) -> Array:
    """The same with one selector for all, as nearly always: a shift and a mask for the bytes that move alike."""
    moves: dict[tuple[int, int], int] = {}
    result: Array = np.zeros((1, 1), U32)
    for k in range(4):
        pick = selector >> 8 * k & 255
        if pick < 8:
            move = pick // 4, 8 * (k - pick % 4)
            moves[move] = moves.get(move, 0) | 255 << 8 * k
        elif pick < 12:
            sign = (a if pick >= 10 else b) >> U32(15 + 16 * (pick & 1)) & U32(1)
            result = result | sign * U32(255 << 8 * k)
        elif pick > 12:
            result = result | U32(255 << 8 * k)
    first = not result.any()
    for (is_a, left), mask in moves.items():
        word = a if is_a else b
        if left:
            word = word << U32(left) if left > 0 else word >> U32(-left)
        # A shift by three bytes leaves one byte anyway.
        part = word if abs(left) == 24 else word & U32(mask)
        result = part if first else result | part
        first = False
    return result


def _sum_of_differences(a: Array, b: Array, c: Array, masked: bool = False) -> Array:
    """Of the four bytes, added to c; masked: where b's byte is not 0."""
    total: Array = c.astype(I64)
    for k in range(0, 32, 8):
        x, y = (word >> U32(k) & _BYTE for word in (a, b))
        difference = np.maximum(x, y) - np.minimum(x, y)
        total = total + (np.where(y == 0, U32(0), difference) if masked else difference)
    return total


def _high_sum(a: Array, b: Array, c: Array) -> Array:
    total: Array = (_sum_of_differences(a, b, np.zeros_like(c)) << 16) + c.astype(I64)
    return total


def _sum_of_half_differences(a: Array, b: Array, c: Array) -> Array:
    x, y = (np.stack(np.broadcast_arrays(word & U32(0xFFFF), word >> U32(16))).astype(I64) for word in (a, b))
    total: Array = np.abs(x - y).sum(0) + c.astype(I64)
    return total


def _sliding_sums(masked: bool) -> Callable[[Array, Array, Array], list[Array]]:
    """Of b's bytes against the bytes of a from 0, 1, 2 and 3 on; c: what each sum is added to, on a first axis."""

    def compute(a: Array, b: Array, c: Array) -> list[Array]:
        return [_sum_of_differences((a >> U64(8 * k)).astype(U32), b, c[k], masked) for k in range(4)]

    return compute


def _packed_sums(masked: bool) -> Callable[[Array, Array, Array], Array]:
    """v_qsad_pk, v_mqsad_pk: the sums, each of 16 bits, in one word of 64."""
    compute = _sliding_sums(masked)

    def joined(a: Array, b: Array, c: Array) -> Array:
        starts = np.stack([(c >> U64(16 * k)).astype(U16) for k in range(4)])
        parts = [total.astype(U16).astype(U64) << U64(16 * k) for k, total in enumerate(compute(a, b, starts))]
        both: Array = (parts[0] | parts[1]) | (parts[2] | parts[3])
        return both

    return joined


def _mean(a: Array, b: Array, c: Array) -> Array:
    """v_lerp: the mean of each pair of bytes, rounded up where the lowest bit of c's byte says so."""
    result: Array = np.zeros((1, 1), U32)
    for k in range(0, 32, 8):
        x, y = (word >> U32(k) & _BYTE for word in (a, b))
        result = result | (x + y + (c >> U32(k) & U32(1))) >> U32(1) << U32(k)
    return result


def _saturated_bytes(a: Array) -> Array:
    """v_sat_pk: both signed halves to bytes without a sign."""
    low, high = (np.clip(half, 0, 255).astype(U32) for half in (a.astype(U16).view(np.int16), a.view(I32) >> 16))
    return (low | high << U32(8)).astype(U16)


def _shifted_bytes(low: int, high: int) -> Function:
    """v_ashr_pk: both words shifted, then clipped to bytes."""

    def compute(a: Array, b: Array, s: Array) -> Array:
        first, second = (np.clip(word >> (s & 31).astype(I32), low, high).astype(U32) & _BYTE for word in (a, b))
        return first | second << U32(8)

    return compute


def _rounded_byte(x: Array) -> Array:
    """float32 to a byte, to the nearest even and clipped; NaN becomes 0."""
    whole: Array = np.rint(np.clip(np.nan_to_num(x, nan=0.0, posinf=255.0, neginf=0.0), 0, 255))
    return whole.astype(U32)


def _with_byte(x: Array, which: Array, old: Array) -> Array:
    """old with one byte in place of another."""
    shift = (which & U32(3)) << U32(3)
    result: Array = (old & ~(_BYTE << shift)) | _rounded_byte(x) << shift
    return result


def _table() -> Table:
    table: Table = {}

    def add(name: str, signature: str, function: Callable[..., Any]) -> None:
        table[name] = operation(signature, function)

    add("v_alignbyte_b32", "u32=u32 u32 u32", lambda a, b, s: (a.astype(U64) << U64(32) | b) >> (8 * (s & 3)))
    add("v_perm_b32", "u32=u32 u32 u32", _permute)
    add("v_lerp_u8", "u32=u32 u32 u32", _mean)
    add("v_sat_pk_u8_i16", "u16=u32", _saturated_bytes)
    add("v_cvt_pk_u8_f32", "u32=f32 u32 u32", _with_byte)
    add("v_cvt_pkaccum_u8_f32", "u32=f32 u32 old", _with_byte)
    add("v_ashr_pk_i8_i32", "u16+=i32 i32 u32", _shifted_bytes(-128, 127))
    add("v_ashr_pk_u8_i32", "u16+=i32 i32 u32", _shifted_bytes(0, 255))
    add("v_sad_u8", "u32=u32 u32 u32", _sum_of_differences)
    add("v_msad_u8", "u32=u32 u32 u32", lambda a, b, c: _sum_of_differences(a, b, c, True))
    add("v_sad_hi_u8", "u32=u32 u32 u32", _high_sum)
    add("v_sad_u16", "u32=u32 u32 u32", _sum_of_half_differences)
    add("v_sad_u32", "u32=u32 u32 u32", lambda a, b, c: (np.maximum(a, b) - np.minimum(a, b)).astype(I64) + c)
    add("v_qsad_pk_u16_u8", "u64=u64 u32 u64", _packed_sums(False))
    add("v_mqsad_pk_u16_u8", "u64=u64 u32 u64", _packed_sums(True))
    add("v_mqsad_u32_u8", "4*u32=u64 u32 4*u32", lambda a, b, c: [t.astype(U32) for t in _sliding_sums(True)(a, b, c)])
    return table


OPERATIONS = _table()
