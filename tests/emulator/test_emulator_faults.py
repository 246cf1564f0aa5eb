"""Every kind of mistake is caught, and the message says in one line what, where and who."""

import re
from itertools import pairwise

import numpy as np
import pytest

from mxsub.virtual.faults import EndlessLoop, IllegalAccess, LaunchError
from mxsub.virtual.memory import GlobalMemory

RESOURCE = "s_mov_b32 s8, s4\ns_and_b32 s9, s5, 0xffff\ns_mov_b32 s10, {records:#x}\ns_mov_b32 s11, 0x27000\n"
LOC = "\t.loc\t1 61 18 ; submission.py:61:18\n"


def message(bench, text, error=IllegalAccess, **options) -> str:
    with pytest.raises(error) as caught:
        bench.run(text, **options)
    assert isinstance(caught.value, RuntimeError)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_whole_message(bench):
    """The last lane reads one word past a buffer of 64 words."""
    got = message(bench, LOC + "global_load_dword v3, v1, s[4:5] offset:4")
    assert re.fullmatch(
        r"reads 4 bytes right past the end of source \(256 bytes\) at submission\.py:61:18: "
        r"global_load_dword v3, v1, s\[4:5\] offset:4 \(workgroup 0, wave 0, lane 63, address 0x[0-9a-f]+\)",
        got,
    )


def test_callers_are_named(bench):
    loc = "\t.loc\t1 5 7 ; tile.py:5:7 @[ gemm.py:87:8 @[ submission.py:9:1 ] ]\n\t.loc\t1 0 0 ; :0:0\n"
    got = message(bench, loc + "global_load_dword v3, v1, s[4:5] offset:1024")
    assert "submission.py:5:7, called from gemm.py:87:8, submission.py:9:1: global_load_dword" in got


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (
            "global_load_dwordx2 v[8:9], v1, s[4:5]",
            r"reads 8 bytes of which 4 lie past the end of source \(256 bytes\).*lane 63",
        ),
        (
            "global_load_dword v3, v1, s[4:5] offset:2000",
            r"reads 4 bytes 1,744 bytes past the end of source.*lane 0,",
        ),
        ("global_load_dword v3, v1, s[4:5] offset:-8", r"reads 4 bytes 8 bytes before the start of source.*lane 0,"),
        (
            "global_load_dword v3, v1, s[4:5] offset:-2",
            r"reads 4 bytes that begin 2 bytes before the start of source.*lane 0,",
        ),
        ("global_load_ubyte v3, v1, s[4:5] offset:5", r"reads 1 byte 1 byte past the end of source.*lane 63"),
        (
            "global_store_dword v1, v2, s[6:7] offset:4",
            r"writes 4 bytes right past the end of out \(int32 \[64\], 256 bytes\)",
        ),
        ("global_load_dword v3, v[8:9], off", r"reads 4 bytes far from any buffer.*address 0x7ff7a5a57ff7a5a5"),
        ("v_mov_b32_e32 v4, 0\nglobal_load_dword v3, v4, s[12:13]", "far from any buffer"),
        (
            "s_load_dwordx4 s[8:11], s[4:5], 0xf8",
            r"reads 16 bytes of which 8 lie past the end of source.*wave 0, address",
        ),
        (
            "v_mov_b32_e32 v4, 0\nglobal_store_dword v4, v2, s[0:1]",
            r"writes 4 bytes to the kernel arguments \(16 bytes\), which is read-only",
        ),
        (
            "v_mov_b32_e32 v4, 0x7fffffff\nglobal_atomic_add v4, v2, s[4:5]",
            r"reads 4 bytes 2,147,483,391 bytes past the end of source",
        ),
        ("ds_read_b32 v3, v1", "reads 4 bytes of LDS of which some were never written.*lane 0, address 0x0"),
        (
            "ds_write_b32 v1, v2 offset:16",
            r"writes 4 bytes right past the end of LDS \(256 bytes\).*lane 60, address 0x100",
        ),
        (
            "v_add_u32_e32 v4, 2, v1\nds_write_b32 v4, v2",
            r"writes 4 bytes of which 2 lie past the end of LDS.*lane 63",
        ),
        ("ds_write_b32 v1, v2\nds_read_b64 v[8:9], v1", "reads 8 bytes of which 4 lie past the end of LDS"),
        ("ds_write_b8 v1, v2\nds_read_b32 v3, v1", "some were never written"),
        ("scratch_load_dword v3, off, off offset:4", "reads 4 bytes of scratch of which some were never written"),
        ("scratch_store_dword off, v2, off offset:16", r"writes 4 bytes right past the end of scratch \(16 bytes\)"),
        ("scratch_store_dword off, v2, off offset:-4", "writes 4 bytes 4 bytes before the start of scratch"),
        # Within the number of records but outside the buffer.
        (
            RESOURCE.format(records=0x1000) + "v_add_u32_e32 v6, 64, v1\nbuffer_load_dword v3, v6, s[8:11], 0 offen",
            r"reads 4 bytes right past the end of source \(256 bytes\).*lane 48",
        ),
        (
            RESOURCE.format(records=256) + "s_bitset1_b32 s11, 23\nbuffer_load_dword v3, v1, s[8:11], 0 offen",
            "uses a buffer resource that swizzles or adds lanes' numbers: not emulated at",
        ),
    ],
)
def test_accesses_out_of_bounds(bench, text, want):
    assert re.search(want, message(bench, text, lds_bytes=256))


