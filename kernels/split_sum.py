"""One tile, 16 x 64, of the sum of a split-K GEMM's f32 partial sums, rounded to bf16.

Called with compile-time sizes by reduce_splitk_constexpr and with run-time ones by reduce_splitk_runtime.
"""

import triton
import triton.language as tl

FRAGMENT = {"role": "device", "generation": "any"}


@triton.jit
def split_sum(partial_ptr, c_ptr, M, N, stride_cm, NUM_KSPLIT: tl.constexpr, SPLITS_PADDED: tl.constexpr):
    """Stores the tile of this workgroup, of cdiv(M, 16) * cdiv(N, 64), to C, bf16 (M, N).

    partial_ptr: f32 (NUM_KSPLIT, M, N). SPLITS_PADDED: NUM_KSPLIT rounded up to a power of two.
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
