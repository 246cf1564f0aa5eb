"""Control flow: branches, loops, barriers, waves that diverge. What each instruction does is in tests/instructions."""

import numpy as np

MASK = 0xFFFFFFFF


def scalars(bench, text: str, values: dict[int, int]) -> int:
    """Run scalar instructions with registers set first; gives s20."""
    before = "\n".join(f"s_mov_b32 s{register}, {value:#x}" for register, value in values.items())
    got = bench.compute(f"{before}\n{text}\nv_mov_b32_e32 v20, s20")
    assert (got == got[0]).all()
    return int(got[0, 0])


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
    assert scalars(bench, text, {8: 5}) == 1 + 8 + 16
    assert scalars(bench, text, {8: 6}) == 2 + 8 + 16


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
    # Those that wait let the one with the lock pass soon.
    assert sum(bench.report.wave_instructions.values()) < 10_000


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
