"""Sparse matrix instructions, element by element, and against the pairs of registers that one-hot operands gave on a
gfx950."""

import numpy as np
import pytest

from mxsub.virtual.matrix_opcodes import OPCODES
from tests.instructions.matrix_bench import operand, run
from tests.instructions.matrix_reference import assert_sums, bits_of, from_d, products, shape_of

SPARSE = sorted(name for name in OPCODES if "smfmac" in name)
# Positions of two of four, the second in the high bits.
PAIRS = np.array([0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110], np.uint32)


def indices(random):
    """A legal index in every set: uint32 (64,)."""
    return sum(random.choice(PAIRS, 64) << np.uint32(4 * k) for k in range(8)).astype(np.uint32)


def sets(shape):
    """How many sets of indices a register holds."""
    return 32 // (2 * (32 * shape.words("a") // bits_of(shape.a)))


@pytest.mark.parametrize("opcode", SPARSE)
@pytest.mark.parametrize("cbsz", [0, 1])
def test_product_and_sum(bench, random, opcode, cbsz):
    """Without cbsz abid picks the set of indices; with it, it is the first."""
    shape = shape_of(opcode)
    a, b, index = (
        operand(random, shape.a, shape.words("a")),
        operand(random, shape.b, shape.words("b")),
        indices(random),
    )
    integer = shape.result == "i32"
    c = random.integers(-(2**31), 2**31, (64, shape.results)) if integer else random.normal(size=(64, shape.results))
    c = c.astype(np.int32 if integer else np.float32)
    for abid in range(sets(shape)):
        text = f"{opcode} {{d}}, {{a}}, {{b}}, {{x}}" + f" cbsz:{cbsz}" * bool(cbsz) + f" abid:{abid}" * bool(abid)
        got = run(bench, text, a, b, c.view(np.uint32), index, results=shape.results)
        terms = products(shape, a, b, index, 0 if cbsz else abid)
        if integer:
            want = (terms.sum(-1) + from_d(c, shape)).astype(np.uint32).view(np.int32)
            np.testing.assert_array_equal(from_d(got.view(np.int32), shape), want)
        else:
            assert_sums(from_d(got.view(np.float32), shape), terms, from_d(c, shape).astype(np.float64))


def test_what_the_index_leaves_out_takes_no_part(bench):
    """Infinities of B that A has nothing for."""
    ones = np.full((64, 4), 0x3C003C00, np.uint32)
    b = np.full((64, 8), 0x7C003C00, np.uint32)  # 1, inf
    index = np.full(64, 0x88888888, np.uint32)  # the first and the third of four
    got = run(
        bench, "v_smfmac_f32_16x16x64_f16 {d}, {a}, {b}, {x}", ones, b, np.zeros((64, 4), np.uint32), index, results=4
    )
    assert (got.view(np.float32) == 32).all()


# From public notes on a sparse GEMM: one-hot operands on a gfx950. With the index 0b0100
# everywhere, item `a` of A's lanes of group g meets item `b` of B's lanes of group h, and none else.
def met_16_bit(a, g):
    return 8 * (g // 2) + 4 * (a % 4 // 2) + a % 2, 2 * (g % 2) + a // 4


def met_8_bit(a, g):
    return 16 * (g // 2) + 4 * (a % 8 // 2) + a % 2, 2 * (g % 2) + a // 8


@pytest.mark.parametrize(
    ("opcode", "met", "bits", "one"),
    [
        ("v_smfmac_f32_16x16x64_f16", met_16_bit, 16, 0x3C00),
        ("v_smfmac_f32_16x16x64_bf16", met_16_bit, 16, 0x3F80),
        ("v_smfmac_f32_16x16x128_fp8_fp8", met_8_bit, 8, 0x38),
    ],
)
def test_pairs_measured_on_the_hardware(bench, opcode, met, bits, one):
    """Of A one item is one, of B every item has another value."""
    per_word = 32 // bits
    index = np.full(64, 0x44444444, np.uint32)
    for item in range(128 // bits):
        for group in range(4):
            want_item, want_group = met(item, group)
            a, b = np.zeros((64, 4), np.uint32), np.zeros((64, 8), np.uint32)
            a[16 * group : 16 * group + 16, item // per_word] = one << bits * (item % per_word)
            b[16 * want_group : 16 * want_group + 16, want_item // per_word] = one << bits * (want_item % per_word)
            text = f"{opcode} {{d}}, {{a}}, {{b}}, {{x}}"
            alone = run(bench, text, a, b, np.zeros((64, 4), np.uint32), index, results=4).view(np.float32)
            all_but = b ^ np.uint32(one * sum(1 << bits * k for k in range(per_word)))
            others = run(bench, text, a, all_but, np.zeros((64, 4), np.uint32), index, results=4).view(np.float32)
            assert (alone == 1).all()
            assert not others.any()
