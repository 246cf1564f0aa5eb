"""Matrix instructions, against products spelt out element by element from the documented layout."""

import numpy as np
import pytest
import torch

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def output_place(size: int, register: int, lane: int) -> tuple[int, int]:
    """The (row, column) of an output register of a lane."""
    groups = 64 // size
    return 4 * (register // 4 * groups + lane // size) + register % 4, lane % size


def assert_sum(got, terms, adding):
    """A sum of exact terms, in whatever order f32 added them: off by no more than the rounding of each addition."""
    assert got == pytest.approx(sum(terms), rel=0, abs=adding * 2.0**-24 * sum(map(abs, terms)))


@pytest.mark.parametrize(("size", "depth"), [(16, 128), (32, 64)])
@pytest.mark.parametrize("bytes_picked", [(0, 0), (1, 2), (3, 1)])
@pytest.mark.parametrize("exact", [True, False])
def test_scaled_fp4(bench, random, size, depth, bytes_picked, exact):
    """Lane l holds row (A) or column (B) l % size, k from 32 * (l // size) on, and the scale of its 32 values.

    exact: the scales are so close together that f32 holds every sum of such terms.
    """
    groups, registers = 64 // size, size * size // 64
    a, b = (random.integers(0, 256, (64, 16), dtype=np.uint8) for _ in range(2))
    lowest, above = (126, 129) if exact else (120, 134)
    scales = [random.integers(lowest, above, (64, 4), dtype=np.uint8) for _ in range(2)]
    low = ",".join(str(byte & 1) for byte in bytes_picked)
    high = ",".join(str(byte >> 1) for byte in bytes_picked)
    last = 19 + registers
    text = (
        f"v_mfma_scale_f32_{size}x{size}x{depth}_f8f6f4 v[20:{last}], v[10:13], v[14:17], 0, v18, v19 "
        f"op_sel:[{low},0] op_sel_hi:[{high},0] cbsz:4 blgp:4"
    )
    got = bench.compute(text, a, b, *scales, results=registers).view(np.float32)
    codes_a, codes_b = (np.stack([x & 15, x >> 4], -1).reshape(64, 32) for x in (a, b))
    for lane in range(64):
        for register in range(registers):
            row, column = output_place(size, register, lane)
            terms = []
            for group in range(groups):
                of_a, of_b = group * size + row, group * size + column
                scale_a = int(scales[0][of_a, bytes_picked[0]])
                scale = 2.0 ** (scale_a - 127 + int(scales[1][of_b, bytes_picked[1]]) - 127)
                terms += [E2M1[x] * E2M1[y] * scale for x, y in zip(codes_a[of_a], codes_b[of_b], strict=True)]
            assert_sum(got[lane, register], terms, 0 if exact else depth)


def test_scaled_fp4_adds_in_place(bench, random):
    """C is the destination itself, and A's scale the largest there is short of NaN."""
    ones = np.full((64, 16), 0x22, np.uint8)  # 1.0 everywhere
    addend = random.normal(size=(64, 4)).astype(np.float32)
    scale_a, scale_b = np.full(64, 254, np.uint32), np.full(64, 0, np.uint32)
    text = """v_mov_b32_e32 v20, v18
v_mov_b32_e32 v21, v19
v_mov_b32_e32 v22, v6
v_mov_b32_e32 v23, v7
v_mfma_scale_f32_16x16x128_f8f6f4 v[20:23], v[10:13], v[14:17], v[20:23], v8, v9 op_sel_hi:[0,0,0] cbsz:4 blgp:4"""
    moved = "v_mov_b32_e32 v6, v20\nv_mov_b32_e32 v7, v21\nv_mov_b32_e32 v8, v22\nv_mov_b32_e32 v9, v23\n"
    got = bench.compute(moved + text, ones, ones, addend, scale_a, scale_b, results=4).view(np.float32)
    np.testing.assert_array_equal(got, np.float32(128) + addend)  # 2**127 * 2**-127 = 1


def test_scale_of_nan(bench):
    codes = np.full((64, 16), 0x22, np.uint8)
    scale = np.where(np.arange(64) == 3, 255, 127).astype(np.uint32)
    text = "v_mfma_scale_f32_16x16x128_f8f6f4 v[20:23], v[10:13], v[14:17], 0, v18, v19 op_sel_hi:[0,0,0] cbsz:4 blgp:4"
    got = bench.compute(text, codes, codes, scale, np.full(64, 127, np.uint32), results=4).view(np.float32)
    rows = np.array([[output_place(16, register, lane)[0] for register in range(4)] for lane in range(64)])
    np.testing.assert_array_equal(np.isnan(got), rows == 3)
    assert (got[rows != 3] == 128).all()


@pytest.mark.parametrize("form", ["bf16", "f16"])
@pytest.mark.parametrize(("size", "depth"), [(16, 16), (16, 32), (32, 8), (32, 16)])
def test_halves(bench, random, size, depth, form):
    per_lane, registers = size * depth // 64, size * size // 64
    words = per_lane // 2
    dtype = torch.bfloat16 if form == "bf16" else torch.float16
    a, b = (torch.from_numpy(random.integers(-8, 9, (64, per_lane)) / 4).to(dtype) for _ in range(2))
    name = f"v_mfma_f32_{size}x{size}x{depth}_{form}"
    text = f"{name} v[20:{19 + registers}], v[10:{9 + words}], v[{10 + words}:{9 + 2 * words}], 1.0"
    bits = [x.view(torch.int16).numpy().view(np.uint32) for x in (a, b)]
    got = bench.compute(text, *bits, results=registers).view(np.float32)
    # Lane l holds row l % size and the k from (l // size) * per_lane on.
    left, right = (
        x.float().numpy().reshape(64 // size, size, per_lane).swapaxes(0, 1).reshape(size, -1) for x in (a, b)
    )
    want = left @ right.T + 1
    for lane in range(64):
        assert got[lane].tolist() == [want[output_place(size, r, lane)] for r in range(registers)]


@pytest.mark.parametrize("picked", [None, 0, 5])
def test_sixteen_blocks(bench, random, picked):
    """16 products of 4 x 4; cbsz:4 gives A's block abid to all of them."""
    a, b = (random.integers(-8, 9, (16, 4, 4)).astype(np.float32) for _ in range(2))  # block, row, k
    bits = [(x.view(np.uint32) >> 16).astype(np.uint16).reshape(64, 4).view(np.uint32) for x in (a, b)]
    modifiers = "" if picked is None else f" cbsz:4 abid:{picked}"
    text = f"v_mfma_f32_4x4x4_16b_bf16 v[20:23], v[10:11], v[12:13], 0{modifiers}"
    got = bench.compute(text, *bits, results=4).view(np.float32)
    left = a if picked is None else np.broadcast_to(a[picked], a.shape)
    want = left @ b.swapaxes(1, 2)  # block, row, column
    np.testing.assert_array_equal(got.reshape(16, 4, 4), want.swapaxes(1, 2))


@pytest.mark.parametrize(("a_form", "b_form"), [("fp8", "fp8"), ("bf8", "fp8"), ("fp8", "bf8")])
def test_eight_bit_floats(bench, random, a_form, b_form):
    kinds = {"fp8": torch.float8_e4m3fn, "bf8": torch.float8_e5m2}
    values = [torch.from_numpy(random.integers(-8, 9, (64, 8)) / 4).to(kinds[form]) for form in (a_form, b_form)]
    text = f"v_mfma_f32_16x16x32_{a_form}_{b_form} v[20:23], v[10:11], v[12:13], 0"
    got = bench.compute(text, *(v.view(torch.uint8).numpy().view(np.uint32) for v in values), results=4).view(
        np.float32
    )
    left, right = (v.float().numpy().reshape(4, 16, 8).swapaxes(0, 1).reshape(16, 32) for v in values)
    want = left @ right.T
    for lane in range(64):
        assert got[lane].tolist() == [want[output_place(16, r, lane)] for r in range(4)]


def test_exec_is_ignored_and_stale_scales_are_used(bench):
    """What Triton 3.6.0 does under a masked store's branch: the scales of lanes that are off were never made."""
    codes = np.full((64, 16), 0x22, np.uint8)
    text = """v_mov_b32_e32 v18, 127
v_mov_b32_e32 v19, 127
s_mov_b64 exec, 0xffff
v_mov_b32_e32 v18, 128
v_mfma_scale_f32_16x16x128_f8f6f4 v[20:23], v[10:13], v[14:17], 0, v18, v19 op_sel_hi:[0,0,0] cbsz:4 blgp:4
s_mov_b64 exec, -1"""
    text = text.replace("127", "0x7f").replace("128", "0x80", 1).replace("16x16x0x80", "16x16x128")
    got = bench.compute(text, codes, codes, results=4).view(np.float32)
    assert (got == 32 * 2 + 96).all()  # only the first 32 of 128 k have the new scale
    (finding,) = bench.report.findings
    assert (finding.sanitizer, finding.count) == ("exec", 1)
    assert finding.instruction.startswith("v_mfma_scale_f32_16x16x128_f8f6f4 ")
    assert finding.sentence.startswith("scaled MFMA ran with lanes switched off")
    assert "fixed in 3.7.1" in finding.sentence


def test_no_warning_with_all_lanes_on(bench):
    codes = np.full((64, 16), 0x22, np.uint8)
    bench.compute("v_mfma_scale_f32_16x16x128_f8f6f4 v[20:23], v[10:13], v[10:13], 0, v10, v10 cbsz:4 blgp:4", codes)
    assert not bench.report.findings
    assert bench.report.wave_instructions["matrix"] == 1


@pytest.mark.parametrize("shared", ["a", "b", "both", "neither"])
def test_waves_that_share_a_matrix(bench, random, shared):
    """16 waves, whose A, B or both have two distinct values only."""
    tiles = {name: random.integers(-8, 9, (16, 16, 32)).astype(np.float32) for name in "ab"}
    for name in tiles:
        if shared in (name, "both"):
            tiles[name] = tiles[name][np.arange(16) // 3 % 2]
    # Lane l of a wave holds row l % 16 and the 8 k from l // 16 * 8 on, in 4 words.
    words = [
        (tile.view(np.uint32) >> 16)
        .astype(np.uint16)
        .reshape(16, 16, 4, 8)
        .swapaxes(1, 2)
        .reshape(1024, 8)
        .view(np.uint32)
        for tile in tiles.values()
    ]
    text = """s_load_dwordx4 s[4:7], s[0:1], 0x0
v_lshlrev_b32_e32 v4, 5, v0
v_lshlrev_b32_e32 v5, 4, v0
global_load_dwordx4 v[10:13], v4, s[4:5]
global_load_dwordx4 v[14:17], v4, s[4:5] offset:16
v_mfma_f32_16x16x32_bf16 v[20:23], v[10:13], v[14:17], 0
global_store_dwordx4 v5, v[20:23], s[6:7]
s_endpgm"""
    out = bench.bare(text, np.concatenate(words, 1), np.zeros((1024, 4), np.uint32), waves=16).view(np.float32)
    want = tiles["a"] @ tiles["b"].swapaxes(1, 2)  # wave, row, column
    np.testing.assert_array_equal(out.reshape(16, 4, 16, 4), want.reshape(16, 4, 4, 16).swapaxes(2, 3))
