"""Compiles a part of the coverage sweep, with the Triton that PYTHONPATH gives: `coverage_worker CACHE COUNT I OF`.

Launches go through the virtual device's driver, so that arguments are specialized as they are on the GPU, but nothing
runs. A file for each goes into the folder CACHE: what was launched, and the assembly of its kernels or the error.
"""

import gzip
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from mxsub import virtual

COMPILING = "the compiler ended its process"


def kept(folder: Path, key: str) -> Path:
    return folder / f"{key}.json.gz"


def write(path: Path, result: dict[str, Any]) -> None:
    part = path.with_suffix(".part")
    part.write_bytes(gzip.compress(json.dumps(result).encode(), 5))
    part.replace(path)


def main(folder: Path, count: int, which: int, of: int) -> None:
    virtual.install()
    import torch
    import triton

    from benchmarks.coverage_plan import Launch, plan

    driver = triton.runtime.driver.active
    launched: dict[int, str] = {}
    functions: list[Any] = []

    class Recorder:
        """In place of the launcher: notes the kernel."""

        def __init__(self, source: Any, metadata: Any) -> None:
            functions.append(source.fn)

        def __call__(self, x: int, y: int, z: int, queue: int, function: int, *_: Any) -> None:
            launched[function] = driver.utils.kernels[function].assembly

    driver.launcher_cls = Recorder

    def compiled(launch: Launch) -> list[str]:
        inputs = launch.workload.inputs(torch.Generator().manual_seed(1), **launch.size)
        os.environ.update(launch.environment)
        try:
            launch.workload.run([tensor.to("cuda") for tensor in inputs], launch.config, **launch.size)
            return list(launched.values())
        finally:
            for name in launch.environment:
                del os.environ[name]
            for function in functions:  # their caches do not look at the environment
                function.device_caches.clear()
            driver.utils.kernels.clear()
            launched.clear()
            functions.clear()

    with tempfile.TemporaryDirectory() as caches:
        os.environ["TRITON_CACHE_DIR"] = caches
        for launch in plan(count)[which::of]:
            path = kept(folder, launch.key(triton.__version__))
            if path.exists():
                continue
            result = {"triton": triton.__version__, **launch.description()}
            write(path, {**result, "error": COMPILING})
            try:
                write(path, {**result, "assembly": compiled(launch)})
            except Exception as error:
                write(path, {**result, "error": f"{type(error).__name__}: {error}"})
            for entry in Path(caches).iterdir():
                shutil.rmtree(entry, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:5]))
