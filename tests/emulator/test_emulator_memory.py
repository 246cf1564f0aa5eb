"""Loads, stores and atomics, on global memory, LDS and scratch."""

import numpy as np
import pytest

X = np.random.default_rng(1).integers(0, 2**32, 256, dtype=np.uint32)
LANE = np.arange(64)
BYTES = X.view(np.uint8)
SHORTS = X.view(np.uint16)

# A raw buffer resource over the first 128 bytes of the input: s[8:11].
RESOURCE = "s_mov_b32 s8, s4\ns_and_b32 s9, s5, 0xffff\ns_mov_b32 s10, 0x80\ns_mov_b32 s11, 0x27000\n"


@pytest.mark.parametrize(
    ("load", "want"),
    [
        ("global_load_ubyte v20, v0, s[4:5] offset:3", BYTES[3:67].astype(np.uint32)),
        ("global_load_sbyte v20, v0, s[4:5]", BYTES[:64].view(np.int8).astype(np.int32).view(np.uint32)),
        ("global_load_ushort v20, v6, s[4:5]", SHORTS[:64].astype(np.uint32)),
        ("global_load_sshort v20, v6, s[4:5]", SHORTS[:64].view(np.int16).astype(np.int32).view(np.uint32)),
        ("v_mov_b32_e32 v20, 0x12345678\nglobal_load_short_d16 v20, v6, s[4:5]", SHORTS[:64] | np.uint32(0x12340000)),
        (
            "v_mov_b32_e32 v20, 0x12345678\nglobal_load_ubyte_d16_hi v20, v0, s[4:5]",
            BYTES[:64].astype(np.uint32) << 16 | 0x5678,
        ),
        ("global_load_dword v20, v7, s[4:5] offset:-4", X[:64]),
        ("v_mov_b32_e32 v8, s4\nv_mov_b32_e32 v9, s5\nglobal_load_dword v20, v[8:9], off offset:8", np.full(64, X[2])),
        ("v_mov_b32_e32 v8, s4\nv_mov_b32_e32 v9, s5\nflat_load_dword v20, v[8:9] offset:8", np.full(64, X[2])),
    ],
)
def test_loads(bench, load, want):
    text = f"v_lshlrev_b32_e32 v6, 1, v0\nv_lshlrev_b32_e32 v7, 2, v0\nv_add_u32_e32 v7, 4, v7\n{load}"
    np.testing.assert_array_equal(bench.compute(text, X.reshape(64, 4))[:, 0], want)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_wide_loads_and_stores(bench, count):
    text = f"v_lshlrev_b32_e32 v6, 4, v0\nglobal_load_dwordx{count} v[20:{19 + count}], v6, s[4:5]"
    got = bench.compute(text, X.reshape(64, 4), results=count)
    np.testing.assert_array_equal(got, X.reshape(64, 4)[:, :count])
    text = f"""s_load_dwordx4 s[4:7], s[0:1], 0x0
v_lshlrev_b32_e32 v6, 4, v0
global_load_dwordx4 v[8:11], v6, s[4:5]
global_store_dwordx{count} v6, v[8:{7 + count}], s[6:7]
s_endpgm"""
    out = bench.bare(text, X, np.zeros(256, np.uint32)).reshape(64, 4)
    np.testing.assert_array_equal(out[:, :count], X.reshape(64, 4)[:, :count])
    assert not out[:, count:].any()


def test_narrow_stores(bench):
    text = """s_load_dwordx4 s[4:7], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 2, v0
global_load_dword v2, v1, s[4:5]
global_store_byte v1, v2, s[6:7]
global_store_byte_d16_hi v1, v2, s[6:7] offset:1
global_store_short_d16_hi v1, v2, s[6:7] offset:2
s_endpgm"""
    out = bench.bare(text, X[:64], np.zeros(64, np.uint32))
    np.testing.assert_array_equal(out, X[:64] & 255 | (X[:64] >> 16 & 255) << 8 | X[:64] >> 16 << 16)


def test_scalar_loads(bench):
    text = """s_load_dword s12, s[4:5], 0x10
s_mov_b32 s20, 8
s_load_dwordx2 s[14:15], s[4:5], s20
v_mov_b32_e32 v20, s12
v_mov_b32_e32 v21, s14
v_mov_b32_e32 v22, s15"""
    got = bench.compute(text, X.reshape(64, 4), results=3)
    assert got[7].tolist() == [X[4], X[2], X[3]]


def test_scalar_loads_from_a_buffer_end_with_it(bench):
    text = RESOURCE + "s_buffer_load_dwordx2 s[12:13], s[8:11], 0x7c\nv_mov_b32_e32 v20, s12\nv_mov_b32_e32 v21, s13"
    got = bench.compute(text, X.reshape(64, 4), results=2)
    assert got[0].tolist() == [X[31], 0]


