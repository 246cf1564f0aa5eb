"""The client against the fake service: every route, every error shape, what is sent again, what is dropped."""

import gc
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter

from mxsub.submit.errors import ServiceError
from mxsub.submit.kernelbot import (
    BadAnswer,
    CliId,
    ConnectionCut,
    KernelBot,
    KernelBotError,
    NotFound,
    NotRegistered,
    Patience,
    RateLimited,
    Refused,
    ServiceFault,
    SubmissionEntry,
    Unreachable,
)
from mxsub.submit.kernelbot.decoding import decoded, validated
from tests.fake_kernelbot import FakeKernelBot
from tests.fake_kernelbot.boards import SECRET_SEED
from tests.fake_kernelbot.runner import SECRET_MARKER

BOARD, GPU = "amd-mxfp4-mm", "MI355X"
TEXT = b"#!POPCORN leaderboard amd-mxfp4-mm\n#!POPCORN gpu MI355X\n\ndef custom_kernel(data):\n    return data\n"
QUICK = Patience(retries=2, backoff=0.01, get_timeout=5, post_timeout=5, stream_silence=5)


@pytest.fixture
def bot() -> Iterator[FakeKernelBot]:
    with FakeKernelBot(run_seconds=0.0) as fake:
        yield fake


@pytest.fixture
def client(bot: FakeKernelBot) -> Iterator[KernelBot]:
    with KernelBot(bot.url, CliId(bot.add_user("ada")), QUICK) as client:
        yield client


def submit(client: KernelBot, mode: str = "test", text: bytes = TEXT, name: str = "sub.py", **where: str) -> int:
    return client.submit(where.get("board", BOARD), where.get("gpu", GPU), mode, name, text).id


