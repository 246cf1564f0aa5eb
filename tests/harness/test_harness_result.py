"""Reading the lines that an evaluator writes."""

import base64
import json

import pytest
from evaluators import HARDWARE

from mxsub.submit.harness.device import Device
from mxsub.submit.harness.explain_end import Evidence, explain_end
from mxsub.submit.harness.process import Ended
from mxsub.submit.harness.result import Run, Timing, case_results, parse_results
from mxsub.submit.harness.task import shipped_task


def test_lines_are_split_at_the_first_colon_and_the_last_one_wins() -> None:
    assert parse_results("a: 1: 2 \n  b :3\nno line\na: 4\n") == {"a": "4", "b": "3"}


def test_test_mode() -> None:
    results = parse_results(
        "test-count: 3\n"
        "test.0.spec: k: 7168; m: 8; n: 2112; seed: 124\ntest.0.status: pass\n"
        "test.0.message: Maximum error: 0.0; bit-equal: 16896/16896; error over tolerance: 0.000\n"
        "test.1.spec: m: 16; n: 64; k: 64; seed: 1\ntest.1.status: fail\n"
        "test.1.error: Number of mismatched elements: 7\\nERROR at (0, 1): 1.0 2.0\n"
        "test.2.spec: m: 1\n"
    )
    first, second, third = case_results(results, "test")
    assert first.spec == {"m": 8, "n": 2112, "k": 7168, "seed": 124}
    assert (first.status, first.matched, first.margin) == ("pass", (16896, 16896), 0.0)
    assert (first.label, third.label) == ("8x2112x7168, seed 124", "m 1")
    assert (second.status, second.error) == (
        "fail",
        "Number of mismatched elements: 7\nERROR at (0, 1): 1.0 2.0",
    )
    assert (second.matched, second.margin, third.status) == (None, None, "")


def test_the_official_message_has_no_share() -> None:
    (case,) = case_results(
        {"test.0.spec": "m: 1", "test.0.status": "pass", "test.0.message": "Maximum error: 0.25"}, "test"
    )
    assert (case.message, case.matched, case.margin) == ("Maximum error: 0.25", None, None)


def test_more_than_ten_cases_stay_in_order() -> None:
    results = {f"test.{number}.spec": f"m: {number}" for number in range(12)}
    assert [case.spec["m"] for case in case_results(results, "test")] == list(range(12))


def benchmark_lines(number: int, mean: float) -> str:
    key = f"benchmark.{number}"
    return (
        f"{key}.spec: m: {number + 1}; n: 64; k: 64\n{key}.runs: 4\n{key}.mean: {mean}\n{key}.std: 2.0\n"
        f"{key}.err: 1.0\n{key}.best: 5\n{key}.worst: 9e3\n"
    )


def test_benchmark_mode_and_its_score() -> None:
    lines = "benchmark-count: 2\n" + benchmark_lines(0, 8000) + benchmark_lines(1, 2000.0) + "check: pass\n"
    cases = case_results(parse_results(lines), "leaderboard")
    assert cases[0].timing == Timing(4, 8000.0, 2.0, 1.0, 5.0, 9000.0)
    assert [case.status for case in cases] == ["pass", "pass"]
    run = Run("leaderboard", HARDWARE, "passed", "", cases, 2, 0, "", 1.0, "", "")
    assert run.geometric_mean == pytest.approx(4000.0)
    assert json.loads(json.dumps(run.to_dict()))["cases"][1]["timing"]["mean"] == 2000.0


# What a service may send in place of a figure; None: nothing.
NO_RUNS = ["0", "-3", "4.0", "many", "", None, "nan", "9" * 5000]
NO_TIMES = ["nan", "NaN", "inf", "-inf", "-5.0", "0", "fast", "", None, "1e999", "5 us"]
NO_SPREADS = ["nan", "inf", "-1e-9", "wide", "", None]
UNREADABLE = [
    *(("runs", value) for value in NO_RUNS),
    *((name, value) for name in ("mean", "best", "worst") for value in NO_TIMES),
    *((name, value) for name in ("std", "err") for value in NO_SPREADS),
]


