"""Runs of small evaluators: every way in which a submission can end, and what mxsub says of it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from evaluators import EXECUTOR, HARDWARE, PLAIN, POOL, RIGHT, TASK_YML, make_task, submission

from mxsub.submit.errors import UsageError
from mxsub.submit.harness.capture import Capture
from mxsub.submit.harness.process import KEPT_OUTPUT_BYTES
from mxsub.submit.harness.result import Run
from mxsub.submit.harness.run import run

SOON = 5.0  # seconds, where the evaluator by itself would take until its timeout of 30


def run_test(folder: Path, text: str, evaluator: str = POOL, **options: object) -> Run:
    ran = run(submission(text), make_task(folder / "toy", evaluator), HARDWARE, "test", **options)  # type: ignore[arg-type]
    assert "\n" not in ran.error
    return ran


@pytest.mark.parametrize("evaluator", [POOL, EXECUTOR, PLAIN], ids=["pool", "executor", "plain"])
def test_passes(tmp_path: Path, evaluator: str) -> None:
    ran = run(RIGHT, make_task(tmp_path / "toy", evaluator), HARDWARE, "test")
    assert (ran.outcome, ran.error, ran.exit_code, ran.signal, ran.passed) == ("passed", "", 0, "", True)
    assert [case.spec for case in ran.cases] == [
        {"m": 1, "n": 64, "k": 32, "seed": 5},
        {"m": 2, "n": 64, "k": 32, "seed": 6},
    ]
    assert (ran.cases[0].matched, ran.cases[0].margin) == ((60, 64), 0.25)
    assert ran.to_dict()["timing_unit"] == "ns"


def test_a_pool_that_replaces_its_workers_is_no_death(tmp_path: Path) -> None:
    evaluator = POOL.replace("OPTIONS = {}", 'OPTIONS = {"maxtasksperchild": 1}')
    assert run(RIGHT, make_task(tmp_path / "toy", evaluator), HARDWARE, "test").error == ""


def test_check_failed(tmp_path: Path) -> None:
    ran = run_test(tmp_path, 'def custom_kernel(data):\n    return "right" if "m: 1;" in data else "wrong"\n')
    assert ran.outcome == "failed"
    assert ran.error == (
        "1 of 2 cases failed; the first, 2x64x32, seed 6: Number of mismatched elements: 16 of 64 (25.00 %)"
    )
    assert ran.cases[1].error.splitlines()[1] == "ERROR at (0, 1): 1.0 2.0"
    assert ran.exit_code == 112


CRASHES = {
    "exception": (
        """
        def custom_kernel(data):
            return helper(data)

        def helper(data):
            raise ValueError("no such thing\\nreally")
        """,
        "ValueError: no such thing at submission.py:5, in case 1 of 2 (1x64x32, seed 5)",
    ),
    "exception in import": (
        "x = 1\ny = x / 0\n",
        "ZeroDivisionError: division by zero at submission.py:2, in case 1 of 2 (1x64x32, seed 5)",
    ),
    "syntax error": (
        "def custom_kernel(data)\n    return 1\n",
        "SyntaxError: expected ':' at submission.py:1, in case 1 of 2 (1x64x32, seed 5)",
    ),
    "no message": (
        "def custom_kernel(data):\n    assert False\n",
        "AssertionError: no message at submission.py:2, in case 1 of 2 (1x64x32, seed 5)",
    ),
    "no custom_kernel": ("x = 1\n", "submission.py defines no custom_kernel"),
    "arity": (
        "# two\ndef custom_kernel(a, b):\n    pass\n",
        "TypeError: custom_kernel() missing 1 required positional argument: 'b' at submission.py:2, "
        "in case 1 of 2 (1x64x32, seed 5)",
    ),
    "missing module": ("import aiter\n", "submission.py imports aiter, which is not installed here"),
    "ignored exception": (
        """
        class Late:
            def __del__(self):
                raise KeyError("too late")

        def custom_kernel(data):
            late = Late()
            del late
            raise ValueError("the reason")
        """,
        "ValueError: the reason at submission.py:8, in case 1 of 2 (1x64x32, seed 5)",
    ),
}


@pytest.mark.parametrize("evaluator", [POOL, EXECUTOR, PLAIN], ids=["pool", "executor", "plain"])
@pytest.mark.parametrize("name", CRASHES)
def test_exceptions(tmp_path: Path, name: str, evaluator: str) -> None:
    text, sentence = CRASHES[name]
    ran = run_test(tmp_path, text, evaluator)
    assert (ran.outcome, ran.error) == ("crashed", sentence)


def test_missing_module_of_the_task(tmp_path: Path) -> None:
    task = make_task(tmp_path / "toy", reference="import aiter.ops\n")
    assert run(RIGHT, task, HARDWARE, "test").error == (
        "the task's reference.py imports aiter, which is not installed here"
    )


ENDS = {
    "sys.exit in import": (
        "import sys\nsys.exit(3)\n",
        "exited",
        "submission.py ends the process in its import at submission.py:2, with exit code 3",
    ),
    "os._exit in import": (
        "import os\nos._exit(4)\n",
        "exited",
        "submission.py ends the process in its import, with exit code 4",
    ),
    "os._exit with 0 in custom_kernel": (
        "import os\ndef custom_kernel(data):\n    os._exit(0)\n",
        "exited",
        "ended the worker process with exit code 0 (sys.exit or os._exit), in case 1 of 2 (1x64x32, seed 5)",
    ),
    "os._exit in case 2": (
        'import os\ndef custom_kernel(data):\n    return "right" if "m: 1;" in data else os._exit(5)\n',
        "exited",
        "ended the worker process with exit code 5 (sys.exit or os._exit), in case 2 of 2 (2x64x32, seed 6)",
    ),
    "segmentation fault": (
        "import ctypes\ndef custom_kernel(data):\n    ctypes.string_at(0)\n",
        "crashed",
        "died of SIGSEGV at submission.py:3, in case 1 of 2 (1x64x32, seed 5)",
    ),
    "killed": (
        "import os\ndef custom_kernel(data):\n    os.kill(os.getpid(), 9)\n",
        "crashed",
        "died of SIGKILL (out of memory?), in case 1 of 2 (1x64x32, seed 5)",
    ),
    "abort in import": (
        "import os\nos.abort()\n",
        "crashed",
        "died of SIGABRT at submission.py:2, in case 1 of 2 (1x64x32, seed 5)",
    ),
    "error that does not pickle": (
        """
        class Odd(Exception):
            def __init__(self, a, b):
                super().__init__("odd")

        def custom_kernel(data):
            raise Odd(1, 2)
        """,
        "crashed",
        "custom_kernel raised an error of a type that the evaluator cannot read back (TypeError: Odd.__init__() "
        "missing 1 required positional argument: 'b') and would wait for ever, in case 1 of 2 (1x64x32, seed 5)",
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_worker_that_ends_is_noticed_at_once(tmp_path: Path, name: str) -> None:
    text, outcome, sentence = ENDS[name]
    ran = run_test(tmp_path, text)
    assert (ran.outcome, ran.error) == (outcome, sentence)
    assert ran.duration < SOON


@pytest.mark.parametrize(
    "name",
    [
        "segmentation fault",
        "killed",
        "os._exit in import",
        "os._exit in case 2",
        "os._exit with 0 in custom_kernel",
    ],
)
def test_an_executor_names_the_same_cause(tmp_path: Path, name: str) -> None:
    text, outcome, sentence = ENDS[name]
    ran = run_test(tmp_path, text, EXECUTOR)
    assert (ran.outcome, ran.error) == (outcome, sentence)


def test_the_evaluator_itself_dies(tmp_path: Path) -> None:
    ran = run_test(tmp_path, "import os\ndef custom_kernel(data):\n    os.kill(os.getpid(), 9)\n", PLAIN)
    assert ran.error == "the evaluator's process died of SIGKILL, in case 1 of 2 (1x64x32, seed 5)"
    assert (ran.exit_code, ran.signal) == (-9, "SIGKILL")


def test_bad_cases(tmp_path: Path) -> None:
    evaluator = "import sys\nprint('cannot read the cases: x', file=sys.stderr)\nsys.exit(113)\n"
    ran = run_test(tmp_path, "", evaluator)
    assert (ran.outcome, ran.error) == ("exited", "the evaluator cannot read its cases: cannot read the cases: x")


def test_an_evaluator_without_a_verdict(tmp_path: Path) -> None:
    ran = run_test(tmp_path, "", "")
    assert ran.error == "the evaluator ended with exit code 0 and without a verdict, before the first case"


@pytest.mark.parametrize("loop", ["while True: pass", "import time; time.sleep(99)"], ids=["busy", "asleep"])
def test_never_returns(tmp_path: Path, loop: str) -> None:
    ran = run_test(tmp_path, f"def custom_kernel(data):\n    {loop}\n", timeout=1.5)
    assert ran.outcome == "timed out"
    assert ran.error == ("did not finish within 1.5 s; it stood in case 1 of 2 (1x64x32, seed 5) at submission.py:2")
    assert (ran.exit_code, ran.signal) == (None, "")
    assert 1.5 <= ran.duration < SOON


def test_much_output(tmp_path: Path) -> None:
    ran = run_test(
        tmp_path,
        """
        import sys

        def custom_kernel(data):
            print("first")
            for _ in range(30):
                sys.stdout.write("x" * 1_000_000)
                print("e" * 1000, file=sys.stderr)
            print("last")
            return "right"
        """,
    )
    assert ran.passed
    assert ran.stdout.startswith("first\nxxx")
    assert ran.stdout.endswith("xxxlast\n")
    assert "bytes left out ...]" in ran.stdout
    assert len(ran.stdout) < 2 * KEPT_OUTPUT_BYTES + 100


def test_results_beyond_the_pipe(tmp_path: Path) -> None:
    ran = run_test(
        tmp_path, 'def custom_kernel(data):\n    return "wrong"\n', POOL.replace("{said}", "{said}{'z' * 500_000}")
    )
    assert ran.outcome == "failed"
    assert all(len(case.error) > 500_000 for case in ran.cases)


def wait_until_gone(pid: int) -> bool:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_nothing_is_left_running(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    ran = run_test(
        tmp_path,
        f"""
        import subprocess

        def custom_kernel(data):
            for options in ({{}}, {{"start_new_session": True}}):
                child = subprocess.Popen(["sleep", "300"], **options)
                with open({str(pids)!r}, "a") as file:
                    print(child.pid, file=file)
            return "right"
        """,
    )
    assert ran.passed
    assert ran.duration < SOON
    assert [wait_until_gone(int(pid)) for pid in pids.read_text().split()] == [True] * 4


HARNESS = """\
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from evaluators import HARDWARE, make_task
from mxsub.submit.harness.run import run
run(Path({text!r}).read_bytes(), make_task(Path({folder!r})), HARDWARE, "test")
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_harness_that_is_killed_leaves_nothing_running(tmp_path: Path, number: signal.Signals) -> None:
    pid_file, text = tmp_path / "pid", tmp_path / "text.py"
    text.write_text(
        f"import os\nopen({str(tmp_path / 'new')!r}, 'w').write(str(os.getpid()))\n"
        f"os.rename({str(tmp_path / 'new')!r}, {str(pid_file)!r})\nwhile True: pass\n"
    )
    script = HARNESS.format(tests=str(Path(__file__).parent), text=str(text), folder=str(tmp_path / "toy"))
    harness = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 10
    while not pid_file.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    worker = int(pid_file.read_text())
    harness.send_signal(number)
    harness.wait(10)
    assert wait_until_gone(worker)


