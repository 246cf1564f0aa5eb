"""The sum of two vectors, in every dtype that adds, with a masked tail."""

import torch
import triton
import triton.language as tl

from tests.workloads.workload import Workload

INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8)


@triton.jit
def add_vectors(left_ptr, right_ptr, total_ptr, length, block_size: tl.constexpr):
    positions = tl.program_id(0) * block_size + tl.arange(0, block_size)
    within = positions < length
    left = tl.load(left_ptr + positions, mask=within)
    right = tl.load(right_ptr + positions, mask=within)
    tl.store(total_ptr + positions, left + right, mask=within)


def inputs(generator, length, dtype):
    if dtype in INTEGERS:
        limits = torch.iinfo(dtype)
        low, high = max(limits.min, -(2**62)), min(limits.max, 2**62)
        return tuple(torch.randint(low, high, (length,), generator=generator, dtype=dtype) for _ in range(2))
    return tuple(torch.randn(length, generator=generator).to(dtype) for _ in range(2))


def run(tensors, config, length, dtype):
    total = torch.empty_like(tensors[0])
    grid = lambda meta: (triton.cdiv(length, meta["block_size"]),)  # noqa: E731
    add_vectors[grid](*tensors, total, length, **config)
    return (total,)


def reference(tensors, length, dtype):
    return (tensors[0] + tensors[1],)


WORKLOAD = Workload(
    name="vector_add",
    sizes=(
        {"length": 1, "dtype": torch.float32},
        {"length": 1000, "dtype": torch.float32},
        {"length": 98432, "dtype": torch.float32},
        {"length": 4099, "dtype": torch.float16},
        {"length": 4099, "dtype": torch.bfloat16},
        {"length": 777, "dtype": torch.float64},
        *({"length": 3000, "dtype": dtype} for dtype in INTEGERS),
    ),
    config={"block_size": 1024, "num_warps": 4},
    inputs=inputs,
    run=run,
    reference=reference,
    space={"block_size": (64, 128, 256, 512, 1024, 4096), "num_warps": (1, 2, 4, 8)},
)