@pytest.mark.parametrize(("name", "value"), UNREADABLE)
def test_a_case_whose_figures_cannot_be_read_is_not_timed(name: str, value: str | None) -> None:
    lines = parse_results(benchmark_lines(0, 8000) + benchmark_lines(1, 2000))
    key = f"benchmark.0.{name}"
    lines = {other: line for other, line in lines.items() if other != key} | ({} if value is None else {key: value})
    first, second = case_results(lines, "benchmark")
    # The evaluator was done with it, where it wrote all of its lines.
    assert (first.timing, first.status) == (None, "" if value is None else "pass")
    assert second.timing == Timing(4, 2000.0, 2.0, 1.0, 5.0, 9000.0)
    run = Run("benchmark", HARDWARE, "passed", "", (first, second), 2, 0, "", 1.0, "", "")
    assert run.geometric_mean is None


def test_times_without_a_spread_are_times() -> None:
    lines = parse_results(benchmark_lines(0, 8000)) | {"benchmark.0.std": "0.0", "benchmark.0.err": "0"}
    (case,) = case_results(lines, "benchmark")
    assert case.timing == Timing(4, 8000.0, 0.0, 0.0, 5.0, 9000.0)


@pytest.mark.parametrize(
    ("message", "matched", "margin"),
    [
        ("bit-equal: 3/4; error over tolerance: 0.25", (3, 4), 0.25),
        ("bit-equal: /4; error over tolerance: .", None, None),
        (f"bit-equal: {'9' * 5000}/4; error over tolerance: 1.2.3", None, 1.2),
        ("error over tolerance: inf", None, float("inf")),
    ],
)
def test_what_a_checker_says(message: str, matched: tuple[int, int] | None, margin: float | None) -> None:
    (case,) = case_results({"test.0.spec": "m: 1", "test.0.message": message}, "test")
    assert (case.matched, case.margin) == (matched, margin)


def test_a_spec_with_odd_values() -> None:
    (case,) = case_results({"test.0.spec": f"m: --5; n: -; k: ²; seed: {2**64}; a: {'9' * 5000}; b: true; :"}, "test")
    assert case.spec == {"m": "--5", "n": "-", "k": "²", "seed": 2**64, "a": "9" * 5000, "b": True}


def test_a_report_that_is_no_base64_is_shown_as_it_is() -> None:
    for report in ("é", "====", "a b"):
        (case,) = case_results({"benchmark.0.spec": "m: 1", "benchmark.0.report": report}, "profile")
        assert case.report == report


def test_no_score_where_a_case_is_missing() -> None:
    cases = case_results(parse_results(benchmark_lines(0, 8000)), "leaderboard")
    device = Device("MI355X", "virtual", "")
    run = Run("leaderboard", device, "failed", "x", cases, 2, 0, "", 1.0, "", "")
    assert run.geometric_mean is None
    assert run.to_dict()["timing_unit"] == "wave instructions executed, emulated"


def test_profile_reports_use_another_alphabet() -> None:
    table = "time ≥ 5 µs???\n"
    encoded = base64.b64encode(table.encode(), b"+*").decode()
    assert "*" in encoded
    (case,) = case_results({"benchmark.0.spec": "m: 1", "benchmark.0.report": encoded}, "profile")
    assert (case.report, case.status) == (table, "pass")


def test_a_fault_of_the_virtual_gpu_is_the_reason_whatever_came_of_it() -> None:
    fault = "reads 16 bytes past the end of b_ptr at submission.py:61:18"
    ended = Ended("own end", 1, None, "", "", "", "Traceback (most recent call last):\nRuntimeError: x\n", 1.0)
    evidence = Evidence(shipped_task("amd-mxfp4-mm"), ended, (), "", 4, 420, faults=[fault])
    assert explain_end(evidence).outcome == "crashed"
    assert explain_end(evidence).sentence == f"{fault}; before the first case"


def test_a_compiler_error_shows_its_reason() -> None:
    stderr = (
        'Traceback (most recent call last):\n  File "/x/submission.py", line 9, in custom_kernel\n'
        "triton.compiler.errors.CompilationError: at 3:8:\ndef kernel():\n    x = 1\n        ^\nx is not defined\n"
    )
    ended = Ended("own end", 1, None, "", "", "", stderr, 1.0)
    evidence = Evidence(shipped_task("amd-mxfp4-mm"), ended, (), "", 4, 420)
    assert explain_end(evidence).sentence == (
        "CompilationError: at 3:8: x is not defined at submission.py:9, before the first case"
    )
