"""Loads from global memory straight to LDS, by a formula of our own: sections 9.1.9 and 10.3 of AMD's CDNA4 manual."""

import re

import numpy as np
import pytest

from mxsub.virtual import vector_memory
from tests.instructions.memory_bench import ALL_ON, exec_text, number, on, values

OPCODES = sorted(name for name in vector_memory.BINDERS if "_lds_" in name)
BUFFER = [f"buffer_load_{name}" for name in ("ubyte", "sbyte", "ushort", "sshort", "dword", "dwordx3", "dwordx4")]
LDS_BYTES, M0, OFFSET = 80 * 1024, 0x1_2004, 16  # M0 has more than 16 bits


def piece_of(opcode):
    """(bytes in memory, are they signed?, bytes from lane to lane in LDS)"""
    name = opcode.rpartition("_")[2]
    sizes = {"byte": 1, "short": 2, "dword": 4, "dwordx3": 12, "dwordx4": 16}
    size = sizes[name if name in sizes else name[1:]]
    return size, name.startswith("s"), 4 if size <= 4 else 16


def landed(opcode, image, sources, mask, m0=M0):
    """LDS's bytes where the data lands, and which of them have any."""
    size, signed, stride = piece_of(opcode)
    lds, written = np.zeros(2048, np.uint8), np.zeros(2048, bool)
    for lane in range(64):
        if on(mask, lane):
            data = image[sources[lane] : sources[lane] + size]
            if size < 4:
                extended = int.from_bytes(data.tobytes(), "little", signed=signed) & 0xFFFFFFFF
                data = np.frombuffer(extended.to_bytes(4, "little"), np.uint8)
            place = (m0 & 0x3FFFC) - 0x12000 + OFFSET + stride * lane
            lds[place : place + len(data)], written[place : place + len(data)] = data, True
    return lds, written


def execute(bench, load, image, columns, mask, prepare=""):
    """The 2048 bytes of LDS from 0x12000 on, which are 0xEE before."""
    stride = columns.shape[1]
    lines = [
        "s_load_dwordx4 s[4:7], s[0:1], 0x0",
        f"v_mul_u32_u24_e32 v4, {4 * stride}, v0",
        *(f"global_load_dword v{8 + k}, v4, s[4:5] offset:{len(image) + 4 * k}" for k in range(stride)),
        "v_lshlrev_b32_e32 v5, 4, v0",
        "v_add_u32_e32 v6, 0x12000, v5",
        *(f"v_mov_b32_e32 v{60 + k}, 0xeeeeeeee" for k in range(4)),
        "ds_write_b128 v6, v[60:63]",
        "ds_write_b128 v6, v[60:63] offset:1024",
        *prepare.split("\n"),
        f"s_mov_b32 m0, {M0:#x}",
        exec_text(mask),
        load,
        ALL_ON,
        "ds_read_b128 v[60:63], v6",
        "global_store_dwordx4 v5, v[60:63], s[6:7]",
        "ds_read_b128 v[60:63], v6 offset:1024",
        "global_store_dwordx4 v5, v[60:63], s[6:7] offset:1024",
        "s_endpgm",
    ]
    data = np.concatenate([image.view(np.uint32), columns.astype(np.uint32).reshape(-1)])
    return bench.bare("\n".join(filter(None, lines)), data, np.zeros(512, np.uint32), lds_bytes=LDS_BYTES).view(
        np.uint8
    )


def check(got, lds, written):
    np.testing.assert_array_equal(got[written], lds[written])
    assert (got[~written] == 0xEE).all()


@pytest.mark.parametrize("opcode", [name for name in OPCODES if name.startswith("global")])
def test_global(bench, random, opcode):
    """The instruction's offset counts on both sides."""
    image = values(random, "bits", 1024).view(np.uint8)
    sources = random.permutation(200)[:64] * 16 + 32
    mask = number(random.integers(0, 2**32, 2))
    got = execute(bench, f"{opcode} v8, s[4:5] offset:{OFFSET}", image, sources[:, None] - OFFSET, mask)
    check(got, *landed(opcode, image, sources, mask))


@pytest.mark.parametrize("opcode", [name for name in OPCODES if name.startswith("scratch")])
def test_scratch(bench, random, opcode):
    """Each lane has its own, here with the same word in it and its number added."""
    image = values(random, "bits", 1024).view(np.uint8)
    mask = number(random.integers(0, 2**32, 2))
    bench.scratch_bytes = 64
    text = "v_add_u32_e32 v10, v8, v0\nscratch_store_dword off, v10, off offset:32"
    columns = np.full((64, 1), 0x81828380)
    got = execute(bench, f"{opcode} off, off offset:{OFFSET}", image, columns, mask, text.replace(":32", f":{OFFSET}"))
    words = (0x81828380 + np.arange(64)).astype(np.uint32)
    check(got, *landed(opcode, words.view(np.uint8), np.arange(64) * 4, mask))


@pytest.mark.parametrize("opcode", BUFFER)
def test_buffer(bench, random, opcode):
    """What is out of the resource's range lands as zeros."""
    assert opcode in vector_memory.BINDERS
    image = values(random, "bits", 1024).view(np.uint8)
    sources = random.permutation(250)[:64] * 16
    mask = number(random.integers(0, 2**32, 2))
    resource = (
        "s_mov_b32 s8, s4\ns_and_b32 s9, s5, 0xffff\ns_movk_i32 s10, 2048\ns_mov_b32 s11, 0x27000\ns_mov_b32 s12, 0"
    )
    load = f"{opcode} v8, s[8:11], s12 offen offset:{OFFSET} lds"
    got = execute(bench, load, image, sources[:, None] - OFFSET, mask, resource)
    visible = image.copy()
    visible[2048:] = 0
    check(got, *landed(opcode, visible, sources, mask))


@pytest.mark.parametrize("opcode", ["buffer_load_dwordx2", "buffer_load_short_d16", "buffer_load_ubyte_d16_hi"])
def test_sizes_that_cannot(bench, opcode):
    with pytest.raises(RuntimeError, match=re.escape("[data of this size straight to LDS]")):
        bench.program(f"{opcode} v8, s[8:11], 0 offen lds")
