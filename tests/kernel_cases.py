"""What tests/test_kernels.py runs in a child process that sees a GPU: the shipped kernels against a reference.

    python kernel_cases.py quantize hardware|software
    python kernel_cases.py multiply < cases.json

The reference follows the definition of MXFP4 element by element, in float64 and index arithmetic; it shares nothing
with the kernels. Prints JSON.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl

from mxsub.kernels.gemm_direct_constexpr import mxfp4_gemm_direct
from mxsub.kernels.gemm_runtime import mxfp4_gemm
from mxsub.kernels.gemm_splitk_constexpr import mxfp4_gemm_splitk
from mxsub.kernels.quantize_hardware import quantize_mxfp4_hardware
from mxsub.kernels.quantize_software import quantize_mxfp4_software
from mxsub.kernels.reduce_splitk_constexpr import reduce_splitk
from mxsub.kernels.reduce_splitk_runtime import reduce_splitk_runtime

E2M1 = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
HALFWAY = (E2M1[1:] + E2M1[:-1]) / 2
QUANTIZE = {"hardware": quantize_mxfp4_hardware, "software": quantize_mxfp4_software}
POISON = 0xFF  # E8M0 NaN, in every byte that pads the scales


def float64(bits: np.ndarray) -> np.ndarray:
    """The values of bf16 bit patterns."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def quantize(bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """bf16 bit patterns (rows, 32 * blocks) to e2m1 codes, one an element, and E8M0 bytes (rows, blocks)."""
    rows = len(bits)
    blocks = bits.reshape(rows, -1, 32)
    amax = np.minimum((blocks & 0x7FFF).max(-1).astype(np.int64) << 16, 0x7F800000)
    exponent = np.maximum(((amax + 0x200000) >> 23) - 2, 0)
    magnitude = np.abs(float64(blocks)) / np.exp2(exponent[..., None] - 127.0)
    magnitude = np.where(np.isfinite(magnitude), magnitude, 6.0)
    # To the nearest; halfway between two codes, to the even one.
    code = np.searchsorted(HALFWAY, magnitude)
    code += (code % 2 == 1) & (magnitude == HALFWAY[np.minimum(code, 6)])
    code = code | (blocks >> 15 << 3)
    return code.reshape(rows, -1).astype(np.uint8), exponent.astype(np.uint8)


def dequantize(code: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """The float64 values of e2m1 codes under their scales."""
    value = np.where(code & 8, -1.0, 1.0) * E2M1[code & 7]
    return value * np.repeat(np.exp2(exponent - 127.0), 32, axis=1)


def packed(code: np.ndarray) -> np.ndarray:
    """Two codes a byte, the even k in the low half."""
    return code[:, 0::2] | code[:, 1::2] << 4


def stored_weights(codes: np.ndarray) -> np.ndarray:
    """Packed codes (n, k / 2) in the order in which the task stores them."""
    n, width = codes.shape
    row, byte = np.indices(codes.shape)
    tile = row // 16 * (width // 32) + byte // 32
    stored = np.empty(n * width, np.uint8)
    stored[tile * 512 + byte % 32 // 16 * 256 + row % 16 * 16 + byte % 16] = codes
    return stored.reshape(n, width)


def stored_scales(exponent: np.ndarray) -> np.ndarray:
    """E8M0 bytes (n, k / 32) in the order in which the task stores them; the bytes that pad them are NaN."""
    n, blocks = exponent.shape
    width = -(-blocks // 8) * 8
    row, block = np.indices(exponent.shape)
    chunk = row // 32 * (width // 8) + block // 8
    stored = np.full(-(-n // 256) * 256 * width, POISON, np.uint8)
    stored[chunk * 256 + block % 4 * 64 + row % 16 * 4 + block % 8 // 4 * 2 + row % 32 // 16] = exponent
    return stored.reshape(-1, width)


def on_gpu(array: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(array)).to("cuda")


# ---- quantization


@triton.jit
def quantize_rows(
    x_ptr, codes_ptr, scales_ptr, quantizer: tl.constexpr, block_size_m: tl.constexpr, block_size_k: tl.constexpr
):
    """Quantizes block_size_m rows of block_size_k."""
    rows = (tl.program_id(0) * block_size_m + tl.arange(0, block_size_m))[:, None]
    x = tl.load(x_ptr + rows * block_size_k + tl.arange(0, block_size_k)[None, :])
    codes, scales = quantizer(x, block_size_m, block_size_k)
    tl.store(codes_ptr + rows * (block_size_k // 2) + tl.arange(0, block_size_k // 2)[None, :], codes)
    tl.store(scales_ptr + rows * (block_size_k // 32) + tl.arange(0, block_size_k // 32)[None, :], scales)


def blocks_of_interest() -> Iterator[np.ndarray]:
    """Blocks of bf16 bit patterns, (blocks, 32)."""
    random = np.random.default_rng(1)
    pattern = np.arange(0x10000)
    # Every pattern in a block with its neighbours, which differ in the last bits.
    yield pattern.reshape(-1, 32)
    # Every pattern as the largest of its block, at every place in it, among others up to its magnitude.
    others = (
        random.integers(0, (pattern & 0x7FFF)[:, None] + 1, (0x10000, 32)) | random.integers(0, 2, (0x10000, 32)) << 15
    )
    others[pattern, pattern % 32] = pattern
    yield others
    # Every pattern as a value under a largest one of some binades above.
    above = np.minimum((pattern & 0x7FFF) + random.integers(0, 5 << 7, 0x10000), 0x7FFF)
    blocks = np.repeat(above[:, None], 32, 1)
    blocks[pattern, (pattern + 7) % 32] = pattern
    yield blocks
    # Under every scale, every value that is not so small that it becomes zero.
    for field in range(1, 0xFF):
        values = np.arange(max(field - 6, 0) << 7, (field << 7) + 0x60)
        values = np.concatenate([values, values | 0x8000])
        values = np.resize(values, (-(-len(values) // 31), 31))
        yield np.concatenate([values, np.full((len(values), 1), (field << 7) + 0x5F)], 1)


def check_quantize(name: str) -> dict[str, Any]:
    """Counts of blocks and of codes and scales that differ from the reference."""
    block_size_m, block_size_k = 32, 256
    bits = np.concatenate(list(blocks_of_interest())).astype(np.uint16)
    rows = -(-bits.size // (block_size_m * block_size_k)) * block_size_m
    bits = np.resize(bits, (rows, block_size_k))
    codes = torch.empty((rows, block_size_k // 2), dtype=torch.uint8, device="cuda")
    scales = torch.empty((rows, block_size_k // 32), dtype=torch.uint8, device="cuda")
    x = on_gpu(bits.view(np.int16)).view(torch.bfloat16)
    quantize_rows[(rows // block_size_m,)](x, codes, scales, QUANTIZE[name], block_size_m, block_size_k)
    wrong_codes = wrong_scales = 0
    for part in np.array_split(np.arange(rows), 64):
        code, exponent = quantize(bits[part])
        wrong_codes += int((codes.cpu().numpy()[part] != packed(code)).sum())
        wrong_scales += int((scales.cpu().numpy()[part] != exponent).sum())
    return {"blocks": rows * 8, "wrong_codes": wrong_codes, "wrong_scales": wrong_scales}


# ---- multiplication


def problem(m: int, n: int, k: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """A, stored weights, stored scales, and the expected product as bf16."""
    generator = torch.Generator().manual_seed(m * 1000003 + n * 1009 + k)
    a, b = (torch.randn(rows, k, generator=generator).bfloat16() for rows in (m, n))
    a_code, a_exponent = quantize(a.view(torch.int16).numpy().view(np.uint16))
    b_code, b_exponent = quantize(b.view(torch.int16).numpy().view(np.uint16))
    want = dequantize(a_code, a_exponent) @ dequantize(b_code, b_exponent).T
    want = torch.from_numpy(want.astype(np.float32)).bfloat16()
    return a.to("cuda"), on_gpu(stored_weights(packed(b_code))), on_gpu(stored_scales(b_exponent)), want


def product(
    generation: str, tensors: tuple[torch.Tensor, ...], shape: tuple[int, int, int], config: dict[str, Any]
) -> torch.Tensor:
    """What the kernels of a generation make of A, the stored weights and their stored scales on the GPU."""
    m, n, k = shape
    a, b, b_scales = tensors
    config = dict(config)
    config["QUANTIZE"] = QUANTIZE[config["QUANTIZE"]]
    splits = config.pop("NUM_KSPLIT")
    block_k = config["BLOCK_SIZE_K"]
    part = triton.cdiv(triton.cdiv(k, splits), block_k) * block_k
    tiles_m, tiles_n = triton.cdiv(m, config["BLOCK_SIZE_M"]), triton.cdiv(n, config["BLOCK_SIZE_N"])
    config.update(M=m, N=n, K=k, stride_am=k, stride_bn=k * 8, stride_sn=b_scales.shape[1] * 32)
    c = torch.full((m, n), float("nan"), dtype=torch.bfloat16, device="cuda")
    partial = torch.full((splits, m, n), float("nan"), dtype=torch.float32, device="cuda")
    result = partial if splits > 1 else c
    grid = (tiles_m * tiles_n * splits,)
    if generation == "runtime":
        config.update(stride_ck=m * n, stride_cm=n, NUM_KSPLIT=splits, SPLITK_BLOCK_SIZE=part)
        mxfp4_gemm[grid](a, b, b_scales, result, **config)
    elif splits > 1:
        config.update(TILES_M=tiles_m, TILES_N=tiles_n, NUM_KSPLIT=splits, SPLITK_BLOCK_SIZE=part)
        mxfp4_gemm_splitk[grid](a, b, b_scales, result, EVEN_K=k == part * splits, **config)
    else:
        config.update(TILES_M=tiles_m, TILES_N=tiles_n, K_ITERS=triton.cdiv(k, block_k), EVEN_K=k % block_k == 0)
        mxfp4_gemm_direct[grid](a, b, b_scales, result, stride_cm=n, **config)
    if splits > 1:
        reduce = reduce_splitk_runtime if generation == "runtime" else reduce_splitk
        grid = (triton.cdiv(m, 16) * triton.cdiv(n, 64),)
        reduce[grid](partial, c, M=m, N=n, stride_cm=n, NUM_KSPLIT=splits, SPLITS_PADDED=triton.next_power_of_2(splits))
    return c


def check_multiply(case: dict[str, Any]) -> dict[str, Any]:
    """How many elements are equal to the reference in every bit, and whether all are close to it."""
    shape = tuple(case["shape"])
    *tensors, want = problem(*shape)
    got = product(case["generation"], tuple(tensors), shape, case["config"]).cpu()
    close = torch.isclose(got.float(), want.float(), rtol=1e-2, atol=1e-2)
    return {"elements": got.numel(), "equal": int((got == want).sum()), "close": int(close.sum())}


if __name__ == "__main__":
    if sys.argv[1] == "quantize":
        print(json.dumps(check_quantize(sys.argv[2])))
    else:
        print(json.dumps([check_multiply(case) for case in json.load(sys.stdin)]))
