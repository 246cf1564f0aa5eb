"""Streamed submissions: every way in which the events can come, or fail to."""

import json
import socket
import threading
from collections.abc import Iterator

import pytest

from mxsub.submit.kernelbot import (
    BadAnswer,
    CliId,
    ConnectionCut,
    KernelBot,
    KernelBotError,
    Patience,
    RateLimited,
    Refused,
    ServiceFault,
    Streamed,
)
from tests.fake_kernelbot import FakeKernelBot

BOARD, GPU, TEXT = "amd-mxfp4-mm", "MI355X", b"def custom_kernel(data):\n    return data\n"
QUICK = Patience(retries=1, backoff=0.01, get_timeout=5, post_timeout=5, stream_silence=3)


@pytest.fixture
def bot() -> Iterator[FakeKernelBot]:
    with FakeKernelBot(run_seconds=0.3, heartbeat_seconds=0.05) as fake:
        yield fake


def stream(bot: FakeKernelBot, mode: str = "test", patience: Patience = QUICK) -> tuple[Streamed, list[float]]:
    heard: list[float] = []
    with KernelBot(bot.url, CliId(bot.add_user("ada")), patience) as client:
        return client.submit_streaming(BOARD, GPU, mode, "sub.py", TEXT, heard.append), heard


@pytest.mark.parametrize("fault", ["", "sse-split", "sse-comments", "sse-crlf", "sse-old-server"])
def test_a_result_however_it_comes(bot: FakeKernelBot, fault: str) -> None:
    if fault:
        bot.set_fault(fault)
    result, heard = stream(bot)
    run = result.runs["test"].run
    assert run is not None
    assert (result.success, run.passed, run.result["check"], run.exit_code) == (True, True, "pass", 0)
    assert "caf\u00e9 \u23f1" in run.stdout
    assert len(heard) >= 2
    assert heard == sorted(heard)


@pytest.mark.parametrize(
    ("fault", "kind", "said"),
    [
        ("sse-cut", ConnectionCut, "was cut before its answer was whole"),
        ("sse-end", ConnectionCut, "ended without a result"),
        ("sse-malformed", BadAnswer, "no valid JSON"),
        ("sse-error", ServiceFault, "An unexpected error occurred: "),
        ("sse-cancelled", ServiceFault, "Submission cancelled"),
        ("guard-unavailable", ServiceFault, "KernelGuard pre-check is unavailable"),
        ("hacked", Refused, "Submission rejected by KernelGuard"),
    ],
)
def test_a_stream_without_a_result_may_have_arrived(
    bot: FakeKernelBot, fault: str, kind: type[KernelBotError], said: str
) -> None:
    bot.set_fault(fault)
    with pytest.raises(kind, match=said) as caught:
        stream(bot, "benchmark")
    assert caught.value.may_have_arrived
    assert sum(request.method == "POST" for request in bot.requests) == 1


@pytest.mark.parametrize(("fault", "kind"), [("closed", Refused), ("banned", Refused), ("rate-limited", RateLimited)])
def test_refused_in_an_event(bot: FakeKernelBot, fault: str, kind: type[Refused]) -> None:
    bot.set_fault(fault)
    with pytest.raises(kind) as caught:
        stream(bot)
    assert not caught.value.may_have_arrived
    assert "\n" not in caught.value.message
    assert bot.rows == []


def test_a_stream_that_never_ends(bot: FakeKernelBot) -> None:
    bot.set_fault("sse-forever")
    with pytest.raises(ConnectionCut, match=r"no result within 0\.2 s"):
        stream(bot, patience=Patience(retries=0, stream_timeout=0.2, stream_silence=3))


def served(events: bytes, size: int, *, end: bytes = b"0\r\n\r\n") -> KernelBot:
    """A client of a server that answers one request with these bytes, in chunks of a size."""
    server = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        connection, _ = server.accept()
        with connection, server:
            received = b""
            while not received.endswith(b"--\r\n"):
                received += connection.recv(65536)
            connection.sendall(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
                b"Transfer-Encoding: chunked\r\n\r\n"
            )
            for start in range(0, len(events), size):
                piece = events[start : start + size]
                connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
            connection.sendall(end)

    threading.Thread(target=answer, daemon=True).start()
    return KernelBot(f"http://127.0.0.1:{server.getsockname()[1]}", CliId("an-id"), QUICK)


def result_event(stdout: str, *, ascii_only: bool = False) -> bytes:
    run = {
        "success": True,
        "passed": True,
        "stdout": stdout,
        "exit_code": 0,
        "duration": 1.5,
        "result": {"check": "pass"},
    }
    full = {"success": True, "error": "", "runs": {"test": {"compilation": None, "run": run, "profile": None}}}
    secret = {"success": True, "runs": {"test": {"run": {"stdout": "HIDDEN"}}}}
    data = json.dumps(
        {"status": "success", "results": [full, secret], "reports": ["public", "HIDDEN"]}, ensure_ascii=ascii_only
    )
    return f"event: result\ndata: {data}\n\n".encode()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_bytes_split_anywhere(size: int) -> None:
    text = "caf\u00e9 \u23f1 \U0001f9ee \u2028 \u0085 end"
    events = b": hello\n\nevent: status\ndata: {bad\n\nevent: news\ndata: 1\n\n" + result_event(text)
    with served(events, size) as client:
        result = client.submit_streaming(BOARD, GPU, "test", "sub.py", TEXT, lambda _: None)
    assert result.runs["test"].run is not None
    assert result.runs["test"].run.stdout == text
    assert result.report == "public"
    assert "HIDDEN" not in repr(result)


def test_no_place_to_cut_gives_half_a_result() -> None:
    events = result_event("caf\u00e9")
    for length in range(0, len(events) - 1, 9):
        for end in (b"", b"0\r\n\r\n"):
            with served(events[:length], 4096, end=end) as client, pytest.raises(ConnectionCut):
                client.submit_streaming(BOARD, GPU, "test", "sub.py", TEXT)


def test_bytes_that_are_no_utf8() -> None:
    with served(b"event: result\ndata: \xff\n\n", 100) as client, pytest.raises(BadAnswer, match="not UTF-8"):
        client.submit_streaming(BOARD, GPU, "test", "sub.py", TEXT)
