"""Cache lines: how many an access touches, and how many are distinct in a launch, on its dies, in its workgroups."""

import numpy as np

from mxsub.virtual.inspection.lines import Distinct, LineMap, distinct_in_rows, lines_of
from mxsub.virtual.inspection.traffic import lines_read
from mxsub.virtual.inspection.usage import BufferUse
from mxsub.virtual.memory import GlobalMemory

LANES = np.arange(64, dtype=np.int64)


def test_lines_of_an_access() -> None:
    rows = np.stack([LANES * 4, LANES * 16, LANES * 128, LANES[::-1] * 16, LANES * 0])
    assert distinct_in_rows(lines_of(rows), None).tolist() == [2, 8, 64, 8, 1]


def test_lanes_that_are_off() -> None:
    mask = np.stack([LANES < 8, LANES % 2 == 0, LANES < 0])
    assert distinct_in_rows(lines_of(np.stack([LANES * 128] * 3)), mask).tolist() == [8, 32, 0]


def test_distinct() -> None:
    """Workgroups 0 and 8 are on one die, 1 on another."""
    buffer = GlobalMemory().map("x", np.zeros(1 << 14, np.uint8))
    lines = LineMap(buffer)
    first = buffer.base >> 7
    for numbers, touched in (([0, 1], [(0, 0), (0, 1), (1, 1), (1, 1)]), ([8, 9], [(0, 1), (0, 2), (1, 127)])):
        lines.begin_batch(2)
        for workgroup, line in touched:
            lines.touch(np.array([workgroup]), np.array([first + line]))
        lines.end_batch(np.array(numbers))
    # Lines 0, 1, 2, 127. Die 0: 0, 1, 2; die 1: 1 and (workgroup 9) 127. Workgroups: 2 + 1 + 2 + 1.
    assert lines.distinct() == Distinct(launch=4, dies=5, workgroups=6)


def test_a_buffer_that_nobody_touched() -> None:
    lines = LineMap(GlobalMemory().map("x", np.zeros(256, np.uint8)))
    lines.begin_batch(3)
    lines.end_batch(np.arange(3))
    assert lines.distinct() == Distinct(0, 0, 0)


def test_the_lines_of_a_sample() -> None:
    """Two workgroups of eight ran: four times the lines, but not more than there are."""
    memory = GlobalMemory()
    uses = []
    for touched in ([(0, 0), (1, 1)], [(0, 0), (1, 0)]):
        buffer = memory.map("x", np.zeros(6 * 128, np.uint8))
        use = BufferUse("x", buffer.size, LineMap(buffer))
        use.map.begin_batch(2)
        for workgroup, line in touched:
            use.map.touch(np.array([workgroup]), np.array([(buffer.base >> 7) + line]))
        use.map.end_batch(np.array([0, 1]))
        uses.append(use)
    assert lines_read(uses) == Distinct(2 + 1, 2 + 2, 2 + 2)
    # The first buffer: 8 lines, of which it has 6. The second: 4 lines.
    assert lines_read(uses, scale=4) == Distinct(6 + 4, 8 + 8, 8 + 8)
    assert lines_read(uses, scale=100) == Distinct(6 + 6, 48 + 48, 200 + 200)
