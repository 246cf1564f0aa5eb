"""Runs one matrix instruction on operands that a test gives, and makes such operands."""

from dataclasses import dataclass

import numpy as np

from tests.instructions.matrix_reference import FLOATS, bits_of


@dataclass(frozen=True)
class Registers:
    """Where the operands are: each in registers of its own, `v` or `a`."""

    a: str
    b: str
    c: str
    d: str
    extra: tuple[str, ...]


def named(file, first, count):
    return f"{file}[{first}:{first + count - 1}]" if count > 1 else f"{file}{first}"


def run(bench, instruction, a, b, c, *extra, results, files="vvv"):
    """instruction: a format string that has {a}, {b}, {c}, {d} and, for one register each, {x} and {y}.

    a, b, c: uint32 (64, n) words, c None where there is no C in registers; extra: (64,). results: registers of D, which
    start out as C. files: of A, B and C with D. Gives uint32 (64, results).
    """
    sources = [np.asarray(a), np.asarray(b)]
    a_name, b_name = named(files[0], 32, a.shape[1]), named(files[1], 48, b.shape[1])
    places = [(files[0], 32, a.shape[1]), (files[1], 48, b.shape[1])]
    if c is not None:
        sources.append(np.asarray(c))
        places.append((files[2], 128, c.shape[1]))
    for k, word in enumerate(extra):
        sources.append(np.asarray(word).reshape(64, 1))
        places.append(("v", 64 + k, 1))
    data = np.concatenate(sources, 1).astype(np.uint32)
    loads, at = [], 0
    for file, first, count in places:
        for k in range(count):
            loads.append(f"global_load_dword {file}{first + k}, v4, s[4:5] offset:{4 * (at + k)}")
        at += count
    d_name = named(files[2], 128, results)
    text = instruction.format(a=a_name, b=b_name, c=d_name, d=d_name, x="v64", y="v65")
    stores = [f"global_store_dword v5, {files[2]}{128 + k}, s[6:7] offset:{4 * k}" for k in range(results)]
    whole = "\n".join(
        [
            "s_load_dwordx4 s[4:7], s[0:1], 0x0",
            f"v_mul_u32_u24_e32 v4, {4 * at}, v0",
            f"v_mul_u32_u24_e32 v5, {4 * results}, v0",
            *loads,
            text,
            *stores,
            "s_endpgm",
        ]
    )
    return bench.bare(whole, data, np.zeros((64, results), np.uint32)).reshape(64, results)


def codes(random, form, shape):
    """Codes of a format, finite: of 8 bits and less all of them, of more those of numbers around 1, with zeros and the
    smallest numbers among them."""
    if form == "i8":
        return random.integers(0, 256, shape)
    bits, _, mantissas, bias = FLOATS[form]
    if bits <= 8:
        found = random.integers(0, 1 << bits, shape)
        if form == "fp8":
            found = np.where(found & 0x7F == 0x7F, found ^ 1, found)
        if form == "bf8":
            found = np.where(found & 0x7C == 0x7C, found ^ 4, found)
        return found
    sign = random.integers(0, 2, shape, np.uint64) << np.uint64(bits - 1)
    exponent = random.integers(bias - 6, bias + 7, shape).astype(np.uint64)
    exponent = np.where(random.random(shape) < 0.05, np.uint64(0), exponent) << np.uint64(mantissas)
    mantissa = random.integers(0, 1 << mantissas, shape, np.uint64)
    return np.where(random.random(shape) < 0.05, np.uint64(0), sign | exponent | mantissa)


def packed(found, bits):
    """Codes (64, items) as registers hold them, uint32 (64, n)."""
    lanes = []
    for lane in np.asarray(found).astype(object):
        number = sum(int(code) << bits * k for k, code in enumerate(lane))
        lanes.append([number >> at & 0xFFFFFFFF for at in range(0, bits * len(lane), 32)])
    return np.array(lanes, np.uint32)


def operand(random, form, words):
    """Random finite elements: uint32 (64, words)."""
    return packed(codes(random, form, (64, 32 * words // bits_of(form))), bits_of(form))
