"""The fake server against the recorded answers of the real one."""

import json
import time

import pytest
import requests

from tests.fake.caller import (
    BACKGROUND,
    BANNED_WORD,
    MISSING_FILE,
    STREAMING,
    TEXT,
    Caller,
    events,
    eventually,
)
from tests.fake_kernelbot import INVITE_CODE, SECRET_MARKER, SECRET_SEED, FakeKernelBot


def test_accepted_submission_answers_as_recorded(ada: Caller) -> None:
    answer = ada.post(BACKGROUND + "TEST")
    assert answer.status_code == 202
    assert answer.text == (
        '{"details":{"id":1,"job_status_id":1},"runner_queue":{"runner":"GitHub","gpu":"MI355X","queued_jobs":0,'
        '"running_jobs":null,"available_runners":null,"status":"available","error":null},"status":"accepted"}'
    )
    assert answer.headers["Content-Type"] == "application/json"
    assert ada.bot.rows[0].code == TEXT.decode()
    assert ada.bot.requests[0].headers["x-popcorn-cli-id"] == ada.headers["X-Popcorn-Cli-Id"]


EARLY = "failed to prepare submission request: "
REFUSALS = {
    "unknown GPU": (
        "/amd-mxfp4-mm/H100/test",
        TEXT,
        400,
        "GPU type 'H100' is not supported for leaderboard 'amd-mxfp4-mm'. Supported GPUs: MI355X",
    ),
    "unknown board": (
        "/nope/MI355X/test",
        TEXT,
        500,
        "Internal server error while validating leaderboard/GPU: Leaderboard `nope` does not exist.",
    ),
    "unknown mode": (STREAMING + "warp", TEXT, 400, "Invalid submission mode value: 'warp'"),
    "mode not open": (STREAMING + "private", TEXT, 400, "Submission mode 'private' is not supported for this endpoint"),
    "banned word": (STREAMING + "test", b"# UpStReAm\n", 500, BANNED_WORD),
    "empty": (STREAMING + "test", b"", 400, "Empty file submitted. Please provide a file with code."),
    "too large": (STREAMING + "test", b"#" * 1_000_001, 413, "Submission file is too large (limit: 1MB)."),
    "not UTF-8": (STREAMING + "test", b"\xff", 400, "Failed to decode submission file content as UTF-8."),
    "mode before board": ("/nope/H100/warp", b"", 400, "Invalid submission mode value: 'warp'"),
    "size before encoding": (
        STREAMING + "test",
        b"\xff" * 1_000_001,
        413,
        "Submission file is too large (limit: 1MB).",
    ),
}


@pytest.mark.parametrize(("path", "text", "status", "detail"), REFUSALS.values(), ids=REFUSALS)
def test_refusals_while_the_form_is_read(ada: Caller, path: str, text: bytes, status: int, detail: str) -> None:
    streaming, background = ada.post(path, text), ada.post("/submission" + path, text)
    assert (streaming.status_code, streaming.json()) == (status, {"detail": detail})
    assert (background.status_code, background.json()) == (400, {"detail": f"{EARLY}{status}: {detail}"})
    assert ada.bot.rows == []


LATE_REFUSALS = {
    "file name": ("x.txt", TEXT, "Please provide a Python (.py) or CUDA (.cu / .cuh / .cpp) file"),
    "other board": (
        "sub.py",
        b"#!POPCORN leaderboard other\n",
        "Leaderboard name `amd-mxfp4-mm` specified in the command doesn't match the one in the submission script "
        "header `other`.",
    ),
    "unknown directive": ("sub.py", b"#!POPCORN foo bar\n", "Invalid !POPCORN directive: foo"),
    "no argument": ("sub.py", b"#!POPCORN gpu\n", "!POPCORN directive missing argument: #!POPCORN gpu"),
    "twice": (
        "sub.py",
        b"#!POPCORN gpu A\n//!POPCORN gpus B\n",
        "Found multiple values for !POPCORN directive gpus",
    ),
}


@pytest.mark.parametrize(("name", "text", "detail"), LATE_REFUSALS.values(), ids=LATE_REFUSALS)
def test_refusals_of_the_second_group(ada: Caller, name: str, text: bytes, detail: str) -> None:
    background = ada.post(BACKGROUND + "test", text, name)
    assert (background.status_code, background.json()) == (400, {"detail": detail})
    streaming = ada.post(STREAMING + "test", text, name)
    assert streaming.status_code == 200
    assert events(streaming.text) == [
        ("status", {"status": "processing", "elapsed_time": 0.0}),
        ("error", {"status": "error", "detail": detail, "status_code": 400}),
    ]
    assert ada.bot.rows == []


