"""A product of matrices, tile by tile: tiles in plain or grouped order, K in one piece or split among programs."""

import torch
import triton
import triton.language as tl

from tests.workloads.workload import Workload

F16, BF16, F32, I8 = torch.float16, torch.bfloat16, torch.float32, torch.int8
E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2
RESULTS = {F16: F16, BF16: BF16, F32: F32, I8: torch.int32, E4M3: F16, E5M2: F16}


@triton.jit
def tile_position(number, rows_of_tiles, columns_of_tiles, group: tl.constexpr):
    """Tiles go down `group` rows before they go right, so that neighbours in time share operands."""
    tiles_of_group = group * columns_of_tiles
    top = number // tiles_of_group * group
    height = tl.minimum(rows_of_tiles - top, group)
    place = number % tiles_of_group
    return top + place % height, place // height


@triton.jit
def multiply(
    a_ptr, b_ptr, c_ptr, m, n, k, a_row, a_column, b_row, b_column, c_row,
    block_m: tl.constexpr, block_n: tl.constexpr, block_k: tl.constexpr, group: tl.constexpr, splits: tl.constexpr,
    sum_type: tl.constexpr,
):  # fmt: skip
    tile_m, tile_n = tile_position(tl.program_id(0), tl.cdiv(m, block_m), tl.cdiv(n, block_n), group)
    part = tl.program_id(1)
    rows = tile_m * block_m + tl.arange(0, block_m)
    columns = tile_n * block_n + tl.arange(0, block_n)
    steps = part * block_k + tl.arange(0, block_k)
    a_tile = a_ptr + rows[:, None] * a_row + steps[None, :] * a_column
    b_tile = b_ptr + steps[:, None] * b_row + columns[None, :] * b_column
    total = tl.zeros((block_m, block_n), sum_type)
    for start in range(part * block_k, k, block_k * splits):
        left = k - start
        within = tl.arange(0, block_k) < left
        a = tl.load(a_tile, mask=(rows < m)[:, None] & within[None, :], other=0.0)
        b = tl.load(b_tile, mask=within[:, None] & (columns < n)[None, :], other=0.0)
        total = tl.dot(a, b, total, out_dtype=sum_type)
        a_tile += block_k * splits * a_column
        b_tile += block_k * splits * b_row
    c_tile = c_ptr + rows[:, None] * c_row + columns[None, :]
    inside = (rows < m)[:, None] & (columns < n)[None, :]
    if splits == 1:
        tl.store(c_tile, total.to(c_ptr.dtype.element_ty), mask=inside)
    else:
        tl.atomic_add(c_tile, total, mask=inside, sem="relaxed")


def inputs(generator, m, n, k, a, b, transposed):
    def matrix(rows, columns, dtype):
        if dtype == I8:
            return torch.randint(-128, 128, (rows, columns), generator=generator, dtype=I8)
        return torch.randn(rows, columns, generator=generator).to(dtype)

    return matrix(m, k, a), matrix(n, k, b) if transposed else matrix(k, n, b)


def run(tensors, config, m, n, k, a, b, transposed):
    left, right = tensors
    if transposed:
        right = right.T
    options = dict(config)
    splits = options.pop("splits")
    sum_type = tl.int32 if a == I8 else tl.float32
    kept = torch.int32 if a == I8 else F32
    c = torch.zeros(m, n, dtype=kept if splits > 1 else RESULTS[a], device="cuda")
    grid = (triton.cdiv(m, options["block_m"]) * triton.cdiv(n, options["block_n"]), splits)
    multiply[grid](
        left, right, c, m, n, k, *left.stride(), *right.stride(), c.stride(0),
        splits=splits, sum_type=sum_type, **options,
    )  # fmt: skip
    return (c,)


def reference(tensors, m, n, k, a, b, transposed):
    left, right = (tensor.float().double() for tensor in tensors)
    return (left @ (right.T if transposed else right),)


def size(m, n, k, a, b=None, transposed=False):
    return {"m": m, "n": n, "k": k, "a": a, "b": b or a, "transposed": transposed}


WORKLOAD = Workload(
    name="matmul",
    sizes=(
        size(128, 192, 256, F16),
        size(1, 17, 33, F16, transposed=True),
        size(100, 75, 130, F16, transposed=True),
        size(128, 128, 128, BF16, transposed=True),
        size(77, 200, 96, BF16),
        size(50, 65, 70, F32),
        size(65, 70, 200, I8, transposed=True),
        size(128, 128, 256, E4M3, transposed=True),
        size(33, 100, 144, E4M3),
        size(130, 64, 160, E5M2, transposed=True),
    ),
    config={"block_m": 64, "block_n": 64, "block_k": 32, "group": 4, "splits": 1, "num_warps": 4},
    inputs=inputs,
    run=run,
    reference=reference,
    tolerance={F16: (1e-3, 1e-3), BF16: (4e-3, 1e-3), F32: (1e-5, 1e-4)},
    variants=(
        {"block_m": 32, "block_k": 64, "group": 1, "splits": 3, "num_warps": 2, "num_stages": 1},
        {"block_n": 128, "block_k": 64, "num_warps": 8, "matrix_instr_nonkdim": 16},
    ),
    space={
        "block_m": (16, 32, 64, 128),
        "block_n": (16, 32, 64, 128, 256),
        "block_k": (16, 32, 64, 128),
        "group": (1, 4),
        "splits": (1, 1, 3),
        "num_warps": (1, 2, 4, 8),
        "num_stages": (1, 2, 3),
        "matrix_instr_nonkdim": (0, 16, 32),
        "waves_per_eu": (0, 1, 2),
    },
)
