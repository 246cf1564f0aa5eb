"""Assembly text, metadata, and what is said of instructions that are not known."""

import pytest

from mxsub.virtual.assembly import parse_instruction, parse_operand
from mxsub.virtual.faults import UnsupportedInstruction
from mxsub.virtual.machine import Program, instruction_class, is_known
from mxsub.virtual.metadata import parse_metadata
from mxsub.virtual.registers import AGPR, EXEC, SCC, VCC
from mxsub.virtual.source_positions import SourcePositions


@pytest.mark.parametrize(
    ("text", "kind", "register", "count"),
    [
        ("v7", "vector", 7, 1),
        ("v[2:5]", "vector", 2, 4),
        ("a3", "vector", AGPR + 3, 1),
        ("a[0:15]", "vector", AGPR, 16),
        ("s[100:101]", "scalar", 100, 2),
        ("vcc", "scalar", VCC, 2),
        ("exec_hi", "scalar", EXEC + 1, 1),
        ("src_scc", "scalar", SCC, 1),
    ],
)
def test_registers(text, kind, register, count):
    operand = parse_operand(text)
    assert (operand.kind, operand.register, operand.count) == (kind, register, count)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [("-16", "integer", -16), ("0xff800000", "integer", 0xFF800000), ("0.5", "real", 0.5), ("-4.0", "real", -4.0)],
)
def test_constants(text, kind, value):
    operand = parse_operand(text)
    assert (operand.kind, operand.constant) == (kind, value)


def test_a_constant_with_its_sign_turned():
    operand = parse_operand("neg(0)")
    assert (operand.kind, operand.constant, operand.negate) == ("integer", 0, True)


def test_source_modifiers():
    operand = parse_operand("-|v3|")
    assert (operand.register, operand.negate, operand.absolute) == (3, True, True)
    assert parse_operand("sext(v4)").sign_extend
    assert parse_operand("neg(abs(v4))").negate


def test_instruction():
    instruction = parse_instruction(
        "v_mfma_scale_f32_16x16x128_f8f6f4 v[0:3], a[0:3], v[4:7], 0, v8, v9 op_sel:[1,0,0] cbsz:4"
    )
    assert instruction.opcode == "v_mfma_scale_f32_16x16x128_f8f6f4"
    assert [o.count for o in instruction.operands] == [4, 4, 4, 1, 1, 1]
    assert instruction.modifiers == {"op_sel": [1, 0, 0], "cbsz": 4}
    assert [instruction.bit("op_sel", k) for k in (0, 1, 5)] == [1, 0, 0]
    waits = parse_instruction("s_waitcnt vmcnt(0) lgkmcnt(0)")
    assert (waits.opcode, waits.encoding) == ("s_waitcnt", "")
    moved = parse_instruction("v_mov_b32_dpp v3, v2 quad_perm:[2,3,0,1] row_mask:0xf bound_ctrl:0")
    assert (moved.opcode, moved.encoding) == ("v_mov_b32", "_dpp")
    assert moved.modifiers["quad_perm"] == [2, 3, 0, 1]


def test_source_positions():
    positions = SourcePositions()
    assert not positions.read("\tv_nop")
    assert positions.read('\t.file\t2 "/work/main/kernels" "tile_order.py"')
    assert positions.read("\t.loc\t2 16 22 is_stmt 1   ; tile_order.py:16:22 @[ gemm.py:67:65 ]")
    assert positions.current == "tile_order.py:16:22, called from gemm.py:67:65"
    assert positions.read("\t.loc\t2 0 0 is_stmt 0 ; :0:0")
    assert positions.current == "tile_order.py:16:22, called from gemm.py:67:65"
    assert positions.read("\t.loc\t2 17 1")
    assert positions.current == "tile_order.py:17:1"


def test_metadata():
    text = """amdhsa.kernels:
  - .agpr_count:     32
    .args:
      - .address_space:  global
        .name:           a_ptr
        .offset:         0
        .size:           8
        .value_kind:     global_buffer
      - .offset:         8
        .size:           4
        .value_kind:     by_value
    .kernarg_segment_size: 48
    .vgpr_spill_count: 7
amdhsa.target:   amdgcn-amd-amdhsa--gfx950
\t.end_amdgpu_metadata
"""
    metadata = parse_metadata(text)
    assert [(a.offset, a.size, a.value_kind, a.name) for a in metadata.arguments] == [
        (0, 8, "global_buffer", "a_ptr"),
        (8, 4, "by_value", ""),
    ]
    assert metadata.numbers == {"agpr_count": 32, "kernarg_segment_size": 48, "vgpr_spill_count": 7}


def test_program_knows_its_kernel(bench):
    program = bench.program("s_endpgm")
    assert program.name == "kernel"
    assert (program.kernarg_size, program.scratch_size, program.lds_size, program.workgroup_size) == (16, 16, 0, 64)
    assert (program.vgpr_count, program.vgpr_spill_count) == (64, 0)
    assert len(program.arguments) == 2


def test_unknown_instructions_are_all_listed(bench):
    text = """\t.loc\t1 12 3
v_permlane64_b32 v1, v2
v_permlane64_b32 v1, v2
\t.loc\t1 13 5
image_nothing v1
v_cube_root v0, v1
v_mov_b32_e32 v1, v2, v3
buffer_load_format_x v1, v2, s[4:7], 0 idxen
s_endpgm"""
    with pytest.raises(UnsupportedInstruction) as caught:
        bench.program(text)
    assert str(caught.value) == (
        "uses instructions that the emulator does not know: "
        "buffer_load_format_x v1, v2, s[4:7], 0 idxen [typed buffers, which only graphics uses] (1x, first at "
        "submission.py:13:5), "
        "image_nothing (1x, first at submission.py:13:5), "
        "v_cube_root (1x, first at submission.py:13:5), "
        "v_mov_b32_e32 v1, v2, v3 [2 sources instead of 1] (1x, first at submission.py:13:5), "
        "v_permlane64_b32 (2x, first at submission.py:12:3)"
    )


def test_other_processors_are_refused():
    with pytest.raises(UnsupportedInstruction, match="another processor than gfx950"):
        Program('\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n')
    with pytest.raises(UnsupportedInstruction, match="0 kernels instead of one"):
        Program('\t.amdgcn_target "amdgcn-amd-amdhsa--gfx950"\n')


@pytest.mark.parametrize(
    ("opcode", "label"),
    [
        ("v_mfma_f32_16x16x32_bf16", "matrix"),
        ("v_add_u32", "vector"),
        ("ds_read_b128", "lds"),
        ("s_load_dwordx8", "scalar load"),
        ("s_barrier", "scalar"),
        ("scratch_load_dword", "scratch"),
        ("buffer_load_dwordx4", "global"),
    ],
)
def test_classes(opcode, label):
    assert is_known(opcode)
    assert instruction_class(opcode) == label


@pytest.mark.parametrize(
    "opcode",
    ["v_mfma_f32_16x16x128_bf16", "v_mfma_f32_4x4x4_bf16", "v_mfma_scale_f32_16x16x32_bf16", "ds_nothing", "s_nope"],
)
def test_opcodes_that_are_not_known(opcode):
    assert not is_known(opcode)
