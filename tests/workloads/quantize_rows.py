"""Quantization of rows by their largest magnitude, to 8 bits, and back."""

import torch
import triton
import triton.language as tl

from tests.workloads.workload import Workload

E4M3, E5M2, I8 = torch.float8_e4m3fn, torch.float8_e5m2, torch.int8
LARGEST = {E4M3: 448.0, E5M2: 57344.0, I8: 127.0}


@triton.jit
def quantize(x_ptr, codes_ptr, scales_ptr, columns, largest: tl.constexpr, whole: tl.constexpr, width: tl.constexpr):
    row = tl.program_id(0)
    places = tl.arange(0, width)
    x = tl.load(x_ptr + row * columns + places, mask=places < columns, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(x)), 1e-12) / largest
    code = tl.div_rn(x, scale)
    if whole:  # half away from zero, then cut off
        code = code + tl.where(code >= 0, 0.5, -0.5)
    tl.store(codes_ptr + row * columns + places, code.to(codes_ptr.dtype.element_ty), mask=places < columns)
    tl.store(scales_ptr + row, scale)


@triton.jit
def dequantize(codes_ptr, scales_ptr, out_ptr, columns, width: tl.constexpr):
    row = tl.program_id(0)
    places = tl.arange(0, width)
    code = tl.load(codes_ptr + row * columns + places, mask=places < columns)
    value = code.to(tl.float32) * tl.load(scales_ptr + row)
    tl.store(out_ptr + row * columns + places, value.to(out_ptr.dtype.element_ty), mask=places < columns)


def inputs(generator, rows, columns, dtype, code):
    return (torch.randn(rows, columns, generator=generator).to(dtype),)


def run(tensors, config, rows, columns, dtype, code):
    (x,) = tensors
    codes, scales = torch.empty(rows, columns, dtype=code, device="cuda"), torch.empty(rows, device="cuda")
    out, width = torch.empty_like(x), triton.next_power_of_2(columns)
    quantize[(rows,)](x, codes, scales, columns, LARGEST[code], code == I8, width, **config)
    dequantize[(rows,)](codes, scales, out, columns, width, **config)
    return codes.float(), scales, out


def reference(tensors, rows, columns, dtype, code):
    x = tensors[0].float()
    scales = x.abs().amax(1).clamp(min=1e-12) / LARGEST[code]
    codes = x / scales[:, None]
    codes = (codes + torch.where(codes >= 0, 0.5, -0.5)).trunc() if code == I8 else codes.to(code).float()
    return codes, scales, (codes * scales[:, None]).to(dtype)


WORKLOAD = Workload(
    name="quantize_rows",
    sizes=tuple(
        {"rows": rows, "columns": columns, "dtype": dtype, "code": code}
        for code in (E4M3, E5M2, I8)
        for rows, columns, dtype in ((1, 100, torch.float32), (9, 1000, torch.bfloat16), (16, 512, torch.float16))
    ),
    config={"num_warps": 4},
    inputs=inputs,
    run=run,
    reference=reference,
    variants=({"num_warps": 1},),
    space={"num_warps": (1, 2, 4, 8, 16), "waves_per_eu": (0, 1, 2, 4)},
)
