"""What a mnemonic is; and that the passes of MFMA give the peak rates of the data sheet."""

import pytest

from mxsub.virtual.assembly import parse_instruction
from mxsub.virtual.inspection import architecture as gpu
from mxsub.virtual.inspection.opcodes import (
    class_of,
    converted,
    matrix_flops,
    matrix_format,
    matrix_passes,
    unpacked,
    vector_flops,
)


@pytest.mark.parametrize(
    ("opcode", "kind"),
    [
        ("v_mfma_f32_16x16x32_bf16", "matrix"),
        ("v_smfmac_f32_16x16x64_bf16", "matrix"),
        ("v_add_f32", "vector"),
        ("ds_read_b128", "LDS"),
        ("ds_bpermute_b32", "LDS"),
        ("s_load_dwordx4", "scalar load"),
        ("s_buffer_load_dword", "scalar load"),
        ("s_add_u32", "scalar"),
        ("s_cbranch_scc0", "branch and sync"),
        ("s_waitcnt", "branch and sync"),
        ("s_barrier", "branch and sync"),
        ("buffer_inv", "branch and sync"),
        ("buffer_load_dwordx4", "global load"),
        ("global_load_lds_dwordx4", "global load"),
        ("flat_store_dword", "global store"),
        ("global_atomic_add_f32", "global atomic"),
        ("scratch_load_dword", "scratch"),
    ],
)
def test_classes(opcode: str, kind: str) -> None:
    assert class_of(opcode) == kind


SCALED = "v_mfma_scale_f32_{} v[0:{}], v[20:27], v[30:37], v[0:{}], v40, v41 op_sel_hi:[0,0,0] cbsz:{} blgp:{}"


@pytest.mark.parametrize(
    ("text", "form", "flops", "passes"),
    [
        (SCALED.format("16x16x128_f8f6f4", 3, 3, 4, 4), "fp4", 65536, 4),
        (SCALED.format("16x16x128_f8f6f4", 3, 3, 0, 4), "fp8", 65536, 8),
        (SCALED.format("16x16x128_f8f6f4", 3, 3, 2, 4), "fp6", 65536, 4),
        (SCALED.format("32x32x64_f8f6f4", 15, 15, 4, 4), "fp4", 131072, 8),
        (SCALED.format("32x32x64_f8f6f4", 15, 15, 1, 1), "fp8", 131072, 16),
        ("v_mfma_f32_16x16x32_bf16 v[0:3], v[4:7], v[8:11], v[0:3]", "bf16", 16384, 4),
        ("v_mfma_f32_32x32x16_f16 v[0:15], v[4:7], v[8:11], v[0:15]", "f16", 32768, 8),
        ("v_mfma_f32_16x16x16_bf16 v[0:3], v[4:5], v[8:9], v[0:3]", "bf16", 8192, 4),
        ("v_mfma_i32_16x16x64_i8 v[0:3], v[4:7], v[8:11], v[0:3]", "i8", 32768, 4),
        ("v_mfma_f32_16x16x4_f32 v[0:3], v4, v5, v[0:3]", "f32", 2048, 8),
        ("v_mfma_f64_16x16x4_f64 v[0:7], v[8:9], v[10:11], v[0:7]", "f64", 2048, 16),
        ("v_mfma_f32_4x4x4_16b_f16 v[0:3], v[4:5], v[8:9], v[0:3]", "f16", 2048, 2),
        ("v_mfma_f32_32x32x4_2b_bf16 v[0:31], v[4:5], v[8:9], v[0:31]", "bf16", 16384, 16),
    ],
)
def test_products(text: str, form: str, flops: int, passes: int) -> None:
    instruction = parse_instruction(text)
    assert (matrix_format(instruction), matrix_flops(instruction), matrix_passes(instruction)) == (form, flops, passes)


@pytest.mark.parametrize(
    "text",
    [
        SCALED.format("16x16x128_f8f6f4", 3, 3, 4, 4),
        SCALED.format("32x32x64_f8f6f4", 15, 15, 4, 4),
        SCALED.format("32x32x64_f8f6f4", 15, 15, 3, 4),
        SCALED.format("16x16x128_f8f6f4", 3, 3, 0, 0),
        "v_mfma_i32_32x32x32_i8 v[0:15], v[4:7], v[8:11], v[0:15]",
        "v_mfma_f32_16x16x32_bf16 v[0:3], v[4:7], v[8:11], v[0:3]",
        "v_mfma_f32_32x32x16_f16 v[0:15], v[4:7], v[8:11], v[0:15]",
        "v_mfma_f32_16x16x4_f32 v[0:3], v4, v5, v[0:3]",
        "v_mfma_f64_16x16x4_f64 v[0:7], v[8:9], v[10:11], v[0:7]",
    ],
)
def test_passes_give_the_peak_of_the_data_sheet(text: str) -> None:
    """The passes come from LLVM and the ISA document, the peaks from the data sheet."""
    instruction = parse_instruction(text)
    cycles = 4 * matrix_passes(instruction)
    peak = matrix_flops(instruction) / cycles * gpu.SIMDS * gpu.COMPUTE_UNITS * 2.4e9
    assert peak == pytest.approx(gpu.MATRIX_FLOPS_PER_SECOND[matrix_format(instruction)], rel=0.01)


@pytest.mark.parametrize(
    ("opcode", "flops"),
    [
        ("v_add_f32", 1),
        ("v_fma_f32", 2),
        ("v_fmac_f32", 2),
        ("v_pk_fma_f32", 4),
        ("v_pk_mul_f16", 2),
        ("v_exp_f32", 1),
        ("v_dot2_f32_f16", 4),
        ("v_add_u32", 0),
        ("v_max_f32", 0),
        ("v_cvt_f32_i32", 0),
        ("v_mov_b32", 0),
    ],
)
def test_vector_operations(opcode: str, flops: int) -> None:
    assert vector_flops(opcode) == flops


def test_conversions() -> None:
    assert converted("v_cvt_scalef32_pk_fp4_f32") == ("fp4", 2)
    assert converted("v_cvt_scalef32_sr_pk_fp4_bf16") == ("fp4", 2)
    assert converted("v_cvt_scalef32_pk32_bf6_f32") == ("bf6", 32)
    assert converted("v_cvt_scalef32_2xpk16_fp6_f32") == ("fp6", 32)
    assert converted("v_cvt_pk_fp8_f32") == ("fp8", 2)
    assert converted("v_cvt_scalef32_pk_bf16_fp4") is None
    assert unpacked("v_cvt_scalef32_pk_bf16_fp4") == ("fp4", 2)
    assert unpacked("v_cvt_f32_fp8") == ("fp8", 1)
    assert unpacked("v_cvt_pk_bf16_f32") is None
