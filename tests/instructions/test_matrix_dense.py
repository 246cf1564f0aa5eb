"""Every matrix instruction without scales and index, element by element against the manual's layout rule."""

import numpy as np
import pytest

from mxsub.virtual.matrix_opcodes import OPCODES
from tests.instructions.matrix_bench import codes, operand, packed, run
from tests.instructions.matrix_reference import F8F6F4, assert_sums, bits_of, decode, from_d, products, shape_of

DENSE = sorted(name for name in OPCODES if "smfmac" not in name and "scale" not in name)
PLAIN = [name for name in DENSE if not name.endswith("f8f6f4")]
SMALL = [name for name in DENSE if name.endswith("f8f6f4")]
RESULTS = {"f32": np.float32, "i32": np.int32, "f64": np.float64}
UNITS = {"f32": 2.0**-24, "f64": 2.0**-52}


def addends(random, shape):
    """C: uint32 (64, n)."""
    form = {"f32": "f32", "i32": None, "f64": "f64"}[shape.result]
    if form is None:
        edges = np.array([0x7FFFFFFF, 0x80000000, 0, 0xFFFFFFFF], np.uint32)
        some = random.integers(0, 2**32, (64, shape.results), np.uint32)
        return np.where(random.random(some.shape) < 0.3, random.choice(edges, some.shape), some)
    return packed(codes(random, form, (64, shape.results)), bits_of(form))


def check(got, shape, terms, addend):
    """got: D's registers; addend: C's items, (64, n), or a number."""
    values = from_d(got.view(RESULTS[shape.result]), shape)
    if np.ndim(addend):
        addend = from_d(addend, shape)
    if shape.result == "i32":
        want = (terms.sum(-1) + np.asarray(addend, np.int64)).astype(np.uint32).view(np.int32)
        np.testing.assert_array_equal(values, want)
    else:
        assert_sums(values, terms, np.asarray(addend, np.float64), UNITS[shape.result])


def size(shape):
    return shape.results * (2 if shape.result == "f64" else 1)


@pytest.mark.parametrize("opcode", PLAIN)
def test_product_and_sum(bench, random, opcode):
    """C and D are the same registers; accumulation registers for half of the operands."""
    shape = shape_of(opcode)
    a, b = operand(random, shape.a, shape.words("a")), operand(random, shape.b, shape.words("b"))
    c = addends(random, shape)
    files = random.choice(list("va"), 3)
    got = run(bench, f"{opcode} {{d}}, {{a}}, {{b}}, {{c}}", a, b, c, results=size(shape), files=files)
    check(got, shape, products(shape, a, b), c.view(RESULTS[shape.result]))


@pytest.mark.parametrize("opcode", SMALL)
@pytest.mark.parametrize("a_form", F8F6F4)
@pytest.mark.parametrize("b_form", F8F6F4)
def test_small_formats(bench, random, opcode, a_form, b_form):
    shape = shape_of(opcode, a_form, b_form)
    a, b = operand(random, a_form, shape.words("a")), operand(random, b_form, shape.words("b"))
    text = f"{opcode} {{d}}, {{a}}, {{b}}, 0 cbsz:{F8F6F4.index(a_form)} blgp:{F8F6F4.index(b_form)}"
    check(run(bench, text, a, b, None, results=size(shape)), shape, products(shape, a, b), 0)


