"""Scalar loads and stores against AMD's pseudo-code."""

import re

import numpy as np
import pytest

from mxsub.virtual import scalar_memory
from tests.instructions.memory_bench import described, memory_of, values, words_of
from tests.pseudocode import DESCRIBED

OPCODES = sorted(scalar_memory.BINDERS)
BYTES = 1024


def words(opcode):
    return int(re.search(r"dword(?:x(\d+))?$", opcode)[1] or 1)


# Ways to say where: (operand after the base, modifiers, the offset that they give). The two low bits do not count.
WAYS = [
    ("0x80", "", 128),
    ("s2", "", 36),
    ("s2", "offset:0x40 glc", 100),
    ("0x83", "", 128),
    ("m0", "", 72),
]


@pytest.mark.parametrize("opcode", OPCODES)
@pytest.mark.parametrize("way", WAYS)
def test_as_described(bench, random, opcode, way):
    assert opcode in DESCRIBED
    operand, modifiers, offset = way
    count = words(opcode)
    image = values(random, "bits", BYTES // 4).view(np.uint8)
    data = [int(word) for word in values(random, "bits", count)]
    base = "s[8:11]" if "buffer" in opcode else "s[4:5]"
    registers = f"s[16:{15 + count}]" if count > 1 else "s16"
    lines = [
        "s_load_dwordx4 s[4:7], s[0:1], 0x0",
        "s_mov_b32 s8, s4",
        "s_and_b32 s9, s5, 0xffff",
        f"s_movk_i32 s10, {BYTES}",
        "s_mov_b32 s11, 0x27000",
        "s_mov_b32 s2, 36",
        "s_movk_i32 m0, 72",
        *(f"s_mov_b32 s{16 + k}, {word:#x}" for k, word in enumerate(data)),
        f"{opcode} {registers}, {base}, {operand} {modifiers}",
        "v_lshlrev_b32_e32 v1, 2, v0",
        "v_mov_b32_e32 v2, 0",
    ]
    for k in range(count):
        lines += [f"v_mov_b32_e32 v3, s{16 + k}", f"global_store_dword v2, v3, s[6:7] offset:{4 * k}"]
    for k in range(0, BYTES, 256):
        lines += [f"global_load_dword v3, v1, s[4:5] offset:{k}", f"global_store_dword v1, v3, s[6:7] offset:{64 + k}"]
    got = bench.bare("\n".join([*lines, "s_endpgm"]), image.view(np.uint32), np.zeros(16 + BYTES // 4, np.uint32))
    memory = memory_of(image)
    held = sum(word << 32 * k for k, word in enumerate(data))
    found = described(opcode, memory, address=offset, SDATA=held)
    want = words_of(found["SDATA"], count)
    assert got[:count].tolist() == want
    after = np.array([memory.bytes[k] for k in range(BYTES)], np.uint8)
    np.testing.assert_array_equal(got[16:].view(np.uint8), after)


@pytest.mark.parametrize("opcode", [name for name in OPCODES if "buffer" in name])
def test_past_the_end_of_a_buffer(bench, random, opcode):
    """A formula of our own (manual, 8.4): a dword past the end reads zero and is not written."""
    count = words(opcode)
    image = values(random, "bits", 64)
    inside = max(1, count // 2)
    registers = f"s[16:{15 + count}]" if count > 1 else "s16"
    lines = [
        "s_load_dwordx4 s[4:7], s[0:1], 0x0",
        "s_mov_b64 s[8:9], s[4:5]",
        "s_and_b32 s9, s9, 0xffff",
        f"s_movk_i32 s10, {4 * inside}",
        "s_mov_b32 s11, 0x27000",
        *(f"s_mov_b32 s{16 + k}, {100 + k}" for k in range(count)),
        f"{opcode} {registers}, s[8:11], {'0x4' if inside == count else '0x0'}",
        "v_lshlrev_b32_e32 v1, 2, v0",
        "v_mov_b32_e32 v2, 0",
    ]
    for k in range(count):
        lines += [f"v_mov_b32_e32 v3, s{16 + k}", f"global_store_dword v2, v3, s[6:7] offset:{4 * k}"]
    lines += ["global_load_dword v3, v1, s[4:5]", "global_store_dword v1, v3, s[6:7] offset:64", "s_endpgm"]
    got = bench.bare("\n".join(lines), image, np.zeros(80, np.uint32))
    kept = 0 if inside == count else inside
    if "load" in opcode:
        assert got[:count].tolist() == [*image[:kept], *[0] * (count - kept)]
        np.testing.assert_array_equal(got[16:], image)
    else:
        np.testing.assert_array_equal(got[16:], [*range(100, 100 + kept), *image[kept:]])
