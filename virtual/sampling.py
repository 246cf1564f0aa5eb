"""Which workgroups of a grid run, where not all of them shall."""

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def sampled_workgroups(grid: tuple[int, int, int], sample: int | None) -> Array:
    """The numbers of the workgroups that run, ascending; x counts fastest.

    sample: about how many; None for all. Chosen are the first and the last of each axis in every combination, where
    edges of tiles lie, and workgroups evenly spread between: the same ones each time.
    """
    total = grid[0] * grid[1] * grid[2]
    if sample is None or sample >= total:
        return np.arange(total)
    corners = [x + grid[0] * (y + grid[1] * z) for x in _ends(grid[0]) for y in _ends(grid[1]) for z in _ends(grid[2])]
    spread = np.linspace(0, total - 1, max(sample, 2)).round().astype(np.int64)
    return np.unique(np.concatenate([np.array(corners), spread]))


def _ends(count: int) -> tuple[int, ...]:
    return tuple({0, count - 1})
