"""Layer normalization over the last dimension: y = (x - mean) / sqrt(variance + epsilon) * weight + bias."""

import torch
import triton
import triton.language as tl

from tests.workloads.workload import Workload

EPSILON = 1e-5


@triton.jit
def normalize(
    x_ptr, weight_ptr, bias_ptr, y_ptr, mean_ptr, inverse_ptr, columns, row_stride, epsilon, block: tl.constexpr
):
    """A row: its mean, then its variance about the mean, then the result, each in pieces of `block`."""
    row = tl.program_id(0).to(tl.int64)
    x_row, y_row = x_ptr + row * row_stride, y_ptr + row * row_stride
    lanes = tl.arange(0, block)
    sums = tl.zeros((block,), tl.float32)
    for start in range(0, columns, block):
        sums += tl.load(x_row + start + lanes, mask=start + lanes < columns, other=0.0).to(tl.float32)
    mean = tl.sum(sums) / columns
    squares = tl.zeros((block,), tl.float32)
    for start in range(0, columns, block):
        x = tl.load(x_row + start + lanes, mask=start + lanes < columns, other=0.0).to(tl.float32)
        off = tl.where(start + lanes < columns, x - mean, 0.0)
        squares += off * off
    inverse = tl.rsqrt(tl.sum(squares) / columns + epsilon)
    tl.store(mean_ptr + row, mean)
    tl.store(inverse_ptr + row, inverse)
    for start in range(0, columns, block):
        within = start + lanes < columns
        x = tl.load(x_row + start + lanes, mask=within).to(tl.float32)
        weight = tl.load(weight_ptr + start + lanes, mask=within).to(tl.float32)
        bias = tl.load(bias_ptr + start + lanes, mask=within).to(tl.float32)
        y = (x - mean) * inverse * weight + bias
        tl.store(y_row + start + lanes, y.to(y_ptr.dtype.element_ty), mask=within)


def inputs(generator, rows, columns, dtype):
    x = (3 * torch.randn(rows, columns, generator=generator) - 0.5).to(dtype)
    weight, bias = torch.rand(2, columns, generator=generator).to(dtype)
    return x, weight, bias


def run(tensors, config, rows, columns, dtype):
    x, weight, bias = tensors
    y = torch.empty_like(x)
    mean, inverse = (torch.empty(rows, dtype=torch.float32, device="cuda") for _ in range(2))
    normalize[(rows,)](x, weight, bias, y, mean, inverse, columns, x.stride(0), EPSILON, **config)
    return y, mean, inverse


def reference(tensors, rows, columns, dtype):
    x, weight, bias = (tensor.double() for tensor in tensors)
    mean = x.mean(1)
    inverse = (x.var(1, correction=0) + EPSILON).rsqrt()
    return (x - mean[:, None]) * inverse[:, None] * weight + bias, mean, inverse


WORKLOAD = Workload(
    name="layer_norm",
    sizes=(
        {"rows": 1, "columns": 1, "dtype": torch.float32},
        {"rows": 31, "columns": 1000, "dtype": torch.float32},
        {"rows": 17, "columns": 2048, "dtype": torch.float16},
        {"rows": 6, "columns": 777, "dtype": torch.bfloat16},
    ),
    config={"block": 512, "num_warps": 4},
    inputs=inputs,
    run=run,
    reference=reference,
    tolerance={torch.float32: (2e-5, 2e-5), torch.float16: (1e-3, 1e-3), torch.bfloat16: (4e-3, 4e-3)},
    variants=({"block": 2048, "num_warps": 8},),
    space={
        "block": (64, 128, 256, 512, 1024, 2048, 4096),
        "num_warps": (1, 2, 4, 8, 16),
        "num_stages": (1, 2, 3),
        "waves_per_eu": (0, 1, 2),
    },
)
