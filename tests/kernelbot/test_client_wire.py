"""The client against answers that no fake KernelBot gives: other bodies, redirects, wrong kinds of content."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from mxsub.submit.errors import UsageError
from mxsub.submit.kernelbot import (
    DEFAULT_URL,
    BadAnswer,
    CliId,
    ConnectionCut,
    KernelBot,
    NotFound,
    Patience,
    RateLimited,
    Refused,
    ServiceFault,
    service_url,
)

SECRET = "a13f62d3-4416-453a-a130-88c568d39682"
Serve = Callable[..., KernelBot]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """serve(status, body, headers): a client of a server that answers everything so."""
    servers: list[Any] = []

    def start(status: int, body: bytes, kind: str = "application/json", **headers: str) -> KernelBot:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.send_response(status)
                named = {name.replace("_", "-"): value for name, value in headers.items()}
                for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **named}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None:
                """Nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        url = f"http://127.0.0.1:{server.server_port}"
        return KernelBot(url, CliId(SECRET), Patience(retries=0, get_timeout=5, post_timeout=5, stream_silence=2))

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def post(bot: KernelBot) -> None:
    bot.submit("board", "MI355X", "test", "sub.py", b"pass\n")


@pytest.mark.parametrize(
    ("status", "kind", "body", "error", "message", "arrived"),
    [
        (400, "", b'{"detail": "no"}', Refused, "KernelBot refused (400): no", False),
        (404, "", b'{"message": "none"}', NotFound, "KernelBot refused (404): none", False),
        (404, "", b'{"detail": "Not Found"}', NotFound, "KernelBot refused (404): Not Found", False),
        (
            422,
            "",
            b'{"detail": [{"type": "missing", "loc": ["body", "file"], "msg": "Field required", "input": "SECRET"},'
            b' {"loc": ["query", "limit"], "msg": "bad"}]}',
            Refused,
            "KernelBot refused (422): body.file: Field required; query.limit: bad",
            False,
        ),
        (
            500,
            "text/plain",
            b"Internal Server Error",
            ServiceFault,
            "KernelBot failed (500): Internal Server Error",
            True,
        ),
        (
            502,
            "text/html",
            b"<html><head><title>502 Bad\n Gateway</title></head><body>long page</body></html>",
            ServiceFault,
            "KernelBot failed (502): 502 Bad Gateway",
            True,
        ),
        (503, "text/html", b"<html>no title</html>", ServiceFault, "KernelBot failed (503): Service Unavailable", True),
        (504, "", b"", ServiceFault, "KernelBot failed (504): Gateway Timeout", True),
        (429, "text/plain", b"slow down", RateLimited, "KernelBot refused (429): slow down", False),
        (400, "", b'{"detail": {"odd": 1}}', Refused, "KernelBot refused (400): Bad Request", False),
        (400, "text/plain", b"\x1b[31mred\x00\xff", Refused, "KernelBot refused (400): [31mred \ufffd", False),
        (
            400,
            "",
            b'{"detail": "failed to prepare submission request: 413: too large"}',
            Refused,
            "KernelBot refused (413): too large",
            False,
        ),
        (
            500,
            "",
            b'{"detail": "Your code contains work on another thing."}',
            Refused,
            "KernelBot refused (500): Your code contains work on another thing.",
            False,
        ),
        (
            401,
            "",
            json.dumps({"detail": f"unknown {SECRET}"}).encode(),
            Refused,
            "KernelBot refused (401): unknown (your id)",
            False,
        ),
    ],
)
def test_error_bodies(
    serve: Serve, status: int, kind: str, body: bytes, error: type[Refused], message: str, arrived: bool
) -> None:
    with serve(status, body, kind) as bot, pytest.raises(error) as caught:
        post(bot)
    assert (caught.value.message, caught.value.may_have_arrived) == (message, arrived)