def test_bare_directive_crashes_the_service(ada: Caller) -> None:
    background = ada.post(BACKGROUND + "test", b"#!POPCORN\n")
    assert background.json() == {"detail": "failed to prepare submission request: list index out of range"}
    assert events(ada.post(STREAMING + "test", b"#!POPCORN\n").text)[-1][1] == {
        "status": "error",
        "detail": "An unexpected error occurred: IndexError",
        "raw_error": "list index out of range",
    }


@pytest.mark.parametrize(
    "text", [b"\n#!POPCORN foo bar\n", b"\xef\xbb\xbf#!POPCORN foo bar\n", b" #!POPCORN foo bar\n"]
)
def test_directives_outside_the_first_block_are_not_seen(ada: Caller, text: bytes) -> None:
    assert ada.post(BACKGROUND + "test", text).status_code == 202


def test_who_asks_is_checked_before_what(bot: FakeKernelBot) -> None:
    none = requests.post(bot.url + BACKGROUND + "test", timeout=5)
    assert (none.status_code, none.text) == (400, '{"detail":"Missing X-Web-Auth-Id or X-Popcorn-Cli-Id header"}')
    none = requests.post(bot.url + STREAMING + "test", timeout=5)
    assert (none.status_code, none.text) == (400, '{"detail":"Missing X-Popcorn-Cli-Id header"}')
    wrong = {"X-Popcorn-Cli-Id": "nobody"}
    answer = requests.post(bot.url + BACKGROUND + "test", headers=wrong, timeout=5)
    assert (answer.status_code, answer.text) == (401, '{"detail":"Invalid or unauthorized auth header"}')
    answer = requests.post(bot.url + STREAMING + "test", headers=wrong, timeout=5)
    assert (answer.status_code, answer.text) == (401, '{"detail":"Invalid or unauthorized X-Popcorn-Cli-Id"}')


def test_a_form_without_a_file_is_422(ada: Caller) -> None:
    answer = requests.post(ada.bot.url + BACKGROUND + "test", headers=ada.headers, timeout=5)
    assert (answer.status_code, answer.text) == (422, MISSING_FILE)
    text_field = {"file": (None, "x = 1")}
    answer = requests.post(ada.bot.url + BACKGROUND + "test", headers=ada.headers, files=text_field, timeout=5)
    assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["body", "file"])


def test_rate_limit_counts_rows_by_category_and_deleting_frees(ada: Caller) -> None:
    ada.bot.rate_limits["leaderboard"] = 1
    assert ada.post(BACKGROUND + "leaderboard").status_code == 202
    assert ada.post(BACKGROUND + "test").status_code == 202
    refused = ada.post(BACKGROUND + "leaderboard")
    assert refused.status_code == 429
    detail = refused.json()["detail"]
    assert detail.startswith("Rate limit exceeded: 1/1 leaderboard submissions per hour. Try again in 359")
    assert events(ada.post(STREAMING + "leaderboard").text)[-1][1]["status_code"] == 400
    deleted = requests.delete(ada.bot.url + "/user/submissions/1", headers=ada.headers, timeout=5)
    assert deleted.json() == {"status": "ok", "submission_id": 1}
    assert ada.post(BACKGROUND + "leaderboard").status_code == 202
    assert [row.id for row in ada.bot.rows] == [2, 3]


def test_a_job_goes_through_its_statuses() -> None:
    with FakeKernelBot(queue_seconds=0.5, run_seconds=1.0, heartbeat_seconds=0.05) as bot:
        ada = Caller(bot, "ada")
        ada.post(BACKGROUND + "test")
        seen: list[tuple[str, bool, bool]] = []
        beats = set()
        while not seen or seen[-1][0] != "succeeded":
            row = ada.get("/user/submissions/1").json()
            state = (row["job"]["status"], row["done"], row["job"]["last_heartbeat"] is not None)
            beats.add(row["job"]["last_heartbeat"])
            if state not in seen:
                seen.append(state)
        assert [status for status, _, _ in seen if status != "initial"] == ["pending", "running", "succeeded"]
        assert seen[-1] == ("succeeded", True, True)
        assert len(beats) >= 4
        assert row["runner_queue"]["status"] == "available"


def test_a_test_run_as_recorded(ada: Caller) -> None:
    ada.post(BACKGROUND + "test")
    row = ada.final()
    [run] = row["runs"]
    assert (run["mode"], run["secret"], run["runner"], run["score"], run["passed"]) == (
        "test",
        False,
        "MI355X",
        None,
        True,
    )
    assert run["result"]["test.0.spec"] == "k: 7168; m: 8; n: 2112; seed: 124"
    assert (run["result"]["test-count"], run["result"]["check"]) == ("4", "pass")
    assert row["user_id"] == "42"
    assert ada.get("/user/submissions").json()[0]["runs"] == []