def test_buffer_loads_read_zero_past_their_records(bench):
    text = RESOURCE + "v_lshlrev_b32_e32 v6, 2, v0\nbuffer_load_dword v20, v6, s[8:11], 0 offen"
    np.testing.assert_array_equal(bench.compute(text, X.reshape(64, 4))[:, 0], np.where(LANE < 32, X[:64], 0))
    masked = text.replace("buffer_load", "v_cmp_gt_u32_e32 vcc, 9, v0\nv_bfrev_b32_e32 v7, 1\n"
                          "v_cndmask_b32_e32 v6, v7, v6, vcc\nbuffer_load")  # fmt: skip
    np.testing.assert_array_equal(bench.compute(masked, X.reshape(64, 4))[:, 0], np.where(LANE < 9, X[:64], 0))


def test_buffer_offsets_add_up(bench):
    text = RESOURCE + "s_mov_b32 s12, 16\nv_mov_b32_e32 v6, 4\nbuffer_load_dword v20, v6, s[8:11], s12 offen offset:32"
    assert (bench.compute(text, X.reshape(64, 4))[:, 0] == X[13]).all()
    text = RESOURCE + "s_mov_b32 s12, 16\nbuffer_load_dword v20, off, s[8:11], s12 offset:32"
    assert (bench.compute(text, X.reshape(64, 4))[:, 0] == X[12]).all()


def test_buffer_offset_that_wraps_is_a_warning(bench):
    text = RESOURCE + "v_mov_b32_e32 v6, -8\nbuffer_load_dword v20, v6, s[8:11], 0 offen offset:12"
    assert (bench.compute(text, X.reshape(64, 4))[:, 0] == X[1]).all()
    assert [(f.sanitizer, f.count, "wrapped" in f.sentence) for f in bench.report.findings] == [("memory", 1, True)]


def test_buffer_stores_drop_what_is_past_their_records(bench):
    text = """s_load_dwordx4 s[4:7], s[0:1], 0x0
s_mov_b32 s10, 0x60
s_mov_b32 s11, 0x27000
s_mov_b64 s[8:9], s[6:7]
v_lshlrev_b32_e32 v1, 2, v0
v_add_u32_e32 v2, 1, v0
buffer_store_dword v2, v1, s[8:11], 0 offen
s_endpgm"""
    out = bench.bare(text, X, np.zeros(64, np.uint32))
    np.testing.assert_array_equal(out, np.where(LANE < 24, LANE + 1, 0))


@pytest.mark.parametrize(
    "load",
    [
        RESOURCE + "buffer_load_dword v6, s[8:11], 0 offen lds",
        "global_load_lds_dword v6, s[4:5]",
    ],
)
def test_loads_straight_to_lds(bench, load):
    """Lane i's word lands at M0 + 4 * i, from whatever address; past a buffer's records it is zero."""
    text = f"""v_xor_b32_e32 v6, 3, v0
v_lshlrev_b32_e32 v6, 2, v6
v_lshlrev_b32_e32 v7, 2, v0
s_mov_b32 m0, 0x100
{load}
ds_read_b32 v3, v7 offset:256"""
    got = bench.run(text, X[:64], lds_bytes=512)
    inside = (LANE ^ 3) < 32 if "buffer" in load else LANE >= 0
    np.testing.assert_array_equal(got, np.where(inside, X[LANE ^ 3], 0))


def test_lds_pieces(bench):
    text = """v_lshlrev_b32_e32 v6, 4, v0
v_lshlrev_b32_e32 v7, 1, v0
ds_write_b128 v6, v[10:13]
ds_write_b8 v6, v11 offset:1
ds_write_b16_d16_hi v6, v11 offset:2
ds_read_b96 v[20:22], v6
ds_read_u16 v23, v6 offset:14
ds_read_i8 v24, v6 offset:15
v_mov_b32_e32 v25, -1
ds_read_u8_d16 v25, v6 offset:5
ds_read_b64 v[26:27], v6 offset:8"""
    x = X.reshape(64, 4)
    got = bench.compute(text, x, results=8, lds_bytes=1024)
    first = x[:, 0] & 0xFF | (x[:, 1] & 255) << 8 | x[:, 1] >> 16 << 16
    np.testing.assert_array_equal(got[:, 0], first)
    np.testing.assert_array_equal(got[:, 1:3], x[:, 1:3])
    np.testing.assert_array_equal(got[:, 3], x[:, 3] >> 16)
    np.testing.assert_array_equal(got[:, 4], (x[:, 3].view(np.int32) >> 24).view(np.uint32))
    np.testing.assert_array_equal(got[:, 5], 0xFFFF0000 | x[:, 1] >> 8 & 255)
    np.testing.assert_array_equal(got[:, 6:], x[:, 2:])


