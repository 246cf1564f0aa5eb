"""Sanitizers of the virtual MI355X: watchers that find what the hardware hides, by the names that `--sanitize` has."""

from mxsub.virtual.sanitizers.definedness import Definedness
from mxsub.virtual.sanitizers.lds_races import LdsRaces
from mxsub.virtual.sanitizers.lds_waits import LdsWaits
from mxsub.virtual.sanitizers.stale_lanes import StaleLanes
from mxsub.virtual.sanitizers.waits import Waits
from mxsub.virtual.sanitizers.writers import Writers
from mxsub.virtual.watching import Watcher

# `memory` has no watcher: accesses out of bounds or misaligned are always looked for, where memory is reached.
SANITIZERS: dict[str, tuple[type[Watcher], ...]] = {
    "memory": (),
    "init": (Definedness,),
    "race": (LdsRaces, Writers),
    "sync": (Waits, LdsWaits),
    "exec": (StaleLanes,),
}