def test_ranked_runs_scores_and_ranking(ada: Caller) -> None:
    ada.post(BACKGROUND + "leaderboard")
    row = ada.final()
    assert row["job"] == {"status": "succeeded", "error": None, "last_heartbeat": row["job"]["last_heartbeat"]}
    assert sorted((run["secret"], run["mode"]) for run in row["runs"]) == [
        (secret, mode) for secret in (False, True) for mode in ("benchmark", "leaderboard", "test")
    ]
    assert not any("result" in run for run in row["runs"] if run["secret"] or run["mode"] == "leaderboard")
    [score] = [run["score"] for run in row["runs"] if run["score"] and not run["secret"]]
    assert isinstance(score, str)
    assert 5e-6 < float(score) < 5e-5
    listed = ada.get("/user/submissions?limit=1").json()[0]["runs"]
    assert sorted(run["score"] or "" for run in listed) == ["", "", score]
    ada.bot.add_submission("bob", "# bob's own\n")
    ranking = ada.get("/submissions/amd-mxfp4-mm/MI355X").json()
    assert [entry["rank"] for entry in ranking] == [1, 2]
    own = next(entry for entry in ranking if entry["user_name"] == "ada")
    assert (own["submission_score"], own["user_id"]) == (float(score), 42)
    assert ada.get("/submission_count/amd-mxfp4-mm/MI355X").json() == {"count": 2}
    assert ada.get("/submission_count/amd-mxfp4-mm/MI355X?user_id=42").json() == {"count": 1}


def test_equal_scores_share_a_rank(ada: Caller) -> None:
    for user in ("bob", "cleo"):
        ada.bot.add_submission(user, "x = 1\n")
    assert [entry["rank"] for entry in ada.get("/submissions/amd-mxfp4-mm/MI355X").json()] == [1, 1]


def test_results_follow_from_the_text(ada: Caller) -> None:
    one, same, other = (ada.bot.add_submission("ada", text).runs for text in ("a", "a", "b"))
    assert [run.score for run in one] == [run.score for run in same]
    assert [run.score for run in one] != [run.score for run in other]


def test_streaming_ends_with_the_public_and_the_secret_result(ada: Caller) -> None:
    answer = ada.post(STREAMING + "leaderboard")
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    assert answer.headers["Transfer-Encoding"] == "chunked"
    assert answer.content.isascii()
    *beats, (name, data) = events(answer.text)
    assert [data["elapsed_time"] for _, data in beats][:3] == [0.0, 0.03, 0.06]
    assert name == "result"
    assert [list(result["runs"]) for result in data["results"]] == [["test", "benchmark", "leaderboard"]] * 2
    assert SECRET_MARKER in data["results"][1]["runs"]["test"]["run"]["stdout"]
    assert SECRET_MARKER not in json.dumps(data["results"][0])
    row = ada.get("/user/submissions/1").json()
    assert (row["done"], row["job"]) == (True, {"status": None, "error": None, "last_heartbeat": None})


def test_profile_has_a_run_for_each_benchmark(ada: Caller) -> None:
    runs = events(ada.post(STREAMING + "profile").text)[-1][1]["results"][0]["runs"]
    assert list(runs) == [f"profile.{i}" for i in range(6)]
    assert runs["profile.0"]["profile"]["profiler"] == "rocPROF"
    assert runs["profile.0"]["run"]["result"]["benchmark-count"] == "1"


def test_leaving_a_stream_early_cancels_it(ada: Caller) -> None:
    files = {"file": ("sub.py", TEXT)}
    with requests.post(
        ada.bot.url + STREAMING + "test", headers=ada.headers, files=files, stream=True, timeout=5
    ) as answer:
        assert next(answer.iter_content(None)).startswith(b"event: status")
    eventually(lambda: ada.bot.rows[0].done, bool)
    time.sleep(0.15)
    assert ada.bot.rows[0].runs == []
    assert ada.get("/user/submissions").json()[0]["done"] is True


def test_lists_check_their_limits(ada: Caller) -> None:
    assert ada.get("/user/submissions?limit=101").status_code == 400
    assert ada.get("/user/submissions?offset=-1").status_code == 400
    assert ada.get("/user/submissions?limit=x").status_code == 422
    assert ada.get("/user/submissions?leaderboard=nope").json() == []
    assert ada.get("/user/submissions/x").status_code == 422
    missing = ada.get("/user/submissions/9")
    assert (missing.status_code, missing.text) == (404, '{"detail":"Submission not found"}')
    ada.bot.add_submission("bob", "x = 1\n")
    assert ada.get("/user/submissions/1").status_code == 403


