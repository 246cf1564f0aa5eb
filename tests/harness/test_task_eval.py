"""The shipped evaluator: its lines, exit codes, seeds and stopping rules, with a torch that only keeps a clock."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mxsub.submit.harness.result import parse_results
from mxsub.submit.harness.task import SHIPPED

TORCH = """\
import sys
import types

ticks = [0.001]  # ms from one start event to its end event; the last one holds for all that follow


class Event:
    def __init__(self, enable_timing):
        pass

    def record(self):
        pass

    def elapsed_time(self, end):
        return ticks.pop(0) if len(ticks) > 1 else ticks[0]


cuda = types.SimpleNamespace(Event=Event, synchronize=lambda: None)


def manual_seed(seed):
    print("manual_seed", seed)
"""

REFERENCE = """\
class Input:
    def __init__(self, seed):
        self.seed = seed
        self.copied = False

    def clone(self):
        copy = Input(self.seed)
        copy.copied = True
        return copy


def generate_input(m, seed):
    print("seed", seed)
    return (Input(seed),)


def check_implementation(data, output):
    if output == "bad":
        return False, "Number of mismatched elements: 1\\nERROR at (0, 0): 1.0 2.0"
    return True, "Maximum error: 0.0" if output else ""
"""

UTILS = """\
def flush_caches():
    print("flush")
"""

GOOD = "def custom_kernel(data):\n    return data[0].seed\n"


class Evaluator:
    """Runs eval.py in a folder with a submission; keeps its exit code, results and output."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copyfile(SHIPPED / "amd-mxfp4-mm" / "eval.py", folder / "eval.py")
        for name, text in {"torch": TORCH, "reference": REFERENCE, "utils": UTILS}.items():
            (folder / f"{name}.py").write_text(text)

    def __call__(
        self, mode: str, cases: str, submission: str = GOOD, seed: str | None = None
    ) -> tuple[int, dict[str, str], list[str]]:
        (self.folder / "submission.py").write_text(submission)
        (self.folder / "cases.txt").write_text(cases)
        read, write = os.pipe()
        environment = {**os.environ, "POPCORN_FD": str(write)}
        environment |= {"POPCORN_SEED": seed} if seed else {}
        done = subprocess.run(
            [sys.executable, "eval.py", mode, "cases.txt"],
            cwd=self.folder, env=environment, pass_fds=(write,), capture_output=True, text=True, check=False,
        )  # fmt: skip
        os.close(write)
        with os.fdopen(read) as results:
            lines = results.read()
        self.errors = done.stderr
        return done.returncode, parse_results(lines), done.stdout.splitlines()


@pytest.fixture
def evaluator(tmp_path: Path) -> Evaluator:
    return Evaluator(tmp_path)


def test_test_mode(evaluator: Evaluator) -> None:
    code, results, output = evaluator("test", "m: 8; seed: 124\nm: 9; seed: 0\n")
    assert code == 0
    assert results == {
        "test-count": "2",
        "test.0.spec": "m: 8; seed: 124",
        "test.0.status": "pass",
        "test.0.message": "Maximum error: 0.0",
        "test.1.spec": "m: 9; seed: 0",
        "test.1.status": "pass",  # an empty message has no line
        "check": "pass",
    }
    assert output == ["manual_seed 42", "seed 124", "seed 0"]


def test_a_test_gets_copies_and_a_benchmark_the_inputs_themselves(evaluator: Evaluator) -> None:
    text = "def custom_kernel(data):\n    print('copied', data[0].copied)\n    return 1\n"
    assert "copied True" in evaluator("test", "m: 8; seed: 1\n", text)[2]
    assert "copied True" not in evaluator("benchmark", "m: 8; seed: 1\n", text)[2]


def test_a_failed_test(evaluator: Evaluator) -> None:
    text = "def custom_kernel(data):\n    return 'bad' if data[0].seed == 1 else 1\n"
    code, results, _ = evaluator("test", "m: 8; seed: 1\nm: 8; seed: 2\n", text)
    assert code == 112
    assert results["test.0.error"] == r"Number of mismatched elements: 1\nERROR at (0, 0): 1.0 2.0"
    assert (results["test.0.status"], results["test.1.status"], results["check"]) == ("fail", "pass", "fail")


