"""Vector floating-point instructions and conversions."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

INF, NAN, TINY = np.inf, np.nan, 1e-45
CORNERS = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 2.5, -2.5, 3.4e38, -3.4e38, 1e-38, TINY, -TINY, INF, -INF, NAN]
A = np.array(CORNERS * 4, np.float32)
B = np.repeat(np.array(CORNERS, np.float32), 4)
C = np.array([1.0, -3.0, 0.0, 1e30] * 16, np.float32)


def same(got, want):
    """Equal bit for bit, any NaN being as good as any other."""
    got, want = np.asarray(got).view(np.float32).reshape(-1), np.asarray(want, np.float32).reshape(-1)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    fine = ~np.isnan(want)
    np.testing.assert_array_equal(got[fine].view(np.uint32), want[fine].view(np.uint32))


def maximum(a, b):
    if math.isnan(a):
        return b
    if math.isnan(b):
        return a
    if a == b == 0:
        return -0.0 if math.copysign(1, a) < 0 and math.copysign(1, b) < 0 else 0.0
    return max(a, b)


def minimum(a, b):
    return -maximum(-a, -b)


@pytest.mark.parametrize(
    ("opcode", "function"),
    [
        ("v_add_f32_e32", np.add),
        ("v_sub_f32_e32", np.subtract),
        ("v_subrev_f32_e32", lambda a, b: b - a),
        ("v_mul_f32_e32", np.multiply),
        ("v_max_f32_e32", np.vectorize(maximum)),
        ("v_min_f32_e32", np.vectorize(minimum)),
    ],
)
def test_two_sources(bench, opcode, function):
    with np.errstate(all="ignore"):
        same(bench.compute(f"{opcode} v20, v10, v11", A, B), function(A, B))


@pytest.mark.parametrize(
    ("opcode", "function"),
    [
        ("v_rndne_f32_e32", np.rint),
        ("v_trunc_f32_e32", np.trunc),
        ("v_floor_f32_e32", np.floor),
        ("v_ceil_f32_e32", np.ceil),
        ("v_frexp_mant_f32_e32", lambda a: np.where(np.isfinite(a), np.frexp(a)[0], a)),
    ],
)
def test_one_source(bench, opcode, function):
    with np.errstate(all="ignore"):
        same(bench.compute(f"{opcode} v20, v10", A), function(A))


def test_source_and_output_modifiers(bench):
    text = """v_add_f32_e64 v20, -v10, |v11|
