"""Vector integer instructions, on corner values, against Python's integers."""

from collections.abc import Callable

import numpy as np
import pytest

MASK = 0xFFFFFFFF
CORNERS = [0, 1, 2, 3, 7, 31, 32, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, MASK]
A = np.array((CORNERS * 4)[:64], np.uint32)
B = np.array((CORNERS[::-1] * 3 + CORNERS[5:] * 2)[:64], np.uint32)
C = np.array([(0x9E3779B9 * k) & MASK for k in range(64)], np.uint32)


def signed(x: int, bits: int = 32) -> int:
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def s24(x: int) -> int:
    return signed(x, 24)


def u24(x: int) -> int:
    return x & 0xFFFFFF


def permuted(a: int, b: int, selector: int) -> int:
    source = (a << 32 | b).to_bytes(8, "little")
    signs = {8: source[1], 9: source[3], 10: source[5], 11: source[7]}
    out = []
    for pick in selector.to_bytes(4, "little"):
        if pick < 8:
            out.append(source[pick])
        elif pick < 12:
            out.append(255 if signs[pick] & 128 else 0)
        else:
            out.append(0 if pick == 12 else 255)
    return int.from_bytes(bytes(out), "little")


def truth(table: int) -> Callable[[int, int, int], int]:
    def one(a: int, b: int, c: int) -> int:
        return sum((table >> (4 * (a >> k & 1) + 2 * (b >> k & 1) + (c >> k & 1)) & 1) << k for k in range(32))

    return one


def halves(function: Callable[..., int]) -> Callable[..., int]:
    """A packed 16-bit operation."""

    def both(*words: int) -> int:
        low = function(*(w & 0xFFFF for w in words)) & 0xFFFF
        high = function(*(w >> 16 for w in words)) & 0xFFFF
        return low | high << 16

    return both


