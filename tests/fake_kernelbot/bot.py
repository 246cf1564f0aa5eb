"""The fake server as tests hold it: its life, its faults, and what it was asked."""

import threading
from contextlib import closing
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs

from .boards import BOARDS, GPU
from .control import control
from .faults import NUMBER_OF_TIMES, Stage, Switches, spoiled
from .faulty_answers import CANNED
from .rows import Pace, Row, Rows
from .runner import outcome
from .service import Service
from .upload import Upload
from .users import Users
from .wire import Answer, Chunks, Cut, Received, WireServer


class FakeKernelBot:
    """A KernelBot on loopback. Use it as a context manager, or call `start` and `stop`.

    port: 0 for any free one. Seconds: queue_seconds before a job runs, run_seconds that it runs, heartbeat_seconds
    between heartbeats and status events, gap_seconds of the fault done-before-status, slow_accept_seconds of
    slow-accept, hour_seconds in an hour of the rate limit.
    rate_limits: submissions an hour by category (`leaderboard`, `test`); absent ones are unlimited; may be changed.
    """

    def __init__(
        self,
        port: int = 0,
        queue_seconds: float = 0.0,
        run_seconds: float = 0.2,
        heartbeat_seconds: float = 0.1,
        rate_limits: dict[str, int] | None = None,
        *,
        gap_seconds: float = 0.5,
        slow_accept_seconds: float = 0.5,
        hour_seconds: float = 3600.0,
        jobs_at_once: int = 24,
    ) -> None:
        self.rate_limits = dict(rate_limits or {})
        self.requests: list[Received] = []
        self._port = port
        self._slow_accept_seconds = slow_accept_seconds
        pace = Pace(queue_seconds, run_seconds, heartbeat_seconds, gap_seconds, jobs_at_once)
        self._users = Users()
        self._rows = Rows(pace)
        self._switches = Switches()
        self._service = Service(self._users, self._rows, self._switches, pace, self.rate_limits, hour_seconds)
        self._server: WireServer | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Listens; after a `stop` on the same port as before, with all that was stored."""
        if self._server is None:
            self._server = WireServer(self._port, self._before_body, self._respond)
            self._port = self._server.port
            self._server.start()

    def stop(self) -> None:
        """The server is down: connections are closed and new ones refused; `start` brings it back."""
        if self._server is not None:
            self._server.stop()
            self._server = None

    @property
    def url(self) -> str:
        """The base URL, without a trailing slash."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def rows(self) -> list[Row]:
        """The submissions that are not deleted, in id order."""
        return self._rows.all()

    def add_user(self, name: str) -> str:
        """The valid cli id of an account, which is registered if need be."""
        return self._users.named(name).cli_id

    def add_submission(
        self,
        user: str,
        code: str,
        mode: str = "leaderboard",
        file_name: str = "sub.py",
        *,
        trouble: str | None = None,
        age_seconds: float = 60.0,
    ) -> Row:
        """A submission that was made `age_seconds` ago and is finished. trouble: a job fault's name."""
        upload = Upload(BOARDS[0].name, GPU, mode, file_name, code.encode())
        end = outcome(code, mode, GPU, trouble)
        return self._rows.add(self._users.named(user), upload, code, end, None, background=True, age=age_seconds)

    def finish_login(self, state: str, user: str = "ada", provider: str = "github", again: bool | None = None) -> None:
        """What browser and provider do: makes the id that /auth/init gave valid. Raises users.LoginFailed.

        state: that id. again: the login replaces an older id; None: if the account is registered already.
        """
        known = self._users.holds(provider, user)
        self._users.finish_login(provider, user, state, known if again is None else again)

    def purge_logins(self) -> None:
        """Forgets all logins that are not finished, as the service does after ten minutes."""
        self._users.purge()

    def set_fault(self, name: str, times: int | None = NUMBER_OF_TIMES, on: str = "") -> None:
        """Turns a fault of faults.FAULTS on for the next `times` requests that it meets; None: until cleared.

        on: only for this method, path prefix or both, as in `GET /user/submissions`. Raises KeyError.
        """
        self._switches.set(name, times, on)

    def clear_faults(self) -> None:
        """Turns all faults off."""
        self._switches.clear()

    @property
    def faults(self) -> list[str]:
        """The names of the faults that are on."""
        return self._switches.names()

    def _before_body(self, method: str, path: str) -> None:
        if self._switches.take(Stage.HEADERS, Received.headers_only(method, path)):
            raise Cut

    def _respond(self, received: Received) -> Answer:
        if received.path.startswith("/_fake/"):
            return control(self, received.method, received.path, parse_qs(received.query))
        self.requests.append(received)
        canned = self._switches.take(Stage.CANNED, received)
        if canned:
            reply = CANNED[canned]
            return Answer(reply.status, reply.body, reply.content_type, reply.headers)
        cut = self._switches.take(Stage.BODY, received)
        if cut == "slow-accept":
            late = threading.Timer(self._slow_accept_seconds, self._service.answer, [received])
            late.daemon = True
            late.start()
        if cut:
            raise Cut
        return self._with_faults(received, self._service.answer(received))

    def _with_faults(self, received: Received, answer: Answer) -> Answer:
        """The answer of a request that was carried out, as the faults of its way back leave it."""
        accepted = answer.status < 300 or not received.is_submission
        cut = self._switches.take(Stage.SUBMISSION_ANSWER, received) if accepted else None
        if not isinstance(answer.body, bytes):
            body = _cut_stream(cut, answer.body, received) if cut else answer.body
            return Answer(answer.status, body, answer.content_type)
        if cut == "no-answer":
            received.peer.wait_for_end()
        if cut == "cut-mid-answer":
            return Answer(answer.status, answer.body, answer.content_type, sent=len(answer.body) // 2)
        if cut:
            raise Cut
        fault = self._switches.take(Stage.ANSWER, received)
        return Answer(answer.status, spoiled(fault, answer.body), answer.content_type) if fault else answer


def _cut_stream(cut: str, events: Chunks, received: Received) -> Chunks:
    """A stream that ends in the middle of its first event. For the service its client has left."""
    with closing(events):
        first = next(events)
        if cut == "no-answer":
            received.peer.wait_for_end()
        elif cut == "cut-mid-answer":
            yield first[: len(first) // 2]
    raise Cut
