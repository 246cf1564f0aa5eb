"""The form of the instruction tables: what an opcode takes, gives and computes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mxsub.virtual.assembly import Instruction

Function = Callable[..., Any]


@dataclass(frozen=True)
class Operation:
    """An opcode that computes its results from its sources, lane by lane.

    results, sources: types, as operands.py names them; the source 'old' is the first result's register before.
    function: of the sources' arrays; gives the result's array, or a tuple of them. It may be computed in any type that
    converts to the result's. make: where the function depends on the instruction's modifiers, makes it.
    """

    results: tuple[str, ...]
    sources: tuple[str, ...]
    function: Function | None = None
    make: Callable[[Instruction], Function] | None = None

    def function_for(self, instruction: Instruction) -> Function:
        if self.make is not None:
            return self.make(instruction)
        assert self.function is not None
        return self.function


Table = dict[str, Operation]


def operation(signature: str, function: Function) -> Operation:
    """From a signature such as 'u32 mask=u32 u32'."""
    results, _, sources = signature.partition("=")
    return Operation(tuple(results.split()), tuple(sources.split()), function)


def made_operation(signature: str, make: Callable[[Instruction], Function]) -> Operation:
    """The same for a function that is made from the instruction."""
    results, _, sources = signature.partition("=")
    return Operation(tuple(results.split()), tuple(sources.split()), make=make)
