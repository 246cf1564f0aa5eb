"""MXFP4 GEMM with sizes and strides at run time: one kernel, direct or split along K.

Tunable: the tile (BLOCK_SIZE_M, _N, _K), the order of tiles (GROUP_SIZE_M), NUM_KSPLIT, the quantization (QUANTIZE),
the cache modifier of the weights' and scales' loads, and the compiler's options.
Requires reduce_splitk_runtime where NUM_KSPLIT is more than 1.
"""

import triton
import triton.language as tl

from mxsub.kernels.tile_order import tile_of
from mxsub.kernels.tile_product import tile_product

FRAGMENT = {
    "role": "gemm",
    "generation": "runtime",
    "kernel": "mxfp4_gemm",
    "k_tail": "masked",
    "tunable": {"NUM_KSPLIT": [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 56]},
}


@triton.heuristics(
    {
        "EVEN_K": lambda args: (
            args["K"] % args["BLOCK_SIZE_K"] == 0 and args["K"] == args["NUM_KSPLIT"] * args["SPLITK_BLOCK_SIZE"]
        ),
        "GRID_MN": lambda args: (
            triton.cdiv(args["M"], args["BLOCK_SIZE_M"]) * triton.cdiv(args["N"], args["BLOCK_SIZE_N"])
        ),
    }
)
@triton.jit
def mxfp4_gemm(
    a_ptr,
    b_ptr,
    b_scales_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_bn,
    stride_sn,
    stride_ck,
    stride_cm,
    SPLITK_BLOCK_SIZE,
    NUM_KSPLIT: tl.constexpr,
    QUANTIZE: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr,
    cache_modifier: tl.constexpr,
    EVEN_K: tl.constexpr,
    GRID_MN: tl.constexpr,
):
    """C = A times B transposed, bf16 (M, N); with NUM_KSPLIT > 1 f32 partial sums (NUM_KSPLIT, M, N).

    The grid is GRID_MN * NUM_KSPLIT workgroups; the program id modulo NUM_KSPLIT is the split.
    SPLITK_BLOCK_SIZE, a multiple of BLOCK_SIZE_K, is the part of K of each split; what lies past K counts as zero.
    Strides in elements of each tensor: stride_am and stride_cm between rows, stride_bn between 16-row tiles of the
    weights, stride_sn between 32-row groups of their scales, stride_ck between partial sums.
    """
    tl.assume(stride_am > 0)
    tl.assume(stride_bn > 0)
    tl.assume(stride_sn > 0)
    tl.assume(stride_cm > 0)
    pid = tl.program_id(0)
    split = pid % NUM_KSPLIT
    tiles_n = tl.cdiv(N, BLOCK_SIZE_N)
    tile_m, tile_n = tile_of(pid // NUM_KSPLIT, GRID_MN // tiles_n, tiles_n, GROUP_SIZE_M)
    tl.assume(tile_m >= 0)
    tl.assume(tile_n >= 0)
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
    c_ptrs = c_ptr + split * stride_ck + rows[:, None] * stride_cm + columns[None, :]
    tl.store(c_ptrs, acc.to(c_ptr.type.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))
