"""From an error answer's status and body, or a stream's `error` event, to the error that it means."""

import html
import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from mxsub.submit.kernelbot.errors import (
    Forbidden,
    NotFound,
    NotRegistered,
    RateLimited,
    Refused,
    ServiceFault,
)
from mxsub.submit.plain_text import LONGEST, one_line

# The background path puts this before what it found before it accepted a submission, and answers 400 for all of it.
_PREPARING = re.compile(r"^failed to prepare submission request:\s*(?:(\d{3}):\s*)?")

_RATE_LIMIT = re.compile(r"\brate limit exceeded\b", re.IGNORECASE)
_COUNTS = re.compile(r"exceeded:\s*(\d{1,9})/(\d{1,9})\s+(\S+)\s+submissions", re.IGNORECASE)
_WAIT = re.compile(r"try again in\s+(\d{1,9}(?:\.\d+)?)\s*s", re.IGNORECASE)

_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)

# Refusals that the service labels 500. They are found before a submission is stored.
_BANNED_WORD = re.compile(r"^Your code contains work on another")
_NO_LEADERBOARD = re.compile(r"Leaderboard `.*` does not exist")

_BANNED_WORD_HINT = (
    "The service searches the whole text, comments and names included, for the six letters s-t-r-e-a-m; "
    "`mxsub lint` shows where they are."
)
_TOO_LARGE_HINT = "At most 1,000,000 bytes are taken."
_NO_ROUTE_HINT = "Is the service's address right (--api-url, POPCORN_API_URL)?"
_LATER_HINT = "Try again later."


def refusal(status: int, content_type: str, body: bytes) -> Refused:
    """The error that an HTTP answer of 400 or more means.

    status: the HTTP status. content_type: its header, may be empty. body: as received.
    """
    data = _json(body)
    detail = _json_detail(data)
    if detail is None:
        detail = _text_detail(content_type, body) or _phrase(status)
    return _refusal(status, detail, judged=status < 500)


def event_refusal(data: Mapping[str, Any]) -> Refused:
    """The error that a stream's `error` event means. The service labels nearly all of them 400.

    data: the event's decoded JSON.
    """
    detail = _json_detail(data) or "an error without a text"
    raw = data.get("raw_error")
    if isinstance(raw, str) and raw.strip():
        detail = f"{detail} ({one_line(raw)})"
    status = data.get("status_code")
    if not isinstance(status, int) or isinstance(status, bool) or not 400 <= status <= 599:
        # A runner's exception and a cancelled run carry no status: the submission has its row by then.
        return _refusal(500, detail, judged=False)
    # KernelGuard looks at a submission only once it is stored.
    return _refusal(status, detail, judged=status < 500 and "KernelGuard" not in detail)


def _refusal(status: int, detail: str, *, judged: bool) -> Refused:
    """judged: the service looked at the request and turned it down, so it kept nothing of it."""
    if prepared := _PREPARING.match(detail):
        status, judged = int(prepared[1] or status), True
        detail = detail[prepared.end() :] or _phrase(status)
    if status == HTTPStatus.TOO_MANY_REQUESTS or _RATE_LIMIT.search(detail):
        return _rate_limit(detail)
    if _BANNED_WORD.match(detail):
        return Refused(status, detail, _BANNED_WORD_HINT)
    if _NO_LEADERBOARD.search(detail):
        return NotFound(status, detail, "`mxsub doctor` checks the project's leaderboard and GPU.")
    match status:
        case 401:
            return NotRegistered(status, detail)
        case 403:
            return Forbidden(status, detail)
        case 404:
            return NotFound(status, detail, _NO_ROUTE_HINT if detail == "Not Found" else "")
        case 413:
            return Refused(status, detail, _TOO_LARGE_HINT)
        case _ if status >= 500 and not judged:
            return ServiceFault(status, detail, _LATER_HINT, may_have_arrived=True)
        case _:
            return Refused(status, detail, may_have_arrived=not judged)


def _rate_limit(detail: str) -> RateLimited:
    counts, wait = _COUNTS.search(detail), _WAIT.search(detail)
    return RateLimited(
        HTTPStatus.TOO_MANY_REQUESTS.value,
        detail,
        used=int(counts[1]) if counts else None,
        allowed=int(counts[2]) if counts else None,
        category=counts[3] if counts else None,
        wait_seconds=float(wait[1]) if wait else None,
    )


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _json_detail(data: Any) -> str | None:
    """The words in {"detail": text}, {"detail": [{loc, msg}, ...]} or {"message": text}; None where there are none."""
    if not isinstance(data, Mapping):
        return None
    for key in ("detail", "message"):
        value = data.get(key)
        if isinstance(value, str) and value.strip():
            return one_line(value)
    listed = data.get("detail")
    if isinstance(listed, list):
        # `input` repeats what was sent, so it is left out.
        found = [one_line(_placed(entry)) for entry in listed if isinstance(entry, Mapping)]
        return one_line("; ".join(filter(None, found))) or None
    return None


def _placed(entry: Mapping[str, Any]) -> str:
    place = entry.get("loc")
    where = ".".join(str(step) for step in place) if isinstance(place, list) else ""
    said = entry.get("msg")
    said = said if isinstance(said, str) else ""
    return f"{where}: {said}" if where and said else where or said


def _text_detail(content_type: str, body: bytes) -> str:
    """The text of a body that is no KernelBot JSON; of a page of HTML its title at most."""
    text = body[: 64 * LONGEST].decode("utf-8", errors="replace")
    if "html" in content_type.lower() or text.lstrip().startswith("<"):
        title = _TITLE.search(text)
        return one_line(html.unescape(title[1])) if title else ""
    if _json(body) is not None:
        return ""
    return one_line(text)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "no reason given"
