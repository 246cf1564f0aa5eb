"""The time model against what is public; docs/time-model.md has the figures, and what does not come out."""

from functools import cache

import pytest

from benchmarks.time_model import DEEP, MFMA_32, SPLIT, WIDE, Changes, calls, estimate, kernels
from mxsub.submit.aiter_times import AITER_TIMES
from mxsub.submit.inspect.calls import Call
from mxsub.submit.shapes import Shape, parse_shape

pytest.importorskip("torch")
pytest.importorskip("triton")
pytestmark = pytest.mark.slow

PUBLISHED = AITER_TIMES["amd-mxfp4-mm"]
# Together, since every run of its own takes seconds to start.
RUNS: dict[str, dict[Shape, Changes]] = {
    "shipped": {parse_shape(text): {} for text in PUBLISHED},
    "8 warps; MFMA 32": {SPLIT: {"num_warps": 8}, WIDE: MFMA_32},
    "N 32; deep": {SPLIT: {"BLOCK_SIZE_N": 32}, WIDE: DEEP},
    "N 128; deep, MFMA 32": {SPLIT: {"BLOCK_SIZE_N": 128}, WIDE: {**DEEP, **MFMA_32}},
}


@cache
def run(name: str) -> dict[Shape, Call]:
    """Of 64 workgroups: within 1 % of what all of them gave, where both were run."""
    return calls(RUNS[name], sample=64)


@pytest.mark.parametrize("text", PUBLISHED)
def test_the_order_of_magnitude_of_aiters_times(text: str) -> None:
    """Other kernels with other configs: five are within 20 %, and in the range; one is little more than half."""
    guess = estimate(run("shipped")[parse_shape(text)])
    off = guess["likely"] / PUBLISHED[text] - 1
    assert guess["fast"] < guess["likely"] < guess["slow"]
    if text == "16x2112x7168":
        assert -0.6 < off < -0.3
    else:
        assert -0.2 < off < 0.1
        assert guess["fast"] < PUBLISHED[text] < guess["slow"]


def test_eight_warps_are_worse_than_four() -> None:
    four, eight = run("shipped")[SPLIT], run("8 warps; MFMA 32")[SPLIT]
    assert kernels(eight) > 1.5 * kernels(four)
    # Why: twice the waves multiply the same rows by the same columns again.
    flops = [call.launches[0]["counts"]["work"]["matrix_flops"]["fp4"] for call in (four, eight)]
    assert flops[1] == 8 * flops[0]


def test_narrow_tiles_are_worse() -> None:
    assert 1.02 < kernels(run("N 32; deep")[SPLIT]) / kernels(run("shipped")[SPLIT]) < 1.3


def test_wide_tiles_are_hardly_told_from_those_of_64() -> None:
    """They are known to be worse; the model says so by less than it can be trusted. See docs/time-model.md."""
    assert 1 < kernels(run("N 128; deep, MFMA 32")[SPLIT]) / kernels(run("shipped")[SPLIT]) < 1.1


def test_products_of_32_rows_are_worse() -> None:
    """A little in the shipped config, catastrophically in a deeper one."""
    assert 1.02 < kernels(run("8 warps; MFMA 32")[WIDE]) / kernels(run("shipped")[WIDE]) < 1.5
    assert kernels(run("N 128; deep, MFMA 32")[WIDE]) > 3 * kernels(run("N 32; deep")[WIDE])
