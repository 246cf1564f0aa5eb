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
    "requires": [
        "gfx950: v_cvt_scalef32_pk_fp4_f32 reads only the exponent field of its scale",
        "NaN becomes 6 if the instruction converts it as it does infinity, which no hardware run has confirmed",
    ],
}


@triton.jit
def larger_or_nan(a, b):
    """The larger of two, NaN if either is: one v_maximum3_f32 for two of them."""
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def every_fourth(x):
    """Elements 0, 1, 2 and 3 of each four along the last axis."""
    first_third, second_fourth = tl.split(x.reshape(x.shape[0], x.shape[1], x.shape[2] // 4, 2, 2))
    first, third = tl.split(first_third)
    second, fourth = tl.split(second_fourth)
    return first, second, third, fourth


@triton.jit
def convert_into(word, even, odd, scale, BYTE: tl.constexpr):
    """Writes the codes of a pair to one byte of a word, named by the last two bits of op_sel, and keeps the others.

    A statement for each conversion, the word tied to its result, leaves it to the compiler to put the wait state
    that a partly written register needs between them: it interleaves two words and needs none.
    """
    CONVERT: tl.constexpr = "v_cvt_scalef32_pk_fp4_f32 $0, $1, $2, $3 op_sel:[0,0," + BYTE + "]"
    return tl.inline_asm_elementwise(CONVERT, "=v,v,v,v,0", [even, odd, scale, word], tl.int32, is_pure=True, pack=1)


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
    # Only the exponent field of the conversion's scale counts, so that of 2 ** -127 may be written as 0.0.
    scale = tl.broadcast_to((exponent << 23).to(tl.float32, bitcast=True), (BLOCK_SIZE_M, BLOCKS, 4))
    even, odd = tl.split(x.reshape(BLOCK_SIZE_M, BLOCKS, 16, 2))
    even_0, even_1, even_2, even_3 = every_fourth(even)
    odd_0, odd_1, odd_2, odd_3 = every_fourth(odd)
    # Eight codes to a word. The first conversion need not keep what was in the register.
    word = tl.inline_asm_elementwise(
        "v_cvt_scalef32_pk_fp4_f32 $0, $1, $2, $3", "=v,v,v,v", [even_0, odd_0, scale], tl.int32, is_pure=True, pack=1
    )
    word = convert_into(word, even_1, odd_1, scale, "1,0")
    word = convert_into(word, even_2, odd_2, scale, "0,1")
    word = convert_into(word, even_3, odd_3, scale, "1,1")
    bytes_0_2 = tl.join(word.to(tl.uint8), (word >> 16).to(tl.uint8))
    bytes_1_3 = tl.join((word >> 8).to(tl.uint8), (word >> 24).to(tl.uint8))
    return (
        tl.join(bytes_0_2, bytes_1_3).reshape(BLOCK_SIZE_M, BLOCK_SIZE_K // 2),
        exponent.to(tl.uint8).reshape(BLOCK_SIZE_M, BLOCKS),
    )
