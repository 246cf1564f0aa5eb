"""Each switch of the fake server once."""

import json
import time

import pytest
import requests

from tests.fake.caller import (
    BACKGROUND,
    STREAMING,
    TEXT,
    Caller,
    events,
    eventually,
)
from tests.fake_kernelbot import FAULTS
from tests.fake_kernelbot.faults import Stage
from tests.fake_kernelbot.faulty_answers import CANNED


def of_stage(stage: Stage) -> list[str]:
    return [fault.name for fault in FAULTS.values() if fault.stage is stage]


@pytest.mark.parametrize("name", of_stage(Stage.CANNED))
def test_canned_answers(ada: Caller, name: str) -> None:
    ada.bot.set_fault(name)
    answer = requests.post(
        ada.bot.url + BACKGROUND + "test",
        headers=ada.headers,
        files={"file": ("sub.py", TEXT)},
        allow_redirects=False,
        timeout=5,
    )
    assert (answer.status_code, answer.content) == (CANNED[name].status, CANNED[name].body)
    assert ada.bot.rows == []
    assert ada.post(BACKGROUND + "test").status_code == 202


CUTS = {"cut-before-body": 0, "cut-before-accept": 0, "slow-accept": 0, "cut-after-accept": 1, "cut-mid-answer": 1}


@pytest.mark.parametrize("path", [BACKGROUND, STREAMING], ids=["background", "streaming"])
@pytest.mark.parametrize("name", CUTS)
def test_cuts(ada: Caller, name: str, path: str) -> None:
    ada.bot.set_fault(name)
    with pytest.raises((requests.ConnectionError, requests.exceptions.ChunkedEncodingError)):
        ada.post(path + "test")
    assert len(ada.bot.rows) == CUTS[name]
    if name == "slow-accept":
        eventually(lambda: len(ada.bot.rows), lambda rows: rows == 1)
    assert ada.post(BACKGROUND + "test").status_code == 202


def test_cut_of_any_route(ada: Caller) -> None:
    ada.bot.set_fault("cut-mid-answer", on="GET /user")
    assert ada.post(BACKGROUND + "test").status_code == 202
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        ada.get("/user/submissions")


def test_no_answer(ada: Caller) -> None:
    ada.bot.set_fault("no-answer")
    with pytest.raises(requests.ReadTimeout):
        ada.post(BACKGROUND + "test", timeout=0.2)
    eventually(lambda: len(ada.bot.rows), lambda rows: rows == 1)


def test_spoiled_answers(ada: Caller) -> None:
    for name in of_stage(Stage.ANSWER):
        ada.bot.set_fault(name)
    assert ada.get("/runner_queue/MI355X").text == '{"runner":"GitHub","gpu":"MI355X","queued_jobs":0,"running_jobs"'
    assert ada.get("/health").json() == {}
    assert ada.get("/runner_queue/MI355X").json()["queued_jobs"] == "number 0"
    assert ada.get("/health").json() == "ok"
    assert ada.bot.faults == []


CHECKS = {
    "closed": (
        400,
        "The deadline to submit to amd-mxfp4-mm has passed.\nIt was 2026-04-07 07:59:00+00:00 and today is",
    ),
    "not-accepting": (400, "The bot is currently not accepting any new submissions, please try again later."),
    "banned": (400, "You are banned from submitting."),
    "rate-limited": (429, "Rate limit exceeded: 2/1 leaderboard submissions per hour. Try again in 3586s."),
}


@pytest.mark.parametrize("name", of_stage(Stage.CHECK))
def test_checks(ada: Caller, name: str) -> None:
    status, detail = CHECKS[name]
    ada.bot.set_fault(name, times=2)
    background = ada.post(BACKGROUND + "leaderboard")
    assert background.status_code == status
    assert background.json()["detail"].startswith(detail)
    [_, (kind, data)] = events(ada.post(STREAMING + "leaderboard").text)
    assert (kind, data["status_code"]) == ("error", 400)
    assert data["detail"].startswith(detail)
    assert ada.bot.rows == []


