"""The gradients of layer normalization, in two stages: a row a program, then the sums over rows.

Programs of the first stage share a few buffers for the gradients of weight and bias, each behind a lock.
"""

import torch
import triton
import triton.language as tl

from tests.workloads.layer_norm import EPSILON
from tests.workloads.workload import Workload


@triton.jit
def row_gradients(
    x_ptr, weight_ptr, dy_ptr, mean_ptr, inverse_ptr, dx_ptr, dw_parts_ptr, db_parts_ptr, locks_ptr,
    columns, row_stride, buffers: tl.constexpr, width: tl.constexpr,
):  # fmt: skip
    """dx of a row; its share of dw and db is added to buffer number row % buffers.

    locks_ptr: `buffers` locks, then `buffers` flags that say whether a buffer has been used.
    """
    row = tl.program_id(0)
    places = tl.arange(0, width)
    within = places < columns
    x = tl.load(x_ptr + row * row_stride + places, mask=within, other=0.0).to(tl.float32)
    dy = tl.load(dy_ptr + row * row_stride + places, mask=within, other=0.0).to(tl.float32)
    weight = tl.load(weight_ptr + places, mask=within, other=0.0).to(tl.float32)
    mean, inverse = tl.load(mean_ptr + row), tl.load(inverse_ptr + row)
    normal = tl.where(within, (x - mean) * inverse, 0.0)
    scaled = tl.where(within, weight * dy, 0.0)
    along = tl.sum(normal * scaled) / columns
    level = tl.sum(scaled) / columns
    dx = (scaled - (normal * along + level)) * inverse
    tl.store(dx_ptr + row * row_stride + places, dx.to(dx_ptr.dtype.element_ty), mask=within)

    buffer = row % buffers
    lock, used = locks_ptr + buffer, locks_ptr + buffers + buffer
    dw_part = dw_parts_ptr + buffer * columns + places
    db_part = db_parts_ptr + buffer * columns + places
    dw, db = dy * normal, dy
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    if tl.load(used) == 0:
        tl.atomic_xchg(used, 1)
    else:
        dw += tl.load(dw_part, mask=within)
        db += tl.load(db_part, mask=within)
    tl.store(dw_part, dw, mask=within)
    tl.store(db_part, db, mask=within)
    tl.debug_barrier()  # all waves have stored
    tl.atomic_xchg(lock, 0)


@triton.jit
def sum_buffers(dw_parts_ptr, db_parts_ptr, dw_ptr, db_ptr, buffers, columns, tall: tl.constexpr, wide: tl.constexpr):
    places = tl.program_id(0) * wide + tl.arange(0, wide)
    dw, db = tl.zeros((tall, wide), tl.float32), tl.zeros((tall, wide), tl.float32)
    for start in range(0, buffers, tall):
        numbers = start + tl.arange(0, tall)
        within = (numbers < buffers)[:, None] & (places < columns)[None, :]
        offsets = numbers[:, None] * columns + places[None, :]
        dw += tl.load(dw_parts_ptr + offsets, mask=within, other=0.0)
        db += tl.load(db_parts_ptr + offsets, mask=within, other=0.0)
    tl.store(dw_ptr + places, tl.sum(dw, axis=0).to(dw_ptr.dtype.element_ty), mask=places < columns)
    tl.store(db_ptr + places, tl.sum(db, axis=0).to(db_ptr.dtype.element_ty), mask=places < columns)


def inputs(generator, rows, columns, dtype):
    x, dy = torch.randn(2, rows, columns, generator=generator).to(dtype)
    weight = torch.rand(columns, generator=generator).to(dtype)
    wide = x.float()
    return x, weight, dy, wide.mean(1), (wide.var(1, correction=0) + EPSILON).rsqrt()


def run(tensors, config, rows, columns, dtype):
    x, weight, dy, mean, inverse = tensors
    options = dict(config)
    buffers, tall, wide = (options.pop(name) for name in ("buffers", "tall", "wide"))
    dx, dw, db = torch.empty_like(x), torch.empty_like(weight), torch.empty_like(weight)
    dw_parts, db_parts = torch.full((2, buffers, columns), float("nan"), dtype=torch.float32, device="cuda")
    locks = torch.zeros(2 * buffers, dtype=torch.int32, device="cuda")
    row_gradients[(rows,)](
        x, weight, dy, mean, inverse, dx, dw_parts, db_parts, locks, columns, x.stride(0),
        buffers, triton.next_power_of_2(columns), **options,
    )  # fmt: skip
    used = min(buffers, rows)
    sum_buffers[(triton.cdiv(columns, wide),)](dw_parts, db_parts, dw, db, used, columns, tall, wide, **options)
    return dx, dw, db


def reference(tensors, rows, columns, dtype):
    x, weight, dy, _, _ = (tensor.double() for tensor in tensors)
    bias = torch.zeros_like(weight)
    leaves = [tensor.requires_grad_() for tensor in (x, weight, bias)]
    torch.nn.functional.layer_norm(x, (columns,), weight, bias, EPSILON).backward(dy)
    return tuple(leaf.grad for leaf in leaves)


WORKLOAD = Workload(
    name="layer_norm_backward",
    sizes=(
        {"rows": 1, "columns": 100, "dtype": torch.float32},
        {"rows": 37, "columns": 500, "dtype": torch.float32},
        {"rows": 24, "columns": 1024, "dtype": torch.float16},
        {"rows": 13, "columns": 777, "dtype": torch.bfloat16},
    ),
    config={"buffers": 8, "tall": 32, "wide": 128, "num_warps": 4},
    inputs=inputs,
    run=run,
    reference=reference,
    tolerance={torch.float32: (2e-5, 2e-5), torch.float16: (2e-3, 2e-3), torch.bfloat16: (8e-3, 8e-3)},
    variants=({"buffers": 1, "tall": 16, "wide": 32, "num_warps": 2},),
    space={
        "buffers": (1, 8, 64),
        "tall": (16, 32, 64),
        "wide": (32, 64, 128),
        "num_warps": (1, 2, 4, 8),
        "num_stages": (1, 2, 3),
        "waves_per_eu": (0, 1, 2),
    },
)
