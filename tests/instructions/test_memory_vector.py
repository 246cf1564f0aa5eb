"""Every load, store and atomic on global memory and scratch against AMD's pseudo-code, by all kinds of addresses."""

import re

import numpy as np
import pytest

from mxsub.virtual import atomics, vector_memory
from tests.instructions.memory_bench import (
    ALL_ON,
    bytes_of,
    described,
    exec_text,
    kind_of,
    memory_of,
    number,
    on,
    same,
    values,
    words_of,
)
from tests.pseudocode import DESCRIBED

TO_LDS = sorted(name for name in vector_memory.BINDERS if "_lds_" in name)
OPCODES = sorted((vector_memory.BINDERS.keys() | atomics.BINDERS.keys()) - set(TO_LDS))
BYTES = 4096
ADDRESS, DATA = 8, 20
SIZES = {"byte": 1, "short": 2, "dword": 4, "dwordx2": 8, "dwordx3": 12, "dwordx4": 16}
STRIDE = 48  # bytes of a record of a structured buffer


def size_of(opcode):
    """Bytes at the place."""
    match = re.match(r"\w+?_(?:load|store)_[us]?(byte|short|dword(?:x\d)?)(?:_d16(?:_hi)?)?$", opcode)
    return SIZES[match[1]] if match else 8 if opcode.endswith(("_x2", "_f64")) else 4


