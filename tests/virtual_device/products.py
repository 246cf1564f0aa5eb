"""Products that Triton makes of tl.dot and tl.dot_scaled, in each format and from each order in memory.

Every number is exact, and so is every sum: what comes out must be equal. It shows that the places of matrix elements in
registers, and of what ds_read_*_tr reads, are those that Triton's compiler goes by.
"""

# ruff: noqa: N803

import itertools
import re

import torch
import triton
import triton.language as tl
from run_checks import main

E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], dtype=torch.float64)
FLOATS = {
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
    "e4m3": torch.float8_e4m3fn,
    "e5m2": torch.float8_e5m2,
}
M, N, K = 32, 64, 128


@triton.jit
def product(
    a,
    b,
    c,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    A_BY_K: tl.constexpr,
    B_BY_K: tl.constexpr,
    OUT: tl.constexpr,
):
    """*_BY_K: is K what runs fastest in memory?"""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + (m[:, None] * K + k[None, :] if A_BY_K else k[None, :] * M + m[:, None]))
    y = tl.load(b + (n[None, :] * K + k[:, None] if B_BY_K else k[:, None] * N + n[None, :]))
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(x, y, out_dtype=OUT))


@triton.jit
def scaled_product(
    a, a_scale, b, b_scale, c,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    A_FORMAT: tl.constexpr, B_FORMAT: tl.constexpr,
    A_BYTES: tl.constexpr, B_BYTES: tl.constexpr,
    A_BY_K: tl.constexpr, B_BY_K: tl.constexpr,
    A_SCALED: tl.constexpr, B_SCALED: tl.constexpr,
):  # fmt: skip
    """*_BYTES: along K."""
    m, n = tl.arange(0, M), tl.arange(0, N)
    ka, kb, groups = tl.arange(0, A_BYTES), tl.arange(0, B_BYTES), tl.arange(0, K // 32)
    x = tl.load(a + (m[:, None] * A_BYTES + ka[None, :] if A_BY_K else ka[None, :] * M + m[:, None]))
    y = tl.load(b + (n[None, :] * B_BYTES + kb[:, None] if B_BY_K else kb[:, None] * N + n[None, :]))
    xs = tl.load(a_scale + m[:, None] * (K // 32) + groups[None, :]) if A_SCALED else None
    ys = tl.load(b_scale + n[:, None] * (K // 32) + groups[None, :]) if B_SCALED else None
    tl.store(c + m[:, None] * N + n[None, :], tl.dot_scaled(x, xs, A_FORMAT, y, ys, B_FORMAT))


@triton.jit
def product_packed_across_k(a, a_scale, b, b_scale, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """e2m1 whose two codes of a byte belong to neighbours in M or N."""
    m, n, k, groups = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K), tl.arange(0, K // 32)
    x = tl.load(a + k[None, :] * (M // 2) + tl.arange(0, M // 2)[:, None])
    y = tl.load(b + k[:, None] * (N // 2) + tl.arange(0, N // 2)[None, :])
    xs = tl.load(a_scale + m[:, None] * (K // 32) + groups[None, :])
    ys = tl.load(b_scale + n[:, None] * (K // 32) + groups[None, :])
    total = tl.dot_scaled(x, xs, "e2m1", y, ys, "e2m1", lhs_k_pack=False, rhs_k_pack=False)
    tl.store(c + m[:, None] * N + n[None, :], total)


def numbers(shape, dtype):
    if dtype == torch.int8:
        return torch.randint(-128, 128, shape, dtype=dtype)
    return (torch.randint(-8, 9, shape) / 4).to(dtype)


def operand(form, rows):
    """(as stored, [rows, K]; values, float64)"""
    if form == "e2m1":
        codes = torch.randint(0, 16, (rows, K))
        return (codes[:, 0::2] | codes[:, 1::2] << 4).to(torch.uint8), E2M1[codes]
    stored = numbers((rows, K), FLOATS[form])
    return stored if form.endswith("16") else stored.view(torch.uint8), stored.double()


def opcodes(kernel):
    return set(re.findall(r"\b(?:v_mfma|ds_read_b\d+_tr)\w+", kernel.asm["amdgcn"]))


def plain(dtype, out, size, orders=((True, True), (False, False))):
    """Opcodes that took part."""
    met = set()
    for a_by_k, b_by_k in orders:
        a, b = numbers((M, K), dtype), numbers((N, K), dtype)
        want = a.double() @ b.double().T
        c = torch.zeros(M, N, dtype={tl.float32: torch.float32, tl.float64: torch.float64, tl.int32: torch.int32}[out])
        c = c.to("cuda")
        sources = [(x if by_k else x.T.contiguous()).to("cuda") for x, by_k in ((a, a_by_k), (b, b_by_k))]
        kernel = product[(1,)](*sources, c, M, N, K, a_by_k, b_by_k, out, matrix_instr_nonkdim=size)
        assert torch.equal(c.cpu().double(), want), (dtype, a_by_k, b_by_k, size)
        met |= opcodes(kernel)
    return met


def check_halves():
    for size, shape in ((16, "16x16x32"), (32, "32x32x16")):
        for form in ("fp16", "bf16"):
            met = plain(FLOATS[form], tl.float32, size)
            assert met == {f"v_mfma_f32_{shape}_{form.replace('fp', 'f')}", "ds_read_b64_tr_b16"}


def check_eight_bits():
    for size, shape in ((16, "16x16x128"), (32, "32x32x64")):
        for form in ("e4m3", "e5m2"):
            assert plain(FLOATS[form], tl.float32, size) == {f"v_mfma_f32_{shape}_f8f6f4", "ds_read_b64_tr_b8"}
    for size, shape in ((16, "16x16x64"), (32, "32x32x32")):
        assert plain(torch.int8, tl.int32, size) == {f"v_mfma_i32_{shape}_i8", "ds_read_b64_tr_b8"}


def check_words_and_doubles():
    assert plain(torch.float32, tl.float32, 16) == {"v_mfma_f32_16x16x4_f32"}
    assert plain(torch.float32, tl.float32, 32) == {"v_mfma_f32_32x32x2_f32"}
    assert plain(torch.float64, tl.float64, 16, [(True, False)]) == {"v_mfma_f64_16x16x4_f64"}


def scales(rows):
    codes = torch.randint(124, 130, (rows, K // 32), dtype=torch.uint8)
    return codes, torch.exp2(codes.double() - 127).repeat_interleave(32, 1)


def check_scaled():
    for size, shape in ((16, "16x16x128"), (32, "32x32x64")):
        for a_form, b_form in itertools.product(("e2m1", "e4m3", "e5m2"), repeat=2):
            by_k = size == 16
            (a, a_values), (b, b_values) = operand(a_form, M), operand(b_form, N)
            (a_codes, a_scales), (b_codes, b_scales) = scales(M), scales(N)
            want = (a_values * a_scales) @ (b_values * b_scales).T
            c = torch.zeros(M, N).to("cuda")
            sources = [x if by_k else x.T.contiguous() for x in (a, b)]
            kernel = scaled_product[(1,)](
                sources[0].to("cuda"), a_codes.to("cuda"), sources[1].to("cuda"), b_codes.to("cuda"), c,
                M, N, K, a_form, b_form, a.shape[1], b.shape[1], by_k, by_k, True, True, matrix_instr_nonkdim=size,
            )  # fmt: skip
            assert torch.equal(c.cpu().double(), want), (size, a_form, b_form)
            assert f"v_mfma_scale_f32_{shape}_f8f6f4" in opcodes(kernel)


def check_packed_across_k():
    for size in (16, 32):
        a, b = torch.randint(0, 16, (M, K)), torch.randint(0, 16, (N, K))
        (a_codes, a_scales), (b_codes, b_scales) = scales(M), scales(N)
        want = (E2M1[a] * a_scales) @ (E2M1[b] * b_scales).T
        stored = [(x.T[:, 0::2] | x.T[:, 1::2] << 4).to(torch.uint8).contiguous().to("cuda") for x in (a, b)]
        c = torch.zeros(M, N).to("cuda")
        kernel = product_packed_across_k[(1,)](
            stored[0], a_codes.to("cuda"), stored[1], b_codes.to("cuda"), c, M, N, K, matrix_instr_nonkdim=size
        )
        assert torch.equal(c.cpu().double(), want), size
        assert "ds_read_b64_tr_b4" in opcodes(kernel)


if __name__ == "__main__":
    torch.manual_seed(0)
    main(globals())
