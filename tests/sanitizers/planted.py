"""Kernels with exactly one fault each, and their twins without it.

A kernel has s[0:1] pointing to the addresses of an input and an output of 1,024 bytes each, v0 the work-item, two waves
a workgroup, and 1,024 bytes of LDS. Both parts of a pair are the same text but for what stands in {braces}.
"""

from typing import NamedTuple


class Pair(NamedTuple):
    """name: of the test. sanitizer: which finds it. text: a kernel with {}. fault, cure: what stands there.
    sentence: a pattern that the finding has. instruction: how that begins which it names. waves, grid: of the launch.
    """

    name: str
    sanitizer: str
    text: str
    fault: str
    cure: str
    sentence: str
    instruction: str
    waves: int = 2
    grid: tuple[int, int, int] = (1, 1, 1)


START = """s_load_dwordx4 s[4:7], s[0:1], 0x0
v_lshlrev_b32_e32 v1, 2, v0
v_mov_b32_e32 v2, 7
s_waitcnt lgkmcnt(0)
"""
END = "\ns_endpgm"
STORE = "global_store_dword v1, v3, s[6:7]" + END
WAIT_LDS = "s_waitcnt lgkmcnt(0)\n"
SYNCHRONIZE = WAIT_LDS + "s_barrier\n"
OTHER_WAVE = "v_xor_b32_e32 v4, 0x100, v1\n"  # the same lane's place in the other wave's half
NARROW = "s_mov_b64 exec, 0xffff\n"
ALL_LANES = "s_mov_b64 exec, -1\n"

MFMA_INPUTS = "".join(f"v_mov_b32_e32 v{register}, 0x7f7f7f7f\n" for register in range(10, 20))
MFMA = "v_mfma_scale_f32_16x16x128_f8f6f4 v[20:23], v[10:13], v[14:17], 0, v18, v19 op_sel_hi:[0,0,0] cbsz:4 blgp:4\n"