ONE = [
    ("v_not_b32_e32", lambda a: ~a),
    ("v_bfrev_b32_e32", lambda a: int(f"{a:032b}"[::-1], 2)),
    ("v_ffbh_u32_e32", lambda a: 32 - a.bit_length() if a else -1),
    ("v_ffbh_i32_e32", lambda a: 32 - (a ^ (a >> 31) * MASK).bit_length() if a not in (0, MASK) else -1),
    ("v_ffbl_b32_e32", lambda a: (a & -a).bit_length() - 1 if a else -1),
]
TWO = [
    ("v_add_u32_e32", lambda a, b: a + b),
    ("v_sub_u32_e32", lambda a, b: a - b),
    ("v_subrev_u32_e32", lambda a, b: b - a),
    ("v_mul_lo_u32", lambda a, b: a * b),
    ("v_mul_hi_u32", lambda a, b: a * b >> 32),
    ("v_mul_hi_i32", lambda a, b: signed(a) * signed(b) >> 32),
    ("v_mul_u32_u24_e32", lambda a, b: u24(a) * u24(b)),
    ("v_mul_i32_i24_e32", lambda a, b: s24(a) * s24(b)),
    ("v_mul_hi_u32_u24_e32", lambda a, b: u24(a) * u24(b) >> 32),
    ("v_max_i32_e32", lambda a, b: max(signed(a), signed(b))),
    ("v_min_i32_e32", lambda a, b: min(signed(a), signed(b))),
    ("v_max_u32_e32", max),
    ("v_min_u32_e32", min),
    ("v_and_b32_e32", lambda a, b: a & b),
    ("v_or_b32_e32", lambda a, b: a | b),
    ("v_xor_b32_e32", lambda a, b: a ^ b),
    ("v_xnor_b32_e32", lambda a, b: ~(a ^ b)),
    ("v_lshlrev_b32_e32", lambda a, b: b << (a & 31)),
    ("v_lshrrev_b32_e32", lambda a, b: b >> (a & 31)),
    ("v_ashrrev_i32_e32", lambda a, b: signed(b) >> (a & 31)),
    ("v_bfm_b32", lambda a, b: ((1 << (a & 31)) - 1) << (b & 31)),
    ("v_bcnt_u32_b32", lambda a, b: a.bit_count() + b),
    ("v_add_u16_e32", lambda a, b: (a + b) & 0xFFFF),
    ("v_sub_u16_e32", lambda a, b: (a - b) & 0xFFFF),
    ("v_mul_lo_u16_e32", lambda a, b: (a & 0xFFFF) * (b & 0xFFFF) & 0xFFFF),
    ("v_max_i16_e32", lambda a, b: max(signed(a, 16), signed(b, 16)) & 0xFFFF),
    ("v_min_u16_e32", lambda a, b: min(a & 0xFFFF, b & 0xFFFF)),
    ("v_lshlrev_b16_e32", lambda a, b: (b & 0xFFFF) << (a & 15) & 0xFFFF),
    ("v_lshrrev_b16_e32", lambda a, b: (b & 0xFFFF) >> (a & 15)),
    ("v_ashrrev_i16_e32", lambda a, b: signed(b, 16) >> (a & 15) & 0xFFFF),
    ("v_pk_add_u16", halves(lambda a, b: a + b)),
    ("v_pk_sub_u16", halves(lambda a, b: a - b)),
    ("v_pk_sub_i16", halves(lambda a, b: a - b)),
    ("v_pk_mul_lo_u16", halves(lambda a, b: a * b)),
    ("v_pk_max_u16", halves(max)),
    ("v_pk_min_i16", halves(lambda a, b: min(signed(a, 16), signed(b, 16)))),
    ("v_pk_lshlrev_b16", halves(lambda a, b: b << (a & 15))),
    ("v_pk_lshrrev_b16", halves(lambda a, b: b >> (a & 15))),
    ("v_pk_ashrrev_i16", halves(lambda a, b: signed(b, 16) >> (a & 15))),
]
THREE = [
    ("v_add3_u32", lambda a, b, c: a + b + c),
    ("v_lshl_add_u32", lambda a, b, c: (a << (b & 31)) + c),
    ("v_add_lshl_u32", lambda a, b, c: (a + b & MASK) << (c & 31)),
    ("v_lshl_or_b32", lambda a, b, c: a << (b & 31) | c),
    ("v_and_or_b32", lambda a, b, c: a & b | c),
    ("v_or3_b32", lambda a, b, c: a | b | c),
    ("v_xad_u32", lambda a, b, c: (a ^ b) + c),
    ("v_bfi_b32", lambda a, b, c: a & b | ~a & c),
    ("v_bfe_u32", lambda a, b, c: a >> (b & 31) & (1 << (c & 31)) - 1),
    ("v_bfe_i32", lambda a, b, c: signed(a >> (b & 31), c & 31) if c & 31 else 0),
    ("v_mad_u32_u24", lambda a, b, c: u24(a) * u24(b) + c),
    ("v_mad_i32_i24", lambda a, b, c: s24(a) * s24(b) + signed(c)),
    ("v_alignbit_b32", lambda a, b, c: (a << 32 | b) >> (c & 31)),
    ("v_alignbyte_b32", lambda a, b, c: (a << 32 | b) >> 8 * (c & 3)),
    ("v_max3_u32", max),
    ("v_min3_i32", lambda a, b, c: min(signed(a), signed(b), signed(c))),
    ("v_med3_i32", lambda a, b, c: sorted((signed(a), signed(b), signed(c)))[1]),
    ("v_sad_u32", lambda a, b, c: abs(a - b) + c),
    ("v_perm_b32", permuted),
]


@pytest.mark.parametrize(("opcode", "one"), ONE)
def test_one_source(bench, opcode, one):
    got = bench.compute(f"{opcode} v20, v10", A)[:, 0]
    assert got.tolist() == [one(int(a)) & MASK for a in A]


@pytest.mark.parametrize(("opcode", "one"), TWO)
def test_two_sources(bench, opcode, one):
    got = bench.compute(f"{opcode} v20, v10, v11", A, B)[:, 0]
    assert got.tolist() == [one(int(a), int(b)) & MASK for a, b in zip(A, B, strict=True)]


@pytest.mark.parametrize(("opcode", "one"), THREE)
def test_three_sources(bench, opcode, one):
    got = bench.compute(f"{opcode} v20, v10, v11, v12", A, B, C)[:, 0]
    assert got.tolist() == [one(int(a), int(b), int(c)) & MASK for a, b, c in zip(A, B, C, strict=True)]


@pytest.mark.parametrize(
    "selector", [0x07060504, 0x01000706, 0x0C0C0400, 0x0D0B0A09, 0x080C0302, 0x03020100, 0x05040403]
)
def test_permutation_with_one_selector_for_all(bench, selector):
    got = bench.compute(f"v_perm_b32 v20, v10, v11, {selector:#x}", C, A)[:, 0]
    assert got.tolist() == [permuted(int(c), int(a), selector) for c, a in zip(C, A, strict=True)]


