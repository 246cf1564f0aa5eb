"""How long the virtual MI355X takes for one call of custom_kernel, compiling left out: medians by shape.

python -m benchmarks.emulation [VARIANT ...]
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

from mxsub import virtual
from mxsub.submit.harness.task import shipped_task
from mxsub.submit.project import SHIPPED, load_project
from mxsub.submit.render import render

REPEATS = 5
LARGEST_BOUND = 0.8


def main() -> None:
    virtual.install()
    project, task = load_project(SHIPPED), shipped_task("amd-mxfp4-mm")
    sys.path.insert(0, str(task.folder))
    from benchmarks.memcheck import load

    reference = load(task.folder / "reference.py")
    for variant in sys.argv[1:] or ["constexpr", "runtime"]:
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "submission.py"
            path.write_text(render(project, project.variant(variant)).text)
            submission = load(path)
        total = 0.0
        for case in task.benchmarks:
            m, n, k = (int(case[axis]) for axis in "mnk")
            data = reference.generate_input(m=m, n=n, k=k, seed=1)
            submission.custom_kernel(data)
            taken = []
            for _ in range(REPEATS):
                start = time.perf_counter()
                submission.custom_kernel(data)
                taken.append(time.perf_counter() - start)
            middle = statistics.median(taken)
            total += middle
            over = "" if middle < LARGEST_BOUND else "   OVER"
            print(f"{variant:<10} {m}x{n}x{k:<8} {middle:6.3f} s, bound {LARGEST_BOUND} s{over}", flush=True)
        print(f"{variant:<10} the six together {total:6.3f} s")


if __name__ == "__main__":
    main()
