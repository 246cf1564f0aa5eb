"""Constants in v_fma_mix, where the pseudo-code says nothing of them."""

import numpy as np
import pytest

from mxsub.virtual.faults import UnsupportedInstruction


def test_constants_as_halves(bench, random):
    """-1.0 and 2 as float16: the second is the smallest denormal twice. As float32 it would be another number."""
    halves = random.standard_normal(128).astype(np.float16)
    words, floats = halves.view(np.uint32), random.standard_normal(64).astype(np.float32)
    text = """v_fma_mix_f32 v20, v10, -1.0, v11 op_sel_hi:[1,1,0]
v_fma_mix_f32 v21, v10, 1.0, 2 op_sel:[1,0,0] op_sel_hi:[1,1,1]
v_fma_mix_f32 v22, v10, 2.0, 2 op_sel:[0,0,0] op_sel_hi:[0,0,0]"""
    got = bench.compute(text, words, floats, results=3).view(np.float32)
    low, high = (halves[k::2].astype(np.float32) for k in (0, 1))
    np.testing.assert_array_equal(got[:, 0], floats - low)
    np.testing.assert_array_equal(got[:, 1], high + np.float32(2.0**-23))
    np.testing.assert_array_equal(got[:, 2], words.view(np.float32) * 2 + np.uint32(2).view(np.float32))


def test_minus_zero_as_an_addend(bench):
    """x * y + -0: the product as it is, -0 included, which +0 would turn into +0."""
    ones = np.array([1.0, -1.0] * 64, np.float16).view(np.uint32)
    text = """v_mov_b32_e32 v11, 0
v_fma_mix_f32 v20, v10, v11, neg(0) op_sel:[1,0,0] op_sel_hi:[1,0,0]
v_fma_mix_f32 v21, v10, v11, 0 op_sel:[1,0,0] op_sel_hi:[1,0,0]"""
    got = bench.compute(text, ones, results=2)
    assert set(got[:, 0]) == {0x80000000}
    assert set(got[:, 1]) == {0}


def test_the_upper_half_of_a_constant(bench):
    with pytest.raises(UnsupportedInstruction, match="the upper half of a constant as float16"):
        bench.program("v_fma_mix_f32 v1, v2, 1.0, v3 op_sel:[0,1,0] op_sel_hi:[0,1,0]")