@pytest.mark.parametrize(("a", "b", "combined"), [(124, 7, 8770), (5, 0, 20), (0, 3, 6)])
def test_the_seed_of_the_run(evaluator: Evaluator, a: int, b: int, combined: int) -> None:
    _, results, output = evaluator("test", f"m: 8; seed: {a}\n", seed=str(b))
    assert combined == a + (a + b) * (a + b + 1) // 2
    assert output == [f"manual_seed {b}", f"seed {combined}"]
    assert results["test.0.spec"] == f"m: 8; seed: {a}"


def test_benchmark_mode_stops_once_it_is_precise(evaluator: Evaluator) -> None:
    code, results, output = evaluator("benchmark", "m: 8; seed: 3\n")
    assert code == 0
    assert results == {
        "benchmark-count": "1",
        "benchmark.0.spec": "m: 8; seed: 3",
        "benchmark.0.runs": "3",
        "benchmark.0.mean": "1000.0",
        "benchmark.0.std": "0.0",
        "benchmark.0.err": "0.0",
        "benchmark.0.best": "1000.0",
        "benchmark.0.worst": "1000.0",
        "check": "pass",
    }
    # Inputs are made once each for the warm-up and the benchmark, and the caches flushed before each timed call.
    assert output == ["manual_seed 42", "seed 3", *["flush"] * 3, "seed 3", *["flush"] * 3]


def test_statistics(evaluator: Evaluator) -> None:
    text = f"import torch\ntorch.ticks = [0.001] * 3 + [0.001, 0.002, 0.003, 0.002] + [0.002] * 2000\n{GOOD}"
    _, results, _ = evaluator("benchmark", "m: 8; seed: 3\n", text)
    runs = int(results["benchmark.0.runs"])
    # Two of `runs` values lie 1000 ns from the mean: err = sqrt(2e6 / (runs - 1) / runs) < 2 for the first time.
    assert runs == 708
    assert float(results["benchmark.0.mean"]) == pytest.approx(2000)
    assert float(results["benchmark.0.std"]) == pytest.approx((2e6 / 707) ** 0.5)
    assert float(results["benchmark.0.err"]) == pytest.approx((2e6 / 707 / 708) ** 0.5)
    assert (results["benchmark.0.best"], results["benchmark.0.worst"]) == ("1000.0", "3000.0")


NOISY = f"import torch\ntorch.ticks = [0.001] * 3 + [{{}}, {{}}] * 2000\n{GOOD}"


@pytest.mark.parametrize(
    ("mode", "low", "high", "runs"),
    [
        ("benchmark", 1, 3, 1000),  # the most repeats there are
        ("leaderboard", 1, 3, 100),
        ("benchmark", 15_000, 35_000, 3),  # 50 s of measured time are spent: 15, 35 and 15 s
        ("leaderboard", 10_000, 30_000, 3),  # 30 s: 10, 30 and 10
    ],
)
def test_where_a_benchmark_stops(evaluator: Evaluator, mode: str, low: int, high: int, runs: int) -> None:
    _, results, _ = evaluator(mode, "m: 8; seed: 3\n", NOISY.format(low, high))
    assert results["benchmark.0.runs"] == str(runs)


def test_leaderboard_mode_draws_a_seed_for_every_repeat(evaluator: Evaluator) -> None:
    code, results, output = evaluator("leaderboard", "m: 8; seed: 100\n")
    assert (code, results["benchmark.0.runs"], results["check"]) == (0, "3", "pass")
    timed = [f"seed {seed}" for seed in (100, 113, 126, 139)]
    assert [line for line in output if line.startswith("seed")] == ["seed 100", *timed]


