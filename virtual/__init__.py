"""A virtual MI355X: an unmodified Triton submission runs on it, on a machine without any GPU.

A child process sees it when it gets the variables of `environment()`; `install()` makes it appear in this process.
Importing this package costs nothing: torch, triton and numpy are imported by whatever needs them.

The device executes the machine code that Triton compiles for gfx950. Its clock counts wave instructions (1 ns each);
it is no measure of time on the hardware.
"""

import os
from collections.abc import Iterable
from pathlib import Path

GPU = "MI355X"
GPU_VARIABLE = "MXSUB_VIRTUAL_GPU"
LOG_VARIABLE = "MXSUB_VIRTUAL_LOG"
WATCH_VARIABLE = "MXSUB_VIRTUAL_WATCH"
SAMPLE_VARIABLE = "MXSUB_VIRTUAL_SAMPLE"
BOOT_FOLDER = Path(__file__).resolve().parent / "boot"


def environment(log: Path | None = None, watchers: Iterable[str] = (), sample: int | None = None) -> dict[str, str]:
    """The variables that give a child process, and everything that it spawns, one virtual MI355X.

    log: a file to which the processes append a JSON line for every kernel launch and fault (see launch_log.py).
    watchers: names of sanitizers and counters that watch every launch (watch_list.WATCHERS). sample: about how many
    workgroups of each launch run; None for all.
    """
    path = [str(BOOT_FOLDER), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    variables = {"PYTHONPATH": os.pathsep.join(dict.fromkeys(path)), GPU_VARIABLE: GPU}
    if log is not None:
        variables[LOG_VARIABLE] = str(log.resolve())
    if names := ",".join(watchers):
        variables[WATCH_VARIABLE] = names
    if sample is not None:
        variables[SAMPLE_VARIABLE] = str(sample)
    return variables


def install() -> None:
    """Make the virtual MI355X the GPU of torch and Triton in this process, for good."""
    from mxsub.virtual import torch_cuda, triton_driver

    torch_cuda.install()
    triton_driver.install()
