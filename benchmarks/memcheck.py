"""Runs the rendered variants on this machine's GPU over the board's shapes and odd ones, for a memory checker.

    PYTORCH_NO_CUDA_MEMORY_CACHING=1 compute-sanitizer --error-exitcode 9 python -m benchmarks.memcheck --gpu H200

Without torch's caching every tensor is an allocation of its own, so that the checker sees where each one ends.
Exits 1 where a result is wrong.
"""

import argparse
import importlib.util
import itertools
import sys
import tempfile
from pathlib import Path
from types import ModuleType

from mxsub.submit.gpus import gpu_named
from mxsub.submit.harness.task import shipped_task
from mxsub.submit.project import SHIPPED, load_project
from mxsub.submit.render import render

ODD = list(itertools.product((1, 3, 17, 300), (64, 320), (64, 448)))


def load(path: Path) -> ModuleType:
    """A file as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--gpu", required=True)
    arguments = parser.parse_args()
    project, task = load_project(SHIPPED), shipped_task("amd-mxfp4-mm")
    sys.path.insert(0, str(task.folder))
    reference = load(task.folder / "reference.py")
    listed = [(case["m"], case["n"], case["k"]) for case in (*task.tests, *task.benchmarks)]
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        for variant in ("constexpr", "runtime"):
            path = Path(scratch) / f"{variant}.py"
            path.write_text(render(project, project.variant(variant), gpu_named(arguments.gpu)).text)
            submission = load(path)
            for m, n, k in [*listed, *ODD]:
                data = reference.generate_input(m=m, n=n, k=k, seed=1)
                right, message = reference.check_implementation(data, submission.custom_kernel(data))
                wrong += not right
                print(f"{variant} {m}x{n}x{k}: {'right' if right else 'WRONG'}, {message.splitlines()[0]}", flush=True)
    print(f"{wrong} wrong of {2 * (len(listed) + len(ODD))}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
