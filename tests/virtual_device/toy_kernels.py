"""Small kernels for the checks in this folder, written as a submission would write them."""

# ruff: noqa: N803

import triton
import triton.language as tl


@triton.jit
def scaled_sum(x, y, out, n, alpha, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, i < n) + alpha * tl.load(y + i, i < n), i < n)


tuned = triton.autotune([triton.Config({"BLOCK": b}, num_warps=w) for b, w in ((64, 1), (1024, 4))], key=["n"])(
    scaled_sum
)


@triton.heuristics({"BLOCK": lambda args: min(1024, triton.next_power_of_2(args["n"]))})
@triton.jit
def guessed(x, y, out, n, alpha, BLOCK: tl.constexpr):
    scaled_sum(x, y, out, n, alpha, BLOCK)


@triton.jit
def all_widths(
    p, b, i8: tl.int8, i16: tl.int16, i, j, big, f, h: tl.float16, g: tl.bfloat16, d: tl.float64,
    one, nothing, t, C: tl.constexpr
):  # fmt: skip
    if nothing is not None:
        p = nothing
    v = b + i8 + i16 + i + j + big + f + h + g + d + one + t[0] + tl.load(t[1]) + C
    tl.store(p, v.to(tl.float32))


@triton.jit
def described(d, out, B: tl.constexpr):
    x = d.load([B, 0])
    tl.store(out + tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :], x)


@triton.jit
def from_pointers(pointers, out, BLOCK: tl.constexpr):
    """Each program copies from the tensor whose address is stored for it."""
    group = tl.program_id(0)
    source = tl.load(pointers + group).to(tl.pointer_type(tl.float32))
    i = tl.arange(0, BLOCK)
    tl.store(out + group * BLOCK + i, tl.load(source + i))


@triton.jit
def past_the_end(source, out, shift, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(source + i + shift))


@triton.jit
def unknown_instruction(out):
    x = tl.inline_asm_elementwise(
        "v_clrexcp\nv_mov_b32 $0, $1", "=v,v", [tl.program_id(0)], tl.int32, is_pure=False, pack=1
    )
    tl.store(out, x)


@triton.jit
def wrong_shapes(out, BLOCK: tl.constexpr):
    tl.store(out + tl.arange(0, BLOCK), tl.zeros((BLOCK,), tl.float32) + tl.zeros((BLOCK * 2,), tl.float32))


@triton.jit
def mxfp4_gemm(
    a, a_scale, b, b_scale, out, K: tl.constexpr, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """[BM, K] times [N, K] transposed, both FP4 with a scale for 32 values; one program for BN columns."""
    rows, cols = tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN)
    packed, groups = tl.arange(0, BK // 2), tl.arange(0, BK // 32)
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rows[:, None] * (K // 2) + k // 2 + packed[None, :])
        w = tl.load(b + cols[:, None] * (K // 2) + k // 2 + packed[None, :])
        xs = tl.load(a_scale + rows[:, None] * (K // 32) + k // 32 + groups[None, :])
        ws = tl.load(b_scale + cols[:, None] * (K // 32) + k // 32 + groups[None, :])
        total = tl.dot_scaled(x, xs, "e2m1", w.trans(1, 0), ws, "e2m1", total)
    tl.store(out + rows[:, None] * N + cols[None, :], total.to(tl.bfloat16))