@pytest.mark.parametrize("table", range(0, 256, 5))
def test_truth_tables(bench, table):
    got = bench.compute(f"v_bitop3_b32 v20, v10, v11, v12 bitop3:{table:#x}", A, B, C)[:, 0]
    assert got.tolist() == [truth(table)(int(a), int(b), int(c)) for a, b, c in zip(A, B, C, strict=True)]


@pytest.mark.parametrize("table", [0xEC, 0xF8, 0xEA, 0x96, 0x36, 0x6C, 0x78, 0xC8, 0xE0, 0xFE, 0x80, 0x40, 0x20])
def test_truth_tables_with_a_short_cut(bench, table):
    test_truth_tables(bench, table)


def test_bitop3_b16_keeps_the_high_half(bench):
    got = bench.compute("v_mov_b32_e32 v20, v12\nv_bitop3_b16 v20, v10, v11, v12 bitop3:0x96", A, B, C)[:, 0]
    assert got.tolist() == [(a ^ b ^ c) & 0xFFFF | c & 0xFFFF0000 for a, b, c in zip(A, B, C, strict=True)]


def test_carries_chain_to_64_bits(bench):
    text = """v_add_co_u32_e32 v20, vcc, v10, v12
v_addc_co_u32_e32 v21, vcc, v11, v13, vcc
v_sub_co_u32_e32 v22, vcc, v10, v12
v_subb_co_u32_e32 v23, vcc, v11, v13, vcc
v_subrev_co_u32_e64 v24, s[8:9], v10, v12
v_subbrev_co_u32_e64 v25, s[8:9], v11, v13, s[8:9]"""
    got = bench.compute(text, A, B, C, A[::-1], results=6).view(np.uint64)
    x = A.astype(np.uint64) | B.astype(np.uint64) << np.uint64(32)
    y = C.astype(np.uint64) | A[::-1].astype(np.uint64) << np.uint64(32)
    np.testing.assert_array_equal(got, np.stack([x + y, x - y, y - x], 1))


def test_wide_arithmetic(bench):
    text = """v_mad_u64_u32 v[20:21], s[8:9], v10, v11, v[12:13]
v_mad_i64_i32 v[22:23], s[10:11], v10, v11, v[12:13]
v_lshl_add_u64 v[24:25], v[10:11], 3, v[12:13]
v_lshlrev_b64 v[26:27], v10, v[12:13]
v_lshrrev_b64 v[28:29], v10, v[12:13]
v_ashrrev_i64 v[30:31], v10, v[12:13]
v_cndmask_b32_e64 v32, 0, 1, s[8:9]"""
    got = bench.compute(text, A, B, C, A[::-1], results=13)
    wide = got[:, :12].copy().view(np.uint64)
    big = (1 << 64) - 1
    for lane in range(64):
        a, b, d = int(A[lane]), int(B[lane]), int(C[lane]) | int(A[::-1][lane]) << 32
        assert [int(x) for x in wide[lane]] == [
            a * b + d & big,
            signed(a) * signed(b) + d & big,
            ((a | b << 32) << 3) + d & big,
            d << (a & 63) & big,
            d >> (a & 63),
            signed(d, 64) >> (a & 63) & big,
        ]
        assert got[lane, 12] == a * b + d >> 64


def test_clamp_saturates(bench):
    text = "v_sub_u32_e64 v20, v10, v11 clamp\nv_add_u32_e64 v21, v10, v11 clamp\nv_sub_i32 v22, v10, v11 clamp"
    got = bench.compute(text, A, B, results=3)
    for lane in range(64):
        a, b = int(A[lane]), int(B[lane])
        difference = min(max(signed(a) - signed(b), -(1 << 31)), (1 << 31) - 1)
        assert got[lane].tolist() == [max(a - b, 0), min(a + b, MASK), difference & MASK]


@pytest.mark.parametrize(
    ("text", "one"),
    [
        (
            "src0_sel:BYTE_3 src1_sel:DWORD dst_sel:WORD_1 dst_unused:UNUSED_PAD",
            lambda a, b: (a >> 24 | b) << 16 & MASK,
        ),
        ("src0_sel:WORD_1 src1_sel:BYTE_1 dst_sel:DWORD dst_unused:UNUSED_PAD", lambda a, b: a >> 16 | b >> 8 & 255),
        (
            "src0_sel:BYTE_0 src1_sel:DWORD dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE",
            lambda a, b: 0x11220044 | (a | b) << 8 & 0xFF00,
        ),
    ],
)
def test_sub_dword_addressing(bench, text, one):
    got = bench.compute(f"v_mov_b32_e32 v20, 0x11223344\nv_or_b32_sdwa v20, v10, v11 {text}", A, B)[:, 0]
    assert got.tolist() == [one(int(a), int(b)) for a, b in zip(A, B, strict=True)]


