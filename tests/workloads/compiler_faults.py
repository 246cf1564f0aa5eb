"""What Triton compiles wrongly for gfx950, as found with these workloads: the machine code itself gives other results.

    python -m tests.workloads.compiler_faults

Prints JSON: for each whether the result is right, and whether it is what the machine code must give.
"""

import json

from mxsub import virtual

virtual.install()

import torch  # noqa: E402

from tests.workloads import atomics, matmul  # noqa: E402
from tests.workloads.matmul import E4M3, E5M2  # noqa: E402


def mixed_fp8_of_a_small_k() -> tuple[bool, bool]:
    """v_mfma_*_fp8_bf8 gets its operands the wrong way round: are the results right, or those of swapped types?"""
    size = matmul.size(40, 40, 64, E4M3, E5M2, transposed=True)
    a, b = matmul.inputs(torch.Generator().manual_seed(1), **size)
    result = matmul.run((a.to("cuda"), b.to("cuda")), matmul.WORKLOAD.config, **size)[0].cpu().double()
    swapped = a.view(E5M2), b.view(E4M3)
    right, other = (matmul.reference(pair, **size)[0] for pair in ((a, b), swapped))
    return tuple(torch.allclose(result, want, 1e-3, 1e-3) for want in (right, other))


def signed_atomic_extremes() -> tuple[bool, bool]:
    """Lanes of a wave with the same address are combined first, by v_max_u32: is the result the signed largest, or that
    of the bits?"""
    values, places = torch.tensor([-5, 7, 3], dtype=torch.int32), torch.zeros(3, dtype=torch.int32)
    size = atomics.size("max", torch.int32, 3)
    out = atomics.run((values.to("cuda"), places.to("cuda")), atomics.WORKLOAD.config, **size)[0]
    return out[0].item() == 7, out[0].item() == -5


if __name__ == "__main__":
    checks = (mixed_fp8_of_a_small_k, signed_atomic_extremes)
    print(json.dumps({check.__name__: check() for check in checks}))
