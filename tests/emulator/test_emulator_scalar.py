"""Scalar instructions and control flow."""

import numpy as np
import pytest

MASK, WIDE = 0xFFFFFFFF, (1 << 64) - 1
PAIRS = [(0, 0), (1, 2), (5, 3), (MASK, 1), (0x7FFFFFFF, 1), (0x80000000, 31), (0x12345678, 0x9ABCDEF0), (MASK, MASK)]


def signed(x: int, bits: int = 32) -> int:
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def scalars(bench, text: str, values: dict[int, int], results: int = 1) -> list[int]:
    """Run scalar instructions with registers set first; gives s20 ... and then SCC."""
    before = "\n".join(f"s_mov_b32 s{register}, {value:#x}" for register, value in values.items())
    after = "s_cselect_b32 s40, 1, 0\n" + "\n".join(f"v_mov_b32_e32 v{20 + k}, s{20 + k}" for k in range(results))
    got = bench.compute(f"{before}\n{text}\n{after}\nv_mov_b32_e32 v{20 + results}, s40", results=results + 1)
    assert (got == got[0]).all()
    return [int(x) for x in got[0]]


def field(x: int, spec: int, bits: int, is_signed: bool) -> int:
    offset, width = spec & bits - 1, min(spec >> 16 & 127, bits)
    value = (signed(x, bits) if is_signed else x) >> offset & (1 << width) - 1
    return signed(value, width) if is_signed and width else value


# text, function of both sources: (result, SCC or None where it stays 0)
BINARY = [
    ("s_add_u32", lambda a, b: (a + b, a + b > MASK)),
    ("s_sub_u32", lambda a, b: (a - b, b > a)),
    ("s_add_i32", lambda a, b: (a + b, signed(a) + signed(b) != signed(a + b))),
    ("s_sub_i32", lambda a, b: (a - b, signed(a) - signed(b) != signed(a - b))),
    ("s_mul_i32", lambda a, b: (a * b, None)),
    ("s_mul_hi_u32", lambda a, b: (a * b >> 32, None)),
    ("s_mul_hi_i32", lambda a, b: (signed(a) * signed(b) >> 32, None)),
    ("s_min_i32", lambda a, b: (min(signed(a), signed(b)), signed(a) < signed(b))),
    ("s_max_u32", lambda a, b: (max(a, b), a >= b)),
    ("s_and_b32", lambda a, b: (a & b, a & b != 0)),
    ("s_or_b32", lambda a, b: (a | b, a | b != 0)),
    ("s_xor_b32", lambda a, b: (a ^ b, a ^ b != 0)),
    ("s_andn2_b32", lambda a, b: (a & ~b, a & ~b != 0)),
    ("s_orn2_b32", lambda a, b: (a | ~b, (a | ~b) & MASK != 0)),
    ("s_nand_b32", lambda a, b: (~(a & b), ~(a & b) & MASK != 0)),
    ("s_nor_b32", lambda a, b: (~(a | b), ~(a | b) & MASK != 0)),
    ("s_xnor_b32", lambda a, b: (~(a ^ b), ~(a ^ b) & MASK != 0)),
    ("s_lshl_b32", lambda a, b: (a << (b & 31), a << (b & 31) & MASK != 0)),
    ("s_lshr_b32", lambda a, b: (a >> (b & 31), a >> (b & 31) != 0)),
    ("s_ashr_i32", lambda a, b: (signed(a) >> (b & 31), signed(a) >> (b & 31) != 0)),
    ("s_bfm_b32", lambda a, b: (((1 << (a & 31)) - 1) << (b & 31), None)),
    ("s_lshl2_add_u32", lambda a, b: ((a << 2) + b, (a << 2) + b > MASK)),
    ("s_absdiff_i32", lambda a, b: (abs(signed(a - b)), (a - b) & MASK != 0)),
    ("s_pack_ll_b32_b16", lambda a, b: (a & 0xFFFF | b << 16, None)),
    ("s_pack_lh_b32_b16", lambda a, b: (a & 0xFFFF | b & 0xFFFF0000, None)),
    ("s_pack_hh_b32_b16", lambda a, b: (a >> 16 | b & 0xFFFF0000, None)),
]
UNARY = [
    ("s_mov_b32", lambda a: (a, None)),
    ("s_not_b32", lambda a: (~a, ~a & MASK != 0)),
    ("s_brev_b32", lambda a: (int(f"{a:032b}"[::-1], 2), None)),
    ("s_sext_i32_i8", lambda a: (signed(a, 8), None)),
    ("s_sext_i32_i16", lambda a: (signed(a, 16), None)),
    ("s_abs_i32", lambda a: (abs(signed(a)), a != 0)),
    ("s_bcnt1_i32_b32", lambda a: (a.bit_count(), a != 0)),
    ("s_ff1_i32_b32", lambda a: ((a & -a).bit_length() - 1 if a else -1, None)),
    ("s_flbit_i32_b32", lambda a: (32 - a.bit_length() if a else -1, None)),
]


