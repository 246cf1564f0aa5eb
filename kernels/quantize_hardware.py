"""MXFP4 quantization of activations with the FP4 conversion instruction of CDNA4.

Tunable: nothing of its own; the GEMM's BLOCK_SIZE_M and BLOCK_SIZE_K are its tile.
Requires v_cvt_scalef32_pk_fp4_f32 (gfx950) and BLOCK_SIZE_K in multiples of 32.
"""

import triton
import triton.language as tl

FRAGMENT = {
    "role": "quantize",
    "generation": "any",
    "kernel": "quantize_mxfp4_hardware",
    "needs": ["fp4_conversion"],
    "requires": ["gfx950: v_cvt_scalef32_pk_fp4_f32 reads only the exponent field of its scale"],
}


@triton.jit
def larger_or_nan(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def quantize_mxfp4_hardware(x, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_K: tl.constexpr):
    """bf16 (BLOCK_SIZE_M, BLOCK_SIZE_K) to MXFP4 in blocks of 32 along K.

    Returns e2m1 codes, two a byte with the even k in the low half (BLOCK_SIZE_M, BLOCK_SIZE_K // 2), and
    E8M0 scales (BLOCK_SIZE_M, BLOCK_SIZE_K // 32), both uint8. The scale's exponent is that of the block's
    largest magnitude, rounded up from 1.75, less 2; NaN counts as infinity.
    """
    BLOCKS: tl.constexpr = BLOCK_SIZE_K // 32
    x = x.to(tl.float32).reshape(BLOCK_SIZE_M, BLOCKS, 32)
    amax = tl.reduce(tl.abs(x), 2, larger_or_nan, keep_dims=True)
    bits = tl.minimum(amax.to(tl.uint32, bitcast=True) & 0x7FFFFFFF, 0x7F800000)
    exponent = tl.maximum(((bits + 0x200000) >> 23).to(tl.int32) - 2, 0)
    scale = tl.broadcast_to((exponent << 23).to(tl.float32, bitcast=True), (BLOCK_SIZE_M, BLOCKS, 16))
    even, odd = tl.split(x.reshape(BLOCK_SIZE_M, BLOCKS, 16, 2))
    # The conversion writes one byte of its destination; only the scale's exponent field counts.
    codes = tl.inline_asm_elementwise(
        "v_cvt_scalef32_pk_fp4_f32 $0, $1, $2, $3",
        "=v,v,v,v",
        [even, odd, scale],
        dtype=tl.int32,
        is_pure=True,
        pack=1,
    )
    return (
        codes.to(tl.uint8).reshape(BLOCK_SIZE_M, BLOCK_SIZE_K // 2),
        exponent.to(tl.uint8).reshape(BLOCK_SIZE_M, BLOCKS),
    )
