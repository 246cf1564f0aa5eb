"""Sums the f32 partial sums of a split-K GEMM and rounds them to bf16, all sizes known at compile time.

Tunable: nothing; a workgroup sums a tile of 16 x 64.
Requires NUM_KSPLIT partial sums of shape (M, N), contiguous.
"""

import triton
import triton.language as tl

from mxsub.kernels.split_sum import split_sum

FRAGMENT = {"role": "reduce", "generation": "constexpr", "kernel": "reduce_splitk"}


@triton.jit
def reduce_splitk(
    partial_ptr,
    c_ptr,
    M: tl.constexpr,
    N: tl.constexpr,
    stride_cm: tl.constexpr,
    NUM_KSPLIT: tl.constexpr,
    SPLITS_PADDED: tl.constexpr,
):
    """C, bf16 (M, N), from f32 partial sums (NUM_KSPLIT, M, N), for a grid of cdiv(M, 16) * cdiv(N, 64) workgroups."""
    split_sum(partial_ptr, c_ptr, M, N, stride_cm, NUM_KSPLIT, SPLITS_PADDED)