ENDINGS = {
    "hacked": ("hacked", "Submission rejected by KernelGuard pre-check (high_critical). Matched rules: CONFIG", []),
    "guard-unavailable": ("failed", "KernelGuard pre-check is unavailable right now. Please try again later.", []),
    "timed-out": ("timed_out", "hard timeout reached", []),
    "failed": ("failed", "ranked validation failed on MI355X; ", [True, True, False]),
    "secret-failed": ("failed", "secret validation failed on MI355X; ", [True, True, True]),
    "failed-tests": ("failed", "ranked validation failed on MI355X; ", [False]),
    "crash": ("failed", "ranked validation failed on MI355X; ", [False]),
    "evaluator-timeout": ("failed", "ranked validation failed on MI355X; ", [False]),
    "runner-failure": ("failed", "ranked validation failed on MI355X; ", []),
    "restart": ("failed", "job interrupted while kernelbot was shutting down; please resubmit", []),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_ranked_jobs_that_end_badly(ada: Caller, name: str) -> None:
    status, error, passed = ENDINGS[name]
    ada.bot.set_fault(name)
    ada.post(BACKGROUND + "leaderboard")
    row = ada.final()
    assert (row["done"], row["job"]["status"]) == (True, status)
    assert row["job"]["error"].startswith(error)
    assert [run.passed for run in ada.bot.rows[0].runs if not run.secret] == passed
    assert ada.get("/submissions/amd-mxfp4-mm/MI355X").json() == []


@pytest.mark.parametrize("name", ["failed-tests", "crash", "evaluator-timeout", "runner-failure"])
@pytest.mark.parametrize("mode", ["test", "benchmark"])
def test_succeeded_only_means_was_run(ada: Caller, name: str, mode: str) -> None:
    ada.bot.set_fault(name)
    ada.post(BACKGROUND + mode)
    row = ada.final()
    assert (row["job"]["status"], row["job"]["error"]) == ("succeeded", None)
    assert not any(run["passed"] for run in row["runs"])
    assert len(row["runs"]) == (0 if name == "runner-failure" else 1)
    if name == "failed-tests" and mode == "test":
        assert row["runs"][0]["result"]["test.0.error"] == "Number of mismatched elements: 7\\nERROR at (0, 1): 1.0 2.0"
    if name == "crash":
        assert "check" not in row["runs"][0]["result"]


def test_kernel_guard_does_not_look_at_tests(ada: Caller) -> None:
    ada.bot.set_fault("hacked")
    ada.post(BACKGROUND + "test")
    assert ada.final()["job"]["status"] == "succeeded"
    assert ada.bot.faults == ["hacked"]


@pytest.mark.parametrize(
    ("name", "status", "detail"),
    [
        ("hacked", 400, "Submission rejected by KernelGuard pre-check (high_critical)."),
        ("guard-unavailable", 503, "KernelGuard pre-check is unavailable right now."),
        ("timed-out", None, "An unexpected error occurred: TimeoutError"),
        ("failed", None, "An unexpected error occurred: RuntimeError"),
    ],
)
def test_streams_that_end_badly(ada: Caller, name: str, status: int | None, detail: str) -> None:
    ada.bot.set_fault(name)
    kind, data = events(ada.post(STREAMING + "benchmark").text)[-1]
    assert (kind, data.get("status_code")) == ("error", status)
    assert data["detail"].startswith(detail)
    row = ada.get("/user/submissions/1").json()
    assert (row["done"], row["runs"], row["job"]["status"]) == (True, [], "hacked" if name == "hacked" else None)


def test_done_before_the_status(ada: Caller) -> None:
    ada.bot.set_fault("done-before-status")
    ada.post(BACKGROUND + "test")
    row = eventually(lambda: ada.get("/user/submissions/1").json(), lambda row: row["done"])
    assert row["job"]["status"] == "running"
    assert ada.final()["job"]["status"] == "succeeded"


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("stays-running", "running"),
        ("stale-heartbeat", "running"),
        ("stays-pending", "pending"),
        ("stays-initial", "initial"),
    ],
)
def test_jobs_that_never_end(ada: Caller, name: str, status: str) -> None:
    ada.bot.set_fault(name)
    ada.post(BACKGROUND + "test")
    time.sleep(0.25)
    first = ada.get("/user/submissions/1").json()
    assert (first["done"], first["job"]["status"]) == (False, status)
    time.sleep(0.05)
    moved = ada.get("/user/submissions/1").json()["job"]["last_heartbeat"] != first["job"]["last_heartbeat"]
    assert moved == (name == "stays-running")


