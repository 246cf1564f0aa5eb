"""The table of switches: every way in which the service, its proxy or the network can go wrong."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from .faulty_answers import CANNED
from .wire import Received


class Stage(Enum):
    """Where a fault acts, and with that which requests it meets when it is set without a route."""

    CANNED = "any request: answered with this at once, nothing is done"
    HEADERS = "a submission: before its body is read"
    BODY = "a submission: after its body was read"
    ANSWER = "any request: after it was carried out"
    SUBMISSION_ANSWER = "a submission: after it was carried out"
    CHECK = "a submission: one of the service's checks refuses it"
    JOB = "a submission that is accepted: its job goes this way"
    SHOW = "an answer that shows a submission or lists them"
    SCORE = "an answer that holds a score"
    STREAM = "a streaming submission: its events"


# Where a fault meets submissions only, unless it is set for a route by name.
SUBMISSIONS_ONLY = (Stage.HEADERS, Stage.BODY, Stage.SUBMISSION_ANSWER)


@dataclass(frozen=True)
class Fault:
    """One switch: its name, where it acts, and one line that says what it does."""

    name: str
    stage: Stage
    description: str


def _table() -> dict[str, Fault]:
    faults = [Fault(name, Stage.CANNED, canned.description) for name, canned in CANNED.items()]
    for stage, rows in _FAULTS.items():
        faults += [Fault(name, stage, description) for name, description in rows.items()]
    return {fault.name: fault for fault in faults}


_FAULTS: dict[Stage, dict[str, str]] = {
    Stage.HEADERS: {
        "cut-before-body": "closes the connection as soon as the headers are there, the body unread",
    },
    Stage.BODY: {
        "cut-before-accept": "reads the whole body, stores no row, closes the connection without an answer",
        "slow-accept": "closes the connection without an answer and stores the row only `slow_accept_seconds` later",
    },
    Stage.SUBMISSION_ANSWER: {
        "cut-after-accept": "stores the row, then closes the connection without an answer",
        "cut-mid-answer": "stores the row, sends the headers and half of the answer's body, then closes the connection",
        "no-answer": "stores the row, then never answers and keeps the connection open",
    },
    Stage.ANSWER: {
        "malformed-json": "half of the JSON under a complete set of headers",
        "missing-fields": "every key of the answer's objects is missing",
        "wrong-types": "numbers become text and lists become objects",
        "not-an-object": "the answer is JSON, but only a string",
    },
    Stage.CHECK: {
        "closed": "the board's deadline has passed",
        "not-accepting": "the server takes no submissions at present",
        "banned": "the user is banned",
        "rate-limited": "the rate limit refuses, whatever was submitted before",
    },
    Stage.JOB: {
        "hacked": "KernelGuard rejects the text: job hacked, no runs",
        "guard-unavailable": "KernelGuard does not answer: the row is done without runs",
        "timed-out": "job timed_out with `hard timeout reached`, no runs",
        "failed": "ranked: the public leaderboard run does not pass; else the job failed with an exception's text",
        "secret-failed": "ranked: the public runs pass, the secret leaderboard run does not",
        "failed-tests": "job succeeded, but the tests (or the benchmarks' check) failed",
        "crash": "job succeeded, but the text raised: a partial result without check",
        "evaluator-timeout": "job succeeded, but the evaluator ran into its timeout: exit code 114, an empty result",
        "runner-failure": "job succeeded (ranked: failed) without any run, as the runner itself failed",
        "restart": "job failed, as the server was shut down while it ran",
        "done-before-status": "done is true `gap_seconds` before the job's status is final",
        "stays-running": "the job runs for ever, its heartbeat moves",
        "stale-heartbeat": "the job stays running and its heartbeat is ten minutes old, as after a server's crash",
        "stays-pending": "the job stays pending for ever",
        "stays-initial": "the job stays initial for ever",
    },
    Stage.SHOW: {
        "unknown-status": "the job's status is `paused`, which no document knows",
        "null-job": "status, error and heartbeat of the job are null, as for a streaming submission",
        "missing-run-fields": "runs lack `passed` and `mode` (in lists: `score`)",
        "null-run-fields": "the result, start_time and end_time of runs are null",
    },
    Stage.SCORE: {
        "score-null": "scores are null",
        "score-garbage": "scores are the text `fast`",
        "score-nan": "scores are the text `NaN`",
        "score-exponent": "scores are text in exponent form",
        "score-number": "scores are JSON numbers",
        "score-negative": "scores are negative",
        "huge-ids": "ids are beyond 64 bits",
    },
    Stage.STREAM: {
        "sse-split": "raw UTF-8 in the data, sent in chunks that end inside a multi-byte character",
        "sse-cut": "the connection closes in the middle of the result event",
        "sse-end": "the stream ends well, without a result",
        "sse-comments": "comment lines, a retry line, ids and an unknown event between the events",
        "sse-crlf": "lines end with CR LF",
        "sse-error": "an `error` event for an unexpected exception, without a status code",
        "sse-cancelled": "an `error` event: Submission cancelled",
        "sse-malformed": "the data of the result event is not JSON",
        "sse-old-server": "the result lacks the keys that older servers do not send",
        "sse-bad-archives": "of a profile's archives the first is no base64, the second is cut short",
        "sse-forever": "status events for ever, no result",
    },
}

FAULTS: dict[str, Fault] = _table()

NUMBER_OF_TIMES = 1


@dataclass
class _Switch:
    fault: Fault
    times: int | None
    on: str

    def meets(self, received: Received) -> bool:
        """Whether `on`, of the form `POST`, `/user` or `GET /user/submissions`, matches the request."""
        if not self.on:
            return received.is_submission or self.fault.stage not in SUBMISSIONS_ONLY
        words = self.on.split()
        method = next((word for word in words if not word.startswith("/")), received.method)
        start = next((word for word in words if word.startswith("/")), "/")
        return method == received.method and received.path.startswith(start)


class Switches:
    """The faults that are on. Safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._on: list[_Switch] = []

    def set(self, name: str, times: int | None = NUMBER_OF_TIMES, on: str = "") -> None:
        """Turns a fault on for the next `times` requests that it meets (None: until cleared).

        on: only for requests of this method, path prefix, or both (`GET /user/submissions`). Raises KeyError.
        """
        with self._lock:
            self._on.append(_Switch(FAULTS[name], times, on))

    def clear(self) -> None:
        """Turns all faults off."""
        with self._lock:
            self._on.clear()

    def names(self) -> list[str]:
        """The faults that are on, in the order of their setting."""
        with self._lock:
            return [switch.fault.name for switch in self._on]

    def take(self, stage: Stage, received: Received, applies: Callable[[str], bool] = lambda _: True) -> str | None:
        """The first fault of a stage that meets the request and `applies`; it has then one time less to go."""
        with self._lock:
            for switch in self._on:
                if switch.fault.stage is stage and switch.meets(received) and applies(switch.fault.name):
                    if switch.times is not None:
                        switch.times -= 1
                        if switch.times <= 0:
                            self._on.remove(switch)
                    return switch.fault.name
        return None


def spoiled(name: str, body: bytes) -> bytes:
    """A JSON answer as a fault of Stage.ANSWER leaves it."""
    if name == "malformed-json":
        return body[: len(body) // 2]
    value = json.loads(body)
    if name == "missing-fields":
        value = [{} for _ in value] if isinstance(value, list) else {}
    elif name == "wrong-types":
        value = _of_wrong_types(value)
    else:
        value = "ok"
    return json.dumps(value).encode()


def _of_wrong_types(value: object) -> object:
    match value:
        case dict():
            return {key: _of_wrong_types(part) for key, part in value.items()}
        case list():
            return {str(i): part for i, part in enumerate(value)}
        case bool() | None:
            return value
        case int() | float():
            return f"number {value}"
        case _:
            return value
