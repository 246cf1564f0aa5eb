"""Reductions, scans and sorts of a tile along one of its axes."""

import itertools

import torch
import triton
import triton.language as tl

from tests.workloads.workload import Workload

F16, F32, I32, I64 = torch.float16, torch.float32, torch.int32, torch.int64


@triton.jit
def larger_magnitude(a, b):
    return tl.where(tl.abs(a) >= tl.abs(b), a, b)


@triton.jit
def decayed_sum(decay_left, left, decay_right, right):
    """Of two stretches of x[i] = decay[i] * x[i - 1] + value[i]."""
    return decay_left * decay_right, decay_right * left + right


@triton.jit
def reduce_tile(x_ptr, out_ptr, rows: tl.constexpr, columns: tl.constexpr, axis: tl.constexpr, kind: tl.constexpr):
    """out_ptr: as many values as the other axis has."""
    x = tl.load(x_ptr + tl.arange(0, rows)[:, None] * columns + tl.arange(0, columns)[None, :])
    if kind == "sum":
        out = tl.sum(x, axis=axis)
    elif kind == "max":
        out = tl.max(x, axis=axis)
    elif kind == "min":
        out = tl.min(x, axis=axis)
    elif kind == "argmax":
        out = tl.argmax(x, axis=axis)
    elif kind == "argmin":
        out = tl.argmin(x, axis=axis)
    elif kind == "xor":
        out = tl.xor_sum(x, axis=axis)
    else:
        out = tl.reduce(x, axis, larger_magnitude)
    tl.store(out_ptr + tl.arange(0, columns if axis == 0 else rows), out.to(out_ptr.dtype.element_ty))


@triton.jit
def scan_tile(x_ptr, out_ptr, rows: tl.constexpr, columns: tl.constexpr, axis: tl.constexpr, kind: tl.constexpr):
    places = tl.arange(0, rows)[:, None] * columns + tl.arange(0, columns)[None, :]
    x = tl.load(x_ptr + places)
    if kind == "cumsum":
        out = tl.cumsum(x, axis=axis)
    elif kind == "reverse cumsum":
        out = tl.cumsum(x, axis=axis, reverse=True)
    elif kind == "recurrence":
        _, out = tl.associative_scan((x * 0 + 0.5, x), axis, decayed_sum)
    elif kind == "sort":
        out = tl.sort(x, dim=1)
    else:
        out = tl.flip(x, dim=1)
    tl.store(out_ptr + places, out)


@triton.jit
def count_values(x_ptr, out_ptr, length: tl.constexpr, bins: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, bins), tl.histogram(tl.load(x_ptr + tl.arange(0, length)), bins))


def recurrence(x, axis):
    out = x.clone()
    for before, value in itertools.pairwise(out.unbind(axis)):
        value += 0.5 * before
    return out


REDUCTIONS = {
    "sum": lambda x, axis: x.sum(axis),
    "max": lambda x, axis: x.amax(axis),
    "min": lambda x, axis: x.amin(axis),
    "argmax": lambda x, axis: x.argmax(axis),
    "argmin": lambda x, axis: x.argmin(axis),
    "magnitude": lambda x, axis: x.gather(axis, x.abs().argmax(axis, keepdim=True)).squeeze(axis),
}
SCANS = {
    "cumsum": lambda x, axis: x.cumsum(axis),
    "reverse cumsum": lambda x, axis: x.flip(axis).cumsum(axis).flip(axis),
    "recurrence": recurrence,
    "sort": lambda x, axis: x.sort(1).values,
    "flip": lambda x, axis: x.flip(1),
}


def xor(x, axis):
    result = torch.zeros_like(x.select(axis, 0))
    for part in x.unbind(axis):
        result ^= part
    return result


def inputs(generator, kind, axis, dtype, rows, columns):
    if kind == "histogram":
        return (torch.randint(0, 64, (rows * columns,), generator=generator, dtype=I32),)
    if dtype.is_floating_point:
        return (torch.randn(rows, columns, generator=generator).to(dtype),)
    return (torch.randint(-(2**20), 2**20, (rows, columns), generator=generator, dtype=dtype),)


def run(tensors, config, kind, axis, dtype, rows, columns):
    (x,) = tensors
    if kind == "histogram":
        out = torch.empty(64, dtype=I32, device="cuda")
        count_values[(1,)](x, out, rows * columns, 64, **config)
    elif kind in SCANS:
        out = torch.empty_like(x)
        scan_tile[(1,)](x, out, rows, columns, axis, kind, **config)
    else:
        length = columns if axis == 0 else rows
        out = torch.empty(length, dtype=I32 if kind.startswith("arg") else dtype, device="cuda")
        reduce_tile[(1,)](x, out, rows, columns, axis, kind, **config)
    return (out,)


def reference(tensors, kind, axis, dtype, rows, columns):
    (x,) = tensors
    if kind == "histogram":
        return (torch.bincount(x, minlength=64),)
    if kind == "xor":
        return (xor(x, axis),)
    wide = x.double() if dtype.is_floating_point else x
    return ((REDUCTIONS | SCANS)[kind](wide, axis),)


def size(kind, axis, dtype, rows=32, columns=128):
    return {"kind": kind, "axis": axis, "dtype": dtype, "rows": rows, "columns": columns}


WORKLOAD = Workload(
    name="reductions",
    sizes=(
        *(size(kind, axis, F32) for kind in REDUCTIONS for axis in (0, 1)),
        *(size(kind, 1, dtype) for kind in ("sum", "max", "argmin") for dtype in (F16, I32, I64)),
        *(size("xor", axis, I32) for axis in (0, 1)),
        *(size(kind, axis, F32) for kind in SCANS for axis in (0, 1) if kind not in ("sort", "flip") or axis == 1),
        *(size(kind, 1, dtype) for kind in ("cumsum", "sort") for dtype in (F16, I32)),
        size("sum", 0, F32, 1, 64),
        size("sort", 1, F32, 2, 512),
        size("histogram", 0, I32),
    ),
    config={"num_warps": 4},
    inputs=inputs,
    run=run,
    reference=reference,
    tolerance={F32: (1e-5, 1e-5), F16: (5e-3, 5e-2)},
    space={"num_warps": (1, 2, 4, 8, 16), "waves_per_eu": (0, 1, 2, 4)},
)
