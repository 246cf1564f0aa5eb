"""A product of matrices in microscaling formats, scaled in tl.dot_scaled: 32 values along K share a power of two."""

import torch
import triton
import triton.language as tl

from tests.workloads.workload import Workload

E2M1 = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
EIGHT_BITS = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}


@triton.jit
def multiply_scaled(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, m, n, k,
    a_format: tl.constexpr, b_format: tl.constexpr,
    block_m: tl.constexpr, block_n: tl.constexpr, block_k: tl.constexpr,
):  # fmt: skip
    """A (m, k), B (n, k) and their scales (m, k / 32), (n, k / 32) are row-major; two e2m1 values a byte."""
    a_pack: tl.constexpr = 2 if a_format == "e2m1" else 1
    b_pack: tl.constexpr = 2 if b_format == "e2m1" else 1
    rows = tl.program_id(0) * block_m + tl.arange(0, block_m)
    columns = tl.program_id(1) * block_n + tl.arange(0, block_n)
    total = tl.zeros((block_m, block_n), tl.float32)
    for start in range(0, k, block_k):
        a_bytes = start // a_pack + tl.arange(0, block_k // a_pack)
        b_bytes = start // b_pack + tl.arange(0, block_k // b_pack)
        groups = start // 32 + tl.arange(0, block_k // 32)
        a_inside = (rows < m)[:, None] & (a_bytes < k // a_pack)[None, :]
        b_inside = (columns < n)[None, :] & (b_bytes < k // b_pack)[:, None]
        a = tl.load(a_ptr + rows[:, None] * (k // a_pack) + a_bytes[None, :], mask=a_inside, other=0.0)
        b = tl.load(b_ptr + columns[None, :] * (k // b_pack) + b_bytes[:, None], mask=b_inside, other=0.0)
        grouped = (groups < k // 32)[None, :]
        a_scale = tl.load(
            a_scale_ptr + rows[:, None] * (k // 32) + groups[None, :], mask=(rows < m)[:, None] & grouped, other=0
        )
        b_scale = tl.load(
            b_scale_ptr + columns[:, None] * (k // 32) + groups[None, :], mask=(columns < n)[:, None] & grouped, other=0
        )
        total = tl.dot_scaled(a, a_scale, a_format, b, b_scale, b_format, total)
    inside = (rows < m)[:, None] & (columns < n)[None, :]
    tl.store(c_ptr + rows[:, None] * n + columns[None, :], total.to(c_ptr.dtype.element_ty), mask=inside)


def inputs(generator, m, n, k, a_format, b_format):
    def operand(rows, kind):
        if kind == "e2m1":
            values = torch.randint(0, 256, (rows, k // 2), generator=generator, dtype=torch.uint8)
        else:
            values = torch.randn(rows, k, generator=generator).to(EIGHT_BITS[kind])
        return values, torch.randint(120, 134, (rows, k // 32), generator=generator, dtype=torch.uint8)

    return *operand(m, a_format), *operand(n, b_format)


def run(tensors, config, m, n, k, a_format, b_format):
    c = torch.full((m, n), float("nan"), dtype=torch.float32, device="cuda")
    grid = (triton.cdiv(m, config["block_m"]), triton.cdiv(n, config["block_n"]))
    multiply_scaled[grid](*tensors, c, m, n, k, a_format, b_format, **config)
    return (c,)


def reference(tensors, m, n, k, a_format, b_format):
    def wide(values, scales, kind):
        if kind == "e2m1":
            codes = torch.stack([values & 15, values >> 4], dim=-1).flatten(1).long()
            values = E2M1[codes & 7] * (1 - 2 * (codes >> 3))
        return values.float().double() * torch.exp2(scales.double() - 127).repeat_interleave(32, dim=1)

    a, a_scale, b, b_scale = tensors
    return (wide(a, a_scale, a_format) @ wide(b, b_scale, b_format).T,)


def size(m, n, k, a_format, b_format):
    return {"m": m, "n": n, "k": k, "a_format": a_format, "b_format": b_format}


WORKLOAD = Workload(
    name="block_scaled_matmul",
    sizes=(
        size(64, 64, 256, "e2m1", "e2m1"),
        size(1, 33, 160, "e2m1", "e2m1"),
        size(64, 64, 256, "e4m3", "e4m3"),
        size(50, 70, 96, "e5m2", "e5m2"),
        size(40, 64, 224, "e4m3", "e2m1"),
        size(33, 50, 256, "e2m1", "e5m2"),
        size(17, 100, 128, "e4m3", "e5m2"),
    ),
    config={"block_m": 32, "block_n": 32, "block_k": 128, "num_warps": 4},
    inputs=inputs,
    run=run,
    reference=reference,
    # The largest sums are near 1e4 at terms up to 1e3.
    tolerance={torch.float32: (1e-5, 2e-3)},
    variants=({"block_m": 64, "block_n": 64, "block_k": 256, "num_stages": 1, "matrix_instr_nonkdim": 32},),
    space={
        "block_m": (16, 32, 64, 128),
        "block_n": (16, 32, 64, 128, 256),
        "block_k": (64, 128, 256),
        "num_warps": (1, 2, 4, 8),
        "num_stages": (1, 2, 3),
        "matrix_instr_nonkdim": (0, 16, 32),
        "waves_per_eu": (0, 1, 2),
    },
)