def test_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "own"))
    ran = run_test(
        tmp_path,
        """
        import os, sys

        def custom_kernel(data):
            print(sorted(os.listdir()), os.environ["PYTHONPATH"], sys.argv[1], "POPCORN_SEED" in os.environ)
            return "right"
        """,
    )
    assert ran.stdout.splitlines()[0] == f"['eval.py', 'reference.py', 'submission.py'] {tmp_path / 'own'} test False"


def test_progress(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int | None]] = []
    run(RIGHT, make_task(tmp_path / "toy"), HARDWARE, "test", on_progress=lambda *event: seen.append(event))
    assert seen == [
        ("test: starting", 0, 2),
        ("test: m: 1; n: 64; k: 32; seed: 5", 0, 2),
        ("test", 1, 2),
        ("test: m: 2; n: 64; k: 32; seed: 6", 1, 2),
        ("test", 2, 2),
    ]


def test_fresh_seeds(tmp_path: Path) -> None:
    ran = run(RIGHT, make_task(tmp_path / "toy"), HARDWARE, "test", seeds=3)
    assert ran.passed
    assert ran.seeds is not None
    assert (ran.seeds.passed, ran.seeds.total, ran.seeds.worst_margin, ran.seeds.failed) == (6, 6, 0.25, ())
    assert len(set(ran.seeds.seeds)) == 3
    assert [case.spec["seed"] for case in ran.cases] == [5, 6]


