"""What the emulator knows is what LLVM's assembler takes for gfx950, and is read as LLVM prints it."""

import re

import pytest

from mxsub.virtual import matrix_opcodes, memory_instructions, scalar, vector
from tests.decoding import llvm

FORMS = """\
v_mfma_f32_4x4x4_16b_f16 a[0:3], a[4:5], v[6:7], a[0:3] cbsz:4 abid:7 blgp:3
v_mfma_f64_16x16x4_f64 v[0:7], v[10:11], v[12:13], 1.0 neg:[1,0,1]
v_mfma_i32_16x16x64_i8 v[0:3], v[4:7], v[8:11], -16
v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:17], 0 blgp:2
v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], v[4:9], v[12:15], 0, v1, v2 op_sel:[0,1,0] op_sel_hi:[0,0,0] cbsz:3 blgp:4
v_mfma_scale_f32_32x32x64_f8f6f4 a[0:15], v[4:7], v[12:15], a[0:15], v1, v2 op_sel_hi:[0,0,0] cbsz:4 blgp:4
v_smfmac_i32_32x32x64_i8 a[0:15], v[4:7], v[8:15], v20 cbsz:1 abid:1
v_permlane16_swap_b32_e32 v1, v2
v_permlane32_swap_b32_e64 v1, v2 bound_ctrl:1 fi:1
v_mov_b32_dpp v1, v2 row_newbcast:3 row_mask:0xf bank_mask:0xf bound_ctrl:1
v_mov_b32_dpp v1, v2 quad_perm:[1,0,3,2] row_mask:0xa bank_mask:0xf
v_readlane_b32 s3, v2, m0
v_writelane_b32 v1, s3, 63
ds_read_b64_tr_b4 v[2:3], v1 offset:8
ds_read_b96_tr_b6 v[2:4], v1
ds_read2st64_b64 v[4:7], v1 offset0:1 offset1:255
ds_write2_b32 v1, v2, v3 offset1:4
ds_wrxchg2st64_rtn_b64 v[4:7], v1, v[2:3], v[10:11] offset0:1 offset1:2
ds_mskor_rtn_b64 v[4:5], v1, v[2:3], v[6:7] offset:65535
ds_wrap_rtn_b32 v3, v1, v4, v5
ds_write_addtid_b32 v1 offset:4
ds_swizzle_b32 v1, v2 offset:swizzle(BITMASK_PERM,"01pip")
ds_bpermute_b32 v1, v2, v3 offset:4
buffer_load_dwordx3 v1, s[4:7], s1 offen offset:12 lds
buffer_load_dwordx4 v[0:3], v[8:9], s[4:7], 5 idxen offen offset:4095
buffer_store_short_d16_hi v1, off, s[4:7], s1 sc0 nt sc1
buffer_atomic_cmpswap_x2 v[0:3], v4, s[4:7], 0 offen sc0
global_load_lds_dwordx4 v[0:1], off offset:16
global_load_lds_dwordx3 v1, s[0:1] offset:-16
global_load_dword a1, v2, s[2:3] offset:-4096 nt
global_atomic_pk_add_bf16 v1, v[2:3], v4, off sc0
flat_atomic_add_f64 v[2:3], v[4:5]
scratch_load_dword v1, v2, s3 offset:4
scratch_store_dwordx2 off, v[2:3], off offset:-8
scratch_load_lds_ushort off, s1 offset:4
s_load_dwordx16 s[8:23], s[20:21], 0x10
s_load_dword s1, s[2:3], s5 offset:0x10 glc
s_buffer_load_dwordx8 s[8:15], s[4:7], m0
s_store_dwordx4 s[8:11], s[2:3], 0x10
buffer_inv sc1
ds_nop
""".splitlines()


@pytest.mark.slow
def test_every_opcode_is_one_of_gfx950():
    known = vector.OPCODES | scalar.OPCODES | matrix_opcodes.OPCODES.keys() | memory_instructions.OPCODES
    names = sorted(known)
    said = llvm.run(
        "llvm-mc", "-arch=amdgcn", "-mcpu=gfx950", text="\n".join(f"{name} nothing" for name in names)
    ).stderr
    errors = re.findall(r"<stdin>:(\d+):\d+: error: (.*)", said)
    assert len(errors) > 0.98 * len(names)  # of the operand; a few opcodes, such as branches, take a name
    strange = [
        names[int(line) - 1] for line, error in errors if re.search(r"invalid instruction|not supported on", error)
    ]
    assert strange == []


@pytest.mark.slow
def test_forms_are_as_llvm_prints_them(bench):
    """Each of these is what the assembler prints of it, so that what is parsed here is what Triton's listings have."""
    done = llvm.run("llvm-mc", "-arch=amdgcn", "-mcpu=gfx950", text="\n".join(FORMS))
    assert done.stderr == ""
    printed = [" ".join(line.split()) for line in done.stdout.splitlines() if line.startswith("\t") and line[1] != "."]
    assert printed == FORMS
    assert len(bench.program("\n".join(FORMS)).code) == len(FORMS)
