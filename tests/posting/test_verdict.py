"""What statuses and runs come to: the table of the protocol's sections 4 to 7."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from mxsub.submit.history.submissions import ResultRecord
from mxsub.submit.posting.verdict import judge, mode_of

START = datetime(2026, 4, 1, 12, tzinfo=UTC)


def run(mode: str, passed: bool = True, result: dict[str, str] | None = None, seconds: float = 2.0) -> ResultRecord:
    return ResultRecord(mode, START, START + timedelta(seconds=seconds), "MI355X", passed, None, result)


def failed(mode: str, cases: int = 1) -> ResultRecord:
    """The service's specs have their keys in its own order."""
    kind = "test" if mode == "test" else "benchmark"
    lines = {f"{kind}-count": "4", "check": "fail"}
    for i in range(4):
        lines[f"{kind}.{i}.spec"] = f"k: 7168; m: {8 + i}; n: 2112; seed: 124"
        lines[f"{kind}.{i}.status"] = "fail" if i < cases else "pass"
    return run(mode, False, lines | {f"{kind}.0.error": r"Number of mismatched elements: 7\nERROR at (0, 1): 1.0 2.0"})


CRASH = run("test", False, {"test-count": "4", "test.0.spec": "k: 7168; m: 8; n: 2112; seed: 124"})
TEST, BENCHMARK, RANKED = run("test"), run("benchmark"), run("leaderboard")
PROFILE = [run(f"profile.{n}") for n in range(6)]
GUARD = "Submission rejected by KernelGuard pre-check (high_critical). Matched rules: A, B."

