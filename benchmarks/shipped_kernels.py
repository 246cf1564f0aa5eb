"""The kernels that mxsub ships, as a workload of which a sweep only compiles the launches."""

import torch

from tests.kernel_cases import product
from tests.workloads.workload import Workload

SHAPES = ((4, 2880, 512), (16, 2112, 7168), (64, 7168, 2048), (256, 3072, 1536), (17, 320, 448))


def inputs(generator, shape, generation):
    m, n, k = shape
    weights = torch.zeros(n, k // 2, dtype=torch.uint8)
    scales = torch.zeros(-(-n // 256) * 256, -(-k // 256) * 8, dtype=torch.uint8)
    return torch.zeros(m, k, dtype=torch.bfloat16), weights, scales


def run(tensors, config, shape, generation):
    return (product(generation, tuple(tensors), shape, config),)


def reference(tensors, shape, generation):
    raise NotImplementedError("tests/test_kernels.py runs these kernels; here they are compiled only")


WORKLOAD = Workload(
    name="shipped_kernels",
    sizes=tuple({"shape": s, "generation": g} for g in ("constexpr", "runtime") for s in SHAPES),
    config={},
    inputs=inputs,
    run=run,
    reference=reference,
    space={
        "BLOCK_SIZE_M": (8, 16, 32, 64),
        "BLOCK_SIZE_N": (32, 64, 128, 256),
        "BLOCK_SIZE_K": (128, 256, 512),
        "GROUP_SIZE_M": (1, 4),
        "NUM_KSPLIT": (1, 2, 7),
        "QUANTIZE": ("hardware", "software"),
        "cache_modifier": ("", ".cg", ".ca"),
        "num_warps": (1, 2, 4, 8),
        "num_stages": (1, 2, 3),
        "waves_per_eu": (0, 1, 2, 4),
        "matrix_instr_nonkdim": (16, 32),
    },
)
