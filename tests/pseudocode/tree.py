"""The nodes of parsed pseudo-code."""

from dataclasses import dataclass
from typing import Any

from tests.pseudocode.values import Type, Value


@dataclass(frozen=True)
class Number:
    value: Value


@dataclass(frozen=True)
class Name:
    name: str


@dataclass(frozen=True)
class Member:
    base: Any
    name: str


@dataclass(frozen=True)
class Index:
    base: Any
    index: Any


@dataclass(frozen=True)
class Slice:
    """[high : low]; the bits are reversed where high < low."""

    base: Any
    high: Any
    low: Any


@dataclass(frozen=True)
class SliceUp:
    """[start +: width]"""

    base: Any
    start: Any
    width: Any


@dataclass(frozen=True)
class Call:
    name: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Cast:
    type: Type
    argument: Any


@dataclass(frozen=True)
class Unary:
    operator: str
    argument: Any


@dataclass(frozen=True)
class Binary:
    operator: str
    left: Any
    right: Any


@dataclass(frozen=True)
class Conditional:
    condition: Any
    yes: Any
    no: Any


@dataclass(frozen=True)
class Concatenation:
    """The first part is the highest."""

    parts: tuple[Any, ...]


@dataclass(frozen=True)
class Assignment:
    """operator: '' or that of a compound assignment."""

    target: Any
    operator: str
    value: Any


@dataclass(frozen=True)
class Function:
    name: str
    parameters: tuple[str, ...]
    body: tuple[Any, ...]


@dataclass(frozen=True)
class Declaration:
    """count: of an array, else None."""

    name: str
    type: Type
    count: int | None


@dataclass(frozen=True)
class If:
    cases: tuple[tuple[Any, tuple[Any, ...]], ...]
    otherwise: tuple[Any, ...]


@dataclass(frozen=True)
class For:
    name: str
    first: Any
    last: Any
    body: tuple[Any, ...]


@dataclass(frozen=True)
class Break:
    pass


@dataclass(frozen=True)
class Return:
    value: Any