# mode, status, error, done, settled, runs, verdict (None: not known yet), sentence
TABLE = [
    # Under way, whatever is there already.
    ("test", "initial", None, False, False, [], None, ""),
    ("test", "pending", None, False, False, [], None, ""),
    ("leaderboard", "running", None, False, False, [TEST, BENCHMARK], None, ""),
    ("test", None, None, False, True, [], None, ""),
    ("test", "paused", None, False, True, [TEST], None, ""),
    # Done a little before its status is.
    ("test", "running", None, True, False, [TEST], None, ""),
    ("test", "running", None, True, True, [TEST], "passed", "passed test"),
    ("test", "pending", None, True, True, [], "not run", "its runner failed, and the service does not say why; submit"),
    ("test", "paused", None, True, False, [TEST], None, ""),
    ("test", "paused", None, True, True, [failed("test")], "failed", "test: 1 of 4 cases failed"),
    # `succeeded` means that it was run.
    ("test", "succeeded", None, True, False, [TEST], "passed", "^passed test$"),
    ("test", "succeeded", None, False, False, [TEST], "passed", "^passed test$"),
    ("benchmark", "succeeded", None, True, False, [BENCHMARK], "passed", "^passed benchmark$"),
    ("leaderboard", "succeeded", None, True, False, [RANKED, TEST, BENCHMARK], "passed",
     "^passed test, benchmark and leaderboard$"),
    ("profile", "succeeded", None, True, False, PROFILE, "passed", "^passed 6 profile runs$"),
    ("test", "succeeded", None, True, False, [failed("test", 2)], "failed",
     "^test: 2 of 4 cases failed: 8x2112x7168, seed 124: Number of mismatched elements: 7$"),
    ("benchmark", "succeeded", None, True, False, [failed("benchmark")], "failed", "^benchmark: 1 of 4 cases failed"),
    ("test", "succeeded", None, True, False, [CRASH], "crashed", "^test: it raised at 8x2112x7168, seed 124; "),
    ("test", "succeeded", None, True, False, [run("test", False, {"test-count": "4"})], "crashed", "^test: it raised;"),
    ("test", "succeeded", None, True, False, [run("test", False, {})], "crashed", "it ended before the first case"),
    ("test", "succeeded", None, True, False, [run("test", False, {}, 420.3)], "timed out",
     "^test: nothing came back in 420 s: it ran into the evaluator's time limit"),
    ("benchmark", "succeeded", None, True, False, [run("benchmark", False, None, 175)], "timed out", "in 175 s"),
    ("test", "succeeded", None, True, False, [], "not run", "^its runner failed, and the service does not say why"),
    ("leaderboard", "succeeded", None, True, False, [TEST, BENCHMARK], "not run", "^no leaderboard run came back"),
    ("leaderboard", "succeeded", None, True, False, [RANKED], "not run", "^no test and no benchmark run came back"),
    ("leaderboard", "succeeded", None, True, False, [failed("test")], "failed", "^test: 1 of 4 cases failed"),
    ("leaderboard", "succeeded", None, True, False, [TEST, BENCHMARK, run("leaderboard", False)], "failed",
     "^leaderboard: it did not pass, and the service does not show why$"),
    ("test", "succeeded", None, True, False, [run("test", False, {"check": "fail"})], "failed", "it did not pass"),
    # Made elsewhere: the mode follows from the runs.
    (None, "succeeded", None, True, False, [TEST], "passed", "passed test"),
    (None, "succeeded", None, True, False, [TEST, BENCHMARK, RANKED], "passed", "passed test, benchmark and leader"),
    (None, "succeeded", None, True, False, [], "not run", ""),
    # Failed jobs.
    ("leaderboard", "failed", "ranked validation failed on MI355X; leaderboard run did not pass", True, False,
     [TEST, BENCHMARK, failed("leaderboard")], "failed",
     "^leaderboard: 1 of 4 cases failed: .* \\(ranked validation failed on MI355X; leaderboard run did not pass\\)$"),
    ("leaderboard", "failed", "secret validation failed on MI355X; leaderboard run did not pass", True, False,
     [TEST, BENCHMARK, RANKED], "failed", "^secret validation failed on MI355X"),
    ("test", "failed", "job interrupted while kernelbot was shutting down; please resubmit", True, False, [], "lost",
     "the service was restarted; submit it again$"),
    ("test", "failed", "RuntimeError: could not dispatch", True, False, [], "not run", "^RuntimeError: could not disp"),
    ("test", "failed", "inputs are too large.", True, False, [], "not run", "`mxsub explain MX012`$"),
    ("test", "failed", None, True, False, [], "not run", "^its runner failed, and the service does not say why$"),
    # The others.
    ("benchmark", "hacked", GUARD, True, False, [], "rejected", re.escape(GUARD)),
    ("benchmark", "hacked", None, True, False, [TEST], "rejected", "KernelGuard"),
    ("leaderboard", "timed_out", "hard timeout reached", True, False, [], "timed out",
     r'^the job timed out \("hard timeout reached"\): a job has 12 minutes from its dispatch to GitHub'),
    ("leaderboard", "timed_out", None, False, False, [TEST], "timed out", "^the job timed out: a job has 12 minutes"),
    # Streamed: no job at all.
    ("profile", None, None, True, False, PROFILE, "passed", "passed 6 profile runs"),
    ("profile", None, None, True, False, [], None, ""),
    ("profile", None, None, True, True, [], "cancelled", "the connection to the service ended before the run did"),
    ("profile", None, "KernelGuard is unavailable", True, True, [], "not run", "^KernelGuard is unavailable$"),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "status", "error", "done", "settled", "runs", "verdict", "sentence"), TABLE)
def test_a_verdict(
    mode: str | None, status: str | None, error: str | None, done: bool, settled: bool, runs: list[ResultRecord],
    verdict: str | None, sentence: str,
) -> None:  # fmt: skip
    judgement = judge(mode, status, error, done, runs, settled=settled)
    assert (judgement and judgement.verdict) == verdict
    assert re.search(sentence, judgement.sentence if judgement else "")
    assert judgement is None or "\n" not in judgement.sentence


@pytest.mark.parametrize(
    ("modes", "mode"),
    [("", None), ("test", "test"), ("benchmark", "benchmark"), ("test benchmark leaderboard", "leaderboard"),
     ("test benchmark", "benchmark"), ("profile.0 profile.1", "profile"), ("odd", None)],
)  # fmt: skip
def test_the_mode_that_runs_were_made_in(modes: str, mode: str | None) -> None:
    assert mode_of([run(name) for name in modes.split()]) == mode