def test_a_failing_seed_is_named(tmp_path: Path) -> None:
    ran = run_test(
        tmp_path, 'def custom_kernel(data):\n    return "right" if data.endswith("seed: 5") else "wrong"\n', seeds=1
    )
    assert ran.seeds is not None
    assert ran.seeds.passed == 0
    assert ran.seeds.failed == tuple({"m": m, "n": 64, "k": 32, "seed": ran.seeds.seeds[0]} for m in (1, 2))
    assert f"the first, 1x64x32, seed {ran.seeds.seeds[0]}: " in ran.error


def test_no_seed_to_change(tmp_path: Path) -> None:
    task = make_task(tmp_path / "toy", task_yml=TASK_YML.replace(", seed: 5", ""))
    with pytest.raises(UsageError, match="the cases of the task 'toy' have no seed"):
        run(RIGHT, task, HARDWARE, "test", seeds=1)


def test_capture_cuts_long_lines_and_keeps_the_last_one() -> None:
    read, write = os.pipe()
    lines: list[str] = []
    capture = Capture(read, 100, lines.append)
    os.write(write, b"a: 1\n" + b"x" * 1000 + b"\nb: 2\n")
    os.close(write)
    assert capture.text().startswith("a: 1\nxxx")
    assert capture.text().endswith("b: 2\n")
    assert lines == ["a: 1", "x" * 100, "b: 2"]
