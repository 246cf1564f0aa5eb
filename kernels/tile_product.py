"""One output tile: activations, quantized as they come, times preshuffled MXFP4 weights, over a range of K.

Called with compile-time sizes by the constexpr kernels and with run-time ones by the runtime kernel.
"""

import triton
import triton.language as tl

from mxsub.kernels.unshuffle import scale_columns, scale_offsets, unshuffle_scales, unshuffle_weights

FRAGMENT = {
    "role": "device",
    "generation": "any",
    "tunable": {
        "BLOCK_SIZE_M": [8, 16, 32, 64, 128, 256],
        "BLOCK_SIZE_N": [32, 64, 128, 256],
        "BLOCK_SIZE_K": [128, 256, 512, 1024],
        "cache_modifier": ["", ".ca", ".cg"],
        "num_warps": [2, 4, 8],
        "num_stages": [1, 2, 3],
        "waves_per_eu": [0, 1, 2, 3, 4],
        "matrix_instr_nonkdim": [16, 32],
    },
    "relations": {
        "BLOCK_SIZE_N % 32 == 0": "scales come in groups of 32 rows, weights in tiles of 16",
        "BLOCK_SIZE_K % 128 == 0": "a scaled MFMA takes 128 of K, and scales come in halves of 256-byte chunks",
        "matrix_instr_nonkdim <= BLOCK_SIZE_M or matrix_instr_nonkdim == 16": "a 32x32 MFMA needs 32 rows of A",
        "BLOCK_SIZE_M * BLOCK_SIZE_N <= 8192 * num_warps": "the sums of a tile must fit the registers of its waves",
        "BLOCK_SIZE_M * BLOCK_SIZE_K <= 8192 * num_warps": "a block of activations must fit the registers of its waves",
        "BLOCK_SIZE_N * BLOCK_SIZE_K <= 32768 * num_warps": "a block of weights must fit the registers of its waves",
        "BLOCK_SIZE_N < 256 or num_warps > 2": "Triton 3.6.0 refuses it (it packs at most 4 scales) or spills",
    },
    "requires": [
        "gfx950, or a GPU for which Triton falls back to bf16 products (one warp does so on gfx950 too)",
        "each tensor below 2 GiB, as offsets have 32 bits; n and k multiples of 64; rows of A and C contiguous",
    ],
}


@triton.jit
def tile_product(
    a_ptr,
    b_ptr,
    b_scales_ptr,
    tile_m,
    tile_n,
    k_first,
    k_iters,
    M,
    N,
    K,
    stride_am,
    stride_bn,
    stride_sn,
    EVEN_K: tl.constexpr,
    QUANTIZE: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
    cache_modifier: tl.constexpr,
):
    """The f32 (BLOCK_SIZE_M, BLOCK_SIZE_N) product over k_iters blocks of K from k_first on.

    stride_am: elements between rows of A. stride_bn: bytes between 16-row tiles of the weights. stride_sn:
    bytes between 32-row groups of their scales. Rows past M and tiles past N wrap around: what they give is
    never stored. Without EVEN_K what lies past K counts as zero.
    """
    k = tl.arange(0, BLOCK_SIZE_K)
    rows = (tile_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)) % M
    a_ptrs = a_ptr + rows[:, None] * stride_am + k[None, :]
    # There are N // 16 rows of weight tiles, so it is these that wrap around, not N.
    b_tiles = (tile_n * (BLOCK_SIZE_N // 16) + tl.arange(0, BLOCK_SIZE_N // 16)) % (N // 16)
    b_bytes = tl.arange(0, BLOCK_SIZE_K * 8)
    b_ptrs = b_ptr + b_tiles[:, None] * stride_bn + b_bytes[None, :]
    # Scales are padded to 256 rows, so a tile of 256 rows or fewer never reaches past them.
    s_groups = tile_n * (BLOCK_SIZE_N // 32) + tl.arange(0, BLOCK_SIZE_N // 32)
    s_ptrs = b_scales_ptr + s_groups[:, None] * stride_sn

    acc = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
    for i in range(k_iters):
        k_start = k_first + i * BLOCK_SIZE_K
        s_bytes = scale_offsets(k_start, BLOCK_SIZE_K)[None, :]
        if EVEN_K:
            a = tl.load(a_ptrs + k_start)
            b = tl.load(b_ptrs + k_start * 8, cache_modifier=cache_modifier)
            b_scales = tl.load(s_ptrs + s_bytes, cache_modifier=cache_modifier)
        else:
            left = K - k_start
            a = tl.load(a_ptrs + k_start, mask=k[None, :] < left, other=0.0)
            b_mask = b_bytes[None, :] < left * 8
            b = tl.load(b_ptrs + k_start * 8, mask=b_mask, other=0, cache_modifier=cache_modifier)
            # The bytes that pad the scales have any value: 127 is the scale 1, and the weights there are 0.
            s_mask = scale_columns(BLOCK_SIZE_K)[None, :] * 32 < left
            b_scales = tl.load(s_ptrs + s_bytes, mask=s_mask, other=127, cache_modifier=cache_modifier)
        a_codes, a_scales = QUANTIZE(a, BLOCK_SIZE_M, BLOCK_SIZE_K)
        b_codes = unshuffle_weights(b, BLOCK_SIZE_N, BLOCK_SIZE_K)
        b_scales = unshuffle_scales(b_scales, BLOCK_SIZE_N, BLOCK_SIZE_K)
        acc = tl.dot_scaled(a_codes, a_scales, "e2m1", b_codes, b_scales, "e2m1", acc)
    return acc
