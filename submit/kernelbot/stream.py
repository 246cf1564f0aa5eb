"""The stream of events that a streamed submission answers with."""

import time
from collections.abc import Callable, Generator, Mapping
from decimal import Decimal
from typing import Any, Never

import requests
import urllib3.exceptions
from pydantic import TypeAdapter
from sseclient import SSEClient

from mxsub.submit.kernelbot.decoding import decoded, validated
from mxsub.submit.kernelbot.errors import BadAnswer, ConnectionCut
from mxsub.submit.kernelbot.refusals import event_refusal
from mxsub.submit.kernelbot.results import Streamed
from mxsub.submit.kernelbot.transport import Patience, lost

# As much of a chunk as is read at once. A chunk is never waited for beyond its own end.
BLOCK = 1 << 20

_WHAT = "the streamed submission"
_STREAMED = TypeAdapter(Streamed)
_RESUBMIT = "The service cancels a streamed run whose connection ends; it counts for the rate limit all the same."


def read_result(
    response: requests.Response, patience: Patience, on_status: Callable[[float], None] | None = None
) -> Streamed:
    """The result that ends the stream; only its public entry is kept.

    on_status: called with each heartbeat's elapsed seconds, about every 15 s.
    Raises Refused and its kind for an `error` event, ConnectionCut where the stream ends without a result, is silent
    or longer than patience allows, BadAnswer where it is no stream of KernelBot's.
    """
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind != "text/event-stream":
        raise BadAnswer(f"KernelBot answered {_WHAT} with no stream of events", may_have_arrived=True)
    try:
        for event in SSEClient(_blocks(response, patience)).events():
            if event.event == "result":
                return validated(_STREAMED, decoded(event.data, _WHAT, public_only=True), _WHAT)
            if event.event == "error":
                _fail(decoded(event.data, _WHAT))
            if event.event == "status" and on_status is not None:
                _tell(event.data, on_status)
    except UnicodeDecodeError:
        pass
    # The blocks end with an exception of their own, so this is reached by a mistake in the text only.
    raise BadAnswer(f"KernelBot's answer to {_WHAT} is not UTF-8", may_have_arrived=True)


def _blocks(response: requests.Response, patience: Patience) -> Generator[bytes]:
    """The stream's bytes as they come. Its end is an exception: the parser would take what is left of an unfinished
    event for a whole one."""
    ends = time.monotonic() + patience.stream_timeout
    failure = ConnectionCut("the stream of KernelBot's events ended without a result", _RESUBMIT)
    try:
        for block in response.iter_content(BLOCK):
            yield block
            if time.monotonic() > ends:
                failure = ConnectionCut(
                    f"the streamed submission had no result within {patience.stream_timeout:g} s", _RESUBMIT
                )
                break
    except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
        cut = lost(error, response, patience.stream_silence)
        failure = ConnectionCut(cut.message, _RESUBMIT)
    raise failure


def _fail(data: Any) -> Never:
    if not isinstance(data, Mapping):
        raise BadAnswer(f"KernelBot's answer to {_WHAT} is an error event without fields", may_have_arrived=True)
    raise event_refusal(data)


def _tell(data: str, on_status: Callable[[float], None]) -> None:
    """Passes a heartbeat on; one that makes no sense is not worth losing a run for."""
    try:
        status = decoded(data, _WHAT)
    except BadAnswer:
        return
    elapsed = status.get("elapsed_time") if isinstance(status, Mapping) else None
    if isinstance(elapsed, int | Decimal) and not isinstance(elapsed, bool):
        on_status(float(elapsed))
