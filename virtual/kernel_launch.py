"""Runs a kernel on the emulator: decodes it once, makes faults built-in errors, moves the clock, writes the log."""

from collections.abc import Callable
from typing import TypeVar

from mxsub.virtual import launch_log
from mxsub.virtual.clock import CLOCK
from mxsub.virtual.device_memory import DEVICE_MEMORY
from mxsub.virtual.machine import Program, launch
from mxsub.virtual.watch_list import sample_asked_for, watchers_asked_for

T = TypeVar("T")


class Kernel:
    """A loaded code object: the assembly text of one kernel, decoded at its first launch.

    name: as in the submission. assembly: amdgcn text for gfx950.
    """

    def __init__(self, name: str, assembly: str) -> None:
        self.name = name
        self.assembly = assembly
        self._program: Program | None = None

    @property
    def program(self) -> Program:
        """The decoded kernel.

        Raises RuntimeError, one sentence, for instructions that the emulator does not know.
        """
        if self._program is None:
            self._program = _reported(self.name, lambda: Program(self.assembly))
        return self._program


def run(kernel: Kernel, grid: tuple[int, int, int], kernarg: bytes, waves_per_workgroup: int, lds_bytes: int) -> None:
    """Run all workgroups of a grid to their end.

    kernarg: the kernel-argument segment, pointers in it being addresses of DEVICE_MEMORY.
    lds_bytes: LDS that each workgroup gets.
    Raises RuntimeError, one sentence, when the kernel does what the hardware does not allow. It is a built-in type
    because an error that the parent of a worker process cannot import would hang its pool.
    """
    program, watchers = kernel.program, watchers_asked_for()
    with DEVICE_MEMORY.lock:  # one launch at a time, and no new addresses meanwhile
        DEVICE_MEMORY.free_dead()
        report = _reported(
            kernel.name,
            lambda: launch(
                program,
                grid,
                kernarg,
                DEVICE_MEMORY.memory,
                waves_per_workgroup=waves_per_workgroup,
                lds_bytes=lds_bytes,
                watchers=watchers,
                sample=sample_asked_for(),
            ),
        )
        CLOCK.ns += sum(report.wave_instructions.values())
    launch_log.record(
        {
            "event": "launch",
            "kernel": kernel.name,
            "grid": list(grid),
            "waves": report.waves,
            "wave_instructions": dict(report.wave_instructions),
            "seconds": report.seconds,
            "findings": [finding.to_dict() for finding in report.findings],
            **{key: value for watcher in watchers for key, value in watcher.notes().items()},
        }
    )


def _reported(kernel: str, action: Callable[[], T]) -> T:
    """The action's result; its errors logged and raised as a RuntimeError that names the kernel."""
    try:
        return action()
    except RuntimeError as error:
        sentence = str(error)
    except Exception as error:
        sentence = f"stopped the emulator itself, which is a bug of mxsub: {type(error).__name__}: {error}"
    message = f"virtual MI355X: kernel {kernel} {' '.join(sentence.split())}"
    launch_log.record({"event": "fault", "kernel": kernel, "message": message})
    raise RuntimeError(message)