def test_leaderboard_mode_checks_every_repeat_and_stops_at_a_failure(evaluator: Evaluator) -> None:
    text = "def custom_kernel(data):\n    return 'bad' if data[0].seed == 126 else 1\n"
    code, results, _ = evaluator("leaderboard", "m: 8; seed: 100\nm: 8; seed: 1\n", text)
    assert code == 0
    assert results == {
        "benchmark-count": "2",
        "benchmark.0.spec": "m: 8; seed: 100",
        "benchmark.0.status": "fail",
        "benchmark.0.error": r"Number of mismatched elements: 1\nERROR at (0, 0): 1.0 2.0",
        "check": "fail",
    }


def test_benchmark_mode_goes_on_after_a_failure(evaluator: Evaluator) -> None:
    text = "def custom_kernel(data):\n    return 'bad' if data[0].seed == 1 else 1\n"
    code, results, _ = evaluator("benchmark", "m: 8; seed: 1\nm: 8; seed: 2\n", text)
    assert code == 112
    assert (results["benchmark.0.status"], results["benchmark.1.runs"], results["check"]) == ("fail", "3", "fail")


def test_an_exception_leaves_a_spec_without_status(evaluator: Evaluator) -> None:
    text = "def custom_kernel(data):\n    raise OSError('no')\n"
    code, results, _ = evaluator("test", "m: 8; seed: 1\n", text)
    assert (code, results) == (1, {"test-count": "1", "test.0.spec": "m: 8; seed: 1"})
    assert 'submission.py", line 2, in custom_kernel' in evaluator.errors
    assert evaluator.errors.endswith("OSError: no\n")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("import sys\nsys.exit(3)\n", "RuntimeError: submission.py calls sys.exit(3) in its import\n"),
        ("x = 1\n", "RuntimeError: submission.py defines no custom_kernel\n"),
        ("def custom_kernel(data):\n    raise SystemExit\n", "SystemExit\n"),
    ],
)
def test_other_ends_are_exceptions_too(evaluator: Evaluator, text: str, error: str) -> None:
    assert evaluator("test", "m: 8; seed: 1\n", text)[0] == 1
    assert evaluator.errors.endswith(error)


@pytest.mark.parametrize("line", ["m: 8.5", "m = 8", "m: ", "8: m", "m: 8; n", "m: a b", "m: 1e3"])
def test_bad_case_files(evaluator: Evaluator, line: str) -> None:
    code, results, _ = evaluator("test", f"{line}\n")
    assert (code, results) == (113, {})
    assert evaluator.errors == f"cannot read the cases: '{line}' is no case\n"


def test_case_values(tmp_path: Path, evaluator: Evaluator) -> None:
    reference = REFERENCE.replace("(m, seed)", "(**arguments)").replace('print("seed", seed)', "print(arguments)")
    (tmp_path / "reference.py").write_text(reference.replace("Input(seed),", "Input(0),"))
    output = evaluator("test", "\n a:1;b : true ;c: false; d: name_1; e: -3\n\n")[2]
    assert output[1] == "{'a': 1, 'b': True, 'c': False, 'd': 'name_1', 'e': -3}"


def run_bare(folder: Path, *arguments: str, **environment: str) -> int:
    plain = {key: value for key, value in os.environ.items() if key != "POPCORN_FD"}
    return subprocess.run(
        [sys.executable, "eval.py", *arguments], cwd=folder, env=plain | environment, capture_output=True, check=False
    ).returncode


def test_other_exit_codes(tmp_path: Path, evaluator: Evaluator) -> None:
    (tmp_path / "cases.txt").write_text("m: 8; seed: 1\n")
    assert run_bare(tmp_path, "test", "cases.txt") == 111
    assert run_bare(tmp_path, "test", POPCORN_FD="1") == 2
    assert run_bare(tmp_path, "tests", "cases.txt", POPCORN_FD="1") == 2
    assert run_bare(tmp_path, "test", "gone.txt", POPCORN_FD="1") == 113
    assert run_bare(tmp_path, "test", "cases.txt", POPCORN_FD="1", POPCORN_SEED="x") == 113