def walked(value: Any) -> Iterator[Any]:
    """A value and all that it holds."""
    yield value
    if isinstance(value, BaseModel):
        value = dict(value)
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from walked(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from walked(inner)


def finished(client: KernelBot, number: int) -> Any:
    for _ in range(200):
        detail = client.submission(number)
        if detail.done and detail.job.status not in ("initial", "pending", "running"):
            return detail
    raise AssertionError("never done")


def test_a_submission_is_accepted_and_shown(client: KernelBot, bot: FakeKernelBot) -> None:
    accepted = client.submit(BOARD, GPU, "test", 'naïve "a".py', TEXT)
    assert accepted.id == bot.rows[0].id
    assert (accepted.queue.gpu, accepted.queue.status) == (GPU, "available")
    assert (bot.rows[0].code, bot.rows[0].leaderboard, bot.rows[0].mode) == (TEXT.decode(), BOARD, "test")
    detail = finished(client, accepted.id)
    assert (detail.leaderboard_name, detail.code, detail.job.status) == (BOARD, TEXT.decode(), "succeeded")
    (run,) = detail.runs
    assert (run.mode, run.passed, run.score) == ("test", True, None)
    assert run.result is not None
    assert (run.result["check"], run.result["test-count"]) == ("pass", "4")
    assert detail.seen_at.utcoffset() is not None


def test_the_other_routes(client: KernelBot, bot: FakeKernelBot) -> None:
    client.health()
    number = submit(client, "leaderboard")
    finished(client, number)
    (place,) = client.ranking(BOARD, GPU)
    assert (place.submission_id, place.rank, place.user_name) == (number, 1, "ada")
    assert Decimal("1e-6") < place.score < Decimal("1e-4")
    (entry,) = client.submissions(BOARD, limit=10)
    assert entry.id == number
    assert {run.score for run in entry.runs} - {None} == {place.score}
    assert client.submissions("nope") == []
    assert client.gpus(BOARD) == [GPU]
    assert client.runner_queue("H100").status == "unavailable"
    assert client.submission_count(BOARD, GPU) == 1
    assert client.join("open-sesame")
    board = next(board for board in client.leaderboards() if board.name == BOARD)
    assert board.task is not None
    assert (len(board.task.tests), len(board.task.benchmarks), board.task.ranking_by) == (4, 6, "geom")
    client.delete(number)
    with pytest.raises(NotFound, match="Submission not found"):
        client.submission(number)


def test_secrets_never_become_an_object(client: KernelBot) -> None:
    boards = client.leaderboards()
    detail = finished(client, submit(client, "leaderboard"))
    streamed = client.submit_streaming(BOARD, GPU, "leaderboard", "sub.py", TEXT)
    held = list(walked([boards, detail, streamed]))
    assert not [value for value in held if value in ("secret_seed", SECRET_SEED, str(SECRET_SEED))]
    assert not [value for value in held if isinstance(value, str) and SECRET_MARKER in value]
    assert sorted(run.mode for run in detail.runs) == ["benchmark", "leaderboard", "test"]
    assert sorted(streamed.runs) == ["benchmark", "leaderboard", "test"]
    gc.collect()
    # By its very type: isinstance asks an object for its class, and some of torch's answer with a warning.
    dictionaries = [found for found in gc.get_objects() if type(found) is dict and "secret_seed" in found]
    # The fake's own answers are built and dropped per request.
    assert dictionaries == []


@pytest.mark.parametrize(
    ("change", "kind", "status", "said"),
    [
        ({"board": "nope"}, NotFound, 500, "Leaderboard `nope` does not exist."),
        ({"gpu": "H100"}, Refused, 400, "GPU type 'H100' is not supported"),
        ({"mode": "warp"}, Refused, 400, "Invalid submission mode value: 'warp'"),
        ({"text": b""}, Refused, 400, "Empty file submitted."),
        ({"text": b"#" * 1_000_001}, Refused, 413, "Submission file is too large"),
        ({"text": b"\xff"}, Refused, 400, "Failed to decode"),
        ({"text": b"# UPstreaM\n"}, Refused, 500, "Your code contains work on another"),
        ({"name": "x.txt"}, Refused, 400, "Please provide a Python"),
        ({"text": b"#!POPCORN foo bar\n"}, Refused, 400, "Invalid !POPCORN directive: foo"),
        ({"text": b"#!POPCORN\n"}, Refused, 400, "list index out of range"),
    ],
)
@pytest.mark.parametrize("streaming", [False, True])
def test_refusals_before_a_row_is_made(
    client: KernelBot,
    bot: FakeKernelBot,
    change: dict[str, Any],
    kind: type[Refused],
    status: int,
    said: str,
    streaming: bool,
) -> None:
    given: dict[str, Any] = {"board": BOARD, "gpu": GPU, "mode": "test", "name": "sub.py", "text": TEXT, **change}
    send = client.submit_streaming if streaming else client.submit
    with pytest.raises(kind) as caught:
        send(given["board"], given["gpu"], given["mode"], given["name"], given["text"])
    assert said in caught.value.message
    assert "failed to prepare" not in caught.value.message
    if not (streaming and said == "list index out of range"):
        assert (caught.value.status, caught.value.may_have_arrived) == (status, False)
        assert not isinstance(caught.value, ServiceFault)
    assert (bot.rows, len(bot.requests)) == ([], 1)


@pytest.mark.parametrize("streaming", [False, True])
def test_the_rate_limit_is_known_by_its_text(client: KernelBot, bot: FakeKernelBot, streaming: bool) -> None:
    bot.rate_limits["leaderboard"] = 1
    submit(client, "leaderboard")
    send = client.submit_streaming if streaming else client.submit
    with pytest.raises(RateLimited) as caught:
        send(BOARD, GPU, "leaderboard", "sub.py", TEXT)
    error = caught.value
    assert (error.allowed, error.category, error.status, error.may_have_arrived) == (1, "leaderboard", 429, False)
    assert error.used is not None
    assert error.wait_seconds == pytest.approx(3600, abs=30)
    assert "Rate limit exceeded" in error.message


@pytest.mark.parametrize("fault", ["http-401", "http-403", "http-404", "http-413", "http-422", "http-500"])
def test_an_answer_that_is_not_worth_repeating(client: KernelBot, bot: FakeKernelBot, fault: str) -> None:
    bot.set_fault(fault, times=None)
    with pytest.raises(Refused) as caught:
        client.submissions()
    assert caught.value.status == int(fault[-3:])
    assert len(bot.requests) == 1


@pytest.mark.parametrize("status", [429, 502, 503])
def test_get_and_delete_are_repeated_and_a_post_never(client: KernelBot, bot: FakeKernelBot, status: int) -> None:
    from tests.fake_kernelbot.faults import FAULTS

    number = submit(client)
    (fault, *_) = [name for name in FAULTS if name.startswith(f"http-{status}")]
    for call in (lambda: client.submission(number), client.submissions, client.health):
        bot.requests.clear()
        bot.set_fault(fault, times=2)
        call()
        assert len(bot.requests) == 3
    bot.requests.clear()
    bot.set_fault(fault, times=None)
    with pytest.raises(Refused) as caught:
        client.delete(number)
    assert (caught.value.status, len(bot.requests), "<" in caught.value.message) == (status, 3, False)
    bot.requests.clear()
    for send in (client.submit, client.submit_streaming):
        with pytest.raises(Refused) as caught:
            send(BOARD, GPU, "test", "sub.py", TEXT)
        assert caught.value.may_have_arrived == (status != 429)
    with pytest.raises(Refused):
        client.join("open-sesame")
    assert [request.method for request in bot.requests] == ["POST"] * 3


@pytest.mark.parametrize(
    ("fault", "kind", "rows"),
    [
        ("cut-before-body", ConnectionCut, 0),
        ("cut-before-accept", ConnectionCut, 0),
        ("cut-after-accept", ConnectionCut, 1),
        ("cut-mid-answer", ConnectionCut, 1),
        ("malformed-json", BadAnswer, 1),
        ("missing-fields", BadAnswer, 1),
        ("not-an-object", BadAnswer, 1),
    ],
)
def test_a_lost_answer_to_a_submission(
    client: KernelBot, bot: FakeKernelBot, fault: str, kind: type[KernelBotError], rows: int
) -> None:
    bot.set_fault(fault, times=1)
    with pytest.raises(kind) as caught:
        submit(client)
    assert caught.value.may_have_arrived
    assert len(bot.rows) == rows
    bot.clear_faults()


def test_a_lost_answer_to_a_deletion_is_no_error(client: KernelBot, bot: FakeKernelBot) -> None:
    number = submit(client)
    bot.set_fault("cut-mid-answer", times=1, on="DELETE /user")
    client.delete(number)
    assert bot.rows == []
    with pytest.raises(NotFound):
        client.delete(number)


def test_a_service_that_is_down_is_tried_again(bot: FakeKernelBot) -> None:
    cli_id = CliId(bot.add_user("ada"))
    bot.stop()
    with KernelBot(bot.url, cli_id, QUICK) as client:
        for call in (client.health, lambda: submit(client)):
            with pytest.raises(Unreachable, match="cannot be reached: connection refused") as caught:
                call()
            assert (caught.value.tries, caught.value.may_have_arrived, caught.value.exit_code) == (3, False, 4)


@pytest.mark.parametrize(
    ("fault", "score"), [("score-null", None), ("score-number", 1), ("score-exponent", 1), ("", 1)]
)
def test_forms_of_a_score(client: KernelBot, bot: FakeKernelBot, fault: str, score: int | None) -> None:
    number = submit(client, "leaderboard")
    finished(client, number)
    if fault:
        bot.set_fault(fault, times=None)
    scores = [run.score for run in client.submission(number).runs if run.mode == "leaderboard"]
    if score is None:
        assert scores == [None]
    else:
        assert isinstance(scores[0], Decimal)
        assert Decimal("1e-6") < scores[0] < Decimal("1e-4")
        assert scores[0] == pytest.approx(client.ranking(BOARD, GPU)[0].score)


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        ("score-garbage", "score"),
        ("score-nan", "score"),
        ("score-negative", "score"),
        ("huge-ids", "id"),
        ("missing-fields", "is missing"),
        ("wrong-types", "not as documented"),
        ("malformed-json", "no valid JSON"),
    ],
)
def test_an_answer_that_does_not_fit_names_its_field(
    client: KernelBot, bot: FakeKernelBot, fault: str, named: str
) -> None:
    number = submit(client, "leaderboard")
    finished(client, number)
    bot.set_fault(fault, times=None)
    with pytest.raises(BadAnswer, match=named) as caught:
        client.submission(number)
    assert "\n" not in caught.value.message


