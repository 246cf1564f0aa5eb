"""How long the virtual MI355X takes for one call of custom_kernel, compiling left out; and its peak memory.

python -m benchmarks.emulation [--sanitize] [VARIANT ...]

--sanitize: with all sanitizers. Runs on one core, with one thread. Medians by shape; the processor's time is given
beside that of the clock, because it says more where the machine has other work.
"""

import argparse
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from mxsub import virtual
from mxsub.submit.harness.task import shipped_task
from mxsub.submit.project import SHIPPED, load_project
from mxsub.submit.render import render
from mxsub.submit.trial import SANITIZERS

REPEATS = 5
TOGETHER_BOUND = 0.9
SANITIZED_BOUND = 3 * TOGETHER_BOUND


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.emulation")
    parser.add_argument("variants", nargs="*", metavar="VARIANT", default=["constexpr", "runtime"])
    parser.add_argument("--sanitize", action="store_true")
    arguments = parser.parse_args()
    if arguments.sanitize:
        os.environ[virtual.WATCH_VARIABLE] = ",".join(SANITIZERS)
    for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # read when numpy and torch are imported
        os.environ[threads] = "1"
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    virtual.install()
    project, task = load_project(SHIPPED), shipped_task("amd-mxfp4-mm")
    sys.path.insert(0, str(task.folder))
    from benchmarks.memcheck import load

    reference = load(task.folder / "reference.py")
    bound, what = (
        (SANITIZED_BOUND, "with all sanitizers") if arguments.sanitize else (TOGETHER_BOUND, "with memory checks")
    )
    for variant in arguments.variants:
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "submission.py"
            path.write_text(render(project, project.variant(variant)).text)
            submission = load(path)
        totals = [0.0, 0.0]
        for case in task.benchmarks:
            m, n, k = (int(case[axis]) for axis in "mnk")
            data = reference.generate_input(m=m, n=n, k=k, seed=1)
            submission.custom_kernel(data)
            taken = []
            for _ in range(REPEATS):
                start = time.perf_counter(), time.process_time()
                submission.custom_kernel(data)
                taken.append((time.perf_counter() - start[0], time.process_time() - start[1]))
            clock, processor = (statistics.median(column) for column in zip(*taken, strict=True))
            totals[0] += clock
            totals[1] += processor
            print(f"{variant:<10} {m}x{n}x{k:<8} {clock:6.3f} s ({processor:.3f} s of the processor)", flush=True)
        over = "" if totals[0] < bound else "   OVER"
        print(
            f"{variant:<10} the six together {totals[0]:.3f} s ({totals[1]:.3f} s of the processor) {what}, "
            f"bound {bound:.1f} s{over}"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of this process, torch and Triton included: {peak:,.0f} MiB")


if __name__ == "__main__":
    main()