v_max_f32_e64 v21, -|v10|, v11
v_mul_f32_e64 v22, v10, 0.5
v_add_f32_e64 v23, v10, 1.0 clamp
v_add_f32_e32 v24, 0x40490fdb, v10"""
    got = bench.compute(text, A, B, results=5).view(np.float32)
    with np.errstate(all="ignore"):
        same(got[:, 0], -A + np.abs(B))
        same(got[:, 1], np.vectorize(maximum)(-np.abs(A), B))
        same(got[:, 2], A * np.float32(0.5))
        same(got[:, 3], np.clip(np.nan_to_num(A + 1, nan=0.0), 0, 1))
        same(got[:, 4], A + np.float32(3.14159274))


def test_fused_multiply_add_rounds_once(bench):
    eps = np.float32(2**-12)
    a = np.full(64, 1 + eps, np.float32)
    c = np.float32(2.0**-60) * np.arange(-32, 32, dtype=np.float32)
    # (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24 lies between two floats; the smallest addend decides.
    got = bench.compute("v_fma_f32 v20, v10, v10, v11", a, c).view(np.float32)[:, 0]
    low, high = np.float32(1 + 2**-11), np.float32(1 + 2**-11 + 2**-23)
    assert got.tolist() == [float(low if k <= 0 else high) for k in range(-32, 32)]
    text = "v_mov_b32_e32 v20, v12\nv_fmac_f32_e32 v20, v10, v11\nv_pk_fma_f32 v[21:22], v[10:11], v[10:11], v[12:13]"
    got = bench.compute(text, A, B, C, C, results=3).view(np.float32)
    with np.errstate(all="ignore"):
        wide = [x.astype(np.longdouble) for x in (A, B, C)]
        same(got[:, 0], (wide[0] * wide[1] + wide[2]).astype(np.float32))
        same(got[:, 1], (wide[0] * wide[0] + wide[2]).astype(np.float32))
        same(got[:, 2], (wide[1] * wide[1] + wide[2]).astype(np.float32))


def test_maximum3_lets_nan_win(bench):
    text = "v_maximum3_f32 v20, v10, v11, v12\nv_minimum3_f32 v21, v10, v11, v12\nv_max3_f32 v22, v10, v11, v12"
    got = bench.compute(text, A, B, C, results=3).view(np.float32)
    for lane in range(64):
        a, b, c = float(A[lane]), float(B[lane]), float(C[lane])
        nan = math.isnan(a) or math.isnan(b)
        same(got[lane, 0], NAN if nan else maximum(maximum(a, b), c))
        same(got[lane, 1], NAN if nan else minimum(minimum(a, b), c))
        same(got[lane, 2], maximum(maximum(a, b), c))


def test_packed_singles(bench):
    text = """v_pk_mul_f32 v[20:21], v[10:11], v[12:13] op_sel:[1,0] op_sel_hi:[0,1]
v_pk_add_f32 v[22:23], v[10:11], v[12:13] neg_lo:[0,1] neg_hi:[1,0]
v_pk_mov_b32 v[24:25], v[10:11], v[12:13] op_sel:[1,0]"""
    got = bench.compute(text, A, B, C, A, results=6).view(np.float32)
    with np.errstate(all="ignore"):
        same(got[:, 0], B * C)
        same(got[:, 1], A * A)
        same(got[:, 2], A - C)
        same(got[:, 3], -B + A)
        same(got[:, 4], B)
        same(got[:, 5], C)


def test_division_sequence_divides_right(bench, random):
    """The sequence that LLVM emits for a / b."""
    text = """v_div_scale_f32 v30, s[8:9], v11, v11, v10
