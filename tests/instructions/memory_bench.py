"""Runs one memory instruction on memory and registers that a test gives, on the emulator and in AMD's pseudo-code."""

import re

import numpy as np

from mxsub.virtual.assembly import parse_instruction
from tests.pseudocode import TEXTS, Memory, State, of_integer, run

INTEGER_CORNERS = np.array([0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF], np.uint64)
# Of each kind the values at which something changes, and no NaN: those have tests of their own.
FLOAT_CORNERS = {
    "f32": [0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x3F800000, 0xBF800000, 0x7F7FFFFF, 0x7F800000],
    "f64": [0, 1 << 63, 1, 0x800FFFFFFFFFFFFF, 0x3FF0000000000000, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000],
    "f16": [0x0000, 0x8000, 0x0001, 0x83FF, 0x3C00, 0xBC00, 0x7BFF, 0x7C00],
    "bf16": [0x0000, 0x8000, 0x0001, 0x807F, 0x3F80, 0xBF80, 0x7F7F, 0x7F80],
}
_FLOATS = {"f32": (np.float32, np.uint32), "f64": (np.float64, np.uint64), "f16": (np.float16, np.uint16)}


def kind_of(opcode):
    """What the elements of an atomic are: f32, f64, f16, bf16, or bits."""
    match = re.search(r"_(bf16|f16|f32|f64)$", opcode)
    return match[1] if match else "bits"


