"""Answers that a fault gives instead of the route's own, as data."""

import json
from dataclasses import dataclass

BANNED_WORD = (
    "Your code contains work on another stream. This is not allowed and may result in your disqualification. "
    "If you think this is a mistake, please contact us."
)
RATE_LIMIT = "Rate limit exceeded: 2/1 leaderboard submissions per hour. Try again in 3586s."


@dataclass(frozen=True)
class Canned:
    """One answer; `headers` besides Content-Type and Content-Length."""

    description: str
    status: int
    body: bytes
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()


def _json(status: int, value: object, description: str) -> Canned:
    return Canned(description, status, json.dumps(value, separators=(",", ":")).encode())


def _html(status: int, title: str, description: str) -> Canned:
    page = (
        f"<!DOCTYPE html>\n<html>\n<head><title>{status} {title}</title><style>body {{ margin: 40px }}</style></head>\n"
        f"<body>\n<center><h1>{status} {title}</h1></center>\n<hr><center>proxy</center>\n</body>\n</html>\n"
    )
    return Canned(description, status, page.encode(), "text/html")


CANNED: dict[str, Canned] = {
    "http-400": _json(400, {"detail": "Bad request"}, "400 with a detail"),
    "http-400-message": _json(400, {"message": "Something in it was refused"}, "400 whose body is {message}"),
    "http-400-deadline": _json(
        400,
        {"detail": "The deadline to submit to amd-mxfp4-mm has passed.\nIt was T1 and today is T2."},
        "400, two lines",
    ),
    "http-401": _json(401, {"detail": "Invalid or unauthorized auth header"}, "401, the id is not known"),
    "http-403": _json(403, {"detail": "Not authorized to view this submission"}, "403, somebody else's"),
    "http-404": _json(404, {"detail": "Submission not found"}, "404, no such submission"),
    "http-404-routing": _json(404, {"detail": "Not Found"}, "404, no such route"),
    "http-405": _json(405, {"detail": "Method Not Allowed"}, "405, no such method"),
    "http-413": _json(413, {"detail": "Submission file is too large (limit: 1MB)."}, "413, the service's limit"),
    "http-413-html": _html(413, "Request Entity Too Large", "413, a proxy's limit, HTML"),
    "http-422": _json(
        422,
        {"detail": [{"type": "missing", "loc": ["body", "file"], "msg": "Field required", "input": None}]},
        "422, a list with one missing field",
    ),
    "http-422-many": _json(
        422,
        {
            "detail": [
                {"type": "missing", "loc": ["body", "file"], "msg": "Field required", "input": None},
                {
                    "type": "int_parsing",
                    "loc": ["path", "submission_id"],
                    "msg": "Input should be a valid integer, unable to parse string as an integer",
                    "input": "x",
                },
            ]
        },
        "422, a list of two faults",
    ),
    "http-422-odd": _json(422, {"detail": [{}, 7, None]}, "422, a list without any of its keys"),
    "http-429": _json(429, {"detail": RATE_LIMIT}, "429 with the numbers of the rate limit"),
    "http-429-bare": _json(429, {"detail": "Too Many Requests"}, "429 without numbers"),
    "http-429-empty": Canned("429 without a body", 429, b"", "text/plain"),
    "http-500": Canned(
        "500, an unhandled crash, plain text", 500, b"Internal Server Error", "text/plain; charset=utf-8"
    ),
    "http-500-detail": _json(
        500, {"detail": "Error fetching submissions: connection already closed"}, "500 with a detail"
    ),
    "banned-word": _json(500, {"detail": BANNED_WORD}, "500 with the banned word's text, as the streaming path has it"),
    "http-502-html": _html(502, "Bad Gateway", "502 with the proxy's HTML page"),
    "http-503": _html(503, "Service Unavailable", "503 with the proxy's HTML page"),
    "http-503-detail": _json(503, {"detail": "Service unavailable"}, "503 with a detail"),
    "http-504": _html(504, "Gateway Time-out", "504 with the proxy's HTML page"),
    "redirect": Canned(
        "307 to another host", 307, b"", "text/plain", (("Location", "https://elsewhere.invalid/submission"),)
    ),
    "html-200": _html(200, "Welcome", "200 with a page of HTML, as a captive portal"),
    "empty-200": Canned("200 without a body", 200, b"", "application/json"),
}
