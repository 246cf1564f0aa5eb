"""The faults table: whatever goes wrong, nothing is lost, nothing is sent twice, and one sentence says it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from mxsub.submit.kernelbot import (
    BadAnswer,
    ConnectionCut,
    Forbidden,
    KernelBotError,
    NotFound,
    NotRegistered,
    RateLimited,
    Refused,
    ServiceFault,
    Unreachable,
)
from mxsub.submit.posting.sending import RESUME
from tests.fake_kernelbot import FakeKernelBot
from tests.posting_desk import PACE, TestDesk

EXPECTED_RUNS = {"test": ["test"], "benchmark": ["benchmark"], "leaderboard": ["test", "benchmark", "leaderboard"]}


@pytest.fixture
def bot() -> Iterator[FakeKernelBot]:
    with FakeKernelBot(run_seconds=0.1, heartbeat_seconds=0.05, gap_seconds=0.2, slow_accept_seconds=0.15) as fake:
        yield fake


@pytest.fixture
def desk(tmp_path: Path, bot: FakeKernelBot) -> TestDesk:
    return TestDesk(tmp_path, bot)


def assert_whole(desk: TestDesk, bot: FakeKernelBot, uid: str, mode: str) -> None:
    """One submission on the server; the same one, with all its runs, in the history."""
    record = desk.history.submissions.get(uid)
    (row,) = bot.rows
    assert (record.remote_id, record.state, record.verdict) == (row.id, "finished", "passed")
    results = desk.history.submissions.results(uid)
    if mode == "profile":
        assert [run.mode for run in results] == [f"profile.{n}" for n in range(6)]
        assert all(run.result and run.result["benchmark.0.report"] for run in results)
    else:
        assert [run.mode for run in results] == EXPECTED_RUNS[mode]
    assert all(run.passed for run in results)
    if mode in ("benchmark", "leaderboard"):
        assert record.geometric_mean == pytest.approx(11.5, rel=0.2)


# What passes by itself: the user sees a verdict, and the attempt was made once.
# fault, times, route, mode, the sentence that the user is told on the way
PASSING = [
    ("cut-before-body", 1, "", "test", "the connection to .* was cut .*; asking whether it arrived"),
    ("cut-before-accept", 1, "", "test", "asking whether it arrived"),
    ("cut-before-accept", 2, "", "leaderboard", "it did not arrive: sending it again"),
    ("cut-after-accept", 1, "", "test", "asking whether it arrived"),
    ("cut-mid-answer", 1, "", "leaderboard", "asking whether it arrived"),
    ("no-answer", 1, "", "benchmark", r"did not answer within 1 s; asking whether it arrived"),
    ("slow-accept", 1, "", "leaderboard", "asking whether it arrived"),
    ("malformed-json", 1, "POST /submission", "test", "is no valid JSON; asking whether it arrived"),
    ("missing-fields", 1, "POST /submission", "test", "asking whether it arrived"),
    ("wrong-types", 1, "POST /submission", "test", "asking whether it arrived"),
    ("not-an-object", 1, "POST /submission", "test", "asking whether it arrived"),
    ("html-200", 1, "POST /submission", "test", "asking whether it arrived"),
    ("empty-200", 1, "POST /submission", "test", "asking whether it arrived"),
    ("http-500", 1, "POST /submission", "test", "asking whether it arrived"),
    ("http-502-html", 1, "POST /submission", "leaderboard", "asking whether it arrived"),
    ("http-503", 1, "POST /submission", "test", "asking whether it arrived"),
    ("http-504", 1, "POST /submission", "test", "asking whether it arrived"),
    ("http-502-html", 3, "GET /user/submissions/", "test", r"failed \(502\).*; the submission goes on, asking again"),
    ("http-500", 2, "GET /user/submissions/", "test", "the submission goes on, asking again"),
    ("malformed-json", 2, "GET /user/submissions/", "leaderboard", "the submission goes on, asking again"),
    ("missing-fields", 2, "GET /user/submissions/", "benchmark", "the submission goes on, asking again"),
    ("wrong-types", 2, "GET /user/submissions/", "test", "the submission goes on, asking again"),
    ("score-garbage", 1, "", "leaderboard", "the submission goes on, asking again"),
    ("score-nan", 1, "", "leaderboard", "the submission goes on, asking again"),
    ("score-negative", 1, "", "leaderboard", "the submission goes on, asking again"),
    ("score-exponent", None, "", "leaderboard", ""),
    ("score-number", None, "", "leaderboard", ""),
    ("done-before-status", 1, "", "leaderboard", ""),
    ("unknown-status", 3, "", "leaderboard", ""),
    ("unknown-status", None, "", "benchmark", ""),
    ("null-job", None, "", "leaderboard", ""),
    ("sse-split", 1, "", "profile", ""),
    ("sse-comments", 1, "", "profile", ""),
    ("sse-crlf", 1, "", "profile", ""),
    ("sse-old-server", 1, "", "profile", ""),
    ("cut-before-accept", 1, "", "profile", "it did not arrive: sending it again"),
]


@pytest.mark.parametrize(("fault", "times", "route", "mode", "sentence"), PASSING)
def test_what_passes_by_itself(
    desk: TestDesk, bot: FakeKernelBot, fault: str, times: int | None, route: str, mode: str, sentence: str
) -> None:
    bot.set_fault(fault, times, route)
    if fault == "slow-accept":
        # It turns up, however long this machine takes over it.
        desk.desk = replace(desk.desk, pace=replace(PACE, grace=5.0))
    record = desk.begin(mode)
    submitted = desk.carry_out(record)
    assert submitted.record.verdict == "passed"
    assert re.search(sentence, "\n".join(desk.told))
    assert all("\n" not in told for told in desk.told)
    assert_whole(desk, bot, record.uid, mode)


# What the user is told, and what `--resume` makes good once the fault is over.
# fault, route, mode, error, sentence
RESUMABLE = [
    ("http-401", "", "test", NotRegistered, r"KernelBot refused \(401\): Invalid or unauthorized"),
    ("http-429-bare", "POST /submission", "test", RateLimited, r"KernelBot refused \(429\)"),
    ("rate-limited", "", "leaderboard", RateLimited, r"Rate limit exceeded: \d+/\d+ leaderboard submissions per hour"),
    ("rate-limited", "", "profile", RateLimited, r"Rate limit exceeded: \d+/\d+ \w+ submissions per hour"),
    ("http-502-html", "", "test", ServiceFault, r"KernelBot failed \(502\): .*Bad Gateway"),
    ("http-503", "", "test", ServiceFault, r"KernelBot failed \(503\)"),
    ("malformed-json", "", "test", BadAnswer, "is no valid JSON"),
    ("missing-fields", "GET /user/submissions", "test", BadAnswer, "is not as documented"),
    ("cut-before-accept", "", "leaderboard", ConnectionCut, "was cut before its answer was whole"),
    ("cut-before-body", "", "leaderboard", ConnectionCut, "was cut before its answer was whole"),
    ("http-500", "POST /submission", "test", ServiceFault, r"KernelBot failed \(500\): Internal Server Error"),
    ("huge-ids", "", "test", BadAnswer, "is not as documented"),
    ("score-garbage", "", "leaderboard", BadAnswer, "score"),
    ("missing-run-fields", "GET /user/submissions/", "test", BadAnswer, "is not as documented"),
    ("redirect", "POST /submission", "test", BadAnswer, "sends mxsub on"),
]


@pytest.mark.parametrize(("fault", "route", "mode", "error", "sentence"), RESUMABLE)
def test_what_resume_makes_good(
    desk: TestDesk, bot: FakeKernelBot, fault: str, route: str, mode: str, error: type[KernelBotError], sentence: str
) -> None:
    bot.set_fault(fault, None, route)
    record = desk.begin(mode)
    with pytest.raises(error, match=sentence) as caught:
        desk.carry_out(record)
    assert "\n" not in caught.value.message
    assert RESUME in caught.value.hint
    assert desk.known(record).unfinished
    bot.clear_faults()
    desk.carry_out(desk.known(record))
    assert_whole(desk, bot, record.uid, mode)


def test_the_server_is_down(desk: TestDesk, bot: FakeKernelBot) -> None:
    bot.stop()
    record = desk.begin("leaderboard")
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:\d+ cannot be reached: connection refused") as caught:
        desk.carry_out(record)
    assert RESUME in caught.value.hint
    bot.start()
    desk.carry_out(desk.known(record))
    assert_whole(desk, bot, record.uid, "leaderboard")


def test_the_server_goes_down_while_the_job_runs(tmp_path: Path) -> None:
    with FakeKernelBot(run_seconds=0.5) as bot:
        desk = TestDesk(tmp_path, bot)
        record = desk.begin("leaderboard")
        accepted = desk.carry_out
        bot.set_fault("http-503", None, "GET /user/submissions/")
        with pytest.raises(ServiceFault):
            accepted(record)
        bot.stop()
        with pytest.raises(Unreachable):
            desk.carry_out(desk.known(record))
        bot.clear_faults()
        bot.start()
        desk.carry_out(desk.known(record))
        assert_whole(desk, bot, record.uid, "leaderboard")


# The service's no: final, with its own words.
# fault, route, mode, error, sentence
REFUSED = [
    ("http-400", "POST", "test", Refused, r"KernelBot refused \(400\)"),
    ("http-403", "POST", "test", Forbidden, r"KernelBot refused \(403\)"),
    ("http-404", "POST", "test", NotFound, r"KernelBot refused \(404\)"),
    ("http-413", "POST", "leaderboard", Refused, r"KernelBot refused \(413\): .*too large"),
    ("http-413-html", "POST", "leaderboard", Refused, r"KernelBot refused \(413\)"),
    ("http-422", "POST", "test", Refused, r"KernelBot refused \(422\): body\.file: "),
    ("banned-word", "POST", "leaderboard", Refused, r"KernelBot refused \(500\): Your code contains work on another"),
    ("closed", "", "leaderboard", Refused, r"The deadline to submit to amd-mxfp4-mm has passed\. It was .* today is"),
    ("not-accepting", "", "test", Refused, "The bot is currently not accepting any new submissions"),
    ("banned", "", "profile", Refused, "KernelBot refused"),
]


@pytest.mark.parametrize(("fault", "route", "mode", "error", "sentence"), REFUSED)
def test_what_the_service_refuses(
    desk: TestDesk, bot: FakeKernelBot, fault: str, route: str, mode: str, error: type[Refused], sentence: str
) -> None:
    bot.set_fault(fault, 1, route)
    record = desk.begin(mode)
    with pytest.raises(error, match=sentence) as caught:
        desk.carry_out(record)
    known = desk.known(record)
    assert (known.state, known.verdict, known.sentence) == ("refused", "refused", caught.value.message)
    assert "\n" not in caught.value.message
    assert bot.rows == []


# The job ends badly: a verdict, one sentence, and the row is not sent again.
# fault, mode, verdict, sentence
BAD_ENDS = [
    ("hacked", "leaderboard", "rejected", r"Submission rejected by KernelGuard pre-check \(high_critical\)"),
    ("hacked", "profile", "rejected", r"KernelGuard pre-check"),
    ("guard-unavailable", "benchmark", "not run", "KernelGuard pre-check is unavailable right now"),
    ("timed-out", "leaderboard", "timed out", r'"hard timeout reached".* 12 minutes from its dispatch to GitHub'),
    ("failed", "leaderboard", "failed", r"leaderboard: .*ranked validation failed on MI355X"),
    ("failed", "benchmark", "not run", "RuntimeError: could not dispatch the workflow"),
    ("secret-failed", "leaderboard", "failed", "^secret validation failed on MI355X; leaderboard run did not pass$"),
    ("failed-tests", "test", "failed", r"test: \d of 4 cases failed: 8x2112x7168, seed 124: Number of mismatched"),
    ("failed-tests", "benchmark", "failed", r"benchmark: \d of 6 cases failed: 4x2880x512, seed 4565: Number of"),
    ("failed-tests", "leaderboard", "failed", r"test: \d of 4 cases failed"),
    ("crash", "test", "crashed", r"test: it raised at .*, seed \d+; the service shows a traceback in `--mode profile`"),
    ("crash", "benchmark", "crashed", "benchmark: it raised"),
    ("evaluator-timeout", "test", "timed out", r"test: nothing came back in \d+ s: it ran into the evaluator's time"),
    ("runner-failure", "test", "not run", "its runner failed, and the service does not say why; submit it again"),
    ("runner-failure", "leaderboard", "failed", "the runner reported no leaderboard run"),
    ("restart", "leaderboard", "lost", "job interrupted while kernelbot was shutting down"),
    ("stale-heartbeat", "leaderboard", "lost", "no sign of life for 10 minutes: the service was restarted"),
    ("stays-running", "test", "lost", "it is still running after .* while the service ends a job after 30 minutes"),
    ("stays-pending", "test", "lost", "it is still pending after .*: the service forgot it"),
    ("stays-initial", "test", "lost", "it is still initial after .*: the service forgot it"),
]


@pytest.mark.parametrize(("fault", "mode", "verdict", "sentence"), BAD_ENDS)
def test_how_a_submission_ends_badly(
    desk: TestDesk, bot: FakeKernelBot, fault: str, mode: str, verdict: str, sentence: str
) -> None:
    bot.set_fault(fault)
    record = desk.begin(mode)
    ended = desk.carry_out(record).record
    assert ended.verdict == verdict
    assert re.search(sentence, str(ended.sentence))
    assert "\n" not in str(ended.sentence)
    assert (ended.state, ended.remote_id) == ("finished", bot.rows[0].id)
    assert len(bot.rows) == 1


@pytest.mark.parametrize("fault", ["sse-cut", "sse-end", "sse-malformed", "sse-error", "sse-cancelled"])
def test_a_stream_that_breaks_when_the_run_is_done(desk: TestDesk, bot: FakeKernelBot, fault: str) -> None:
    """The service has the runs all the same, without the reports that only the stream brings."""
    bot.set_fault(fault)
    record = desk.begin("profile")
    ended = desk.carry_out(record).record
    assert (ended.verdict, ended.sentence) == ("passed", "passed 6 profile runs")
    assert [run.mode for run in desk.history.submissions.results(record.uid)] == [f"profile.{n}" for n in range(6)]
    # Its number may be known from a heartbeat.
    assert any(re.search(r"; (asking whether it arrived|the service has it as #1)$", told) for told in desk.told)
    assert len(bot.rows) == 1


def test_a_stream_that_breaks_while_the_run_is_on(tmp_path: Path) -> None:
    """The service cancels the run; it is not sent again."""
    with FakeKernelBot(run_seconds=30.0, heartbeat_seconds=30.0) as bot:
        desk = TestDesk(tmp_path, bot)
        record = desk.begin("profile")
        ended = desk.carry_out(record).record
        assert (ended.verdict, ended.state) == ("cancelled", "finished")
        assert ended.sentence == "the connection to the service ended before the run did, and the service cancelled it"
        assert len(bot.rows) == 1