def registers_of(opcode):
    """Of the data, and of the result."""
    words = max(1, size_of(opcode) // 4)
    if "_atomic_" in opcode:
        return words * (2 if "cmpswap" in opcode else 1), words
    return words, words


def vector(first, count):
    return f"v[{first}:{first + count - 1}]" if count > 1 else f"v{first}"


class Way:
    """One way to give an address: what vector registers hold for an offset from the buffer's start, and the operands.

    s[4:5] is the buffer's address, s[8:11] its resource, of linear or structured bytes; s12 a part of the offset.
    """

    def __init__(self, operands, modifiers="", scalar=0, constant=0, wide=False, index=False, offset=True):
        self.operands, self.modifiers = operands, modifiers
        self.scalar, self.constant, self.wide, self.index, self.offset = scalar, constant, wide, index, offset

    def setup(self):
        text = f"s_movk_i32 s12, {self.scalar}\n"
        if self.wide:  # v8 -> v[8:9], a 64-bit address
            text += "v_ashrrev_i32_e32 v14, 31, v8\nv_add_co_u32_e32 v8, vcc, s4, v8\nv_mov_b32_e32 v9, s5\n"
            text += "v_addc_co_u32_e32 v9, vcc, v9, v14, vcc\n"
        return text

    def columns(self, offsets):
        rest = offsets - self.scalar - self.constant
        if not self.index:
            return rest.reshape(64, 1)
        index = offsets // STRIDE - 1
        columns = [index, rest - index * STRIDE]
        return np.stack(columns[: 1 + self.offset], 1)


WAYS = {
    "global": [
        Way("v8, s[4:5]", "offset:-64", constant=-64),
        Way("v8, s[4:5]"),
        Way("v[8:9], off", "offset:4080 nt", constant=4080, wide=True),
        Way("v[8:9], off sc1", wide=True),
    ],
    "flat": [Way("v[8:9]", wide=True), Way("v[8:9]", "offset:64", constant=64, wide=True)],
    "buffer": [
        Way("v8, s[8:11], 0", "offen"),
        Way("v8, s[8:11], s12", "offen offset:16 sc1", scalar=32, constant=16),
        Way("v8, s[8:11], 16", "offen nt", scalar=16),
        Way("v[8:9], s[8:11], s12", "idxen offen offset:4", scalar=12, constant=4, index=True),
    ],
    "scratch": [
        Way("v8, off", "offset:16", constant=16),
        Way("v8, off", "offset:-16", constant=-16),
        Way("v8, s12", "offset:32", scalar=16, constant=32),
    ],
}


def instruction_of(opcode, way, returns):
    data, result = registers_of(opcode)
    family = opcode.partition("_")[0]
    first, *rest = way.operands.split(", ")
    modifiers = way.modifiers
    if "_load_" in opcode:
        operands = [vector(DATA, result), first, *rest]
    elif "_atomic_" in opcode and family == "buffer":
        operands = [vector(DATA, data), first, *rest]
    elif "_atomic_" in opcode:
        operands = [vector(DATA + 8, result)] * returns + [first, vector(DATA, data), *rest]
    elif family == "buffer":
        operands = [vector(DATA, data), first, *rest]
    else:
        operands = [first, vector(DATA, data), *rest]
    text = ", ".join(operands)
    if " sc1" in text:
        text, modifiers = text.replace(" sc1", ""), modifiers + " sc1"
    if "_atomic_" in opcode and returns:
        modifiers += " sc0"
    return f"{opcode} {text} {modifiers}"


def execute(bench, opcode, way, image, offsets, data, mask, returns):
    """Gives the registers from DATA on (or those of a result), uint32 (64, 4), and the buffer's bytes afterwards."""
    addresses = way.columns(offsets)
    records = np.concatenate([addresses, data], 1).astype(np.int64).astype(np.uint32)
    stride = records.shape[1]
    is_scratch = opcode.startswith("scratch")
    structured = STRIDE << 16 if way.index else 0
    lines = [
        "s_load_dwordx4 s[4:7], s[0:1], 0x0",
        f"v_mul_u32_u24_e32 v4, {4 * stride}, v0",
        f"v_add_u32_e32 v4, {BYTES}, v4",
        *(f"global_load_dword v{ADDRESS + k}, v4, s[4:5] offset:{4 * k}" for k in range(addresses.shape[1])),
        *(
            f"global_load_dword v{DATA + k}, v4, s[4:5] offset:{4 * (addresses.shape[1] + k)}"
            for k in range(data.shape[1])
        ),
        "s_mov_b32 s8, s4",
        "s_and_b32 s9, s5, 0xffff",
        f"s_or_b32 s9, s9, {structured:#x}",
        f"s_movk_i32 s10, {BYTES if not way.index else BYTES // STRIDE + 1}",
        "s_mov_b32 s11, 0x27000",
    ]
    if is_scratch:  # every lane has the image's first bytes
        for k in range(0, 256, 16):
            lines += ["v_mov_b32_e32 v5, 0", f"global_load_dwordx4 v[60:63], v5, s[4:5] offset:{k}"]
            lines.append(f"scratch_store_dwordx4 off, v[60:63], off offset:{k}")
    result = DATA + 8 if "_atomic_" in opcode and "buffer" not in opcode else DATA
    lines += [way.setup(), exec_text(mask), instruction_of(opcode, way, returns), ALL_ON, "v_lshlrev_b32_e32 v6, 4, v0"]
    lines += [f"global_store_dword v6, v{result + k}, s[6:7] offset:{4 * k}" for k in range(4)]
    if is_scratch:
        lines += ["v_lshlrev_b32_e32 v6, 8, v0", "v_add_u32_e32 v6, 0x400, v6"]
        for k in range(0, 256, 16):
            lines.append(f"scratch_load_dwordx4 v[60:63], off, off offset:{k}")
            lines.append(f"global_store_dwordx4 v6, v[60:63], s[6:7] offset:{k}")
    else:
        lines += ["v_lshlrev_b32_e32 v5, 4, v0", "v_add_u32_e32 v6, 0x400, v5"]
        for at in range(0, BYTES, 1024):
            lines += ["global_load_dwordx4 v[60:63], v5, s[4:5]", "global_store_dwordx4 v6, v[60:63], s[6:7]"]
            lines += ["v_add_u32_e32 v5, 0x400, v5", "v_add_u32_e32 v6, 0x400, v6"] if at + 1024 < BYTES else []
    out = np.zeros(256 + (64 * 256 if is_scratch else BYTES) // 4, np.uint32)
    source = np.concatenate([image.view(np.uint32), records.reshape(-1)])
    bench.scratch_bytes = 256
    got = bench.bare("\n".join([*lines, "s_endpgm"]), source, out)
    return got[:256].reshape(64, 4), got[256:].view(np.uint8)


@pytest.mark.parametrize("opcode", OPCODES)
def test_as_described(bench, random, opcode):
    """Lanes reach places of their own, in no order; some lanes are off. Every second time an atomic gives no result."""
    assert opcode in DESCRIBED
    family, kind, size = opcode.partition("_")[0], kind_of(opcode), size_of(opcode)
    data_count, result_count = registers_of(opcode)
    for turn, way in enumerate(WAYS[family]):
        returns = turn % 2 == 0
        offsets = 64 + random.integers(0, 5, 64) * 32 if family == "scratch" else random.permutation(64) * 48 + 96
        if size < 4:
            offsets += random.integers(0, 4 // size, 64) * size
        image = without_negative_zeros(opcode, values(random, kind, BYTES // 4)).view(np.uint8)
        data = values(random, "bits" if "cmpswap" in opcode else kind, 64 * max(4, data_count)).reshape(64, -1)
        data = without_negative_zeros(opcode, data)
        if "cmpswap" in opcode:  # every second lane expects what is there
            for lane in range(0, 64, 2):
                data[lane, size // 4 : size // 2] = image[offsets[lane] : offsets[lane] + size].view(np.uint32)
        mask = number(random.integers(0, 2**32, 2)) | 1
        got, after = execute(bench, opcode, way, image, offsets, data, mask, returns)
        shared, want = memory_of(image), np.array(data[:, :4])
        apart = "_atomic_" in opcode and family != "buffer"  # the result has registers of its own
        if apart:
            want = np.array(got)
        images = []
        for lane in range(64):
            memory = memory_of(image[:256]) if family == "scratch" else shared
            if on(mask, lane):
                names = {"DATA": number(data[lane, :data_count]), "VDATA": number(data[lane, :result_count])}
                found = described(opcode, memory, address=int(offsets[lane]), **names)
                if "_load_" in opcode or ("_atomic_" in opcode and returns):
                    result = found["RETURN_DATA" if "_atomic_" in opcode else "VDATA"]
                    want[lane, :result_count] = words_of(result, result_count)
            images.append(memory)
        assert same(got[:, : size // 4 or 1], want[:, : size // 4 or 1], kind if "_atomic_" in opcode else "bits")
        if family == "scratch":
            want_after = np.concatenate([bytes_of(memory, 256) for memory in images])
        else:
            want_after = bytes_of(shared, BYTES)
        assert same(after.view(np.uint32), want_after.view(np.uint32), kind)


def without_negative_zeros(opcode, words):
    """Of zeros the manual says more than the pseudo-code; see test_memory_lds.py."""
    if re.search(r"_atomic_(min|max)_f64$", opcode):
        numbers = words.view(np.uint64)
        numbers[numbers == 1 << 63] = 0
    return words
