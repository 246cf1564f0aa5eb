"""Small problem folders for the tests: evaluators in plain Python, with the protocol's lines and no torch."""

from pathlib import Path
from textwrap import dedent

from mxsub.submit.harness.device import Device
from mxsub.submit.harness.task import Task, load_task

HARDWARE = Device("H200", "hardware", "a stand-in")

TASK_YML = """\
lang: py
files:
  - {name: submission.py, source: "@SUBMISSION@"}
  - {name: reference.py, source: reference.py}
  - {name: eval.py, source: eval.py}
config: {main: eval.py}
tests:
  - {m: 1, n: 64, k: 32, seed: 5}
  - {m: 2, n: 64, k: 32, seed: 6}
benchmarks:
  - {m: 3, n: 64, k: 32, seed: 7}
test_timeout: 30
benchmark_timeout: 40
ranked_timeout: 50
ranking_by: geom
"""

# Like an evaluator that sends each case to the one worker of a multiprocessing.Pool and waits for its answer.
POOL = """\
import multiprocessing
import os
import sys


def work(line):
    from reference import check
    from submission import custom_kernel

    return check(custom_kernel(line))


def main():
    results = os.fdopen(int(os.environ["POPCORN_FD"]), "w", buffering=1)
    lines = open(sys.argv[2]).read().splitlines()
    print(f"test-count: {len(lines)}", file=results)
    right = True
    with multiprocessing.get_context("spawn").Pool(1, **OPTIONS) as pool:
        for number, line in enumerate(lines):
            print(f"test.{number}.spec: {line}", file=results)
            good, said = pool.apply(work, (line,))
            print(f"test.{number}.status: {'pass' if good else 'fail'}", file=results)
            print(f"test.{number}.{'message' if good else 'error'}: {said}", file=results)
            right = right and good
    print(f"check: {'pass' if right else 'fail'}", file=results)
    return 0 if right else 112


OPTIONS = {}
if __name__ == "__main__":
    sys.exit(main())
"""

# The same with an executor, which notices that its worker is gone.
EXECUTOR = (
    POOL.replace(
        "import multiprocessing\n", "import multiprocessing\nfrom concurrent.futures import ProcessPoolExecutor\n"
    )
    .replace(
        'multiprocessing.get_context("spawn").Pool(1, **OPTIONS)',
        'ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))',
    )
    .replace("pool.apply(work, (line,))", "pool.submit(work, line).result()")
)

# Everything in the evaluator's own process.
PLAIN = POOL.replace("pool.apply(work, (line,))", "work(line)").replace(
    'with multiprocessing.get_context("spawn").Pool(1, **OPTIONS) as pool:', "if True:"
)

REFERENCE = """\
def check(answer):
    if answer == "right":
        return True, "Maximum error: 0.5; bit-equal: 60/64; error over tolerance: 0.250"
    return False, "Number of mismatched elements: 16 of 64 (25.00 %)\\\\nERROR at (0, 1): 1.0 2.0"
"""


def make_task(folder: Path, evaluator: str = POOL, reference: str = REFERENCE, task_yml: str = TASK_YML) -> Task:
    """A problem folder and what load_task makes of it."""
    folder.mkdir(exist_ok=True)
    (folder / "task.yml").write_text(task_yml)
    (folder / "eval.py").write_text(evaluator)
    (folder / "reference.py").write_text(reference)
    return load_task(folder)


def submission(text: str) -> bytes:
    return dedent(text).lstrip("\n").encode()


RIGHT = submission(
    """
    def custom_kernel(data):
        return "right"
    """
)