def test_lds_pairs(bench):
    text = """v_lshlrev_b32_e32 v6, 2, v0
ds_write2_b32 v6, v10, v11 offset1:64
ds_write2st64_b32 v6, v12, v13 offset0:2 offset1:3
ds_read2_b32 v[20:21], v6 offset0:64 offset1:128
v_mov_b32_e32 v22, v6
ds_read2st64_b32 v[22:23], v22 offset0:3 offset1:0
v_lshlrev_b32_e32 v24, 3, v0
ds_read2_b64 v[24:27], v24 offset1:64"""
    x = X.reshape(64, 4)
    got = bench.compute(text, x, results=8, lds_bytes=1024)
    np.testing.assert_array_equal(got[:, :4], x[:, [1, 2, 3, 0]])
    flat = x.T.reshape(-1)
    np.testing.assert_array_equal(got[:, 4:6], flat[:128].reshape(64, 2))
    np.testing.assert_array_equal(got[:, 6:], flat[128:].reshape(64, 2))


def test_transposed_lds_loads(bench):
    """Of 16 lanes with a matrix of 4 rows of 16 halfwords, lane i gets column i."""
    text = "v_lshlrev_b32_e32 v6, 3, v0\nds_write_b64 v6, v[10:11]\nds_read_b64_tr_b16 v[20:21], v6"
    x = X[:128].reshape(64, 2)
    got = bench.compute(text, x, results=2, lds_bytes=512).view(np.uint16).reshape(4, 16, 4)
    np.testing.assert_array_equal(got, x.view(np.uint16).reshape(4, 4, 16).swapaxes(1, 2))


def test_scratch_belongs_to_the_lane(bench):
    text = """scratch_store_dword off, v2, off offset:8
scratch_store_short off, v0, off offset:12
scratch_load_ushort v4, off, off offset:12
s_mov_b32 s8, 4
scratch_load_dword v3, off, s8 offset:4
v_add_u32_e32 v3, v3, v4"""
    np.testing.assert_array_equal(bench.run(text, X[:64]), X[:64] + LANE.astype(np.uint32))


def test_atomics_on_one_place_go_lane_by_lane(bench):
    text = "v_mov_b32_e32 v4, 0\nv_mov_b32_e32 v5, 2\nglobal_atomic_add v3, v4, v5, s[4:5] sc0"
    np.testing.assert_array_equal(bench.run(text, np.full(64, 7, np.uint32)), 7 + 2 * LANE)


@pytest.mark.parametrize(
    ("atomic", "function"),
    [
        ("add", lambda a, b: a + b),
        ("sub", lambda a, b: a - b),
        ("and", lambda a, b: a & b),
        ("or", lambda a, b: a | b),
        ("xor", lambda a, b: a ^ b),
        ("swap", lambda a, b: b),
        ("umax", np.maximum),
        ("umin", np.minimum),
        ("smax", lambda a, b: np.maximum(a.view(np.int32), b.view(np.int32)).view(np.uint32)),
        ("smin", lambda a, b: np.minimum(a.view(np.int32), b.view(np.int32)).view(np.uint32)),
    ],
)
def test_global_atomics(bench, atomic, function):
    """They give what was there before when sc0 says so."""
    text = f"""v_lshlrev_b32_e32 v6, 3, v0
global_atomic_{atomic} v20, v6, v11, s[4:5] sc0
global_load_dword v21, v6, s[4:5]"""
    x = X[:128].reshape(64, 2)
    got = bench.compute(text, x, results=2)
    np.testing.assert_array_equal(got[:, 0], x[:, 0])
    np.testing.assert_array_equal(got[:, 1], function(x[:, 0].copy(), x[:, 1].copy()))


def test_float_atomics(bench, random):
    text = """v_lshlrev_b32_e32 v6, 3, v0
global_atomic_add_f32 v6, v11, s[4:5]
global_load_dword v20, v6, s[4:5]"""
    x = random.normal(size=(64, 2)).astype(np.float32)
    np.testing.assert_array_equal(bench.compute(text, x)[:, 0].view(np.float32), x[:, 0] + x[:, 1])
    ones = np.full((64, 2), 0x3F803F80, np.uint32)  # bf16 1.0 twice
    got = bench.compute(text.replace("add_f32", "pk_add_bf16"), ones)
    assert (got == 0x40004000).all()


