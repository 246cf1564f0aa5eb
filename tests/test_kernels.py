"""The shipped kernels, as gfx950 machine code on the virtual GPU, against a reference: every bit equal."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mxsub.virtual import environment

CASES = Path(__file__).with_name("kernel_cases.py")
CONFIG = {
    "BLOCK_SIZE_M": 16,
    "BLOCK_SIZE_N": 64,
    "BLOCK_SIZE_K": 256,
    "GROUP_SIZE_M": 1,
    "NUM_KSPLIT": 1,
    "QUANTIZE": "hardware",
    "cache_modifier": ".cg",
    "num_warps": 4,
    "num_stages": 2,
    "waves_per_eu": 2,
    "matrix_instr_nonkdim": 16,
}
GENERATIONS = ("constexpr", "runtime")

# Tails of K, of the last tile in M and in N, tiles larger than the matrix, K in halves of a chunk of scales.
DIRECT = [
    ((1, 64, 64), {}),
    ((3, 64, 64), {"BLOCK_SIZE_M": 8, "BLOCK_SIZE_K": 128}),
    ((1, 64, 192), {"BLOCK_SIZE_N": 256, "BLOCK_SIZE_K": 128}),
    ((8, 64, 448), {"BLOCK_SIZE_M": 8, "BLOCK_SIZE_N": 32, "BLOCK_SIZE_K": 512}),
    ((17, 64, 1536), {"BLOCK_SIZE_N": 128, "cache_modifier": "", "num_stages": 1}),
    ((16, 320, 64), {"BLOCK_SIZE_K": 512}),
    ((33, 320, 192), {"BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 128, "GROUP_SIZE_M": 2}),
    ((17, 320, 448), {"BLOCK_SIZE_N": 256, "BLOCK_SIZE_K": 128, "QUANTIZE": "software"}),
    ((300, 320, 448), {"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 128, "GROUP_SIZE_M": 4, "num_warps": 8}),
    ((300, 320, 512), {"BLOCK_SIZE_M": 32, "GROUP_SIZE_M": 4, "matrix_instr_nonkdim": 32, "num_stages": 3}),
    ((3, 2112, 192), {"QUANTIZE": "software"}),
    ((8, 2112, 512), {"BLOCK_SIZE_M": 8, "BLOCK_SIZE_N": 128, "num_warps": 2}),
    ((33, 2112, 64), {"BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 256, "BLOCK_SIZE_K": 128, "waves_per_eu": 0}),
    ((16, 2880, 448), {"BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 512, "cache_modifier": ".ca"}),
    ((1, 2880, 512), {"BLOCK_SIZE_N": 32}),
    ((33, 2880, 1536), {"BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 128}),
]
# Splits of whole blocks, a shorter last one, one with a tail.
SPLIT = [
    ((1, 64, 192), {"BLOCK_SIZE_K": 128, "NUM_KSPLIT": 2}),
    ((3, 320, 448), {"NUM_KSPLIT": 2}),
    ((8, 64, 448), {"BLOCK_SIZE_M": 8, "BLOCK_SIZE_N": 256, "BLOCK_SIZE_K": 128, "NUM_KSPLIT": 4}),
    ((16, 2112, 512), {"NUM_KSPLIT": 2, "QUANTIZE": "software"}),
    ((17, 320, 1536), {"NUM_KSPLIT": 6, "BLOCK_SIZE_N": 128}),
    ((33, 320, 1536), {"BLOCK_SIZE_M": 32, "BLOCK_SIZE_K": 512, "NUM_KSPLIT": 3}),
    ((300, 64, 448), {"BLOCK_SIZE_M": 32, "BLOCK_SIZE_K": 128, "GROUP_SIZE_M": 4, "NUM_KSPLIT": 2}),
    ((17, 2880, 1536), {"BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 128, "NUM_KSPLIT": 4, "num_warps": 8}),
    ((16, 2112, 7168), {"NUM_KSPLIT": 7}),
    ((8, 2112, 7168), {"NUM_KSPLIT": 5, "BLOCK_SIZE_M": 8}),
]


def on_virtual_gpu(*arguments: str, given: Any = None) -> Any:
    """What kernel_cases.py prints, run in a process that sees the virtual GPU."""
    ended = subprocess.run(
        [sys.executable, str(CASES), *arguments],
        input=json.dumps(given),
        env={**os.environ, **environment(), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert ended.returncode == 0, ended.stderr[-4000:]
    return json.loads(ended.stdout)


def check(generation: str, table: list[tuple[tuple[int, int, int], dict[str, Any]]]) -> None:
    cases = [{"generation": generation, "shape": shape, "config": {**CONFIG, **config}} for shape, config in table]
    results = on_virtual_gpu("multiply", given=cases)
    expected = [{"elements": m * n, "equal": m * n, "close": m * n} for (m, n, _), _ in table]
    assert dict(zip(map(str, table), results, strict=True)) == dict(zip(map(str, table), expected, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hardware", "software"])
def test_quantization_is_exact_for_every_bf16_pattern(name: str) -> None:
    result = on_virtual_gpu("quantize", name)
    assert result["blocks"] > 140_000
    assert (result["wrong_codes"], result["wrong_scales"]) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("generation", GENERATIONS)
def test_direct_products_are_bit_equal(generation: str) -> None:
    check(generation, DIRECT)


@pytest.mark.slow
@pytest.mark.parametrize("generation", GENERATIONS)
def test_split_products_are_bit_equal(generation: str) -> None:
    check(generation, SPLIT)
