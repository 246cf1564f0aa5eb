"""From the bytes of a good answer to typed objects; what the service should not have sent is dropped on the way.

The service shows a leaderboard's secret seed and the runs made with it. The JSON decoder itself leaves them out, so
that no object of the client ever holds them.
"""

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Never, TypeVar

from pydantic import TypeAdapter, ValidationError

from mxsub.submit.kernelbot.errors import BadAnswer

Answer = TypeVar("Answer")
Pairs = list[tuple[str, Any]]

_DROPPED = object()
_SECRET_KEYS = frozenset({"secret_seed"})


def decoded(body: bytes | str, what: str, *, public_only: bool = False) -> Any:
    """The JSON value of an answer, its numbers with a point as Decimal, without secret seeds and secret runs.

    what: names the answer in errors. public_only: of a streamed result's lists, keeps the first, public entry.
    Raises BadAnswer where it is no JSON.
    """
    hook: Callable[[Pairs], Any] = _first_result_only if public_only else _without_secrets
    try:
        value = json.loads(body, object_pairs_hook=hook, parse_float=Decimal, parse_constant=_no_constant)
    except (ValueError, ArithmeticError, RecursionError):
        value = _DROPPED
    if value is _DROPPED:
        raise BadAnswer(f"KernelBot's answer to {what} is no valid JSON", may_have_arrived=True)
    return value


def validated(adapter: TypeAdapter[Answer], value: Any, what: str) -> Answer:
    """The value as the adapter's type; BadAnswer with the name of the first field that does not fit."""
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    name = ".".join(map(str, first["loc"])) or "the whole of it"
    said = first["msg"].removeprefix("Value error, ")
    problem = "is missing" if first["type"] == "missing" else f"does not fit: {said}"
    raise BadAnswer(f"KernelBot's answer to {what} is not as documented: {name} {problem}", may_have_arrived=True)


def _without_secrets(pairs: Pairs) -> Any:
    kept = {key: _kept(value) for key, value in pairs if key not in _SECRET_KEYS}
    return _DROPPED if kept.get("secret") is True else kept


def _first_result_only(pairs: Pairs) -> Any:
    value = _without_secrets(pairs)
    if isinstance(value, dict):
        for key in ("results", "reports"):
            if isinstance(value.get(key), list):
                value[key] = value[key][:1]
    return value


def _kept(value: Any) -> Any:
    if isinstance(value, str):
        # Half of a surrogate pair is no text that could be kept or shown.
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    return [entry for entry in value if entry is not _DROPPED] if isinstance(value, list) else value


def _no_constant(name: str) -> Never:
    raise ValueError(f"{name} is no JSON")
