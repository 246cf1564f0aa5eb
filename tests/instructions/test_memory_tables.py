"""Every opcode of memory, matrix and cross-lane instructions that the emulator has is one that AMD lists, and is in a
table that tests go through."""

import pytest
from tinygrad.runtime.autogen.amd.cdna import enum

from mxsub.virtual import lanes, matrix_opcodes, memory_instructions, scalar
from tests.instructions import test_lanes, test_memory_lds, test_memory_to_lds
from tests.instructions.coverage import TESTED_MATRIX, TESTED_MEMORY
from tests.pseudocode import TEXTS

# Without a text of AMD's, which describes no opcode that only orders or only moves data to LDS.
NAMED_IN_THE_MANUAL = {
    *test_memory_lds.TRANSPOSING,
    *test_memory_to_lds.OPCODES,
    *memory_instructions.WITHOUT_EFFECT,
    *(name for name in matrix_opcodes.OPCODES if "_scale_" in name),
    "v_nop",
}


def test_every_memory_opcode_is_tested():
    assert memory_instructions.OPCODES - memory_instructions.WITHOUT_EFFECT == TESTED_MEMORY


def test_every_matrix_opcode_is_tested():
    assert matrix_opcodes.OPCODES.keys() == TESTED_MATRIX


def test_every_opcode_across_lanes_is_tested():
    assert lanes.BINDERS.keys() == test_lanes.OPCODES


def test_all_are_amds():
    known = memory_instructions.OPCODES | matrix_opcodes.OPCODES.keys() | lanes.BINDERS.keys()
    assert known - NAMED_IN_THE_MANUAL - TEXTS.keys() == set()


def test_nothing_that_amd_lists_is_missing():
    """gfx950 has no xf32; v_mfma_ld_scale_b32 is the first half of a scaled instruction."""
    groups = (
        enum.DSOp,
        enum.FLATOp,
        enum.GLOBALOp,
        enum.SCRATCHOp,
        enum.MUBUFOp,
        enum.MTBUFOp,
        enum.SMEMOp,
        enum.VOP3POp,
        enum.VOP3PX2Op,
    )
    listed = {entry.name.lower() for group in groups for entry in group}
    matrix = {name for name in listed if "mfma" in name or "smfmac" in name}
    memory = {name for name in listed if not name.startswith("v_")} - scalar.OPCODES
    assert {name for name in memory if not memory_instructions.is_known(name)} == set()
    assert matrix - matrix_opcodes.OPCODES.keys() == {
        "v_mfma_f32_16x16x8_xf32",
        "v_mfma_f32_32x32x4_xf32",
        "v_mfma_ld_scale_b32",
    }


@pytest.mark.parametrize("opcode", sorted(memory_instructions.WITHOUT_EFFECT))
def test_without_effect(bench, opcode):
    """They change no register and no memory."""
    text = f"ds_write_b32 v1, v2\n{opcode}{' sc1' if 'buffer' in opcode else ''}\nds_read_b32 v3, v1"
    assert bench.run(text, lds_bytes=256).tolist() == list(range(64))
    assert memory_instructions.bind(bench.program(opcode).code[0]) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("buffer_load_format_x v1, off, s[4:7], 0", "typed buffers"),
        ("tbuffer_store_format_xyzw v[0:3], off, s[4:7], 0 format:[BUF_DATA_FORMAT_32]", "typed buffers"),
        ("ds_append v1 offset:4", "counters in LDS"),
        ("ds_consume v1 offset:4", "counters in LDS"),
        ("ds_condxchg32_rtn_b64 v[2:3], v1, v[4:5]", "conditional exchanges"),
        ("ds_gws_barrier v2 gds", "global wave synchronization"),
        ("s_atomic_add s1, s[2:3], 0x10", "scalar atomics"),
        ("s_buffer_atomic_swap_x2 s[0:1], s[4:7], 0x10", "scalar atomics"),
        ("s_scratch_load_dword s1, s[2:3], 0x10", "scalar scratch"),
        ("s_atc_probe 1, s[2:3], 0x0", "address translation probes"),
        ("s_dcache_discard s[2:3], 0x10", "throwing away what is in a cache"),
        ("global_load_dword v1, v2, s[4:5] tfe", "the modifier tfe"),
        ("ds_read_b32 v1, v2 gds", "the modifier gds"),
        ("ds_wrxchg2_rtn_b32 v[2:3], v2, v4, v5 offset1:1", "a result in the registers of its operands"),
        ("ds_swizzle_b32 v1, v2 offset:swizzle(SHUFFLE,3)", "this pattern of ds_swizzle"),
    ],
)
def test_refused_with_a_reason(bench, text, why):
    with pytest.raises(RuntimeError) as caught:
        bench.program(text)
    assert f"{text} [{why}" in str(caught.value)
    assert "\n" not in str(caught.value)
