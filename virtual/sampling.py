"""Which workgroups of a grid run, where not all of them shall."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# Workgroups that follow one another often work on one thing: the parts of a split, the tiles of a row.
_RUN = 16


def sampled_workgroups(grid: tuple[int, int, int], sample: int | None) -> Array:
    """The numbers of the workgroups that run, ascending; x counts fastest.

    sample: about how many; None for all. Chosen are the first and the last of each axis in every combination, where
    edges of tiles lie, and evenly spread runs of up to 16 that follow one another, the first and the last ones among
    them: the same each time.
    """
    total = grid[0] * grid[1] * grid[2]
    if sample is None or sample >= total:
        return np.arange(total)
    corners = [x + grid[0] * (y + grid[1] * z) for x in _ends(grid[0]) for y in _ends(grid[1]) for z in _ends(grid[2])]
    length = min(_RUN, -(-sample // 2))
    starts = np.linspace(0, total - length, max(sample // length, 2)).round().astype(np.int64)
    runs = (starts[:, None] + np.arange(length)).reshape(-1)
    return np.unique(np.concatenate([np.array(corners), runs]))


def _ends(count: int) -> tuple[int, ...]:
    return tuple({0, count - 1})
