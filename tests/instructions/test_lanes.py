"""Instructions that move values across lanes, against AMD's pseudo-code or, where that is prose, by its manual."""

import numpy as np
import pytest

from tests.instructions.memory_bench import ALL_ON, exec_text, number, on, values
from tests.pseudocode import State, run

OPCODES = {
    "v_readfirstlane_b32",
    "v_readlane_b32",
    "v_writelane_b32",
    "v_permlane16_swap_b32",
    "v_permlane32_swap_b32",
    "v_swap_b32",
    "v_nop",
}
LDS_OPCODES = {"ds_swizzle_b32", "ds_bpermute_b32", "ds_permute_b32"}
MASKS = [(1 << 64) - 1, 0, 1 << 63, 0x0000FFFF_F00F0FF0, 0xAAAAAAAA_00000001]


def held(mask, registers):
    """A wave's state; registers: number -> uint32 (64,)."""
    vgpr = {(lane, register): int(words[lane]) for register, words in registers.items() for lane in range(64)}
    return State(names={"EXEC": mask}, vgpr=vgpr)


def column(state, register):
    return np.array([state.vgpr[lane, register] for lane in range(64)], np.uint32)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("opcode", ["ds_permute_b32", "ds_bpermute_b32"])
def test_permutations(bench, random, opcode, mask):
    """Any address: several lanes may name one, and high and low bits do not count."""
    address, data, old = (values(random, "bits", 64) for _ in range(3))
    text = f"{exec_text(mask)}\n{opcode} v12, v10, v11 offset:20\n{ALL_ON}\nv_mov_b32_e32 v20, v12"
    got = bench.compute(text, address, data, old)[:, 0]
    state = held(mask, {10: address, 11: data, 12: old})
    state.names |= {"ADDR": 10, "DATA0": 11, "VDST": 12, "OFFSET": 20}
    run(opcode, state)
    np.testing.assert_array_equal(got, column(state, 12))


def swizzled(offset, lane):
    """The manual's text of DS_SWIZZLE_B32: the lane that a lane reads."""
    low, middle, high = offset & 31, offset >> 5 & 31, offset >> 10 & 31
    if offset >= 0xE000:
        turned = int(f"{lane & 31:05b}"[::-1], 2)
        return turned >> bin(low).count("1") | lane & low | lane & 32
    if offset >= 0xC000:
        turn = -middle if offset >> 10 & 1 else middle
        return (lane & low | lane + turn & 31 & ~low) & 31 | lane & 32
    if offset >= 0x8000:
        return lane & 60 | offset >> 2 * (lane & 3) & 3
    return (lane & 31 & low | middle) ^ high | lane & 32


OFFSETS = [0x041F, 0x7C1F, 0x0018, 0x03E0, 0x5A5A, 0x80B1, 0x801B, 0x8000]
OFFSETS += [0xC000 | turn << 5 | side << 10 for turn in (0, 1, 7, 31) for side in (0, 1)] + [0xC063, 0xC4F8]
OFFSETS += [0xE000 | kept for kept in (0, 0x10, 0x18, 0x1C, 0x1E, 0x1F)]


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("mask", [MASKS[0], MASKS[3]])
def test_swizzles(bench, random, offset, mask):
    """A lane that is off gives zero."""
    x, old = values(random, "bits", 64), values(random, "bits", 64)
    text = f"{exec_text(mask)}\nds_swizzle_b32 v11, v10 offset:{offset:#x}\n{ALL_ON}\nv_mov_b32_e32 v20, v11"
    got = bench.compute(text, x, old)[:, 0]
    want = [x[s] if on(mask, s := swizzled(offset, lane)) else 0 for lane in range(64)]
    np.testing.assert_array_equal(got, [want[k] if on(mask, k) else old[k] for k in range(64)])


# As AMD's table has them, numbered from 1: FFT with the mask 0 and with the mask 0x10.
FFT = {
    0x00: "01 11 09 19 05 15 0d 1d 03 13 0b 1b 07 17 0f 1f 02 12 0a 1a 06 16 0e 1e 04 14 0c 1c 08 18 10 20",
    0x10: "01 09 05 0d 03 0b 07 0f 02 0a 06 0e 04 0c 08 10 11 19 15 1d 13 1b 17 1f 12 1a 16 1e 14 1c 18 20",
}


@pytest.mark.parametrize("mask", FFT)
def test_fft_as_tabulated(bench, random, mask):
    x = values(random, "bits", 64)
    source = np.array([int(word, 16) - 1 for word in FFT[mask].split()])
    for offset in (hex(0xE000 | mask), f"swizzle(FFT,{mask})"):
        got = bench.run(f"ds_swizzle_b32 v3, v2 offset:{offset}", x)
        np.testing.assert_array_equal(got, x[np.concatenate([source, source + 32])])


@pytest.mark.parametrize(
    ("name", "offset"),
    [  # as llvm-mc of LLVM 22 prints them
        ("swizzle(ROTATE,0,7)", 0xC0E0),
        ("swizzle(ROTATE,1,3)", 0xC460),
        ("swizzle(FFT,3)", 0xE003),
        ("swizzle(QUAD_PERM,1,1,1,1)", 0x8055),
        ("swizzle(SWAP,1)", 0x041F),
        ("swizzle(REVERSE,32)", 0x7C1F),
        ("swizzle(BROADCAST,8,3)", 0x0078),
        ('swizzle(BITMASK_PERM,"01pip")', 0x0907),
    ],
)
def test_names_of_swizzles(bench, random, name, offset):
    x = values(random, "bits", 64)
    got, want = (bench.run(f"ds_swizzle_b32 v3, v2 offset:{text}", x) for text in (name, hex(offset)))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("opcode", ["v_permlane16_swap_b32", "v_permlane32_swap_b32"])
