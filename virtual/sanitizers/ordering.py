"""Which workgroup's work comes before which other's: what atomics say of it.

Workgroups have no barrier between them. One that stores, then does an atomic at some address, comes before one that
later does an atomic at the same address: that is how locks and last-one-sums-up counters work. Each workgroup has a
vector clock (Lamport 1978; Mattern 1989), by which a store is known to come before what another workgroup does, or not.
"""

from collections.abc import Iterable

Clock = dict[int, int]
"""Of each workgroup the number of its stretches, parted by its atomics, that are known to have ended."""


class Ordering:
    """The vector clocks of a launch."""

    def __init__(self) -> None:
        self._clocks: dict[int, Clock] = {}
        self._addresses: dict[int, Clock] = {}

    def stretch(self, workgroup: int) -> int:
        """In which of its stretches a workgroup is."""
        return self._clocks.setdefault(workgroup, {}).get(workgroup, 0) + 1

    def synchronize(self, workgroup: int, address: int) -> None:
        """The workgroup does an atomic at an address that others use to find out about it."""
        own, there = self._clocks.setdefault(workgroup, {}), self._addresses.setdefault(address, {})
        own[workgroup] = own.get(workgroup, 0) + 1
        _raise(there, own)
        _raise(own, there)

    def comes_before(self, other: int, stretch: int, workgroup: int) -> bool:
        """Has a stretch of another workgroup ended for certain before what this workgroup does now?"""
        return self._clocks.get(workgroup, {}).get(other, 0) >= stretch


def _raise(clock: Clock, by: Clock) -> None:
    for workgroup, stretches in _items(by):
        if clock.get(workgroup, 0) < stretches:
            clock[workgroup] = stretches


def _items(clock: Clock) -> Iterable[tuple[int, int]]:
    return list(clock.items())
