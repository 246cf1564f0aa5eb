"""What matrix instructions compute, spelt out from the general layout rule of AMD's CDNA4 manual, section 7.1.4.

AMD's pseudo-code says of each only `D = A (16x128) * B (128x16) + C (16x16)`; the places of the elements are prose. An
element has an item number within its lane and a lane. Decoding is from the definition of each format, by sign, exponent
and mantissa. Nothing here comes from the emulator.
"""

import re
from dataclasses import dataclass

import numpy as np

NAME = re.compile(r"v_(mfma|mfma_scale|smfmac)_(f32|i32|f64)_(\d+)x\d+x(\d+)(?:_(\d+)b)?_(\w+)$")
# format -> (bits, exponent bits, mantissa bits, bias); integers have None.
FLOATS = {
    "f64": (64, 11, 52, 1023),
    "f32": (32, 8, 23, 127),
    "f16": (16, 5, 10, 15),
    "bf16": (16, 8, 7, 127),
    "bf8": (8, 5, 2, 15),
    "fp8": (8, 4, 3, 7),
    "fp6": (6, 2, 3, 1),
    "bf6": (6, 3, 2, 3),
    "fp4": (4, 2, 1, 1),
}
WITHOUT_INFINITY = {"fp8", "fp6", "bf6", "fp4"}
F8F6F4 = ["fp8", "bf8", "fp6", "bf6", "fp4"]


def bits_of(form):
    return FLOATS[form][0] if form in FLOATS else 8


def decode(codes, form):
    """Codes, uint64, to float64 (exact; int64 of i8)."""
    codes = np.asarray(codes, np.uint64)
    if form == "i8":
        return codes.astype(np.uint8).view(np.int8).astype(np.int64)
    bits, exponents, mantissas, bias = FLOATS[form]
    if form == "f64":
        return codes.view(np.float64)
    sign = np.where(codes >> np.uint64(bits - 1), -1.0, 1.0)
    exponent = (codes >> np.uint64(mantissas) & np.uint64((1 << exponents) - 1)).astype(np.int64)
    mantissa = (codes & np.uint64((1 << mantissas) - 1)).astype(np.float64) / (1 << mantissas)
    value = np.ldexp(np.where(exponent == 0, mantissa, 1 + mantissa), np.maximum(exponent, 1) - bias)
    top = exponent == (1 << exponents) - 1
    if form not in WITHOUT_INFINITY:
        value = np.where(top, np.where(mantissa == 0, np.inf, np.nan), value)
    elif form == "fp8":
        value = np.where(top & (mantissa == 7 / 8), np.nan, value)
    return sign * value


def items(words, bits):
    """Registers, uint32 (64, n), to the items of each lane, uint64 (64, 32 * n / bits), low bits first."""
    out = []
    for lane in np.asarray(words, np.uint32).astype(object):
        number = sum(int(word) << 32 * k for k, word in enumerate(lane))
        out.append([number >> at & (1 << bits) - 1 for at in range(0, 32 * len(lane), bits)])
    return np.array(out, np.uint64)


@dataclass(frozen=True)
class Shape:
    """Of one opcode. a, b: formats."""

    verb: str
    result: str
    rows: int
    depth: int
    blocks: int
    a: str
    b: str

    @property
    def sparse(self):
        return self.verb == "smfmac"

    @property
    def results(self):
        """Items of D in a lane."""
        return self.rows * self.rows * self.blocks // 64

    def words(self, side):
        elements = self.rows * self.depth * self.blocks // 64
        if side == "a" and self.sparse:
            elements //= 2
        return elements * bits_of(self.a if side == "a" else self.b) // 32


def shape_of(opcode, a="fp4", b="fp4"):
    """a, b: for f8f6f4."""
    verb, result, rows, depth, blocks, forms = NAME.match(opcode).groups()
    if forms != "f8f6f4":
        a, _, b = forms.partition("_")
    return Shape(verb, result, int(rows), int(depth), int(blocks or 1), a, b or a)


def input_places(rows, depth, blocks, bits):
    """(item, lane) of element [b, i, k]; the columns of B are as the rows of A.

    Section 7.1.4.1. Where a lane has more than 128 bits, of 8 and more bits an element, sections 7.1.5.1 and 7.5.1.3:
    the first 128 bits of all lanes come before the second.
    """
    b, i, k = np.indices((blocks, rows, depth))
    per_lane = depth // (64 // (rows * blocks))
    if per_lane * bits > 128 and bits >= 8:
        chunk = 128 // bits
        half, k = k // (depth // 2), k % (depth // 2)
        return half * chunk + k % chunk, i + rows * (b + blocks * (k // chunk))
    return k % per_lane, i + rows * (b + blocks * (k // per_lane))


def output_places(rows, blocks, height):
    """(item, lane) of element [b, i, j] of C and D; section 7.1.4.2, with its names."""
    b, i, j = np.indices((blocks, rows, rows))
    b_i = -(-64 // (rows * rows // height))
    m_i = (64 // b_i) // rows
    g = rows // (height * m_i)
    item = (i % height) + height * (i // (height * m_i) + g * (b // b_i))
    return item, j + rows * ((i // height) % m_i + m_i * (b % b_i))


def matrix(words, rows, depth, blocks, form):
    """Registers to the matrices [b, i, k]."""
    item, lane = input_places(rows, depth, blocks, bits_of(form))
    return decode(items(words, bits_of(form)), form)[lane, item]


def from_d(values, shape):
    """Items of D, (64, n), to [b, i, j]."""
    item, lane = output_places(shape.rows, shape.blocks, 1 if shape.result == "f64" else 4)
    return np.asarray(values)[lane, item]


def products(shape, a_words, b_words, index=None, chosen=0):
    """Every product of every element of D: float64 (or int64) [b, i, j, k].

    index: uint32 (64,), of a sparse A; chosen: the number of its set. Section 7.5.1: two bits an item of A.
    """
    b = matrix(b_words, shape.rows, shape.depth, shape.blocks, shape.b)
    if not shape.sparse:
        a = matrix(a_words, shape.rows, shape.depth, shape.blocks, shape.a)
        return a[:, :, None, :] * b[:, None, :, :]
    half = shape.depth // 2
    a = matrix(a_words, shape.rows, half, 1, shape.a)
    item, lane = input_places(shape.rows, half, 1, bits_of(shape.a))
    per_lane = int(item.max()) + 1
    picks = np.asarray(index, np.uint64)[lane] >> (2 * (chosen * per_lane + item)).astype(np.uint64) & np.uint64(3)
    k = 4 * (np.arange(half) // 2) + picks.astype(np.int64)  # [0, i, packed]
    return a[:, :, None, :] * np.moveaxis(b[0][:, k[0]], 0, 1)[None]


def assert_sums(got, terms, addend=0.0, unit=2.0**-24):
    """got: sums of exact terms (on the last axis) and an addend, in whatever order they were added: off by no more than
    the rounding of each addition, and not finite where no finite sum is."""
    want = terms.sum(-1) + addend
    smallest = 2.0**-150 if unit == 2.0**-24 else 0.0
    bound = (terms.shape[-1] + 1) * (unit * (np.abs(terms).sum(-1) + np.abs(addend)) + smallest)
    finite = np.isfinite(want)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    np.testing.assert_array_equal(got[np.isinf(want)], want[np.isinf(want)])
    off = np.abs(got[finite].astype(np.float64) - want[finite])
    assert (off <= bound[finite]).all(), float((off - bound[finite]).max())