def test_spoiled_shows(ada: Caller) -> None:
    ada.bot.add_submission("ada", "x = 1\n", mode="test")
    ada.bot.set_fault("unknown-status")
    assert ada.get("/user/submissions/1").json()["job"]["status"] == "paused"
    ada.bot.set_fault("null-job")
    assert ada.get("/user/submissions/1").json()["job"] == {"status": None, "error": None, "last_heartbeat": None}
    ada.bot.set_fault("missing-run-fields")
    assert not {"passed", "mode"} & ada.get("/user/submissions/1").json()["runs"][0].keys()
    ada.bot.set_fault("null-run-fields")
    assert ada.get("/user/submissions/1").json()["runs"][0]["result"] is None
    ada.bot.set_fault("huge-ids")
    assert ada.get("/user/submissions/1").json()["id"] == 2**70
    assert ada.bot.faults == []


def test_spoiled_scores(ada: Caller) -> None:
    row = ada.bot.add_submission("ada", "x = 1\n")
    score = next(run.score for run in row.runs if run.score is not None and not run.secret)

    def seen(name: str) -> object:
        ada.bot.set_fault(name)
        runs = ada.get("/user/submissions/1").json()["runs"]
        return next(run["score"] for run in runs if run["mode"] == "leaderboard" and not run["secret"])

    assert seen("score-null") is None
    assert seen("score-garbage") == "fast"
    assert seen("score-nan") == "NaN"
    assert seen("score-exponent") == f"{score:.12E}"
    assert seen("score-number") == float(score)
    assert seen("score-negative") == f"-{score:f}"
    ada.bot.set_fault("score-garbage")
    assert ada.get("/submissions/amd-mxfp4-mm/MI355X").json()[0]["submission_score"] == "fast"


def test_stream_split_inside_characters(ada: Caller) -> None:
    ada.bot.set_fault("sse-split")
    files = {"file": ("sub.py", TEXT)}
    url = ada.bot.url + STREAMING + "test"
    with requests.post(url, headers=ada.headers, files=files, stream=True, timeout=5) as answer:
        chunks = list(answer.iter_content(None))
    assert any(chunk[-1] >= 0xC0 for chunk in chunks)
    assert (
        events(b"".join(chunks).decode())[-1][1]["results"][0]["runs"]["test"]["run"]["stdout"]
        == "caf\u00e9 \u23f1 \U0001f9ee\n"
    )


def test_stream_cut_in_an_event(ada: Caller) -> None:
    ada.bot.set_fault("sse-cut")
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        ada.post(STREAMING + "test")
    assert ada.bot.rows[0].runs[0].passed


def test_stream_forever(ada: Caller) -> None:
    ada.bot.set_fault("sse-forever")
    files = {"file": ("sub.py", TEXT)}
    url = ada.bot.url + STREAMING + "test"
    with requests.post(url, headers=ada.headers, files=files, stream=True, timeout=5) as answer:
        chunks = answer.iter_content(None)
        assert [next(chunks).splitlines()[0] for _ in range(8)] == [b"event: status"] * 8


def test_spoiled_streams(ada: Caller) -> None:
    def seen(name: str) -> str:
        ada.bot.set_fault(name)
        return ada.post(STREAMING + "test").content.decode()

    assert [name for name, _ in events(seen("sse-end"))][-1] == "status"
    assert ": keep-alive\n\nretry: 1500\n\nid: 7\nevent: progress\n" in seen("sse-comments")
    assert "\n" not in seen("sse-crlf").replace("\r\n", "")
    assert events(seen("sse-error"))[-1][1] == {
        "status": "error",
        "detail": "An unexpected error occurred: AttributeError",
        "raw_error": "'NoneType' object has no attribute 'trace'",
    }
    assert events(seen("sse-cancelled"))[-1] == ("error", {"status": "error", "detail": "Submission cancelled"})
    with pytest.raises(json.JSONDecodeError):
        events(seen("sse-malformed"))
    ada.bot.set_fault("sse-bad-archives")
    spoiled = events(ada.post(STREAMING + "profile").content.decode())[-1][1]["results"][0]["runs"]
    first, second, third = (spoiled[f"profile.{number}"]["profile"]["trace"] for number in range(3))
    assert (first, len(second), len(third) > 200) == ("no base64!", 40, True)
    old = events(seen("sse-old-server"))[-1][1]
    assert old["results"][0]["system"].keys() == {"gpu", "cpu"}
