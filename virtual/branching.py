"""What an instruction's function returns to the machine, where it is not None: END, BARRIER, or a Branch."""

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]

END, BARRIER = "end", "barrier"


@dataclass(frozen=True)
class Branch:
    """taken: which waves go to `target`, bool (waves or 1, 1); True stands for all of them."""

    target: int
    taken: Array | bool
