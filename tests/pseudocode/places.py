"""Where the pseudo-code's assignments go."""

from typing import Any

from tests.pseudocode.state import Memory
from tests.pseudocode.values import Type, Value, of_integer, stored


class Place:
    """Where an assignment goes: bits from `low` on of something, `width` of them or, for None, all.

    type: that the text gives the place, if any.
    """

    low = 0
    width: int | None = None
    type: Type | None = None

    def whole(self) -> int:
        raise NotImplementedError

    def put(self, bits: int, value: Value | None) -> None:
        """Set all bits; value: where the assignment was to all of it."""
        raise NotImplementedError

    def read(self) -> Value:
        bits = self.whole() >> self.low
        width = self.width if self.width is not None else max(32, bits.bit_length())
        return of_integer(("b", width), bits) if self.type is None else Value(self.type, bits & (1 << width) - 1)

    def write(self, value: Value, mode: str) -> None:
        if self.type is not None:
            value = stored(value, self.type, mode)
        elif self.width is not None:
            value = stored(value, ("b", self.width), mode)
        if self.width is None:
            self.put(value.bits, value)
            return
        mask = (1 << self.width) - 1 << self.low
        self.put(self.whole() & ~mask | value.bits << self.low, None)


class RegisterPlace(Place):
    def __init__(self, table: dict[Any, int], key: Any) -> None:
        self._table, self._key = table, key

    def whole(self) -> int:
        return self._table.get(self._key, 0)

    def put(self, bits: int, value: Value | None) -> None:
        self._table[self._key] = bits


class VariablePlace(Place):
    def __init__(self, variables: Any, key: Any, known: Value | None) -> None:
        self._variables, self._key, self._known = variables, key, known

    def whole(self) -> int:
        return self._known.bits if self._known is not None else 0

    def put(self, bits: int, value: Value | None) -> None:
        if value is None:
            value = Value(self._type(bits), bits)
        elif self._known is not None and isinstance(self._variables, list):
            value = stored(value, self._known.type)
        self._variables[self._key] = value

    def _type(self, bits: int) -> Type:
        """Of a variable that was set in part: as before, as the first assignment says, or as many bits as it takes."""
        if self._known is not None and bits.bit_length() <= self._known.type[1]:
            return self._known.type
        if self._known is None and self.low == 0 and self.type is not None:
            return self.type
        return "b", max(bits.bit_length(), self.low + (self.width or 0))


class MemoryPlace(Place):
    def __init__(self, memory: Memory, address: int) -> None:
        self._memory, self._address = memory, address
        self.width = 32

    def _size(self) -> int:
        assert self.width is not None
        return (self.low + self.width + 7) // 8

    def whole(self) -> int:
        return self._memory.read(self._address, self._size())

    def put(self, bits: int, value: Value | None) -> None:
        self._memory.write(self._address, self._size(), bits)


def narrowed(place: Place, low: int, width: int, type_: Type | None) -> Place:
    """A part of a place: `width` bits from `low` on."""
    place.low += low
    place.width, place.type = width, type_
    return place
