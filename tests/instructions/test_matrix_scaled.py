"""Matrix instructions with scales, element by element."""

import numpy as np
import pytest

from mxsub.virtual.matrix_opcodes import OPCODES
from tests.instructions.matrix_bench import operand, run
from tests.instructions.matrix_reference import F8F6F4, assert_sums, from_d, products, shape_of

SCALED = sorted(name for name in OPCODES if "scale" in name)


def factors(scales, byte, shape):
    """The scale of each element [i, k]: section 7.2.1, one for 32 along K, first K then rows by lane."""
    i, k = np.indices((shape.rows, shape.depth))
    codes = scales[i + shape.rows * (k // 32)].astype(np.int64) >> 8 * byte & 255
    return np.where(codes == 255, np.nan, np.ldexp(1.0, codes - 127))


def scaled_products(shape, a, b, scales, picked):
    of_a, of_b = (factors(scale, byte, shape) for scale, byte in zip(scales, picked, strict=True))
    return products(shape, a, b) * (of_a[:, None, :] * of_b[None, :, :])[None]


def text(opcode, a_form, b_form, picked, addend):
    low, high = ([byte >> bit & 1 for byte in picked] for bit in (0, 1))
    return (
        f"{opcode} {{d}}, {{a}}, {{b}}, {addend}, {{x}}, {{y}} op_sel:[{low[0]},{low[1]},0] "
        f"op_sel_hi:[{high[0]},{high[1]},0] cbsz:{F8F6F4.index(a_form)} blgp:{F8F6F4.index(b_form)}"
    )


@pytest.mark.parametrize("opcode", SCALED)
@pytest.mark.parametrize("a_form", F8F6F4)
@pytest.mark.parametrize("b_form", F8F6F4)
def test_all_formats(bench, random, opcode, a_form, b_form):
    """Scales within a range in which f32 loses nothing to over- or underflow; other bytes are noise."""
    shape = shape_of(opcode, a_form, b_form)
    a, b = operand(random, a_form, shape.words("a")), operand(random, b_form, shape.words("b"))
    picked = random.integers(0, 4, 2)
    scales = random.integers(0, 2**32, (2, 64), np.uint32)
    for scale, byte in zip(scales, picked, strict=True):
        scale.view(np.uint8).reshape(64, 4)[:, byte] = random.integers(110, 145, 64)
    c = random.normal(size=(64, shape.results)).astype(np.float32)
    instruction = text(opcode, a_form, b_form, picked, "{c}")
    got = run(bench, instruction, a, b, c.view(np.uint32), *scales, results=shape.results)
    terms = scaled_products(shape, a, b, scales, picked)
    assert_sums(from_d(got.view(np.float32), shape), terms, from_d(c, shape).astype(np.float64))


@pytest.mark.parametrize("opcode", SCALED)
def test_every_scale(bench, random, opcode):
    """All 256 of A, by fours, against one of B that brings the products back into range."""
    shape = shape_of(opcode, "fp8", "fp6")
    a, b = operand(random, "fp8", shape.words("a")), operand(random, "fp6", shape.words("b"))
    for first in range(0, 256, 64):
        codes = np.arange(first, first + 64, dtype=np.uint32)
        other = np.full(64, 254 - first - 32, np.uint32)
        got = run(bench, text(opcode, "fp8", "fp6", (0, 0), "0"), a, b, None, codes, other, results=shape.results)
        terms = scaled_products(shape, a, b, (codes, other), (0, 0))
        values = from_d(got.view(np.float32), shape)
        assert np.isnan(values).any() == (first == 192)
        assert_sums(values, terms)


@pytest.mark.parametrize(
    ("opcode", "modifiers"),
    [(SCALED[0], "cbsz:5"), (SCALED[1], "blgp:7 cbsz:4"), (SCALED[0], "blgp:4")],
)
def test_refused(bench, opcode, modifiers):
    """Numbers of formats that there are not, and operands of another size than their format's."""
    with pytest.raises(RuntimeError, match=r"\[(a number that stands for no matrix format|a matrix operand in other)"):
        bench.program(f"{opcode} v[0:3], v[16:23], v[24:31], 0, v1, v2 {modifiers}")
