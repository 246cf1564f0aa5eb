"""Products of many pairs of matrices in one launch: programs walk over the tiles of all of them."""

import torch
import triton
import triton.language as tl

from tests.workloads.workload import Workload

TYPES = {torch.float16: tl.float16, torch.bfloat16: tl.bfloat16}


@triton.jit
def multiply_groups(
    addresses_ptr, sizes_ptr, problems, element: tl.constexpr,
    block_m: tl.constexpr, block_n: tl.constexpr, block_k: tl.constexpr,
):  # fmt: skip
    """addresses_ptr: int64 (problems, 3), of A, B and C. sizes_ptr: int32 (problems, 3): m, n, k. All row-major."""
    tile = tl.program_id(0)
    first = 0
    for problem in range(problems):
        m = tl.load(sizes_ptr + problem * 3)
        n = tl.load(sizes_ptr + problem * 3 + 1)
        k = tl.load(sizes_ptr + problem * 3 + 2)
        across = tl.cdiv(n, block_n)
        behind = first + tl.cdiv(m, block_m) * across
        a_ptr = tl.load(addresses_ptr + problem * 3).to(tl.pointer_type(element))
        b_ptr = tl.load(addresses_ptr + problem * 3 + 1).to(tl.pointer_type(element))
        c_ptr = tl.load(addresses_ptr + problem * 3 + 2).to(tl.pointer_type(element))
        while tile < behind:
            rows = (tile - first) // across * block_m + tl.arange(0, block_m)
            columns = (tile - first) % across * block_n + tl.arange(0, block_n)
            total = tl.zeros((block_m, block_n), tl.float32)
            for start in range(0, k, block_k):
                steps = start + tl.arange(0, block_k)
                a_inside = (rows < m)[:, None] & (steps < k)[None, :]
                b_inside = (steps < k)[:, None] & (columns < n)[None, :]
                a = tl.load(a_ptr + rows[:, None] * k + steps[None, :], mask=a_inside, other=0.0)
                b = tl.load(b_ptr + steps[:, None] * n + columns[None, :], mask=b_inside, other=0.0)
                total += tl.dot(a, b)
            inside = (rows < m)[:, None] & (columns < n)[None, :]
            tl.store(c_ptr + rows[:, None] * n + columns[None, :], total.to(element), mask=inside)
            tile += tl.num_programs(0)
        first = behind


def inputs(generator, shapes, dtype, programs):
    pairs = [(torch.randn(m, k, generator=generator), torch.randn(k, n, generator=generator)) for m, n, k in shapes]
    return tuple(matrix.to(dtype) for pair in pairs for matrix in pair)


def run(tensors, config, shapes, dtype, programs):
    results = tuple(torch.full((m, n), float("nan"), dtype=dtype, device="cuda") for m, n, _ in shapes)
    groups = zip(tensors[0::2], tensors[1::2], results, strict=True)
    addresses = torch.tensor([[matrix.data_ptr() for matrix in group] for group in groups], device="cuda")
    sizes = torch.tensor(shapes, dtype=torch.int32, device="cuda")
    multiply_groups[(programs,)](addresses, sizes, len(shapes), TYPES[dtype], **config)
    return results


def reference(tensors, shapes, dtype, programs):
    return tuple(a.double() @ b.double() for a, b in zip(tensors[0::2], tensors[1::2], strict=True))


WORKLOAD = Workload(
    name="grouped_gemm",
    sizes=(
        {"shapes": [(64, 64, 64)], "dtype": torch.float16, "programs": 1},
        {"shapes": [(128, 96, 64), (1, 33, 100), (70, 64, 31)], "dtype": torch.float16, "programs": 5},
        {"shapes": [(17, 130, 40), (96, 32, 128)], "dtype": torch.bfloat16, "programs": 16},
    ),
    config={"block_m": 32, "block_n": 64, "block_k": 32, "num_warps": 4},
    inputs=inputs,
    run=run,
    reference=reference,
    tolerance={torch.float16: (1e-3, 1e-3), torch.bfloat16: (4e-3, 1e-3)},
    variants=({"block_m": 64, "block_n": 32, "block_k": 64, "num_warps": 2, "num_stages": 1},),
    space={
        "block_m": (16, 32, 64, 128),
        "block_n": (16, 32, 64, 128),
        "block_k": (16, 32, 64, 128),
        "num_warps": (1, 2, 4, 8),
        "num_stages": (1, 2, 3),
        "matrix_instr_nonkdim": (0, 16, 32),
        "waves_per_eu": (0, 1, 2),
    },
)
