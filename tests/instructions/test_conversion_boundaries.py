"""Conversions to and from narrow formats at every value of the format, in the middle of two, and next to both."""

from itertools import pairwise

import numpy as np
import pytest

from tests.instructions.vector_bench import Run, VectorBench
from tests.pseudocode import reals
from tests.pseudocode.reals import FORMATS

NARROW = {"fp8": ("fp", 8), "bf8": ("bf", 8), "fp4": ("fp", 4), "fp6": ("fp", 6), "bf6": ("bf", 6)}


def boundaries(name: str) -> np.ndarray:
    """float32 bits of both signs."""
    form = FORMATS[NARROW[name]]
    numbers = [reals.to_float(reals.decode(code, form)) for code in range(form.largest + 1)]
    last = numbers[-1] - numbers[-2]
    points = [*numbers, *((a + b) / 2 for a, b in pairwise(numbers)), numbers[-1] + last / 2]
    points += [numbers[-1] + last, numbers[-1] * 1000, numbers[1] / 1000, np.inf, np.nan]
    bits = np.array(points, np.float32).view(np.uint32).astype(np.int64)
    near = np.unique(np.concatenate([bits - 1, bits, bits + 1]))
    positive = near[near >= 0].astype(np.uint32)
    return np.concatenate([positive, positive | np.uint32(0x80000000)])


def in_launches(bits: np.ndarray) -> list[np.ndarray]:
    """Of 1024 lanes at most."""
    whole = np.resize(bits, -(-len(bits) // 64) * 64)
    return [whole[first : first + 1024] for first in range(0, len(whole), 1024)]


@pytest.mark.parametrize("exponent", [127, 1, 254])
@pytest.mark.parametrize("name", ["fp8", "bf8", "fp4"])
def test_pairs(name, exponent, random):
    """The numbers are scaled, so that the conversion meets the same boundaries."""
    for bits in in_launches(boundaries(name)):
        with np.errstate(all="ignore"):
            scaled = (bits.view(np.float32).astype(np.float64) * 2.0 ** (exponent - 127)).astype(np.float32)
        words = scaled.view(np.uint32)[:, None]
        scale = np.full_like(words, exponent << 23 | 0x155555)
        VectorBench(random, len(bits) // 64).check(Run(f"v_cvt_scalef32_pk_{name}_f32"), [words, words[::-1], scale])


@pytest.mark.parametrize("name", ["fp6", "bf6"])
def test_sixes(name, random):
    bits = boundaries(name)
    words = np.resize(bits, 64 * 32).reshape(64, 32)
    scale = np.full((64, 1), 0x3F800000, np.uint32)
    sources = [np.ascontiguousarray(words[:, :16]), np.ascontiguousarray(words[:, 16:]), scale]
    assert len(bits) < 64 * 32
    VectorBench(random, 1).check(Run(f"v_cvt_scalef32_2xpk16_{name}_f32"), sources)


@pytest.mark.parametrize("opcode", ["v_cvt_f32_fp8", "v_cvt_f32_bf8"])
def test_every_code(opcode, random):
    codes = np.arange(256, dtype=np.uint32)[:, None]
    VectorBench(random, 4).check(Run(opcode), [codes | codes[::-1] << 8])


@pytest.mark.parametrize("wide", ["f32", "f16", "bf16"])
def test_every_pair_of_fp4(wide, random):
    codes = np.arange(256, dtype=np.uint32)[:, None]
    for exponent in (127, 112, 142, 0, 255):
        VectorBench(random, 4).check(Run(f"v_cvt_scalef32_pk_{wide}_fp4"), [codes, np.full_like(codes, exponent << 23)])
