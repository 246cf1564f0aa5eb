"""A product of e4m3 and e5m2 matrices, in tiles whose K is a multiple of what v_mfma_*_f8f6f4 takes.

Tiles of a smaller K are left out: for them Triton 3.6.0 picks v_mfma_*_fp8_bf8 with the types the wrong way round, see
test_workloads.py.
"""

from tests.workloads.matmul import E4M3, E5M2, F16, inputs, reference, run, size
from tests.workloads.workload import Workload

WORKLOAD = Workload(
    name="matmul_mixed_fp8",
    sizes=(size(64, 70, 256, E4M3, E5M2, transposed=True), size(1, 33, 145, E5M2, E4M3, transposed=True)),
    config={"block_m": 32, "block_n": 32, "block_k": 128, "group": 4, "splits": 1, "num_warps": 4},
    inputs=inputs,
    run=run,
    reference=reference,
    tolerance={F16: (1e-3, 1e-3)},
    space={
        "block_m": (16, 32, 64),
        "block_n": (16, 32, 64, 128),
        "block_k": (16, 32, 64, 128, 256),
        "num_warps": (1, 2, 4),
        "num_stages": (1, 2, 3),
        "matrix_instr_nonkdim": (0, 16, 32),
    },
)
