"""Who watches the launches of this process: the environment says so."""

import os

from mxsub.virtual import SAMPLE_VARIABLE, WATCH_VARIABLE
from mxsub.virtual.counting import Counting
from mxsub.virtual.sanitizers import SANITIZERS
from mxsub.virtual.tracing import Tracing
from mxsub.virtual.watching import Watcher

WATCHERS: dict[str, tuple[type[Watcher], ...]] = {**SANITIZERS, "counts": (Counting,), "timing": (Tracing,)}


def watchers_asked_for() -> list[Watcher]:
    """New ones for a launch, by the names in MXSUB_VIRTUAL_WATCH. Raises RuntimeError for one that there is not."""
    names = [name for name in os.environ.get(WATCH_VARIABLE, "").split(",") if name]
    for name in names:
        if name not in WATCHERS:
            raise RuntimeError(f"virtual MI355X: {WATCH_VARIABLE} names {name}; there are {', '.join(WATCHERS)}")
    return [watcher() for name in names for watcher in WATCHERS[name]]


def sample_asked_for() -> int | None:
    """How many workgroups of each launch shall run, by MXSUB_VIRTUAL_SAMPLE; None for all."""
    text = os.environ.get(SAMPLE_VARIABLE, "")
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise RuntimeError(f"virtual MI355X: {SAMPLE_VARIABLE} is {text!r}, and must be a whole number above 0")
    return int(text)