@pytest.mark.parametrize(("opcode", "function"), BINARY)
def test_two_sources(bench, opcode, function):
    for a, b in PAIRS:
        result, scc = function(a, b)
        # SCC is 0 before, so an instruction that leaves it shows 0.
        got = scalars(bench, f"s_cmp_lg_u32 s8, s8\n{opcode} s20, s8, s9", {8: a, 9: b})
        assert got == [result & MASK, int(bool(scc))], (a, b)


@pytest.mark.parametrize(("opcode", "function"), UNARY)
def test_one_source(bench, opcode, function):
    for a in {x for pair in PAIRS for x in pair}:
        result, scc = function(a)
        got = scalars(bench, f"s_cmp_lg_u32 s8, s8\n{opcode} s20, s8", {8: a})
        assert got == [result & MASK, int(bool(scc))], a


@pytest.mark.parametrize("spec", [0x00080004, 0x00200000, 0x00000005, 0x00050010, 0x0020001C, 0x0001001F])
def test_bit_fields(bench, spec):
    for a, _ in PAIRS:
        text = "s_bfe_u32 s20, s8, s9\ns_bfe_i32 s21, s8, s9"
        unsigned, with_sign = field(a, spec, 32, False), field(a, spec, 32, True)
        assert scalars(bench, text, {8: a, 9: spec}, 2) == [unsigned, with_sign & MASK, int(with_sign != 0)]


def test_wide_operations(bench):
    a, b = 0x8000000112345678, 0x00000000FFFFFFF1
    values = {8: a & MASK, 9: a >> 32, 10: b & MASK, 11: b >> 32, 12: 0x00180010}
    cases = {
        "s_and_b64 s[20:21], s[8:9], s[10:11]": a & b,
        "s_or_b64 s[20:21], s[8:9], -1": WIDE,
        "s_xor_b64 s[20:21], s[8:9], 7": a ^ 7,
        "s_andn2_b64 s[20:21], s[8:9], s[10:11]": a & ~b,
        "s_not_b64 s[20:21], s[8:9]": ~a & WIDE,
        "s_lshl_b64 s[20:21], s[8:9], 35": a << 35 & WIDE,
        "s_lshr_b64 s[20:21], s[8:9], 60": a >> 60,
        "s_ashr_i64 s[20:21], s[8:9], 60": signed(a, 64) >> 60 & WIDE,
        "s_bfe_u64 s[20:21], s[8:9], s12": field(a, 0x00180010, 64, False),
        "s_bfe_i64 s[20:21], s[8:9], 0x200020": field(a, 0x00200020, 64, True) & WIDE,
        "s_mov_b64 s[20:21], -2": -2 & WIDE,
        "s_brev_b64 s[20:21], s[8:9]": int(f"{a:064b}"[::-1], 2),
        "s_cselect_b64 s[20:21], s[8:9], s[10:11]": b,
    }
    for text, want in cases.items():
        low, high, _ = scalars(bench, f"s_cmp_lg_u32 s8, s8\n{text}", values, 2)
        assert low | high << 32 == want, text


def test_carries(bench):
    text = "s_add_u32 s20, s8, s10\ns_addc_u32 s21, s9, s11\ns_sub_u32 s22, s8, s10\ns_subb_u32 s23, s9, s11"
    a, b = 0x00000001_F0000000, 0x00000003_20000000
    got = scalars(bench, text, {8: a & MASK, 9: a >> 32, 10: b & MASK, 11: b >> 32}, 4)
    assert got[0] | got[1] << 32 == a + b
    assert got[2] | got[3] << 32 == a - b & WIDE
    assert got[4] == 1


def test_short_constants(bench):
    text = (
        "s_movk_i32 s20, 0xfffe\ns_movk_i32 s21, 0x10\ns_addk_i32 s21, 0xffff\ns_mov_b32 s22, 3\ns_mulk_i32 s22, 0xfffd"
    )
    assert scalars(bench, text, {}, 3)[:3] == [MASK - 1, 15, -9 & MASK]
    assert scalars(bench, "s_mov_b32 s20, 0\ns_bitset1_b32 s20, 5\ns_bitset0_b32 s20, 4", {})[0] == 32


