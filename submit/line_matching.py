"""Which lines of two texts are the same: unique common lines first, the rest of them between those.

Anchors are the lines that occur exactly once on both sides, in the longest order that both share (the idea of Bram
Cohen's patience diff). What lies between two anchors is small, and difflib matches it. Where it is not small and
nothing in it can be an anchor, it counts as replaced, so that the time stays within bounds on any input.
"""

import bisect
from collections.abc import Sequence
from difflib import SequenceMatcher

# difflib's worst case is more than quadratic: 400 x 400 lines take it some 20 ms.
MOST_PAIRS = 160_000
MOST_LEVELS = 64


def matching_lines(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs (index in a, index in b) of equal lines, ascending in both."""
    pairs: list[tuple[int, int]] = []
    ranges = [(0, len(a), 0, len(b), 0)]
    while ranges:
        low_a, high_a, low_b, high_b, level = ranges.pop()
        while low_a < high_a and low_b < high_b and a[low_a] == b[low_b]:
            pairs.append((low_a, low_b))
            low_a, low_b = low_a + 1, low_b + 1
        while low_a < high_a and low_b < high_b and a[high_a - 1] == b[high_b - 1]:
            high_a, high_b = high_a - 1, high_b - 1
            pairs.append((high_a, high_b))
        if low_a == high_a or low_b == high_b:
            continue
        anchors = _anchors(a, b, low_a, high_a, low_b, high_b) if level < MOST_LEVELS else []
        if anchors:
            for anchor_a, anchor_b in anchors:
                ranges.append((low_a, anchor_a, low_b, anchor_b, level + 1))
                pairs.append((anchor_a, anchor_b))
                low_a, low_b = anchor_a + 1, anchor_b + 1
            ranges.append((low_a, high_a, low_b, high_b, level + 1))
        elif (high_a - low_a) * (high_b - low_b) <= MOST_PAIRS:
            matcher = SequenceMatcher(None, a[low_a:high_a], b[low_b:high_b], autojunk=False)
            for block in matcher.get_matching_blocks():
                pairs.extend((low_a + block.a + step, low_b + block.b + step) for step in range(block.size))
    return sorted(pairs)


def _anchors(
    a: Sequence[str], b: Sequence[str], low_a: int, high_a: int, low_b: int, high_b: int
) -> list[tuple[int, int]]:
    """Lines that surely belong together, as pairs ascending in both, as many as possible: those that occur once in
    each range; where there are none, those that occur equally often in both, the first with the first and so on."""
    places_a, places_b = _places(a, low_a, high_a), _places(b, low_b, high_b)
    same = [(places, places_b[line]) for line, places in places_a.items() if len(places) == len(places_b.get(line, ()))]
    once = [pair for pair in same if len(pair[0]) == 1]
    pairs = (pair for places in once or same for pair in zip(*places, strict=True))
    return _longest_ascending(sorted(pairs))


def _places(lines: Sequence[str], low: int, high: int) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for position in range(low, high):
        places.setdefault(lines[position], []).append(position)
    return places


def _longest_ascending(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs whose second numbers ascend, by patience sorting; the first ones do already."""
    ends: list[int] = []
    end_positions: list[int] = []
    before: list[int] = []
    for position, (_, place) in enumerate(pairs):
        pile = bisect.bisect_left(ends, place)
        before.append(end_positions[pile - 1] if pile else -1)
        if pile == len(ends):
            ends.append(place)
            end_positions.append(position)
        else:
            ends[pile] = place
            end_positions[pile] = position
    longest: list[tuple[int, int]] = []
    position = end_positions[-1] if end_positions else -1
    while position >= 0:
        longest.append(pairs[position])
        position = before[position]
    return longest[::-1]
