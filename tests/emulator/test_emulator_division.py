"""LLVM's sequences for a division give the quotient that IEEE 754 asks for, near over- and underflow too."""

import numpy as np
import pytest

SINGLE = """v_div_scale_f32 v30, s[8:9], v11, v11, v10
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
DOUBLE = """v_div_scale_f64 v[30:31], s[8:9], v[12:13], v[12:13], v[10:11]
v_rcp_f64_e32 v[32:33], v[30:31]
v_fma_f64 v[34:35], -v[30:31], v[32:33], 1.0
v_fmac_f64_e32 v[32:33], v[32:33], v[34:35]
v_fma_f64 v[34:35], -v[30:31], v[32:33], 1.0
v_fmac_f64_e32 v[32:33], v[32:33], v[34:35]
v_div_scale_f64 v[34:35], vcc, v[10:11], v[12:13], v[10:11]
v_mul_f64 v[36:37], v[34:35], v[32:33]
v_fma_f64 v[30:31], -v[30:31], v[36:37], v[34:35]
v_div_fmas_f64 v[30:31], v[30:31], v[32:33], v[36:37]
v_div_fixup_f64 v[20:21], v[30:31], v[12:13], v[10:11]"""
TYPES = {"single": (np.float32, np.uint32, SINGLE), "double": (np.float64, np.uint64, DOUBLE)}


def corners(dtype) -> np.ndarray:
    limits = np.finfo(dtype)
    tiny, small, large = limits.smallest_subnormal, limits.smallest_normal, limits.max
    return np.array([0, tiny, small, 2 * small, 1, 1.5, 3, large / 2, large, np.inf, np.nan, -1, -tiny, -large], dtype)


@pytest.mark.parametrize("precision", TYPES)
def test_quotients(precision, bench, random):
    dtype, bits, text = TYPES[precision]
    pairs = np.stack(np.meshgrid(corners(dtype), corners(dtype)), -1).reshape(-1, 2)
    numbers = random.integers(0, np.iinfo(bits).max, (2048 - len(pairs), 2), dtype=bits).view(dtype)
    numbers = np.concatenate([pairs, numbers]).reshape(2, 1024, 2)
    for part in numbers:
        a, b = (np.ascontiguousarray(part[:, k]).view(np.uint32) for k in (0, 1))
        words = a.size // 1024
        got = bench.compute(text, a, b, results=words, waves=16).view(dtype)[:, 0]
        with np.errstate(all="ignore"):
            want = part[:, 0] / part[:, 1]
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
        fine = ~np.isnan(want)
        np.testing.assert_array_equal(got[fine].view(bits), want[fine].view(bits))