@pytest.mark.parametrize("opcode", [name for name in DENSE if "i8" not in name])
def test_what_is_not_finite(bench, random, opcode):
    """An infinity or a NaN spoils its row or column, and nothing else."""
    shape = shape_of(opcode, "bf8", "bf8")
    a, b = operand(random, shape.a, shape.words("a")), operand(random, shape.b, shape.words("b"))
    for words, form in ((a, shape.a), (b, shape.b)):
        per_word = max(1, 32 // bits_of(form))
        every = np.arange(1 << 8) if bits_of(form) == 8 else np.array([0x7F80, 0xFF80, 0x7FC0, 0x7C00, 0xFC00, 0x7E00])
        if bits_of(form) >= 32:
            patterns = np.array([0x7F800000, 0xFF800000, 0x7FC00000])
            patterns = np.array([0x7FF00000, 0xFFF00000, 0x7FF80000]) if form == "f64" else patterns
        else:
            values = decode(every, form)
            patterns = every[~np.isfinite(values)] << bits_of(form) * (per_word - 1)
        lane = random.integers(64)
        words[lane, -1] = random.choice(patterns)
        if form == "f64":
            words[lane, 0] = 0
    modifiers = " cbsz:1 blgp:1" if opcode in SMALL else ""
    got = run(bench, f"{opcode} {{d}}, {{a}}, {{b}}, 0{modifiers}", a, b, None, results=size(shape))
    assert not np.isfinite(got.view(RESULTS[shape.result])).all()
    with np.errstate(invalid="ignore"):
        check(got, shape, products(shape, a, b), 0)


# An inline constant's bits, by the width of C's elements: LLVM's "AMDGPU Instruction Operand Syntax".
CONSTANTS = {
    "0": (0, 0),
    "1.0": (0x3F800000, 0x3FF0000000000000),
    "-4.0": (0xC0800000, 0xC010000000000000),
    "0.15915494": (0x3E22F983, None),
    "1": (1, 1),
    "64": (64, 64),
    "-16": (0xFFFFFFF0, 0xFFFFFFFFFFFFFFF0),
}


@pytest.mark.parametrize(
    ("opcode", "constant"),
    [
        (opcode, constant)
        for opcode in ("v_mfma_f32_16x16x16_f16", "v_mfma_i32_4x4x4_16b_i8", "v_mfma_f64_16x16x4_f64")
        for constant in CONSTANTS
        if CONSTANTS[constant]["f64" in opcode] is not None  # which LLVM prints otherwise
    ],
)
def test_constants_as_addend(bench, random, opcode, constant):
    shape = shape_of(opcode)
    bits = CONSTANTS[constant][shape.result == "f64"]
    a, b = operand(random, shape.a, shape.words("a")), operand(random, shape.b, shape.words("b"))
    got = run(bench, f"{opcode} {{d}}, {{a}}, {{b}}, {constant}", a, b, None, results=size(shape))
    addend = np.array([bits], np.uint64 if shape.result == "f64" else np.uint32).view(RESULTS[shape.result])[0]
    if shape.result != "i32" and np.isnan(addend):
        assert np.isnan(got.view(RESULTS[shape.result])).all()
        return
    check(got, shape, products(shape, a, b), addend)


BROADCAST = [name for name in PLAIN if "f64" not in name]
# Table 29 of the manual: the lane that a lane's element of B comes from.
PATTERNS = [
    lambda lane: lane,
    lambda lane: lane % 32,
    lambda lane: lane % 32 + 32,
    lambda lane: (lane + 16) % 64,
    lambda lane: lane % 16,
    lambda lane: lane % 16 + 16,
    lambda lane: lane % 16 + 32,
    lambda lane: lane % 16 + 48,
]


@pytest.mark.parametrize("blgp", range(8))
@pytest.mark.parametrize("opcode", ["v_mfma_f32_32x32x1_2b_f32", "v_mfma_i32_16x16x32_i8", "v_mfma_f32_4x4x4_16b_bf16"])
def test_lane_patterns_of_b(bench, random, opcode, blgp):
    shape = shape_of(opcode)
    a, b = operand(random, shape.a, shape.words("a")), operand(random, shape.b, shape.words("b"))
    got = run(bench, f"{opcode} {{d}}, {{a}}, {{b}}, 0 blgp:{blgp}", a, b, None, results=size(shape))
    check(got, shape, products(shape, a, b[PATTERNS[blgp](np.arange(64))]), 0)


@pytest.mark.parametrize("opcode", [name for name in BROADCAST if "b_" in name])
def test_broadcasts_of_a(bench, random, opcode):
    """Section 7.1.6.1: S = 64 >> cbsz lanes of A stand for all, those from S * abid on."""
    shape = shape_of(opcode)
    a, b = operand(random, shape.a, shape.words("a")), operand(random, shape.b, shape.words("b"))
    lane = np.arange(64)
    for cbsz in range(1, shape.blocks.bit_length()):
        for abid in {0, (1 << cbsz) - 1, int(random.integers(1 << cbsz))}:
            text = f"{opcode} {{d}}, {{a}}, {{b}}, 0 cbsz:{cbsz} abid:{abid}"
            got = run(bench, text, a, b, None, results=size(shape))
            within = 64 >> cbsz
            check(got, shape, products(shape, a[lane % within + within * abid], b), 0)


@pytest.mark.parametrize("signs", [(0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)])
@pytest.mark.parametrize("opcode", [name for name in PLAIN if "f64" in name])
def test_negated_doubles(bench, random, opcode, signs):
    shape = shape_of(opcode)
    a, b, c = operand(random, "f64", shape.words("a")), operand(random, "f64", shape.words("b")), addends(random, shape)
    text = f"{opcode} {{d}}, {{a}}, {{b}}, {{c}} neg:[{','.join(map(str, signs))}]"
    got = run(bench, text, a, b, c, results=size(shape))
    factors = [1.0 - 2.0 * sign for sign in signs]
    terms = products(shape, a, b) * factors[0] * factors[1]
    check(got, shape, terms, c.view(np.float64) * factors[2])
