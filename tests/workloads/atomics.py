"""Programs that share a few results: sums, extremes and bits by atomic operations, and their order."""

import torch
import triton
import triton.language as tl

from tests.workloads.workload import Workload

F16, BF16, F32, F64 = torch.float16, torch.bfloat16, torch.float32, torch.float64
I32, I64, U32 = torch.int32, torch.int64, torch.uint32


@triton.jit
def scatter(values_ptr, places_ptr, out_ptr, length, kind: tl.constexpr, sem: tl.constexpr, block: tl.constexpr):
    """Combine each value with the result at its place."""
    numbers = tl.program_id(0) * block + tl.arange(0, block)
    within = numbers < length
    value = tl.load(values_ptr + numbers, mask=within)
    target = out_ptr + tl.load(places_ptr + numbers, mask=within, other=0)
    if kind == "add":
        tl.atomic_add(target, value, mask=within, sem=sem)
    elif kind == "max":
        tl.atomic_max(target, value, mask=within, sem=sem)
    elif kind == "min":
        tl.atomic_min(target, value, mask=within, sem=sem)
    elif kind == "and":
        tl.atomic_and(target, value, mask=within, sem=sem)
    elif kind == "or":
        tl.atomic_or(target, value, mask=within, sem=sem)
    else:
        tl.atomic_xor(target, value, mask=within, sem=sem)


@triton.jit
def take_numbers(counter_ptr, out_ptr, sem: tl.constexpr):
    """A program takes a number, marks it, swaps its own for the one before in a slot, and adds by compare-and-swap."""
    number = tl.atomic_add(counter_ptr, 1, sem=sem)
    tl.store(out_ptr + number, 1)
    last = tl.atomic_xchg(counter_ptr + 1, number + 1, sem=sem)
    tl.atomic_add(counter_ptr + 2, last, sem=sem)
    seen = tl.load(counter_ptr + 3, volatile=True)
    found = tl.atomic_cas(counter_ptr + 3, seen, seen + number, sem=sem)
    while found != seen:
        seen = found
        found = tl.atomic_cas(counter_ptr + 3, seen, seen + number, sem=sem)


def inputs(generator, kind, dtype, length, sem):
    if kind == "numbers":
        return (torch.zeros(4, dtype=I32), torch.zeros(length, dtype=I32))
    if dtype.is_floating_point:
        # Sums of these are exact in any order.
        values = torch.randint(-4, 5, (length,), generator=generator).to(dtype)
    else:
        # Among the lanes of a wave Triton takes the largest of signed values as if they had no sign: see
        # compiler_faults.py.
        low = 0 if kind in ("max", "min") and dtype != U32 else -(2**30)
        values = torch.randint(low, 2**30, (length,), generator=generator, dtype=I64)
        values = values.view(U32)[::2].contiguous() if dtype == U32 else values.to(dtype)
    return values, torch.randint(0, 16, (length,), generator=generator, dtype=I32)


def first(kind, dtype):
    """The results before: what changes nothing."""
    if kind in ("max", "min"):
        limits = torch.finfo(dtype) if dtype.is_floating_point else torch.iinfo(dtype)
        return limits.min if kind == "max" else limits.max
    return -1 if kind == "and" else 0


def run(tensors, config, kind, dtype, length, sem):
    if kind == "numbers":
        take_numbers[(length,)](*tensors, sem, num_warps=config["num_warps"])
        counter, marks = tensors
        # The slot holds the number of who came last, plus one; all others were handed on.
        return counter[:1], counter[1:2] + counter[2:3], counter[3:4], marks
    values, places = tensors
    out = torch.full((16,), first(kind, dtype), dtype=dtype, device="cuda")
    scatter[(triton.cdiv(length, config["block"]),)](values, places, out, length, kind, sem, **config)
    return (out,)


def reference(tensors, kind, dtype, length, sem):
    if kind == "numbers":
        total = length * (length + 1) // 2
        return tuple(map(torch.tensor, ([length], [total], [total - length], [1] * length)))
    values, places = tensors
    wide = values.double() if dtype.is_floating_point else values.long()
    out = torch.full((16,), first(kind, dtype), dtype=wide.dtype)
    if kind in ("add", "max", "min"):
        reduce = {"add": "sum", "max": "amax", "min": "amin"}[kind]
        return (out.scatter_reduce(0, places.long(), wide, reduce).to(dtype),)
    for value, place in zip(wide.tolist(), places.tolist(), strict=True):
        out[place] = {"and": out[place] & value, "or": out[place] | value, "xor": out[place] ^ value}[kind]
    return (out.to(dtype),)


def size(kind, dtype=I32, length=1000, sem="relaxed"):
    return {"kind": kind, "dtype": dtype, "length": length, "sem": sem}


WORKLOAD = Workload(
    name="atomics",
    sizes=(
        *(size("add", dtype) for dtype in (F32, F64, I32, I64)),
        *(size("add", dtype, 300) for dtype in (F16, BF16)),
        *(size(kind, dtype) for kind in ("max", "min") for dtype in (F32, F64, I32, I64, U32)),
        *(size(kind, dtype) for kind in ("and", "or", "xor") for dtype in (I32, I64)),
        size("add", F32, 777, "acq_rel"),
        size("max", I32, 777, "acquire"),
        size("numbers", I32, 1),
        size("numbers", I32, 37, "acq_rel"),
    ),
    config={"block": 256, "num_warps": 4},
    inputs=inputs,
    run=run,
    reference=reference,
    space={"block": (64, 128, 256, 512), "num_warps": (1, 2, 4, 8)},
)