def test_swaps_of_blocks(bench, random, opcode, mask):
    """EXEC is not in AMD's text of them. With lanes off the emulator also says so."""
    x, y = values(random, "bits", 64), values(random, "bits", 64)
    text = f"{exec_text(mask)}\n{opcode}_e32 v10, v11\n{ALL_ON}\nv_mov_b32_e32 v20, v10\nv_mov_b32_e32 v21, v11"
    got = bench.compute(text, x, y, results=2)
    state = held(mask, {10: x, 11: y})
    state.names |= {"VDST": 10, "SRC0": 11}
    run(opcode, state)
    np.testing.assert_array_equal(got[:, 0], column(state, 10))
    np.testing.assert_array_equal(got[:, 1], column(state, 11))
    assert [finding.sanitizer for finding in bench.report.findings] == ([] if mask == MASKS[0] else ["exec"])


@pytest.mark.parametrize("mask", MASKS)
def test_single_lanes(bench, random, mask):
    x, old = values(random, "bits", 64), values(random, "bits", 64)
    for lane in (0, 13, 63, 64 + 5):
        text = f"""s_mov_b32 s8, {lane}
{exec_text(mask)}
v_readfirstlane_b32 s9, v10
v_readlane_b32 s10, v10, s8
v_writelane_b32 v11, s9, s8
{ALL_ON}
v_mov_b32_e32 v20, s9
v_mov_b32_e32 v21, s10
v_mov_b32_e32 v22, v11"""
        got = bench.compute(text, x, old, results=3)
        state = held(mask, {10: x, 11: old})
        state.names |= {"SRC0": 10}
        run("v_readfirstlane_b32", state)
        first = state.names["D0"]
        state.names |= {"S1": lane}
        run("v_readlane_b32", state)
        assert got[0, :2].tolist() == [first, state.names["D0"]]
        state.names |= {"S0": first, "VDST": 11}
        run("v_writelane_b32", state)
        np.testing.assert_array_equal(got[:, 2], column(state, 11))


@pytest.mark.parametrize("mask", MASKS)
def test_swap_of_registers(bench, random, mask):
    """A vector instruction like any other: AMD's text is of one lane."""
    x, y = values(random, "bits", 64), values(random, "bits", 64)
    text = f"{exec_text(mask)}\nv_swap_b32 v10, v11\nv_nop\n{ALL_ON}\nv_mov_b32_e32 v20, v10\nv_mov_b32_e32 v21, v11"
    got = bench.compute(text, x, y, results=2)
    lanes_on = np.array([on(mask, lane) for lane in range(64)], bool)
    np.testing.assert_array_equal(got[:, 0], np.where(lanes_on, y, x))
    np.testing.assert_array_equal(got[:, 1], np.where(lanes_on, x, y))


def row(lane, place):
    return lane & 48 | place if 0 <= place < 16 else None


# Control -> the lane that a lane reads, None where there is none. Manual, "DPP": rows are 16 lanes, and what comes from
# outside a row is not valid; waves are whole.
CONTROLS = {
    "quad_perm:[1,3,0,2]": lambda lane: lane & 60 | (1, 3, 0, 2)[lane & 3],
    **{f"row_shl:{n}": lambda lane, n=n: row(lane, lane % 16 + n) for n in (1, 7, 15)},
    **{f"row_shr:{n}": lambda lane, n=n: row(lane, lane % 16 - n) for n in (1, 8, 15)},
    **{f"row_ror:{n}": lambda lane, n=n: row(lane, (lane - n) % 16) for n in (1, 9, 15)},
    **{f"row_newbcast:{n}": lambda lane, n=n: row(lane, n) for n in (0, 6, 15)},
    "wave_shl:1": lambda lane: lane + 1 if lane < 63 else None,
    "wave_rol:1": lambda lane: (lane + 1) % 64,
    "wave_shr:1": lambda lane: lane - 1 if lane else None,
    "wave_ror:1": lambda lane: (lane - 1) % 64,
    "row_mirror": lambda lane: row(lane, 15 - lane % 16),
    "row_half_mirror": lambda lane: lane & 56 | 7 - lane % 8,
    "row_bcast:15": lambda lane: (lane & 48) - 1 if lane >= 16 else None,
    "row_bcast:31": lambda lane: 31 if lane >= 32 else None,
}


@pytest.mark.parametrize("bound", [False, True])
@pytest.mark.parametrize("control", CONTROLS)
def test_dpp(bench, random, control, bound):
    """A lane without a source, or whose source is off, reads 0 with bound_ctrl, and else is not written."""
    x, old = values(random, "bits", 64), values(random, "bits", 64)
    mask = number(random.integers(0, 2**32, 2))
    rows, banks = (int(random.integers(1, 16)) for _ in range(2))
    modifiers = f"{control} row_mask:{rows:#x} bank_mask:{banks:#x}" + " bound_ctrl:1" * bound
    text = f"{exec_text(mask)}\nv_mov_b32_dpp v11, v10 {modifiers}\n{ALL_ON}\nv_mov_b32_e32 v20, v11"
    got = bench.compute(text, x, old)[:, 0]
    for lane in range(64):
        source = CONTROLS[control](lane)
        valid = source is not None and on(mask, source)
        allowed = on(mask, lane) and rows >> lane // 16 & 1 and banks >> lane % 16 // 4 & 1
        want = old[lane] if not allowed else x[source] if valid else 0 if bound else old[lane]
        assert got[lane] == want, lane