def test_compare_and_swap(bench):
    """The data is the new value, then the one expected."""
    text = """v_lshlrev_b32_e32 v6, 2, v0
v_mov_b32_e32 v8, -1
v_and_b32_e32 v9, 62, v0
global_atomic_cmpswap v3, v6, v[8:9], s[4:5] sc0
global_load_dword v4, v6, s[4:5]
v_add_u32_e32 v3, v3, v4"""
    np.testing.assert_array_equal(bench.run(text), np.where(LANE % 2 == 0, LANE - 1, 2 * LANE).astype(np.uint32))


def test_lds_atomics(bench):
    text = """v_lshlrev_b32_e32 v6, 2, v0
ds_write_b32 v6, v2
v_mov_b32_e32 v7, 3
ds_add_u32 v6, v7
ds_max_rtn_u32 v8, v6, v0
ds_read_b32 v3, v6
v_sub_u32_e32 v3, v3, v8"""
    data = np.arange(0, 192, 3, dtype=np.uint32) % 64
    want = np.maximum(data + 3, LANE) - (data + 3)
    np.testing.assert_array_equal(bench.run(text, data, lds_bytes=256), want)
    text = "v_mov_b32_e32 v6, 0\nv_mov_b32_e32 v7, 0\nds_write_b32 v6, v7\nds_add_rtn_f32 v3, v6, 1.0"
    text = text.replace("1.0", "v8").replace("ds_add", "v_mov_b32_e32 v8, 1.0\nds_add")
    got = bench.run(text, lds_bytes=4).view(np.float32)
    np.testing.assert_array_equal(got, LANE.astype(np.float32))


def test_wide_buffer_loads_and_stores_end_dword_by_dword(bench):
    """The resource ends within the third dword of lane 7, which lane 8 lies past: its two whole dwords are there."""
    resource = RESOURCE.replace("0x80", "0x7a")
    text = resource + "v_lshlrev_b32_e32 v6, 4, v0\nbuffer_load_dwordx4 v[20:23], v6, s[8:11], 0 offen"
    got = bench.compute(text, X.reshape(64, 4), results=4)
    want = X.reshape(64, 4) * (np.arange(256).reshape(64, 4) < 30)
    np.testing.assert_array_equal(got, want)
    assert [(f.sanitizer, f.count, "over the end" in f.sentence) for f in bench.report.findings] == [
        ("memory", 1, True)
    ]
    text = """s_load_dwordx4 s[4:7], s[0:1], 0x0
v_lshlrev_b32_e32 v6, 4, v0
global_load_dwordx4 v[20:23], v6, s[4:5]
s_mov_b64 s[8:9], s[6:7]
s_movk_i32 s10, 0x7a
s_mov_b32 s11, 0x27000
buffer_store_dwordx4 v[20:23], v6, s[8:11], 0 offen
s_endpgm"""
    np.testing.assert_array_equal(bench.bare(text, X, np.zeros(256, np.uint32)).reshape(64, 4), want)


@pytest.mark.parametrize(("records", "end"), [(5, 10), (0, 0)])
def test_structured_buffers_end_with_their_records(bench, records, end):
    """Records of 24 bytes, of which the index picks one; what is within the record is not checked."""
    text = f"""s_mov_b32 s8, s4
s_and_b32 s9, s5, 0xffff
s_or_b32 s9, s9, 0x180000
s_movk_i32 s10, {records}
s_mov_b32 s11, 0x27000
v_lshrrev_b32_e32 v6, 1, v0
v_and_b32_e32 v7, 1, v0
v_lshlrev_b32_e32 v7, 3, v7
buffer_load_dwordx2 v[20:21], v[6:7], s[8:11], 0 idxen offen offset:4"""
    got = bench.compute(text, X.reshape(64, 4), results=2)
    start = LANE // 2 * 6 + LANE % 2 * 2 + 1
    want = np.stack([X[start], X[start + 1]], 1) * (end > LANE)[:, None]
    np.testing.assert_array_equal(got, want)


def test_offsets_from_negative_addresses_in_lds(bench):
    """LLVM folds a constant into the offset where the address before was negative: they add up in 32 bits."""
    text = "v_sub_u32_e32 v6, 0, v1\nds_write_b32 v6, v2 offset:252\nds_read_b32 v3, v1"
    np.testing.assert_array_equal(bench.run(text, X[:64], lds_bytes=256), X[63::-1])


def test_transposing_reads_with_lanes_off(bench):
    text = """v_lshlrev_b32_e32 v6, 3, v0
ds_write_b64 v6, v[10:11]
s_mov_b64 exec, 0xff
ds_read_b64_tr_b8 v[20:21], v6
s_mov_b64 exec, -1"""
    bench.compute(text, X[:128].reshape(64, 2), results=1, lds_bytes=512)
    assert [(f.sanitizer, "transposing LDS read" in f.sentence) for f in bench.report.findings] == [("exec", True)]
