"""Softmax of rows that fit a program: a row a program, or a fixed number of programs that share the rows."""

import torch
import triton
import triton.language as tl

from tests.workloads.workload import Workload


@triton.jit
def normalized_exponentials(row_ptr, out_ptr, columns, width: tl.constexpr):
    """The softmax of one row, which stays in registers; what pads it is minus infinity and so adds nothing."""
    places = tl.arange(0, width)
    values = tl.load(row_ptr + places, mask=places < columns, other=float("-inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, axis=0))
    share = powers / tl.sum(powers, axis=0)
    tl.store(out_ptr + places, share.to(out_ptr.dtype.element_ty), mask=places < columns)


@triton.jit
def softmax_row(x_ptr, out_ptr, x_stride, out_stride, rows, columns, width: tl.constexpr):
    row = tl.program_id(0)
    normalized_exponentials(x_ptr + row * x_stride, out_ptr + row * out_stride, columns, width)


@triton.jit
def softmax_persistent(
    x_ptr, out_ptr, x_stride, out_stride, rows, columns, width: tl.constexpr, pipelined: tl.constexpr
):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=pipelined):
        normalized_exponentials(x_ptr + row * x_stride, out_ptr + row * out_stride, columns, width)


def inputs(generator, rows, columns, dtype, programs):
    return (4 * torch.randn(rows, columns, generator=generator).to(dtype),)


def run(tensors, config, rows, columns, dtype, programs):
    x = tensors[0]
    out = torch.full_like(x, float("nan"))
    options = dict(config)
    pipelined = options.pop("pipelined")
    arguments = (x, out, x.stride(0), out.stride(0), rows, columns, triton.next_power_of_2(columns))
    if programs:
        softmax_persistent[(min(programs, rows),)](*arguments, pipelined, **options)
    else:
        softmax_row[(rows,)](*arguments, **options)
    return (out,)


def reference(tensors, rows, columns, dtype, programs):
    return (torch.softmax(tensors[0].double(), dim=1),)


WORKLOAD = Workload(
    name="softmax",
    sizes=(
        {"rows": 1, "columns": 1, "dtype": torch.float32, "programs": 0},
        {"rows": 37, "columns": 781, "dtype": torch.float32, "programs": 0},
        {"rows": 16, "columns": 1024, "dtype": torch.float16, "programs": 0},
        {"rows": 5, "columns": 3001, "dtype": torch.bfloat16, "programs": 0},
        {"rows": 101, "columns": 129, "dtype": torch.float32, "programs": 8},
        {"rows": 19, "columns": 2048, "dtype": torch.bfloat16, "programs": 4},
        {"rows": 1, "columns": 500, "dtype": torch.float16, "programs": 4},
    ),
    config={"num_warps": 4, "pipelined": 2},
    inputs=inputs,
    run=run,
    reference=reference,
    tolerance={torch.float32: (1e-5, 1e-7), torch.float16: (1e-3, 1e-6), torch.bfloat16: (8e-3, 1e-6)},
    space={"num_warps": (1, 2, 4, 8, 16), "pipelined": (1, 2, 3, 4)},
)