def test_open_routes(ada: Caller) -> None:
    assert ada.get("/health").json() == {"status": "ok"}
    assert ada.get("/gpus/amd-mxfp4-mm").json() == ["MI355X"]
    unknown = ada.get("/gpus/nope")
    assert unknown.status_code == 500
    assert unknown.text == '{"detail":"Error fetching GPU data: Leaderboard `nope` does not exist."}'
    assert ada.get("/runner_queue/H100").json()["status"] == "unavailable"
    boards = ada.get("/leaderboards").json()
    assert [(board["name"], board["visibility"]) for board in boards] == [
        ("amd-mxfp4-mm", "public"),
        ("amd-invited", "closed"),
    ]
    assert boards[0]["secret_seed"] == SECRET_SEED
    assert boards[0]["task"]["files"]["submission.py"] == "@SUBMISSION@"
    assert (ada.get("//health").status_code, ada.get("/nope").json()) == (404, {"detail": "Not Found"})
    assert ada.post("/health").json() == {"detail": "Method Not Allowed"}


def test_closed_board_opens_with_the_code(ada: Caller) -> None:
    text = b"x = 1\n"
    assert ada.get("/gpus/amd-invited").status_code == 403
    assert requests.get(ada.bot.url + "/gpus/amd-invited", timeout=5).status_code == 401
    assert ada.post("/submission/amd-invited/MI355X/test", text).status_code == 403

    def join(who: Caller, body: object) -> requests.Response:
        return requests.post(ada.bot.url + "/user/join", headers=who.headers, json=body, timeout=5)

    wrong = join(ada, {"code": "x"})
    assert (wrong.status_code, wrong.text) == (400, '{"detail":"Invalid invite code"}')
    assert join(ada, {}).json() == {"detail": "Missing required field: code"}
    for _ in range(2):
        assert join(ada, {"code": INVITE_CODE}).json() == {"status": "ok", "leaderboards": ["amd-invited"]}
    late = join(Caller(ada.bot, "bob"), {"code": INVITE_CODE})
    assert late.json() == {"detail": "This invite code has already been claimed"}
    assert ada.get("/gpus/amd-invited").json() == ["MI355X"]
    assert ada.post("/submission/amd-invited/MI355X/test", text).status_code == 202


def test_an_id_works_once_its_login_is_finished_and_replaces_the_old_one(bot: FakeKernelBot) -> None:
    def accepts(cli_id: str) -> int:
        headers = {"X-Popcorn-Cli-Id": cli_id}
        return requests.get(bot.url + "/user/submissions?limit=1", headers=headers, timeout=5).status_code

    assert requests.get(bot.url + "/auth/init?provider=x", timeout=5).status_code == 400
    assert requests.get(bot.url + "/auth/init", timeout=5).status_code == 422
    first, second = (requests.get(bot.url + "/auth/init?provider=github", timeout=5).json()["state"] for _ in range(2))
    assert accepts(first) == 401
    bot.finish_login(first, "eve")
    assert accepts(first) == 200
    bot.finish_login(second, "eve")
    assert (accepts(first), accepts(second)) == (401, 200)
    bad = requests.get(bot.url + "/auth/cli/github?code=eve&state=!!!", timeout=5)
    assert bad.status_code == 400
    assert bad.json()["detail"].startswith("Invalid state parameter: ")


def test_the_server_comes_back_with_its_rows(ada: Caller) -> None:
    ada.post(BACKGROUND + "test")
    ada.bot.stop()
    with pytest.raises(requests.ConnectionError, match="refused"):
        ada.get("/health")
    ada.bot.start()
    assert ada.get("/user/submissions/1").status_code == 200


def test_switches_over_http(ada: Caller) -> None:
    url = ada.bot.url
    assert requests.post(url + "/_fake/faults/http-503?times=1&on=GET", timeout=5).json() == {"on": ["http-503"]}
    assert ada.post(BACKGROUND + "test").status_code == 202
    assert [ada.get("/health").status_code for _ in range(2)] == [503, 200]
    requests.post(url + "/_fake/faults/http-503?times=always", timeout=5)
    assert [ada.get("/health").status_code for _ in range(3)] == [503] * 3
    assert requests.delete(url + "/_fake/faults", timeout=5).json() == {"on": []}
    assert requests.get(url + "/_fake/rows", timeout=5).json()[0]["file_name"] == "sub.py"
    assert requests.post(url + "/_fake/faults/nope", timeout=5).status_code == 404