@pytest.mark.parametrize(
    ("text", "used", "allowed", "category", "wait"),
    [
        ("Rate limit exceeded: 2/1 leaderboard submissions per hour. Try again in 3586s.", 2, 1, "leaderboard", 3586.0),
        ("Rate limit exceeded: 0/0 test submissions per hour.", 0, 0, "test", None),
        ("Rate limit exceeded", None, None, None, None),
    ],
)
@pytest.mark.parametrize("status", [400, 429, 500])
def test_rate_limit_texts(
    serve: Serve,
    status: int,
    text: str,
    used: int | None,
    allowed: int | None,
    category: str | None,
    wait: float | None,
) -> None:
    with serve(status, json.dumps({"detail": text}).encode()) as bot, pytest.raises(RateLimited) as caught:
        post(bot)
    found = caught.value
    assert (found.used, found.allowed, found.category, found.wait_seconds) == (used, allowed, category, wait)
    assert (found.detail, found.may_have_arrived) == (text, False)


def test_a_redirect_is_not_followed(serve: Serve) -> None:
    target = serve(200, b"[]")
    with serve(307, b"", Location=f"http://user:pass@elsewhere.example/{SECRET}") as bot:
        with pytest.raises(BadAnswer, match=r"to elsewhere\.example") as caught:
            bot.submissions()
        assert SECRET not in caught.value.message
        assert not caught.value.may_have_arrived
    target.close()


@pytest.mark.parametrize("body", [b"<html>hello</html>", b'{"status": NaN}', b"[" * 100_000, b"", b"9" * 5000])
def test_no_json(serve: Serve, body: bytes) -> None:
    with serve(200, body) as bot, pytest.raises(BadAnswer) as caught:
        bot.health()
    assert len(caught.value.message) < 200


def test_an_acceptance_with_a_broken_queue_keeps_its_id(serve: Serve) -> None:
    body = b'{"details": {"id": 7, "job_status_id": "x"}, "runner_queue": {"queued_jobs": "many"}}'
    with serve(202, body) as bot:
        accepted = bot.submit("board", "MI355X", "test", "sub.py", b"")
    assert (accepted.id, accepted.job_status_id, accepted.queue.status) == (7, None, "")


def test_an_answer_with_impossible_headers_may_have_arrived(serve: Serve) -> None:
    with serve(202, b"{}", Content_length="100") as bot, pytest.raises(ConnectionCut) as caught:
        post(bot)
    assert caught.value.may_have_arrived


def test_an_answer_shorter_than_its_length_is_a_cut(serve: Serve) -> None:
    with serve(200, b"[]", Content_Length="100") as bot, pytest.raises(ConnectionCut):
        bot.submissions()


def test_a_stream_must_be_one(serve: Serve) -> None:
    with serve(200, b"{}") as bot, pytest.raises(BadAnswer, match="no stream of events"):
        bot.submit_streaming("board", "MI355X", "profile", "sub.py", b"")


@pytest.mark.parametrize("value", ["", "  ", None])
def test_the_default_address(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("POPCORN_API_URL", raising=False)
    if value is not None:
        monkeypatch.setenv("POPCORN_API_URL", value)
    assert service_url(value) == DEFAULT_URL


def test_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POPCORN_API_URL", "https://bot.example/api//")
    assert service_url() == "https://bot.example/api"
    for loopback in ("http://localhost:8000", "http://127.9.9.9", "http://[::1]:80"):
        assert service_url(loopback + "/") == loopback
    for wrong in (
        "http://bot.example",
        "http://localhost.example",
        "http://127.1",
        "http://10.0.0.1",
        "ftp://localhost",
        "bot.example",
        "https://",
        "https://bot.example:port",
        "https://bot.example/?a=b",
        "http://localhost\\@bot.example",
    ):
        with pytest.raises(UsageError):
            service_url(wrong)
    with pytest.raises(UsageError) as caught:
        service_url("https://ada:opensesame@bot.example")
    assert "opensesame" not in caught.value.message


def test_retries_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MXSUB_RETRIES", "7")
    assert Patience.from_environment() == Patience(retries=7)
    monkeypatch.setenv("MXSUB_RETRIES", "many")
    with pytest.raises(UsageError, match="MXSUB_RETRIES"):
        Patience.from_environment()