@pytest.mark.parametrize(
    ("compare", "answers"),  # for (1, 2), (2, 2), (-1, 2)
    [
        ("s_cmp_eq_u32", "010"), ("s_cmp_lg_u32", "101"), ("s_cmp_gt_u32", "001"), ("s_cmp_le_u32", "110"),
        ("s_cmp_lt_i32", "101"), ("s_cmp_ge_i32", "010"), ("s_cmp_gt_i32", "000"),
    ],
)  # fmt: skip
def test_comparisons(bench, compare, answers):
    for value, answer in zip((1, 2, MASK), answers, strict=True):
        assert scalars(bench, f"s_mov_b32 s20, 0\n{compare} s8, s9", {8: value, 9: 2})[1] == int(answer)
        short = compare.replace("s_cmp", "s_cmpk")
        assert scalars(bench, f"s_mov_b32 s20, 0\n{short} s8, 0x2", {8: value})[1] == int(answer)


def test_bit_tests(bench):
    assert scalars(bench, "s_mov_b32 s20, 0\ns_bitcmp1_b32 s8, 4", {8: 0x10})[1] == 1
    assert scalars(bench, "s_mov_b32 s20, 0\ns_bitcmp0_b32 s8, 4", {8: 0x10})[1] == 0


@pytest.mark.parametrize(
    ("opcode", "function"),
    [
        ("and", lambda s, e: s & e),
        ("or", lambda s, e: s | e),
        ("xor", lambda s, e: s ^ e),
        ("andn2", lambda s, e: s & ~e),
        ("orn2", lambda s, e: s | ~e),
        ("andn1", lambda s, e: ~s & e),
        ("orn1", lambda s, e: ~s | e),
    ],
)
def test_saveexec(bench, opcode, function):
    old, source = 0xFF00FF, 0xF0F0F0
    text = f"""s_mov_b64 exec, {old:#x}
s_{opcode}_saveexec_b64 s[20:21], s[8:9]
s_mov_b64 s[22:23], exec
s_mov_b64 exec, -1"""
    got = scalars(bench, text, {8: source, 9: 0}, 4)
    new = function(source, old) & WIDE
    assert got == [old, 0, new & MASK, new >> 32, int(new != 0)]


# ---- control flow


def test_branches(bench):
    text = """s_mov_b32 s20, 0
s_cmp_eq_u32 s8, 5
s_cbranch_scc0 .L1
s_add_u32 s20, s20, 1
.L1:
s_cmp_eq_u32 s8, 5
s_cbranch_scc1 .L2
s_add_u32 s20, s20, 2
.L2:
s_mov_b64 vcc, 0
s_cbranch_vccz .L3
s_add_u32 s20, s20, 4
.L3:
s_cbranch_vccnz .L4
s_add_u32 s20, s20, 8
.L4:
s_cbranch_execz .L5
s_add_u32 s20, s20, 16
.L5:
s_branch .L6
s_add_u32 s20, s20, 32
.L6:
s_cmp_eq_u32 s20, 0"""
    assert scalars(bench, text, {8: 5})[0] == 1 + 8 + 16
    assert scalars(bench, text, {8: 6})[0] == 2 + 8 + 16


