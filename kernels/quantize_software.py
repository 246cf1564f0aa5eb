"""MXFP4 quantization of activations without a conversion instruction, for any GPU.

Tunable: nothing of its own; the GEMM's BLOCK_SIZE_M and BLOCK_SIZE_K are its tile.
Requires BLOCK_SIZE_K in multiples of 32.
"""

import triton
import triton.language as tl

FRAGMENT = {
    "role": "quantize",
    "generation": "any",
    "kernel": "quantize_mxfp4_software",
    "requires": ["nothing of the GPU: every step is exact in integers and normal f32 numbers"],
}


@triton.jit
def quantize_mxfp4_software(x, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_K: tl.constexpr):
    """bf16 (BLOCK_SIZE_M, BLOCK_SIZE_K) to MXFP4 in blocks of 32 along K.

    Returns e2m1 codes, two a byte with the even k in the low half (BLOCK_SIZE_M, BLOCK_SIZE_K // 2), and
    E8M0 scales (BLOCK_SIZE_M, BLOCK_SIZE_K // 32), both uint8. The scale's exponent is that of the block's
    largest magnitude, rounded up from 1.75, less 2; NaN counts as infinity.
    """
    BLOCKS: tl.constexpr = BLOCK_SIZE_K // 32
    bits = x.to(tl.uint16, bitcast=True).to(tl.int32).reshape(BLOCK_SIZE_M, BLOCKS, 32)
    magnitude = bits & 0x7FFF
    amax = tl.minimum(tl.max(magnitude, 2, keep_dims=True), 0x7F80)
    exponent = tl.maximum(((amax + 0x20) >> 7) - 2, 0)
    # The magnitude over the scale is significand * 2 ** power; a power below -16 is rounded to zero as -16 is.
    field = magnitude >> 7
    significand = (magnitude & 0x7F) + tl.where(field > 0, 0x80, 0)
    power = tl.maximum(tl.maximum(field, 1) - 7 - exponent, -16)
    scaled = significand.to(tl.float32) * ((power + 127) << 23).to(tl.float32, bitcast=True)
    scaled = tl.where(field == 0xFF, 6.0, scaled)
    # To nearest on 0, 0.5, 1, 1.5, 2, 3, 4, 6: a tie goes to the even code.
    code = (scaled > 0.25).to(tl.int32) + (scaled >= 0.75) + (scaled > 1.25) + (scaled >= 1.75)
    code += (scaled > 2.5).to(tl.int32) + (scaled >= 3.5) + (scaled > 5.0)
    code |= (bits >> 12) & 8
    even, odd = tl.split(code.reshape(BLOCK_SIZE_M, BLOCKS, 16, 2))
    return (
        (even | (odd << 4)).to(tl.uint8).reshape(BLOCK_SIZE_M, BLOCK_SIZE_K // 2),
        exponent.to(tl.uint8).reshape(BLOCK_SIZE_M, BLOCKS),
    )