def test_statuses_that_nobody_knows_and_jobs_without_one(client: KernelBot, bot: FakeKernelBot) -> None:
    number = submit(client)
    finished(client, number)
    bot.set_fault("unknown-status")
    assert client.submission(number).job.status == "paused"
    bot.set_fault("null-job")
    assert client.submission(number).job.status is None


def test_an_id_is_in_no_text_and_sent_only_where_it_is_needed(bot: FakeKernelBot) -> None:
    secret = "0123456789abcdef-not-known"
    with KernelBot(bot.url, CliId(secret), QUICK) as client:
        with pytest.raises(NotRegistered) as caught:
            client.submissions()
        error = caught.value
        assert "register" in error.hint
        assert secret not in f"{error!r} {error} {error.__context__!r} {error.__cause__!r} {client.cli_id!r}"
        assert error.__context__ is None
        assert not client.accepts(CliId(secret))
        client.health(), client.leaderboards(), client.runner_queue(GPU)
    sent = {request.path: "x-popcorn-cli-id" in request.headers for request in bot.requests}
    assert sent == {"/user/submissions": True, "/health": False, "/leaderboards": False, f"/runner_queue/{GPU}": False}
    with KernelBot(bot.url) as nobody, pytest.raises(NotRegistered, match="no KernelBot id here"):
        nobody.submissions()
    with pytest.raises(ServiceError):
        KernelBot(bot.url).submit(BOARD, GPU, "test", "sub.py", TEXT)


def test_half_a_surrogate_pair_becomes_text() -> None:
    assert decoded(b'{"code": "a\\ud800b", "other": "\\u00e9"}', "it") == {"code": "a?b", "other": "é"}


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_time_that_utc_has_not(time: str) -> None:
    with pytest.raises(BadAnswer, match="submission_time does not fit: a time is in the years 1 to 9999"):
        validated(
            TypeAdapter(SubmissionEntry),
            {"id": 1, "leaderboard_name": "b", "file_name": "f", "submission_time": time, "done": True},
            "it",
        )