def test_lanes_that_are_off_do_no_harm(bench):
    text = """v_mov_b32_e32 v3, 0
v_cmp_gt_u32_e32 vcc, 63, v0
s_and_saveexec_b64 s[8:9], vcc
global_load_dword v3, v1, s[4:5] offset:4
s_mov_b64 exec, s[8:9]"""
    np.testing.assert_array_equal(bench.run(text), [*range(1, 64), 0])
    none = text.replace("63, v0", "0, v0").replace("offset:4", "offset:4000")
    assert not bench.run(none).any()


def test_who_did_it(bench):
    """The second wave of workgroup (2, 0, 1), and nobody else."""
    text = """s_load_dwordx4 s[8:11], s[0:1], 0x0
v_mov_b32_e32 v1, 0
s_cmp_eq_u32 s2, 2
s_cbranch_scc0 .LA
s_cmp_eq_u32 s4, 1
s_cbranch_scc0 .LA
v_readfirstlane_b32 s5, v0
s_cmp_eq_u32 s5, 64
s_cbranch_scc0 .LA
v_cmp_eq_u32_e32 vcc, 100, v0
v_cndmask_b32_e64 v1, 0, -4, vcc
.LA:
global_load_dword v3, v1, s[8:9]
s_endpgm"""
    with pytest.raises(IllegalAccess, match=r"\(workgroup \(2, 0, 1\), wave 1, lane 36, address 0x"):
        bench.bare(text, np.zeros(4, np.uint32), np.zeros(4, np.uint32), waves=2, grid=(3, 2, 2))


@pytest.mark.parametrize(
    "text", [".LA:\ns_branch .LA", "s_mov_b32 s8, 0\n.LA:\ns_add_u32 s8, s8, 1\ns_cmp_lg_u32 s8, 0\ns_cbranch_scc1 .LA"]
)
def test_endless_loops(bench, text):
    got = message(bench, LOC + text, EndlessLoop, instruction_limit=1000)
    assert got.startswith("does not end: 1,000 instructions ran at submission.py:61:18: s_")
    assert got.endswith("(workgroup 0, wave 0)")


def test_waves_that_wait_for_ever_for_one_another(bench):
    text = """v_mov_b32_e32 v4, 0
.LA:
global_load_dword v5, v4, s[4:5]
v_readfirstlane_b32 s9, v5
s_cmp_lg_u32 s9, 77
s_cbranch_scc1 .LA"""
    assert "does not end" in message(bench, text, EndlessLoop, waves=2, instruction_limit=50_000)


def test_launches_beyond_the_device(bench):
    assert message(bench, "", LaunchError, lds_bytes=200_000) == (
        "needs 200,000 bytes of LDS a workgroup; an MI355X has 163,840"
    )
    assert message(bench, "", LaunchError, waves=17) == "needs 17 waves a workgroup; an MI355X allows 16"


def test_buffers_lie_far_apart():
    memory = GlobalMemory()
    buffers = [memory.map(name, np.zeros(1 << 20, np.uint8)) for name in "abc"]
    for before, after in pairwise(buffers):
        assert after.base - before.end >= 1 << 32
    low = memory.map("low", np.zeros(16, np.uint8), base=1 << 40)
    assert low.base == 1 << 40
    with pytest.raises(LaunchError, match="maps again at 0x10000000008, where there is another buffer"):
        memory.map("again", np.zeros(16, np.uint8), base=(1 << 40) + 8)
    memory.unmap(low)
    assert memory.map("again", np.zeros(16, np.uint8), base=(1 << 40) + 8).base == (1 << 40) + 8


def test_memory_is_reachable_only_while_it_is_mapped(bench):
    """The kernel arguments are unmapped after a launch, also after one that failed."""
    message(bench, "global_load_dword v3, v1, s[4:5] offset:4")
    bench.run("v_mov_b32_e32 v3, v2")
