"""MXFP4 GEMM split along K: NUM_KSPLIT workgroups share an output tile and write f32 partial sums.

Tunable: as gemm_direct_constexpr, and NUM_KSPLIT.
Requires reduce_splitk_constexpr to sum the parts.
"""

import triton
import triton.language as tl

from mxsub.kernels.tile_order import tile_of
from mxsub.kernels.tile_product import tile_product

FRAGMENT = {
    "role": "split_k",
    "generation": "constexpr",
    "kernel": "mxfp4_gemm_splitk",
    "k_tail": "masked",
    "tunable": {"NUM_KSPLIT": [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 56]},
}


@triton.jit
def mxfp4_gemm_splitk(
    a_ptr,
    b_ptr,
    b_scales_ptr,
    partial_ptr,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    stride_am: tl.constexpr,
    stride_bn: tl.constexpr,
    stride_sn: tl.constexpr,
    TILES_M: tl.constexpr,
    TILES_N: tl.constexpr,
    NUM_KSPLIT: tl.constexpr,
    SPLITK_BLOCK_SIZE: tl.constexpr,
    EVEN_K: tl.constexpr,
    QUANTIZE: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr,
    cache_modifier: tl.constexpr,
):
    """f32 partial sums (NUM_KSPLIT, M, N), for a grid of TILES_M * TILES_N * NUM_KSPLIT workgroups.

    SPLITK_BLOCK_SIZE, a multiple of BLOCK_SIZE_K, is the part of K of each split; what lies past K counts as zero.
    EVEN_K promises that K is NUM_KSPLIT * SPLITK_BLOCK_SIZE, so that nothing needs a mask.
    Strides in elements of each tensor: stride_am between rows of A, stride_bn between 16-row tiles of the weights,
    stride_sn between 32-row groups of their scales.
    """
    pid = tl.program_id(0)
    split = pid % NUM_KSPLIT
    tile_m, tile_n = tile_of(pid // NUM_KSPLIT, TILES_M, TILES_N, GROUP_SIZE_M)
    acc = tile_product(
        a_ptr,
        b_ptr,
        b_scales_ptr,
        tile_m,
        tile_n,
        split * SPLITK_BLOCK_SIZE,
        SPLITK_BLOCK_SIZE // BLOCK_SIZE_K,
        M,
        N,
        K,
        stride_am,
        stride_bn,
        stride_sn,
        EVEN_K,
        QUANTIZE,
        BLOCK_SIZE_M,
        BLOCK_SIZE_N,
        BLOCK_SIZE_K,
        cache_modifier,
    )
    rows = tile_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    columns = tile_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    partial_ptrs = partial_ptr + split * (M * N) + rows[:, None] * N + columns[None, :]
    tl.store(partial_ptrs, acc, mask=(rows[:, None] < M) & (columns[None, :] < N))
