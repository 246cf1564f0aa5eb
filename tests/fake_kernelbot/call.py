"""A request on its way through the service, and what routes read from it; wrong ones get the 422 of FastAPI."""

import re
from dataclasses import dataclass

from werkzeug.wrappers import Request

from .upload import Upload
from .wire import Received


class Problem(Exception):
    """An answer {"detail": ...} with its status."""

    def __init__(self, status: int, detail: object) -> None:
        super().__init__(f"{status}: {detail}")
        self.status = status
        self.detail = detail


@dataclass(frozen=True)
class Call:
    """A request on its way through the service."""

    received: Received
    request: Request


def upload(call: Call, board: str, gpu: str, mode: str) -> Upload:
    """The submission of a form with a file. Raises Problem."""
    file = call.request.files.get("file")
    if file is None:
        text = call.request.form.get("file")
        if text is None:
            raise Problem(422, [_missing("body", "file")])
        message = "Value error, Expected UploadFile, received: <class 'str'>"
        reason = {"type": "value_error", "loc": ["body", "file"], "msg": message, "input": text, "ctx": {"error": {}}}
        raise Problem(422, [reason])
    return Upload(board, gpu, mode, file.filename or "", file.read())


def text_of(call: Call, name: str) -> str:
    """A query parameter that must be there. Raises Problem."""
    value = call.request.args.get(name)
    if value is None:
        raise Problem(422, [_missing("query", name)])
    return value


def integer_of(call: Call, name: str, default: int | None) -> int | None:
    """A query parameter that is an integer, or the default. Raises Problem."""
    value = call.request.args.get(name)
    return default if value is None else parsed(value, "query", name)


def parsed(text: str, place: str, name: str) -> int:
    """The integer that a parameter in the path or query must be. Raises Problem."""
    if re.fullmatch(r"[+-]?[0-9]+", text.strip()):
        return int(text)
    message = "Input should be a valid integer, unable to parse string as an integer"
    raise Problem(422, [{"type": "int_parsing", "loc": [place, name], "msg": message, "input": text}])


def _missing(place: str, name: str) -> dict[str, object]:
    return {"type": "missing", "loc": [place, name], "msg": "Field required", "input": None}
