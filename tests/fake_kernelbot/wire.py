"""HTTP over real sockets: one thread a connection, keep-alive, chunked streams, and cuts at any place."""

import contextlib
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

Chunks = Generator[bytes, None, None]


class Cut(Exception):
    """The server closes the connection here."""


@dataclass(frozen=True)
class Received:
    """A request as it came. `path` is decoded, `query` raw; `headers` have lower-case names."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes
    peer: "Peer" = field(repr=False)

    @property
    def is_submission(self) -> bool:
        """Whether it is a submission's POST, of either path."""
        return self.method == "POST" and re.fullmatch(r"(/submission)?(/[^/]+){3}", self.path) is not None

    @classmethod
    def headers_only(cls, method: str, path: str) -> "Received":
        """A request of which nothing but its first line matters yet."""
        return cls(method, path, "", {}, b"", Peer(None, threading.Event()))


@dataclass(frozen=True)
class Answer:
    """What goes back. A `body` of bytes has a Content-Length; anything else is sent in chunks as it comes.

    sent: how many bytes of the body are really sent before the connection is closed; None for all.
    """

    status: int
    body: bytes | Chunks
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    sent: int | None = None


class Peer:
    """The other end of a connection."""

    def __init__(self, connection: socket.socket | None, closing: threading.Event) -> None:
        self._connection = connection
        self._closing = closing

    def wait(self, seconds: float) -> bool:
        """Waits; False as soon as the peer has left or the server closes."""
        end = time.monotonic() + seconds
        while True:
            if self._closing.is_set() or self._left():
                return False
            rest = end - time.monotonic()
            if rest <= 0:
                return True
            time.sleep(min(rest, 0.01))

    def wait_for_end(self) -> None:
        """Waits until the peer has left or the server closes."""
        while self.wait(3600):
            pass

    def _left(self) -> bool:
        if self._connection is None:
            return False
        try:
            return self._connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True


Early = Callable[[str, str], None]
Respond = Callable[[Received], Answer]


class WireServer(ThreadingHTTPServer):
    """Listens on loopback. `early` sees method and path before a body is read; both callables may raise Cut."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, port: int, early: Early, respond: Respond) -> None:
        self.early = early
        self.respond = respond
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def port(self) -> int:
        """The port that was bound."""
        return int(self.server_address[1])

    def start(self) -> None:
        """Serves in a thread of its own."""
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self) -> None:
        """Closes the listening socket and every connection."""
        self.closing.set()
        self.shutdown()
        self.server_close()
        with self._lock:
            for connection in self._open:
                _close(connection)

    def process_request(self, request: object, client_address: object) -> None:
        """Remembers the connection, so that `stop` can close it."""
        assert isinstance(request, socket.socket)
        request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: object) -> None:
        """Forgets the connection and closes it."""
        assert isinstance(request, socket.socket)
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that leaves is no error here; a fault of the fake is shown as usual."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: WireServer

    def answer(self) -> None:
        """One request: read, carried out, answered; closes the connection where a fault says so."""
        # Not `self.path`, in which http.server has already made `/` of a leading `//`.
        target, _, query = self.requestline.split()[1].partition("?")
        path = unquote(target)
        try:
            self.server.early(self.command, path)
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length)
            if len(body) < length:
                raise Cut  # the client left in the middle of its request
            headers = {name.lower(): value for name, value in self.headers.items()}
            peer = Peer(self.connection, self.server.closing)
            self._send(self.server.respond(Received(self.command, path, query, headers, body, peer)))
        except (Cut, ConnectionError):
            self.close_connection = True
            _close(self.connection)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = answer  # noqa: N815

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        for name, value in answer.headers:
            self.send_header(name, value)
        if isinstance(answer.body, bytes):
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body[: answer.sent])
            if answer.sent is not None:
                raise Cut
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with contextlib.closing(answer.body) as chunks:
            for chunk in chunks:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        self.wfile.write(b"0\r\n\r\n")

    def version_string(self) -> str:
        """The Server header of the real service."""
        return "uvicorn"

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: tests read `requests` instead."""


def _close(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
