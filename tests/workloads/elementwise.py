"""Functions of numbers, one at a time: arithmetic, roots, exponentials, angles, conversions."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

from tests.workloads.workload import Workload

F16, BF16, F32, F64 = torch.float16, torch.bfloat16, torch.float32, torch.float64
I8, I16, I32, I64 = torch.int8, torch.int16, torch.int32, torch.int64


@triton.jit
def silu(x, y):
    return x * tl.sigmoid(x)


@triton.jit
def gelu(x, y):
    return 0.5 * x * (1 + tl.erf(x * 0.7071067811865476))


@triton.jit
def exp(x, y):
    return tl.exp(x)


@triton.jit
def exp2(x, y):
    return tl.exp2(x)


@triton.jit
def log(x, y):
    return tl.log(tl.abs(x))


@triton.jit
def log2(x, y):
    return tl.log2(tl.abs(x))


@triton.jit
def sin(x, y):
    return tl.sin(x)


@triton.jit
def cos(x, y):
    return tl.cos(x)


@triton.jit
def tanh(x, y):
    return libdevice.tanh(x)


@triton.jit
def power(x, y):
    return libdevice.pow(tl.abs(x), y)


@triton.jit
def angles(x, y):
    return libdevice.tan(x) + libdevice.atan2(x, y)


@triton.jit
def near_one(x, y):
    return libdevice.log1p(tl.abs(x)) + libdevice.expm1(y) + libdevice.log10(tl.abs(x))


@triton.jit
def root(x, y):
    return tl.sqrt(tl.abs(x))


@triton.jit
def root_rounded(x, y):
    return tl.sqrt_rn(tl.abs(x))


@triton.jit
def inverse_root(x, y):
    return tl.rsqrt(tl.abs(x))


@triton.jit
def quotient(x, y):
    return x / y


@triton.jit
def quotient_rounded(x, y):
    return tl.div_rn(x, y)


@triton.jit
def remainder(x, y):
    return libdevice.fmod(x, y)


@triton.jit
def rounded(x, y):
    return tl.floor(x) * 3 + tl.ceil(y) + libdevice.trunc(x)


@triton.jit
def multiply_add(x, y):
    return tl.fma(x, y, x)


@triton.jit
def bounded(x, y):
    return tl.maximum(tl.clamp(x, -0.5, 0.75), tl.minimum(y, 0.25))


@triton.jit
def integer_quotient(x, y):
    return x // y + x % y * 3


@triton.jit
def bits(x, y):
    return (x << 3) ^ (y >> 2) & x | ~y


@triton.jit
def product(x, y):
    return x * y - x


@triton.jit
def high_product(x, y):
    return tl.umulhi(x.to(tl.uint32, bitcast=True), y.to(tl.uint32, bitcast=True)).to(tl.int32, bitcast=True)


@triton.jit
def larger(x, y):
    return tl.where(x > y, tl.abs(x), y)


@triton.jit
def same(x, y):
    return x


@triton.jit
def apply(x_ptr, y_ptr, out_ptr, length, function: tl.constexpr, block: tl.constexpr):
    places = tl.program_id(0) * block + tl.arange(0, block)
    within = places < length
    x, y = tl.load(x_ptr + places, mask=within), tl.load(y_ptr + places, mask=within)
    tl.store(out_ptr + places, function(x, y).to(out_ptr.dtype.element_ty), mask=within)


def divided(x, y):
    """C's quotient and remainder, which cut off, as Triton's."""
    return torch.div(x, y, rounding_mode="trunc") + torch.fmod(x, y) * 3


# What each function is, in the dtype of its arguments for integers and in float64 for others.
FUNCTIONS = {
    silu: lambda x, y: x * torch.sigmoid(x),
    gelu: lambda x, y: torch.nn.functional.gelu(x),
    exp: lambda x, y: torch.exp(x),
    exp2: lambda x, y: torch.exp2(x),
    log: lambda x, y: torch.log(x.abs()),
    log2: lambda x, y: torch.log2(x.abs()),
    sin: lambda x, y: torch.sin(x),
    cos: lambda x, y: torch.cos(x),
    tanh: lambda x, y: torch.tanh(x),
    power: lambda x, y: x.abs() ** y,
    angles: lambda x, y: torch.tan(x) + torch.atan2(x, y),
    near_one: lambda x, y: torch.log1p(x.abs()) + torch.expm1(y) + torch.log10(x.abs()),
    root: lambda x, y: x.abs().sqrt(),
    root_rounded: lambda x, y: x.abs().sqrt(),
    inverse_root: lambda x, y: x.abs().rsqrt(),
    quotient: lambda x, y: x / y,
    quotient_rounded: lambda x, y: x / y,
    remainder: torch.fmod,
    rounded: lambda x, y: x.floor() * 3 + y.ceil() + x.trunc(),
    multiply_add: lambda x, y: x * y + x,
    bounded: lambda x, y: torch.maximum(x.clamp(-0.5, 0.75), y.clamp(max=0.25)),
    integer_quotient: divided,
    bits: lambda x, y: (x << 3) ^ ((y >> 2) & x) | ~y,
    product: lambda x, y: x * y - x,
    high_product: lambda x, y: ((x.long() & 0xFFFFFFFF) * (y.long() & 0xFFFFFFFF) >> 32).int(),
    larger: lambda x, y: torch.where(x > y, x.abs(), y),
    same: lambda x, y: x,
}
OF_INTEGERS = (integer_quotient, bits, product, larger)
OF_F16 = (multiply_add, bounded, quotient, larger)
OF_F64 = (multiply_add, quotient, root, exp, sin, larger)
CONVERSIONS = (
    (F32, F16), (F32, BF16), (F32, torch.float8_e4m3fn), (F32, torch.float8_e5m2), (F32, I32), (F32, I8), (F32, F64),
    (F16, F32), (F16, torch.float8_e4m3fn), (F16, torch.float8_e5m2), (F16, I32), (BF16, F32), (BF16, F16),
    (BF16, torch.float8_e4m3fn), (torch.float8_e4m3fn, F16), (torch.float8_e4m3fn, BF16), (torch.float8_e4m3fn, F32),
    (torch.float8_e5m2, F16), (torch.float8_e5m2, BF16), (torch.float8_e5m2, F32), (I8, F32), (I8, F16), (I16, BF16),
    (I32, F32), (I64, F32), (I64, F64), (F64, I64), (F64, F32), (I64, I16),
)  # fmt: skip


def inputs(generator, function, dtype, result, length):
    if not dtype.is_floating_point:
        limits = torch.iinfo(dtype)
        x, y = (
            torch.randint(
                max(limits.min, -(2**62)), min(limits.max, 2**62), (length,), generator=generator, dtype=dtype
            )
            for _ in range(2)
        )
        return x, torch.where(y == 0, 1, y)
    return tuple((2 * torch.randn(2, length, generator=generator)).to(dtype))


def run(tensors, config, function, dtype, result, length):
    x, y = tensors
    out = torch.empty(length, dtype=result, device="cuda")
    apply[(triton.cdiv(length, config["block"]),)](x, y, out, length, function, **config)
    return (out,)


def reference(tensors, function, dtype, result, length):
    x, y = (tensor.float().double() if dtype.itemsize == 1 and dtype != I8 else tensor for tensor in tensors)
    if dtype.is_floating_point:
        x, y = x.double(), y.double()
    value = FUNCTIONS[function](x, y)
    return (value.to(result) if function is same else value,)


def size(function, dtype, result=None, length=1000):
    return {"function": function, "dtype": dtype, "result": result or dtype, "length": length}


WORKLOAD = Workload(
    name="elementwise",
    sizes=(
        *(size(f, F32) for f in FUNCTIONS if f not in (integer_quotient, bits, high_product)),
        *(size(f, F16) for f in OF_F16),
        *(size(f, BF16) for f in OF_F16),
        *(size(f, F64) for f in OF_F64),
        *(size(f, t) for t in (I8, I16, I32, I64) for f in OF_INTEGERS),
        size(high_product, I32),
        *(size(same, source, result) for source, result in CONVERSIONS),
        size(silu, F32, length=1),
    ),
    config={"block": 256, "num_warps": 4},
    inputs=inputs,
    run=run,
    reference=reference,
    tolerance={F32: (3e-6, 1e-6), F16: (2e-3, 1e-5), BF16: (8e-3, 1e-5), F64: (1e-13, 1e-15)},
    space={"block": (64, 128, 256, 1024, 2048), "num_warps": (1, 2, 4, 8)},
)
