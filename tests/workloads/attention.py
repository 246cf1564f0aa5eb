"""Attention without its matrix of scores: a tile of queries walks along the keys, and rescales what it has so far."""

import torch
import triton
import triton.language as tl

from tests.workloads.workload import Workload


@triton.jit
def attend(
    q_ptr, k_ptr, v_ptr, out_ptr, length, head_stride, row_stride, scale,
    causal: tl.constexpr, depth: tl.constexpr, block_q: tl.constexpr, block_k: tl.constexpr,
):  # fmt: skip
    """Program (i, h): queries i * block_q on of head h. scale: of the scores, times log2(e)."""
    head = tl.program_id(1).to(tl.int64) * head_stride
    queries = tl.program_id(0) * block_q + tl.arange(0, block_q)
    channels = tl.arange(0, depth)
    q_tile = q_ptr + head + queries[:, None] * row_stride + channels[None, :]
    q = tl.load(q_tile, mask=(queries < length)[:, None], other=0.0)
    highest = tl.full((block_q,), float("-inf"), tl.float32)
    weights = tl.zeros((block_q,), tl.float32)
    total = tl.zeros((block_q, depth), tl.float32)
    end = tl.minimum((tl.program_id(0) + 1) * block_q, length) if causal else length
    for start in range(0, end, block_k):
        keys = start + tl.arange(0, block_k)
        k = tl.load(
            k_ptr + head + keys[None, :] * row_stride + channels[:, None], mask=(keys < length)[None, :], other=0.0
        )
        scores = tl.dot(q, k) * scale
        seen = (keys < length)[None, :]
        if causal:
            seen = seen & (keys[None, :] <= queries[:, None])
        scores = tl.where(seen, scores, float("-inf"))
        higher = tl.maximum(highest, tl.max(scores, axis=1))
        shrink = tl.exp2(highest - higher)
        powers = tl.exp2(scores - higher[:, None])
        v = tl.load(
            v_ptr + head + keys[:, None] * row_stride + channels[None, :], mask=(keys < length)[:, None], other=0.0
        )
        total = tl.dot(powers.to(v.dtype), v, total * shrink[:, None])
        weights = weights * shrink + tl.sum(powers, axis=1)
        highest = higher
    out = (total / weights[:, None]).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + head + queries[:, None] * row_stride + channels[None, :], out, mask=(queries < length)[:, None])


def inputs(generator, heads, length, depth, causal, dtype):
    return tuple(torch.randn(3, heads, length, depth, generator=generator).to(dtype))


def run(tensors, config, heads, length, depth, causal, dtype):
    q, k, v = tensors
    out = torch.empty_like(q)
    grid = (triton.cdiv(length, config["block_q"]), heads)
    scale = depth**-0.5 * 1.4426950408889634
    attend[grid](q, k, v, out, length, q.stride(0), q.stride(1), scale, causal, depth, **config)
    return (out,)


def reference(tensors, heads, length, depth, causal, dtype):
    q, k, v = (tensor.double() for tensor in tensors)
    scores = q @ k.transpose(1, 2) * depth**-0.5
    if causal:
        scores = scores.masked_fill(torch.ones(length, length).triu(1).bool(), float("-inf"))
    return (torch.softmax(scores, -1) @ v,)


def size(heads, length, depth, causal, dtype):
    return {"heads": heads, "length": length, "depth": depth, "causal": causal, "dtype": dtype}


WORKLOAD = Workload(
    name="attention",
    sizes=(
        size(2, 128, 64, False, torch.float16),
        size(2, 200, 64, True, torch.float16),
        size(1, 1, 32, True, torch.float16),
        size(1, 77, 128, False, torch.bfloat16),
        size(2, 130, 64, True, torch.bfloat16),
    ),
    config={"block_q": 64, "block_k": 32, "num_warps": 4},
    inputs=inputs,
    run=run,
    reference=reference,
    tolerance={torch.float16: (2e-3, 2e-3), torch.bfloat16: (1e-2, 1e-2)},
    variants=({"block_q": 128, "block_k": 64, "num_warps": 8, "num_stages": 1},),
    space={
        "block_q": (16, 32, 64, 128),
        "block_k": (16, 32, 64, 128),
        "num_warps": (1, 2, 4, 8),
        "num_stages": (1, 2, 3),
        "matrix_instr_nonkdim": (0, 16, 32),
        "waves_per_eu": (0, 1, 2, 3),
        "schedule_hint": ("none", "attention", "memory-bound-attention"),
    },
)