def test_loops_with_trip_counts_of_their_own(bench):
    text = """v_readfirstlane_b32 s8, v0
s_lshr_b32 s8, s8, 6
v_mov_b32_e32 v3, 0
.LA:
v_add_u32_e32 v3, v3, v2
s_sub_u32 s8, s8, 1
s_cmp_lg_u32 s8, -1
s_cbranch_scc1 .LA"""
    data = np.arange(256, dtype=np.uint32)
    np.testing.assert_array_equal(bench.run(text, data, waves=4), data * (data // 64 + 1))
    # The loop's four instructions ran 1 + 2 + 3 + 4 times; before it are four and two (with the load's), behind two.
    assert bench.report.wave_instructions["vector"] == 4 * 3 + 10
    assert bench.report.waves == 4


def test_diverged_waves_meet_at_the_barrier(bench):
    text = """v_readfirstlane_b32 s8, v0
s_cmp_lt_u32 s8, 64
s_cbranch_scc1 .LA
v_mov_b32_e32 v3, 1
s_barrier
ds_read_b32 v3, v1
s_branch .LB
.LA:
v_mov_b32_e32 v3, v2
ds_write_b32 v1, v3
ds_write_b32 v1, v3 offset:256
s_barrier
.LB:
v_add_u32_e32 v3, s8, v3"""
    data = np.arange(1000, 1128, dtype=np.uint32)
    want = np.concatenate([data[:64], data[:64] + 64])
    np.testing.assert_array_equal(bench.run(text, data, waves=2, lds_bytes=512), want)


def test_waves_that_have_ended_do_not_hold_up_a_barrier(bench):
    text = """v_readfirstlane_b32 s8, v0
v_mov_b32_e32 v3, v2
s_cmp_lt_u32 s8, 64
s_cbranch_scc0 .LA
s_endpgm
.LA:
s_barrier"""
    data = np.arange(128, dtype=np.uint32)
    np.testing.assert_array_equal(bench.run(text, data, waves=2), np.where(data < 64, 0, data))


def test_a_wave_that_spins_lets_the_other_pass(bench):
    text = """v_readfirstlane_b32 s8, v0
v_mov_b32_e32 v4, 0
v_mov_b32_e32 v3, v2
s_cmp_lt_u32 s8, 64
s_cbranch_scc0 .LB
.LA:
global_load_dword v5, v4, s[4:5] offset:256
v_readfirstlane_b32 s9, v5
s_cmp_lg_u32 s9, 77
s_cbranch_scc1 .LA
s_branch .LC
.LB:
v_mov_b32_e32 v5, 77
global_store_dword v4, v5, s[4:5] offset:256
.LC:"""
    data = np.arange(128, dtype=np.uint32)
    np.testing.assert_array_equal(bench.run(text, data, waves=2), data)


def test_workgroups_that_spin_at_barriers_let_the_others_pass(bench):
    """Each of four workgroups of two waves takes a lock in turn; those that wait meet at a barrier in their loop."""
    text = """s_load_dwordx4 s[8:11], s[0:1], 0x0
v_mov_b32_e32 v1, 0
v_mov_b32_e32 v4, 1
v_mov_b32_e32 v5, 0
.LA:
s_barrier
v_readfirstlane_b32 s5, v0
v_mov_b32_e32 v6, 0
s_cmp_lg_u32 s5, 0
s_cbranch_scc1 .LB
s_mov_b64 exec, 1
global_atomic_cmpswap v6, v1, v[4:5], s[10:11] sc0
ds_write_b32 v1, v6
s_mov_b64 exec, -1
.LB:
s_barrier
ds_read_b32 v6, v1
v_readfirstlane_b32 s6, v6
s_cmp_eq_u32 s6, 1
s_cbranch_scc1 .LA
s_mov_b64 exec, 1
global_load_dword v7, v1, s[10:11] offset:4
v_add_u32_e32 v7, 1, v7
global_store_dword v1, v7, s[10:11] offset:4
s_barrier
v_mov_b32_e32 v8, 0
global_store_dword v1, v8, s[10:11]
s_endpgm"""
    out = bench.bare(text, np.zeros(1, np.uint32), np.zeros(2, np.uint32), waves=2, grid=(4, 1, 1), lds_bytes=4)
    assert out.tolist() == [0, 4]


def test_workgroups_and_work_items_know_their_numbers(bench):
    """A grid of 3 x 2 x 2 workgroups of two waves: x, y, z in s2, s3, s4, the work-item in v0; in several batches."""
    text = """s_load_dwordx4 s[8:11], s[0:1], 0x0
s_mul_i32 s12, s4, 2
s_add_u32 s12, s12, s3
s_mul_i32 s12, s12, 3
s_add_u32 s12, s12, s2
s_lshl_b32 s13, s12, 9
s_lshl_b32 s14, s2, 8
s_or_b32 s14, s14, s3
s_lshl_b32 s14, s14, 8
s_or_b32 s14, s14, s4
v_lshlrev_b32_e32 v1, 2, v0
v_add_u32_e32 v1, s13, v1
v_lshl_add_u32 v2, v0, 24, s14
global_store_dword v1, v2, s[10:11]
s_endpgm"""
    out = bench.bare(text, np.zeros(1, np.uint32), np.zeros((2, 2, 3, 128), np.uint32), waves=2, grid=(3, 2, 2))
    z, y, x, item = np.indices((2, 2, 3, 128))
    np.testing.assert_array_equal(out.reshape(2, 2, 3, 128), (item << 24 | x << 16 | y << 8 | z) & MASK)


def test_batches_of_workgroups_have_lds_of_their_own(bench):
    text = """s_load_dwordx4 s[8:11], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 2, v0
v_mov_b32_e32 v2, s2
ds_write_b32 v1, v2
s_barrier
ds_read_b32 v3, v1
s_lshl_b32 s12, s2, 8
v_add_u32_e32 v1, s12, v1
global_store_dword v1, v3, s[10:11]
s_endpgm"""
    out = bench.bare(text, np.zeros(1, np.uint32), np.zeros((600, 64), np.uint32), grid=(600, 1, 1), lds_bytes=256)
    np.testing.assert_array_equal(out.reshape(600, 64), np.broadcast_to(np.arange(600)[:, None], (600, 64)))