def test_sub_dword_sign_extension(bench):
    text = "v_add_u32_sdwa v20, sext(v10), v11 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_0"
    got = bench.compute(text, A, B)[:, 0]
    assert got.tolist() == [signed(int(a) >> 8, 8) + (int(b) & 0xFFFF) & MASK for a, b in zip(A, B, strict=True)]


@pytest.mark.parametrize(
    ("modifiers", "one"),
    [
        ("op_sel:[1,0]", lambda a, b: (a >> 16) + b & 0xFFFF | (a >> 16) + (b >> 16) << 16 & MASK),
        ("op_sel_hi:[0,1]", lambda a, b: a + b & 0xFFFF | (a & 0xFFFF) + (b >> 16) << 16 & MASK),
        ("op_sel:[0,1] op_sel_hi:[1,0]", lambda a, b: a + (b >> 16) & 0xFFFF | (a >> 16) + b << 16 & MASK),
    ],
)
def test_packed_halves_are_picked(bench, modifiers, one):
    got = bench.compute(f"v_pk_add_u16 v20, v10, v11 {modifiers}", A, B)[:, 0]
    assert got.tolist() == [one(int(a), int(b)) for a, b in zip(A, B, strict=True)]


def test_packed_constants(bench):
    """The high half of an inline constant is its sign: compilers pick the low half twice for both."""
    text = "v_pk_add_u16 v20, v10, 1\nv_pk_add_u16 v21, v10, -1\nv_pk_add_u16 v22, v10, 1 op_sel_hi:[1,0]"
    got = bench.compute(text, A, results=3)
    for lane in range(64):
        low, high = int(A[lane]) & 0xFFFF, int(A[lane]) >> 16
        assert got[lane].tolist() == [
            (low + 1) & 0xFFFF | high << 16,
            (low - 1) & 0xFFFF | ((high - 1) & 0xFFFF) << 16,
            (low + 1) & 0xFFFF | ((high + 1) & 0xFFFF) << 16,
        ]


def test_lane_counts(bench):
    text = "v_mbcnt_lo_u32_b32 v20, -1, 0\nv_mbcnt_hi_u32_b32 v20, -1, v20\nv_mbcnt_lo_u32_b32 v21, 0x55555555, 10"
    got = bench.compute(text, results=2)
    assert got[:, 0].tolist() == list(range(64))
    assert got[:, 1].tolist() == [10 + (min(lane, 32) + 1) // 2 for lane in range(64)]


@pytest.mark.parametrize("kind", ["u32", "i32", "u16", "i16"])
@pytest.mark.parametrize("name", ["lt", "eq", "le", "gt", "ne", "ge"])
def test_comparisons(bench, name, kind):
    bits = int(kind[1:])
    got = bench.compute(f"v_cmp_{name}_{kind}_e32 vcc, v10, v11\nv_cndmask_b32_e32 v20, 0, v10, vcc", A, B)[:, 0]
    for lane in range(64):
        a, b = (signed(int(x), bits) if kind[0] == "i" else int(x) & (1 << bits) - 1 for x in (A[lane], B[lane]))
        yes = {"lt": a < b, "eq": a == b, "le": a <= b, "gt": a > b, "ne": a != b, "ge": a >= b}[name]
        assert got[lane] == (A[lane] if yes else 0)


@pytest.mark.parametrize(("source", "flip"), [("-v10", 0x80000000), ("|v10|", None), ("-|v10|", 0x80000000)])
def test_a_choice_between_signs(bench, source, flip):
    """v_cndmask takes neg and abs, as if its bits were a number's: NaNs keep their bits."""
    kept = 0xFFFFFFFF if source == "-v10" else 0x7FFFFFFF
    text = f"s_mov_b64 vcc, 0x5555555555555555\nv_cndmask_b32_e64 v20, {source}, v11, vcc"
    got = bench.compute(text, A, B)[:, 0]
    want = [b if lane % 2 == 0 else a & kept ^ (flip or 0) for lane, (a, b) in enumerate(zip(A, B, strict=True))]
    assert got.tolist() == want
