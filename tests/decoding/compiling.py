"""Keeps the code objects and the assembly of kernels: `python -m tests.decoding.compiling FOLDER`; nothing runs.

Of each kernel that the workloads and the shipped launches need: NUMBER-NAME.hsaco and NUMBER-NAME.s.
"""

import sys
from pathlib import Path
from typing import Any

from mxsub import virtual


def main(folder: Path) -> None:
    virtual.install()
    import torch
    import triton

    from benchmarks import shipped_kernels
    from tests.workloads.workload import NAMES, load

    driver = triton.runtime.driver.active
    load_binary = driver.utils.load_binary
    kept: set[bytes] = set()

    def keep(name: str, code: bytes, *rest: Any) -> Any:
        loaded = load_binary(name, code, *rest)
        if code not in kept:
            path = folder / f"{len(kept):03}-{name}"
            kept.add(code)
            path.with_suffix(".hsaco").write_bytes(code)
            path.with_suffix(".s").write_text(driver.utils.kernels[loaded[1]].assembly)
        return loaded

    class Nothing:
        """In place of the launcher."""

        def __init__(self, source: Any, metadata: Any) -> None: ...

        def __call__(self, *arguments: Any) -> None: ...

    driver.utils.load_binary, driver.launcher_cls = keep, Nothing
    launches = [(load(name), config) for name in NAMES for config in ({}, *load(name).variants)]
    shipped = {"BLOCK_SIZE_M": 16, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 256, "GROUP_SIZE_M": 1}
    shipped |= {"QUANTIZE": "hardware", "cache_modifier": ".cg"}
    for splits in (1, 7):
        launches.append((shipped_kernels.WORKLOAD, {**shipped, "NUM_KSPLIT": splits}))
    for workload, changes in launches:
        size = workload.sizes[0]
        inputs = [tensor.to("cuda") for tensor in workload.inputs(torch.Generator().manual_seed(1), **size)]
        workload.run(inputs, {**workload.config, **changes}, **size)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
