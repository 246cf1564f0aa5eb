"""MXFP4 GEMM in one pass: a workgroup an output tile, everything but the tensors known at compile time.

Tunable: the tile (BLOCK_SIZE_M, _N, _K), the order of tiles (GROUP_SIZE_M), the quantization (QUANTIZE), the cache
modifier of the weights' and scales' loads, and the compiler's options.
Requires a device with scaled matrix instructions, or Triton's fallback to bf16.
"""

import triton
import triton.language as tl

from mxsub.kernels.tile_order import tile_of
from mxsub.kernels.tile_product import tile_product

FRAGMENT = {
    "role": "gemm",
    "generation": "constexpr",
    "kernel": "mxfp4_gemm_direct",
    "k_tail": "masked",
}


@triton.jit
def mxfp4_gemm_direct(
    a_ptr,
    b_ptr,
    b_scales_ptr,
    c_ptr,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    stride_am: tl.constexpr,
    stride_bn: tl.constexpr,
    stride_sn: tl.constexpr,
    stride_cm: tl.constexpr,
    TILES_M: tl.constexpr,
    TILES_N: tl.constexpr,
    K_ITERS: tl.constexpr,
    EVEN_K: tl.constexpr,
    QUANTIZE: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr,
    cache_modifier: tl.constexpr,
):
    """C = A times B transposed, bf16 (M, N), for a grid of TILES_M * TILES_N workgroups.

    EVEN_K promises that K is K_ITERS * BLOCK_SIZE_K, so that nothing needs a mask.
    Strides in elements of each tensor: stride_am and stride_cm between rows, stride_bn between 16-row tiles of the
    weights, stride_sn between 32-row groups of their scales.
    """
    tile_m, tile_n = tile_of(tl.program_id(0), TILES_M, TILES_N, GROUP_SIZE_M)
    acc = tile_product(
        a_ptr,
        b_ptr,
        b_scales_ptr,
        tile_m,
        tile_n,
        0,
        K_ITERS,
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
    c_ptrs = c_ptr + rows[:, None] * stride_cm + columns[None, :]
    tl.store(c_ptrs, acc.to(tl.bfloat16), mask=(rows[:, None] < M) & (columns[None, :] < N))
