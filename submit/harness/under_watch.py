"""Started in the evaluator's place: runs it unmodified, as `python SCRIPT ARGUMENTS...` would, and watches it inside.

python under_watch.py LIFELINE NOTES SCRIPT ARGUMENTS...

LIFELINE is the descriptor of a pipe whose other end the harness holds: when it closes, however the harness ended, this
process group ends. NOTES is a file that gets a JSON line for each thing that only this process can know:

{"ended": -11}       a worker process ended with this exit code, and not because it was told to
{"lost": -11}        the same, in a multiprocessing.Pool: it replaces the worker and waits for ever for its answer
{"unread": "..."}    a Pool could not read back what its worker raised, and waits for ever

This module runs inside the evaluator, so it imports nothing of mxsub and nothing that an evaluator does not.
"""

import builtins
import json
import multiprocessing.pool
import multiprocessing.popen_fork
import os
import resource
import signal
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

Note = Callable[[dict[str, Any]], None]


def note_into(path: str) -> Note:
    """A function that appends a line to the file; a single write, so that lines never mix."""

    def note(entry: dict[str, Any]) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(descriptor, (json.dumps(entry) + "\n").encode())
        os.close(descriptor)

    return note


def end_with_harness(lifeline: int) -> None:
    """Ends this process group when the other end of a pipe is closed."""

    def wait() -> None:
        while os.read(lifeline, 1):
            pass
        os.killpg(os.getpgrp(), signal.SIGKILL)

    os.set_inheritable(lifeline, False)
    threading.Thread(target=wait, name="lifeline", daemon=True).start()


def note_ends(note: Note) -> None:
    """Notes every child process of multiprocessing that ends with an error of its own."""
    popen: Any = multiprocessing.popen_fork.Popen
    poll, send_signal = popen.poll, popen._send_signal

    def noting_poll(self: Any, *arguments: Any, **options: Any) -> int | None:
        known = self.returncode is not None
        code: int | None = poll(self, *arguments, **options)
        if code and not known and -code not in getattr(self, "signals_sent", ()):
            note({"ended": code})
        return code

    def remembering_send_signal(self: Any, number: int) -> None:
        self.signals_sent = (*getattr(self, "signals_sent", ()), number)
        send_signal(self, number)

    popen.poll, popen._send_signal = noting_poll, remembering_send_signal


def note_lost_answers(note: Note) -> None:
    """Notes the two ways in which a multiprocessing.Pool comes to wait for ever."""
    pool_class: Any = multiprocessing.pool.Pool
    maintain = pool_class._maintain_pool
    show_error = threading.excepthook

    def noting_maintain(
        ctx: Any, process: Any, processes: Any, pool: Any, inqueue: Any, outqueue: Any, initializer: Any,
        initargs: Any, maxtasksperchild: Any, wrap_exception: Any,
    ) -> None:  # fmt: skip
        before = list(pool)
        maintain(
            ctx, process, processes, pool, inqueue, outqueue, initializer, initargs, maxtasksperchild, wrap_exception
        )
        # No worker has been asked to end while the pool is still maintained; one that may serve only so many tasks
        # ends by itself, with code 0.
        for worker in before:
            if worker not in pool and (worker.exitcode != 0 or maxtasksperchild is None):
                note({"lost": worker.exitcode})

    def noting_show_error(error: Any) -> None:
        show_error(error)
        if error.thread is not None and "_handle_results" in error.thread.name:
            note({"unread": f"{error.exc_type.__name__}: {error.exc_value}"})

    pool_class._maintain_pool = staticmethod(noting_maintain)
    threading.excepthook = noting_show_error


def run_as_main(script: str) -> None:
    """Runs a file as the interpreter does: as the module __main__, in which what its workers send back is looked up."""
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=script, __builtins__=builtins)
    # multiprocessing made the second name when it was imported; it is what the workers call the same module.
    sys.modules["__main__"] = sys.modules["__mp_main__"] = module
    with open(script, "rb") as file:
        code = compile(file.read(), script, "exec")
    exec(code, module.__dict__)


def main(lifeline: str, notes: str, script: str, *arguments: str) -> None:
    note = note_into(notes)
    end_with_harness(int(lifeline))
    note_ends(note)
    note_lost_answers(note)
    # The harness has a process abort to see where it stands, and nobody wants a core file for that.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    script = os.path.abspath(script)
    sys.argv = [script, *arguments]
    sys.path[0] = os.path.dirname(script)
    run_as_main(script)


if __name__ == "__main__":
    main(*sys.argv[1:])
