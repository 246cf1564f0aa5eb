"""What a piece of pseudo-code works on while it runs."""

from collections.abc import Callable
from typing import Any

from tests.pseudocode.state import State
from tests.pseudocode.values import Value

Evaluator = Callable[["Frame"], Any]
CallFunction = Callable[["Frame", str, list[Value]], Value]


class Returned(Exception):
    def __init__(self, value: Value) -> None:
        self.value = value


class Frame:
    """variables: local ones, values or lists of them. functions: lambdas, shared by all frames of a text.
    call: runs a function that the text does not define."""

    def __init__(self, state: State, call: CallFunction) -> None:
        self.state = state
        self.call = call
        self.variables: dict[str, Any] = {}
        self.functions: dict[str, tuple[tuple[str, ...], Evaluator]] = {}


def is_architectural(name: str) -> bool:
    """Does the name stand for state outside the text?"""
    return name.isupper() or name in ("laneId", "laneID")