v_rcp_f32_e32 v31, v30
v_div_scale_f32 v32, vcc, v10, v11, v10
v_fma_f32 v33, -v30, v31, 1.0
v_fmac_f32_e32 v31, v33, v31
v_mul_f32_e32 v33, v32, v31
v_fma_f32 v34, -v30, v33, v32
v_fmac_f32_e32 v33, v34, v31
v_fma_f32 v34, -v30, v33, v32
v_div_fmas_f32 v31, v34, v31, v33
v_div_fixup_f32 v20, v31, v11, v10"""
    with np.errstate(all="ignore"):
        same(bench.compute(text, A, B), A / B)
        numbers = random.integers(0, 2**32, (2, 64), dtype=np.uint32).view(np.float32)
        same(bench.compute(text, numbers[0], numbers[1]), numbers[0] / numbers[1])


def test_classes(bench):
    """A bit for each class, from signalling NaN to plus infinity."""
    text = "v_cmp_class_f32_e32 vcc, v10, v11\nv_cndmask_b32_e64 v20, 0, 1, vcc"
    values = [NAN, -INF, -1.0, -TINY, -0.0, 0.0, TINY, 1.0, INF]
    for number, value in enumerate(values, 1):
        sets = np.array([1 << (lane % 10) for lane in range(64)], np.uint32)
        got = bench.compute(text, np.full(64, value, np.float32), sets)[:, 0]
        assert got.tolist() == [int(lane % 10 == number) for lane in range(64)]


@pytest.mark.parametrize(
    ("name", "answers"),  # for less, equal, greater, unordered
    [
        ("lt", "1000"), ("eq", "0100"), ("le", "1100"), ("gt", "0010"), ("ge", "0110"), ("lg", "1010"), ("o", "1110"),
        ("u", "0001"), ("neq", "1011"), ("nlt", "0111"), ("nge", "1001"), ("nlg", "0101"), ("tru", "1111"),
    ],
)  # fmt: skip
def test_comparisons(bench, name, answers):
    a, b = np.array([1, 2, 3, NAN] * 16, np.float32), np.full(64, 2, np.float32)
    got = bench.compute(f"v_cmp_{name}_f32_e64 s[8:9], v10, v11\nv_cndmask_b32_e64 v20, 0, 1, s[8:9]", a, b)[:, 0]
    assert got.tolist() == [int(x) for x in answers] * 16


def test_conversions_to_integers_saturate(bench):
    values = np.array([0.0, -0.7, 2.9, -2.9, 3e9, -3e9, 5e9, NAN] * 8, np.float32)
    text = "v_cvt_i32_f32_e32 v20, v10\nv_cvt_u32_f32_e32 v21, v10"
    got = bench.compute(text, values, results=2)
    ints = [0, 0, 2, -2, 2**31 - 1, -(2**31), 2**31 - 1, 0]
    unsigned = [0, 0, 2, 0, 3_000_000_000, 0, 2**32 - 1, 0]
    np.testing.assert_array_equal(got[:8, 0].view(np.int32), ints)
    assert got[:8, 1].tolist() == unsigned


def test_conversions_from_integers(bench, random):
    words = random.integers(0, 2**32, 64, dtype=np.uint32)
    text = "v_cvt_f32_u32_e32 v20, v10\nv_cvt_f32_i32_e32 v21, v10\nv_cvt_f32_ubyte2_e32 v22, v10"
    got = bench.compute(text, words, results=3)
    same(got[:, 0], words.astype(np.float32))
    same(got[:, 1], words.view(np.int32).astype(np.float32))
    same(got[:, 2], (words >> 16 & 255).astype(np.float32))


def test_bf16_and_f16_round_as_torch_does(bench, random):
    edges = np.array([0x3F808000, 0x3F818000, 0x3F808001, 0x7F7FFFFF, 1, 0x80008000, 0x7F800000, 0xFF800000], np.uint32)
    x = np.concatenate([edges, random.integers(0, 0x7F800000, 56, dtype=np.uint32)])
    text = "v_cvt_pk_bf16_f32 v20, v10, v11\nv_cvt_pk_f16_f32 v21, v10, v11\nv_cvt_f32_bf16_e32 v22, v20"
    got = bench.compute(text, x, x[::-1].copy(), results=3)
    number = torch.from_numpy(x.view(np.float32))
    for column, dtype in ((0, torch.bfloat16), (1, torch.float16)):
        bits = number.to(dtype).view(torch.int16).numpy().view(np.uint16).astype(np.uint32)
        np.testing.assert_array_equal(got[:, column], bits | bits[::-1] << 16)
    same(got[:, 2], number.bfloat16().float().numpy())


# ---- FP4

GRID = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]


def nearest_code(x: float) -> int:
    """e2m1 by the definition: nearest, of two as near the even code; NaN as infinity."""
    magnitude = 6.0 if math.isnan(x) else min(abs(x), 6.0)
    code = min(range(8), key=lambda c: (abs(magnitude - GRID[c]), c % 2))
    return code | 8 * (math.copysign(1, x) < 0)


def boundary_values() -> np.ndarray:
    """Every code's value, every middle between two, their neighbours, tiny and huge ones, of both signs."""
    points = np.array(GRID + [(a + b) / 2 for a, b in pairwise(GRID)] + [1e-30, TINY, 7, 1e30, INF])
    points = points.astype(np.float32)
    both = np.concatenate(
        [points, np.nextafter(points, np.float32(-1)), np.nextafter(points, np.float32(INF)), [np.float32(NAN)]]
    )
    return np.concatenate([both, -both]).astype(np.float32)


