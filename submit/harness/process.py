"""The evaluator's process: started in a group of its own, its pipes drained while it runs, its end noticed.

It is started through under_watch.py, which tells when the evaluator has begun to wait for something that never comes.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from uuid import uuid4

from mxsub.submit.harness.capture import Capture

KEPT_OUTPUT_BYTES = 256 * 1024
KEPT_RESULT_BYTES = 32 * 1024 * 1024
POLL_SECONDS = 0.03
STACKS_SECONDS = 1.0
LEFTOVER_SECONDS = 2.0
RUN_VARIABLE = "MXSUB_RUN"
UNDER_WATCH = Path(__file__).with_name("under_watch.py")

Reason = Literal["own end", "timeout", "worker lost", "answer unread"]


@dataclass(frozen=True)
class Ended:
    """How a process ended.

    reason: "own end", or what made the harness end it.
    exit_code: None where the harness ended it; negative for a signal.
    worker_exit_code: that of a worker process which ended by itself with an error, where there was one.
    unread: what went wrong when the evaluator read its worker's answer; empty where nothing did.
    results, stdout, stderr: what it wrote, of a lot the beginning and the end. seconds: wall time.
    """

    reason: Reason
    exit_code: int | None
    worker_exit_code: int | None
    unread: str
    results: str
    stdout: str
    stderr: str
    seconds: float

    @property
    def signal(self) -> str:
        """The name of the signal that a worker died of, or else the process itself; empty where none did."""
        for code in (self.worker_exit_code, self.exit_code):
            if code is not None and code < 0:
                return signal_name(-code)
        return ""


def signal_name(number: int) -> str:
    """`SIGSEGV` for 11."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def run_process(
    script: list[str],
    folder: Path,
    environment: Mapping[str, str],
    timeout: float,
    notes: Path,
    on_result: Callable[[str], None] | None = None,
) -> Ended:
    """Runs `python SCRIPT ARGUMENTS...` in a folder until it ends, waits for nothing, or `timeout` seconds are over.

    Its results come over a pipe whose descriptor it finds in POPCORN_FD; on_result is called with each line as it
    comes. notes: a file for what under_watch.py tells. Nothing that was started outlives the call, which holds for an
    exception in it, KeyboardInterrupt too; and if this very process is killed, the evaluator's group ends as well.
    """
    started = time.monotonic()
    token = uuid4().hex
    results_read, results_write = os.pipe()
    lifeline_read, lifeline_write = os.pipe()
    outputs = []
    try:
        process = subprocess.Popen(
            [sys.executable, str(UNDER_WATCH), str(lifeline_read), str(notes), *script],
            cwd=folder,
            env={
                **environment,
                "POPCORN_FD": str(results_write),
                "PYTHONFAULTHANDLER": "1",
                "PYTHONUNBUFFERED": "1",
                RUN_VARIABLE: token,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(results_write, lifeline_read),
            start_new_session=True,
        )
        os.close(results_write)
        os.close(lifeline_read)
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            # Each capture closes its descriptor at the end of the pipe, so they get their own.
            outputs = [Capture(os.dup(pipe.fileno()), KEPT_OUTPUT_BYTES) for pipe in (process.stdout, process.stderr)]
            results = Capture(results_read, KEPT_RESULT_BYTES, on_result)
            reason = _wait(process, token, notes, started + timeout)
        finally:
            _end_all(process, token)
            process.stdout.close()
            process.stderr.close()
    finally:
        os.close(lifeline_write)
    seconds = time.monotonic() - started
    noted = _read_notes(notes)
    ends = [int(entry[key]) for key in ("lost", "ended") for entry in noted if key in entry]
    unread = [str(entry["unread"]) for entry in noted if "unread" in entry]
    stdout, stderr = (output.text() for output in outputs)
    return Ended(
        reason=reason,
        exit_code=process.returncode if reason == "own end" else None,
        worker_exit_code=ends[0] if ends else None,
        unread=unread[0] if unread else "",
        results=results.text(),
        stdout=stdout,
        stderr=stderr,
        seconds=seconds,
    )


def _wait(process: subprocess.Popen[bytes], token: str, notes: Path, deadline: float) -> Reason:
    """Waits for the end of a process, or for a reason to end it."""
    while process.poll() is None:
        for entry in _read_notes(notes):
            if "lost" in entry:
                return "worker lost"
            if "unread" in entry:
                return "answer unread"
        if time.monotonic() > deadline:
            _print_stacks(token)
            return "timeout"
        time.sleep(POLL_SECONDS)
    return "own end"


def _read_notes(notes: Path) -> list[dict[str, int | str]]:
    try:
        lines = notes.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in lines if line.endswith("}")]


def _print_stacks(token: str) -> None:
    """Aborts the run's processes, upon which Python's faulthandler writes to stderr where each of them stood.

    One after the other, the youngest first, since what they write at the same time would mix.
    """
    deadline = time.monotonic() + STACKS_SECONDS
    variable = f"{RUN_VARIABLE}={token}".encode()
    for pid in sorted(_processes_with(variable), reverse=True):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGABRT)
        while _has_variable(pid, variable) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS / 10)


def _end_all(process: subprocess.Popen[bytes], token: str) -> None:
    """Ends the process, its group, and whatever else was started from it and still has its environment."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    # A process can leave the group, and can start another one while this looks; one that waits for a device's
    # driver ends only when that lets it.
    deadline = time.monotonic() + LEFTOVER_SECONDS
    while (left := _processes_with(f"{RUN_VARIABLE}={token}".encode())) and time.monotonic() < deadline:
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(POLL_SECONDS)


def _processes_with(variable: bytes) -> list[int]:
    """The processes that have an environment variable, as far as /proc shows them."""
    pids = (int(folder.name) for folder in Path("/proc").glob("[0-9]*"))
    return [pid for pid in pids if _has_variable(pid, variable)]


def _has_variable(pid: int, variable: bytes) -> bool:
    """Whether a process runs and has it; one that has ended but was not waited for shows no environment."""
    try:
        return variable in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