PAIRS = [
    # --- memory
    Pair(
        "a load at an odd address",
        "memory",
        START + "v_or_b32_e32 v4, {}, v1\nglobal_load_dword v3, v4, s[4:5]\ns_waitcnt vmcnt(0)\n" + STORE,
        "2",
        "0",
        r"reads 4 bytes of global memory at an address that is no multiple of 4",
        "global_load_dword v3",
        1,
    ),
    Pair(
        "a store to LDS at an odd address",
        "memory",
        START + "v_or_b32_e32 v4, {}, v1\nds_write_b16 v4, v2" + END,
        "1",
        "2",
        r"writes 2 bytes of LDS memory at an address that is no multiple of 2",
        "ds_write_b16 v4",
        1,
    ),
    # --- race
    Pair(
        "reading what another wave writes",
        "race",
        START + OTHER_WAVE + "ds_write_b32 v1, v2\n" + WAIT_LDS + "{}\nds_read_b32 v3, v4\n" + WAIT_LDS + STORE,
        "s_nop 0",
        "s_barrier",
        r"reads LDS that another wave of the workgroup has written at \S+: ds_write_b32 v1, v2, with no barrier",
        "ds_read_b32 v3, v4",
    ),
    Pair(
        "writing what another wave reads",
        "race",
        START
        + OTHER_WAVE
        + "ds_write_b32 v1, v2\n"
        + SYNCHRONIZE
        + "ds_read_b32 v3, v4\n"
        + WAIT_LDS
        + "{}\nds_write_b32 v1, v0\n"
        + STORE,
        "s_nop 0",
        "s_barrier",
        r"writes LDS that another wave of the workgroup has read, .* may overwrite it before it is read",
        "ds_write_b32 v1, v0",
    ),
    Pair(
        "two waves that write to the same place",
        "race",
        START + "v_and_b32_e32 v4, {}, v1\nds_write_b32 v4, v0" + END,
        "0xff",
        "0x1ff",
        r"writes LDS that another wave of the workgroup has written with the same instruction",
        "ds_write_b32 v4, v0",
    ),
    Pair(
        "neighbouring bytes of one dword are no race, the same ones are",
        "race",
        START + "v_lshrrev_b32_e32 v4, {}, v0\nds_write_b8 v4, v0" + END,
        "7",
        "0",
        r"writes LDS that another wave of the workgroup has written with the same instruction",
        "ds_write_b8 v4, v0",
    ),
    Pair(
        "a store to LDS where others add atomically",
        "race",
        START + "ds_write_b32 v1, v2\n" + SYNCHRONIZE + "v_mov_b32_e32 v4, 0\nds_add_u32 v4, v2\n{}" + END,
        "ds_write_b32 v1, v2",
        "ds_add_u32 v1, v2",
        r"writes LDS that another wave",
        "ds_write_b32 v1, v2",
    ),
    Pair(
        "two workgroups that write to one address",
        "race",
        START + "s_lshl_b32 s8, s2, {}\nv_add_u32_e32 v4, s8, v1\nglobal_store_dword v4, v2, s[6:7]" + END,
        "7",
        "8",
        r"writes to out \(.*\) where workgroup \d has written at \S+: global_store_dword",
        "global_store_dword v4",
        1,
        (2, 1, 1),
    ),
    Pair(
        "two workgroups that write bf16 to one address",
        "race",
        START
        + "s_lshl_b32 s8, s2, 7\nv_lshlrev_b32_e32 v4, 1, v0\n"
        + "v_or_b32_e32 v4, {}, v4\nglobal_store_short v4, v2, s[6:7]"
        + END,
        "0",
        "s8",
        r"with nothing that orders the two",
        "global_store_short v4",
        1,
        (2, 1, 1),
    ),
    Pair(
        "a store to where other workgroups add",
        "race",
        START
        + "v_mov_b32_e32 v4, 0\ns_mov_b64 exec, 1\ns_cmp_lg_u32 s2, 0\ns_cbranch_scc1 .LA\n"
        + "{}\ns_waitcnt vmcnt(0)\n.LA:\nglobal_atomic_add v4, v2, s[6:7]"
        + END,
        "global_store_dword v4, v2, s[6:7]",
        "global_store_dword v4, v2, s[6:7] offset:4",
        r"where workgroup 0 has written at \S+: global_store_dword .*, with nothing that orders the two",
        "global_atomic_add v4",
        1,
        (2, 1, 1),
    ),
    Pair(
        "a turn that is waited for without an atomic",
        "race",
        START
        + "v_mov_b32_e32 v4, 0\nv_mov_b32_e32 v5, 0\nv_mov_b32_e32 v6, 1\ns_mov_b64 exec, 1\n"
        + ".LA:\n{}\ns_waitcnt vmcnt(0)\nv_readfirstlane_b32 s8, v7\ns_cmp_lg_u32 s8, s2\ns_cbranch_scc1 .LA\n"
        + "global_store_dword v4, v2, s[6:7]\ns_waitcnt vmcnt(0)\n"
        + "global_atomic_add v4, v6, s[6:7] offset:512"
        + END,
        "global_load_dword v7, v4, s[6:7] offset:512",
        "global_atomic_add v7, v4, v5, s[6:7] offset:512 sc0",
        r"where workgroup \d has written",
        "global_store_dword v4",
        1,
        (2, 1, 1),
    ),
    # --- sync
    Pair(
        "a loaded register that is not waited for",
        "sync",
        START + "global_load_dword v3, v1, s[4:5]\n{}\nv_add_u32_e32 v3, v3, v3\n" + STORE,
        "s_nop 0",
        "s_waitcnt vmcnt(0)",
        r"uses v3 before an s_waitcnt vmcnt has waited for global_load_dword \(submission\.py:5:5\), which",
        "v_add_u32_e32 v3",
    ),
    Pair(
        "a wait that leaves one load too many",
        "sync",
        START
        + "global_load_dword v3, v1, s[4:5]\nglobal_load_dword v5, v1, s[4:5] offset:4\n"
        + "s_waitcnt vmcnt({})\nv_add_u32_e32 v6, v3, v3\ns_waitcnt vmcnt(0)\n"
        + STORE,
        "2",
        "1",
        r"uses v3 before",
        "v_add_u32_e32 v6",
    ),
    Pair(
        "a wait on only one of two paths",
        "sync",
        START
        + "global_load_dword v3, v1, s[4:5]\ns_cmp_eq_u32 s2, 0\ns_cbranch_scc0 .LA\ns_waitcnt vmcnt(0)\n.LA:\n{}\n"
        + STORE,
        "s_nop 0",
        "s_waitcnt vmcnt(0)",
        r"uses v3 before",
        "global_store_dword v1, v3",
    ),
    Pair(
        "a register overwritten while a load fills it",
        "sync",
        START + "ds_write_b32 v1, v2\nds_read_b32 v3, v1\n{}\nv_mov_b32_e32 v3, v0\n" + STORE,
        "s_nop 0",
        "s_waitcnt lgkmcnt(0)",
        r"uses v3 before an s_waitcnt lgkmcnt has waited for ds_read_b32",
        "v_mov_b32_e32 v3",
        1,
    ),
    Pair(
        "a scalar load that lgkmcnt(1) does not wait for",
        "sync",
        START
        + "s_load_dword s8, s[4:5], 0x0\ns_load_dword s9, s[4:5], 0x4\ns_waitcnt lgkmcnt({})\nv_mov_b32_e32 v3, s8\n"
        + STORE,
        "1",
        "0",
        r"uses s8 before an s_waitcnt lgkmcnt has waited for s_load_dword",
        "v_mov_b32_e32 v3, s8",
    ),
    Pair(
        "a write to LDS that is not waited for before the barrier",
        "sync",
        START + OTHER_WAVE + "ds_write_b32 v1, v2\n{}\ns_barrier\nds_read_b32 v3, v4\n" + WAIT_LDS + STORE,
        "s_nop 0",
        "s_waitcnt lgkmcnt(0)",
        r"reads LDS that \S+: ds_write_b32 v1, v2 fills, for which no s_waitcnt lgkmcnt has waited before the barrier",
        "ds_read_b32 v3, v4",
    ),
    Pair(
        "a load to LDS that is not waited for",
        "sync",
        START + "s_mov_b32 m0, 0\nglobal_load_lds_dword v1, s[4:5]\n{}\nds_read_b32 v3, v1\n" + WAIT_LDS + STORE,
        "s_nop 0",
        "s_waitcnt vmcnt(0)",
        r"global_load_lds_dword v1, s\[4:5\] fills, for which no s_waitcnt vmcnt has waited: the hardware",
        "ds_read_b32 v3, v1",
        1,
    ),
    # --- init
    Pair(
        "a register that nothing has written",
        "init",
        START + "global_store_dword v1, {}, s[6:7]" + END,
        "v9",
        "v2",
        r"stores v9, of which bits depend on what nothing has written",
        "global_store_dword v1, v9",
    ),
    Pair(
        "lanes that were off when the register was written",
        "init",
        START
        + "v_cmp_gt_u32_e32 vcc, {}, v0\ns_and_saveexec_b64 s[8:9], vcc\nv_mov_b32_e32 v3, 1\n"
        + ALL_LANES
        + STORE,
        "16",
        "64",
        r"stores v3",
        "global_store_dword v1, v3",
        1,
    ),
    Pair(
        "a byte of a word that no conversion has filled",
        "init",
        START
        + "v_cvt_scalef32_pk_fp4_f32 v3, v2, v2, v2\n"
        + "v_cvt_scalef32_pk_fp4_f32 v3, v2, v2, v2 op_sel:[0,0,1,0]\n"
        + "v_cvt_scalef32_pk_fp4_f32 v3, v2, v2, v2 op_sel:[0,0,0,1]\n"
        + "v_cvt_scalef32_pk_fp4_f32 v3, v2, v2, v2 op_sel:[0,0,{}]\n"
        + STORE,
        "0,1",
        "1,1",
        r"stores v3",
        "global_store_dword v1, v3",
    ),
    Pair(
        "undefined bits that a mask does not take away",
        "init",
        START + "v_and_b32_e32 v3, {}, v9\n" + STORE,
        "1",
        "0",
        r"stores v3",
        "global_store_dword v1, v3",
    ),
    Pair(
        "an undefined value that is selected",
        "init",
        START + "v_cmp_lt_u32_e32 vcc, {}, v0\nv_cndmask_b32_e32 v3, v2, v9, vcc\n" + STORE,
        "20",
        "0x80",
        r"stores v3",
        "global_store_dword v1, v3",
    ),
    Pair(
        "an undefined row of a matrix",
        "init",
        START
        + "{}"
        + MFMA_INPUTS.replace("v_mov_b32_e32 v12, 0x7f7f7f7f\n", "")
        + MFMA
        + "v_mov_b32_e32 v3, v20\n"
        + STORE,
        "",
        "v_mov_b32_e32 v12, 0x7f7f7f7f\n",
        r"stores v3",
        "global_store_dword v1, v3",
        1,
    ),
    Pair(
        "an undefined scalar as an address",
        "init",
        START + "s_mov_b32 s8, {}\ns_and_b32 s8, s8, 4\nv_add_u32_e32 v4, s8, v1\nglobal_load_dword v3, v4, s[4:5]"
        "\ns_waitcnt vmcnt(0)\n" + STORE,
        "s20",
        "4",
        r"takes its address from v4",
        "global_load_dword v3, v4",
        1,
    ),
    Pair(
        "an undefined condition",
        "init",
        START
        + "s_cmp_lg_u32 {}, 0\ns_cbranch_scc1 .LA\nv_mov_b32_e32 v2, 1\n.LA:\nglobal_store_dword v1, v2, s[6:7]"
        + END,
        "s20",
        "s2",
        r"lets scc, which depends on what nothing has written, decide a branch",
        "s_cbranch_scc1",
    ),
    Pair(
        "an undefined EXEC",
        "init",
        START + "s_mov_b64 s[8:9], {}\ns_mov_b64 exec, s[8:9]\nglobal_store_dword v1, v2, s[6:7]" + END,
        "s[20:21]",
        "-1",
        r"lets exec_lo, .* decide EXEC",
        "s_mov_b64 exec",
    ),
    Pair(
        "an undefined value by way of LDS",
        "init",
        START + "ds_write_b32 v1, {}\n" + WAIT_LDS + "ds_read_b32 v3, v1\n" + WAIT_LDS + STORE,
        "v9",
        "v2",
        r"stores v3",
        "global_store_dword v1, v3",
    ),
    # --- exec
    Pair(
        "scaled MFMA on scales of lanes that are off",
        "exec",
        START + MFMA_INPUTS + "{}v_mov_b32_e32 v18, 0x7f\n" + NARROW + MFMA + ALL_LANES + "s_endpgm",
        NARROW,
        "",
        r"reads v18 in lanes that are off, and were off when v_mov_b32 wrote it.*3\.7\.1, 3\.8\.0 and 3\.9\.0 do not",
        "v_mfma_scale_f32_16x16x128_f8f6f4",
        1,
    ),
]