@pytest.mark.parametrize("exponent", [0, 1, 2, 60, 126, 127, 128, 200, 252, 253, 254])
def test_fp4_conversion_at_every_boundary(bench, exponent):
    """Scaled by 2**(exponent - 127); only the scale's exponent field counts."""
    x = boundary_values()
    with np.errstate(all="ignore"):
        scaled = np.ldexp(x.astype(np.float64), exponent - 127).astype(np.float32)
    back = np.ldexp(scaled.astype(np.float64), 127 - exponent)  # what is left where the scaling lost bits
    scale = np.full(64, exponent << 23 | 0x155555, np.uint32)
    for start in range(0, len(x), 64):
        part = np.resize(scaled[start : start + 64], 64)
        want = [nearest_code(float(v)) for v in np.resize(back[start : start + 64], 64)]
        got = bench.compute("v_mov_b32_e32 v20, 0\nv_cvt_scalef32_pk_fp4_f32 v20, v10, v10, v11", part, scale)[:, 0]
        assert got.tolist() == [c | c << 4 for c in want]


def test_fp4_conversion_writes_one_byte(bench):
    convert = "v_cvt_scalef32_pk_fp4_f32"
    text = "\n".join(
        f"v_mov_b32_e32 v{20 + k}, 0x11223344\n{convert} v{20 + k}, 1.0, -4.0, 2.0 op_sel:[0,0,{k & 1},{k >> 1}]"
        for k in range(4)
    )
    got = bench.compute(text, results=4)
    assert [hex(x) for x in got[0]] == ["0x112233c1", "0x1122c144", "0x11c13344", "0xc1223344"]


def test_fp4_conversion_of_bf16_pairs(bench, random):
    x = random.integers(0, 2**32, 64, dtype=np.uint32)
    scale = np.full(64, 1.0, np.float32)
    got = bench.compute("v_mov_b32_e32 v20, 0\nv_cvt_scalef32_pk_fp4_bf16 v20, v10, v11", x, scale)[:, 0]
    low, high = (x << 16).view(np.float32), (x & 0xFFFF0000).view(np.float32)
    assert got.tolist() == [
        nearest_code(float(a)) | nearest_code(float(b)) << 4 for a, b in zip(low, high, strict=True)
    ]


@pytest.mark.parametrize("byte", range(4))
def test_every_fp4_pair_converts_back(bench, byte):
    select = f"op_sel:[{byte & 1},{byte >> 1},0]"
    values = np.array(GRID + [-x for x in GRID], np.float32)
    for start in range(0, 256, 64):
        codes = np.arange(start, start + 64, dtype=np.uint32)
        scale = np.full(64, 8.0, np.float32)
        text = (
            f"v_cvt_scalef32_pk_bf16_fp4 v20, v10, v11 {select}\nv_cvt_scalef32_pk_f32_fp4 v[21:22], v10, v11 {select}"
        )
        got = bench.compute(text, codes << 8 * byte | 0x77777777 & ~(255 << 8 * byte), scale, results=3)
        same(got[:, 1], values[codes & 15] * 8)
        same(got[:, 2], values[codes >> 4] * 8)
        np.testing.assert_array_equal(got[:, 0], got[:, 1] >> 16 | got[:, 2] & 0xFFFF0000)


def test_dot_products_of_halves(bench):
    pairs = torch.randn(64, 4, generator=torch.Generator().manual_seed(3)).bfloat16()
    words = pairs.view(torch.int16).numpy().view(np.uint32)
    text = "v_mov_b32_e32 v20, v12\nv_dot2c_f32_bf16_e32 v20, v10, v11"
    got = bench.compute(text, words, C, results=1)
    x = pairs.float().numpy()
    same(got, (C + x[:, 0] * x[:, 2]) + x[:, 1] * x[:, 3])
