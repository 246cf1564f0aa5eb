"""Sums the f32 partial sums of a split-K GEMM and rounds them to bf16.

Tunable: nothing; a workgroup sums a tile of 16 x 64.
Requires NUM_KSPLIT partial sums of shape (M, N), contiguous.
"""

import triton
import triton.language as tl

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
    """C, bf16 (M, N), for a grid of cdiv(M, 16) * cdiv(N, 64) workgroups.

    SPLITS_PADDED: NUM_KSPLIT rounded up to a power of two.
    """
    tiles_n = tl.cdiv(N, 64)
    pid = tl.program_id(0)
    rows = pid // tiles_n * 16 + tl.arange(0, 16)
    columns = pid % tiles_n * 64 + tl.arange(0, 64)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    splits = tl.arange(0, SPLITS_PADDED)
    # The splits come last, so that a lane holds all the parts of its elements and sums them in registers.
    offsets = (rows[:, None] * N + columns[None, :])[:, :, None] + splits[None, None, :] * (M * N)
    mask = inside[:, :, None] & (splits < NUM_KSPLIT)[None, None, :]
    total = tl.sum(tl.load(partial_ptr + offsets, mask=mask, other=0.0), 2)
    tl.store(c_ptr + rows[:, None] * stride_cm + columns[None, :], total.to(tl.bfloat16), mask=inside)