def values(random, kind, count):
    """Random words, uint32 (count,), among them corners of the kind; of doubles every second is a high half."""
    if kind == "bits":
        some = random.integers(0, 2**32, count, np.uint64)
        corners = random.choice(INTEGER_CORNERS, count)
        return np.where(random.random(count) < 0.4, corners, some).astype(np.uint32)
    if kind == "bf16":
        numbers = (random.normal(size=2 * count).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    else:
        size = {"f32": count, "f64": count // 2, "f16": 2 * count}[kind]
        float_type, bits = _FLOATS[kind]
        numbers = random.normal(size=size).astype(float_type).view(bits)
    corners = random.choice(np.array(FLOAT_CORNERS[kind], np.uint64), len(numbers)).astype(numbers.dtype)
    return np.where(random.random(len(numbers)) < 0.4, corners, numbers).view(np.uint32)


def number(words):
    """Words, low ones first, as one number."""
    return sum(int(word) << 32 * k for k, word in enumerate(words))


def words_of(value, count):
    return [value >> 32 * k & 0xFFFFFFFF for k in range(count)]


def same(got, want, kind):
    """Are they equal bit by bit, but for NaNs, of which any will do?"""
    got, want = np.asarray(got, np.uint32), np.asarray(want, np.uint32)
    if kind == "bits":
        return np.array_equal(got, want)
    if kind == "bf16":
        halves = [(x.view(np.uint16).astype(np.uint32) << 16).view(np.float32) for x in (got, want)]
        return np.array_equal(np.isnan(halves[0]), np.isnan(halves[1])) and np.array_equal(
            got.view(np.uint16)[~np.isnan(halves[0])], want.view(np.uint16)[~np.isnan(halves[0])]
        )
    float_type, bits = _FLOATS[kind]
    x, y = got.view(float_type), want.view(float_type)
    numbers = ~np.isnan(x)
    return np.array_equal(numbers, ~np.isnan(y)) and np.array_equal(x.view(bits)[numbers], y.view(bits)[numbers])


def exec_text(mask):
    return f"s_mov_b32 exec_lo, {mask & 0xFFFFFFFF:#x}\ns_mov_b32 exec_hi, {mask >> 32:#x}"


ALL_ON = "s_mov_b64 exec, -1"


def described(opcode, memory, **names):
    """Run AMD's pseudo-code for one lane; gives its names afterwards. `address` is where the lane reaches."""
    address = names.pop("address")
    anywhere = {
        name: lambda *_: of_integer(("u", 64), address)
        for name in (
            "CalcGlobalAddr",
            "CalcFlatAddr",
            "CalcScratchAddr",
            "CalcBufferAddr",
            "CalcScalarGlobalAddr",
            "CalcScalarBufferAddr",
        )
    }
    state = State({"ADDR": address, **names}, memory=memory, functions=anywhere)
    run(opcode, state)
    return state.names


def described_on_lds(opcode, memory, address, offsets, **names):
    """The same for one on LDS; address: what its register holds. Its text adds the offset in one of three ways."""
    offset = offsets.get("offset", 0)
    low, high = (offsets.get(f"offset{k}", offset >> 8 * k & 255) for k in (0, 1))

    def with_offset(base, first, second):
        return of_integer(("u", 32), base.integer + first.integer + (second.integer << 8))

    names |= {"OFFSET": offset, "OFFSET0": low, "OFFSET1": high, "ADDR_BASE": address, "ADDR": address}
    if "CalcDsAddr" not in TEXTS[opcode] and "ADDR_BASE" not in TEXTS[opcode]:
        names["ADDR"] = address + offset
    state = State(names, memory=memory, functions={"CalcDsAddr": with_offset})
    run(opcode, state)
    return state.names


def memory_of(image):
    """A Memory with these bytes from address 0 on."""
    memory = Memory()
    memory.bytes = dict(enumerate(image.tobytes()))
    return memory


def bytes_of(memory, size):
    return np.array([memory.bytes.get(k, 0) for k in range(size)], np.uint8)


def run_on_lds(bench, instruction, image, columns, results, mask=(1 << 64) - 1, m0=0):
    """Run an instruction with LDS holding an image first.

    image: uint8, of a multiple of 1024 bytes. columns: first register -> uint32 (64, n), what vector registers hold.
    results: (first, count) of the registers to give. Gives them, uint32 (64, count), and LDS's bytes afterwards.
    """
    size, (first, count) = len(image), results
    widths = {register: np.reshape(words, (64, -1)).shape[1] for register, words in columns.items()}
    stride = sum(widths.values())
    records = np.concatenate([np.reshape(words, (64, -1)) for words in columns.values()], 1).astype(np.uint32)
    data = np.concatenate([records.reshape(-1), image.view(np.uint32)])
    lines = [
        "s_load_dwordx4 s[4:7], s[0:1], 0x0",
        f"v_mul_u32_u24_e32 v4, {4 * stride}, v0",
        "v_lshlrev_b32_e32 v5, 4, v0",
        f"v_add_u32_e32 v6, {256 * stride:#x}, v5",
    ]
    for at in range(0, size, 1024):
        lines += [
            "global_load_dwordx4 v[60:63], v6, s[4:5]",
            f"ds_write_b128 v5, v[60:63] offset:{at}",
            "v_add_u32_e32 v6, 0x400, v6",
        ]
    at = 0
    for register, width in widths.items():
        lines += [f"global_load_dword v{register + k}, v4, s[4:5] offset:{4 * (at + k)}" for k in range(width)]
        at += width
    lines += [f"s_mov_b32 m0, {m0:#x}", exec_text(mask), instruction, ALL_ON, f"v_mul_u32_u24_e32 v4, {4 * count}, v0"]
    lines += [f"global_store_dword v4, v{first + k}, s[6:7] offset:{4 * k}" for k in range(count)]
    lines.append(f"v_add_u32_e32 v6, {256 * count:#x}, v5")
    for at in range(0, size, 1024):
        lines += [
            f"ds_read_b128 v[60:63], v5 offset:{at}",
            "global_store_dwordx4 v6, v[60:63], s[6:7]",
            "v_add_u32_e32 v6, 0x400, v6",
        ]
    out = np.zeros(64 * count + size // 4, np.uint32)
    got = bench.bare("\n".join([*lines, "s_endpgm"]), data, out, lds_bytes=size)
    return got[: 64 * count].reshape(64, count), got[64 * count :].view(np.uint8)


def on(mask, lane):
    return mask >> lane & 1


def offsets_in(instruction):
    return {name: number for name, number in parse_instruction(instruction).modifiers.items() if "offset" in name}
