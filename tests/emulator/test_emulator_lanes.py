"""Instructions that move values across lanes."""

import numpy as np
import pytest

X = np.random.default_rng(1).integers(0, 2**32, 64, dtype=np.uint32)
LANE = np.arange(64)
ROW, WITHIN = LANE & 48, LANE & 15


@pytest.mark.parametrize(
    ("control", "source", "has_source"),
    [
        ("quad_perm:[2,3,0,1]", LANE ^ 2, LANE >= 0),
        ("row_shl:3", LANE + 3, WITHIN < 13),
        ("row_shr:1", LANE - 1, WITHIN > 0),
        ("row_ror:4", ROW | (WITHIN - 4) & 15, LANE >= 0),
        ("row_mirror", ROW | 15 - WITHIN, LANE >= 0),
        ("row_half_mirror", LANE ^ 7, LANE >= 0),
        ("row_newbcast:5", ROW | 5, LANE >= 0),
        ("row_bcast:15", ROW - 1, LANE >= 16),
        ("row_bcast:31", np.full(64, 31), LANE >= 32),
        ("wave_shr:1", LANE - 1, LANE > 0),
    ],
)
@pytest.mark.parametrize("bound", [False, True])
def test_data_parallel_primitives(bench, control, source, has_source, bound):
    """Without a source a lane reads 0 when bound_ctrl is given, else it is not written."""
    suffix = " bound_ctrl:0" if bound else ""
    got = bench.run(f"v_mov_b32_e32 v3, 5\nv_mov_b32_dpp v3, v2 {control} row_mask:0xf bank_mask:0xf{suffix}", X)
    np.testing.assert_array_equal(got, np.where(has_source, X[np.where(has_source, source, 0)], 0 if bound else 5))


def test_dpp_masks_and_arithmetic(bench):
    got = bench.run("v_mov_b32_e32 v3, 5\nv_add_u32_dpp v3, v2, v0 row_bcast:15 row_mask:0xa bank_mask:0x3", X)
    written = (LANE // 16 % 2 == 1) & (WITHIN < 8)
    np.testing.assert_array_equal(got, np.where(written, X[np.maximum(ROW - 1, 0)] + LANE.astype(np.uint32), 5))


def test_a_comparison_of_what_came_by_dpp_in_several_waves(bench):
    text = """v_mov_b32_dpp v4, v2 row_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:1
v_cmp_eq_u32_e32 vcc, 0, v4
v_cndmask_b32_e64 v3, 0, 1, vcc"""
    got = bench.run(text, np.arange(192, dtype=np.uint32) + 1, waves=3)
    assert got.tolist() == [int(lane % 16 == 15) for lane in range(192)]


def test_dpp_does_not_read_lanes_that_are_off(bench):
    text = """v_mov_b32_e32 v3, 5
s_mov_b64 exec, 0xff
v_mov_b32_dpp v3, v2 row_shl:1 row_mask:0xf bank_mask:0xf
s_mov_b64 exec, -1"""
    np.testing.assert_array_equal(bench.run(text, X), np.where(LANE < 7, np.roll(X, -1), 5))


@pytest.mark.parametrize(("block", "odd"), [(16, LANE & 16), (32, LANE & 32)])
def test_swaps_of_blocks(bench, block, odd):
    text = f"v_mov_b32_e32 v3, v2\nv_mov_b32_e32 v4, v0\nv_permlane{block}_swap_b32_e32 v3, v4"
    np.testing.assert_array_equal(bench.run(text, X), np.where(odd, LANE - block, X))
    swapped = bench.run(f"{text}\nv_mov_b32_e32 v3, v4", X)
    np.testing.assert_array_equal(swapped, np.where(odd, LANE, np.roll(X, -block)))


def test_register_swap(bench):
    np.testing.assert_array_equal(bench.run("v_mov_b32_e32 v3, 9\nv_swap_b32 v2, v3", X), X)


def test_single_lanes(bench):
    np.testing.assert_array_equal(bench.run("v_readlane_b32 s8, v2, 5\nv_mov_b32_e32 v3, s8", X), np.full(64, X[5]))
    got = bench.run("v_mov_b32_e32 v3, v0\nv_writelane_b32 v3, s2, 9", X)
    np.testing.assert_array_equal(got, np.where(LANE == 9, 0, LANE))
    text = "s_mov_b64 exec, 0xf00\nv_readfirstlane_b32 s8, v2\ns_mov_b64 exec, -1\nv_mov_b32_e32 v3, s8"
    np.testing.assert_array_equal(bench.run(text, X), np.full(64, X[8]))


def test_permutations_through_lds_hardware(bench):
    got = bench.run("v_xor_b32_e32 v4, 12, v1\nds_bpermute_b32 v3, v4, v2", X)
    np.testing.assert_array_equal(got, X[LANE ^ 3])
    got = bench.run("v_add_u32_e32 v4, 4, v1\nds_permute_b32 v3, v4, v2", X)
    np.testing.assert_array_equal(got, np.roll(X, 1))


@pytest.mark.parametrize(
    ("offset", "source"),
    [
        (0x041F, LANE ^ 1),  # and 31, or 0, xor 1
        (0x7C1F, LANE ^ 31),
        (0x0018, LANE & 32 | LANE & 24),
        (0x80B1, LANE ^ 1),  # quads: 1, 0, 3, 2
        ("swizzle(SWAP,16)", LANE ^ 16),
        ("swizzle(REVERSE,8)", LANE ^ 7),
        ("swizzle(BROADCAST,4,2)", LANE & 60 | 2),
        ("swizzle(QUAD_PERM,3,2,1,0)", LANE ^ 3),
        ('swizzle(BITMASK_PERM,"01pip")', LANE & 32 | 8 | LANE & 4 | ~LANE & 2 | LANE & 1),
    ],
)
def test_swizzle(bench, offset, source):
    np.testing.assert_array_equal(bench.run(f"ds_swizzle_b32 v3, v2 offset:{offset}", X), X[source])


def test_lanes_that_are_off_stay(bench):
    text = """v_mov_b32_e32 v3, 1
v_cmp_gt_u32_e64 s[8:9], 20, v0
s_and_saveexec_b64 s[10:11], s[8:9]
v_mov_b32_e32 v3, v2
s_mov_b64 exec, s[10:11]"""
    np.testing.assert_array_equal(bench.run(text, X), np.where(LANE < 20, X, 1))


def test_cmpx_narrows_exec(bench):
    text = "v_mov_b32_e32 v3, 1\nv_cmpx_gt_u32_e32 vcc, 20, v0\nv_mov_b32_e32 v3, v2\ns_mov_b64 exec, -1"
    np.testing.assert_array_equal(bench.run(text, X), np.where(LANE < 20, X, 1))
