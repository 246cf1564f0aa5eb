"""What may watch a launch: sanitizers and counters. A launch that nobody watches pays nothing for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from mxsub.virtual.memory import Access

if TYPE_CHECKING:
    from mxsub.virtual.findings import Places
    from mxsub.virtual.machine import Program
    from mxsub.virtual.waves import Waves

Array = npt.NDArray[Any]
Step = Callable[["Waves"], Any]


@dataclass(frozen=True)
class Launched:
    """A launch as watchers see it. lds_bytes: of each workgroup. is_sample: do only some of the workgroups run?"""

    program: "Program"
    grid: tuple[int, int, int]
    waves_per_workgroup: int
    lds_bytes: int
    is_sample: bool = False


class Watcher:
    """Sees one launch. Every method may be left as it is.

    A launch runs its workgroups in batches, one after another; waves and workgroups are numbered within theirs.
    """

    def begin(self, launched: Launched) -> None:
        """Before anything else."""

    def begin_batch(self, waves: "Waves", workgroups: Array, places: "Places") -> None:
        """waves: all of the batch's, before their first instruction. workgroups: their numbers in the grid."""

    def around(self, pc: int, step: Step | None) -> Step | None:
        """What to run in place of an instruction's step: the step itself, or a function that calls it.

        While it runs `waves.pc` is the instruction's number.
        """
        return step

    def accessed(self, waves: "Waves", space: str, access: Access, size: int, verb: str) -> None:
        """Lanes have reached `size` bytes each of memory.

        space: global, LDS or scratch. verb: memory.READS, WRITES or UPDATES (an atomic). Of access, `flat` are the
        addresses of the lanes that are on, `rows()` which of the waves they belong to.
        """

    def released(self, workgroups: Array) -> None:
        """All waves of these workgroups of the batch have reached a barrier and go on."""

    def end(self) -> None:
        """The launch has ended well."""

    def notes(self) -> dict[str, Any]:
        """What the launch log shall say of it, besides findings."""
        return {}


def watched(steps: list[Step | None], watchers: Sequence[Watcher]) -> list[Step | None]:
    """The steps of a program as the watchers want them run."""
    result = []
    for pc, step in enumerate(steps):
        for watcher in watchers:
            step = watcher.around(pc, step)
        result.append(step)
    return result
