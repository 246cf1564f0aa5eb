"""KernelGuard's verdict on a submission, as the service asks for it before benchmark, profile and ranked runs.

KernelGuard runs in a process of its own, because its regular expressions take hours on some texts and cannot be
interrupted, and because the service runs it the same way: text on standard input, line ends translated, no verdict
after 30 seconds. Verdicts are kept on disk by the text's hash, for this KernelGuard and this Python.
"""

import atexit
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

# The service's own limit; after it, a submission is refused with "KernelGuard pre-check is unavailable right now".
SECONDS = 30.0


@dataclass(frozen=True)
class Match:
    """One rule of KernelGuard's that matched; `filters`: it alone gets a submission rejected."""

    pattern: str
    severity: str
    evidence: str
    filters: bool


@dataclass(frozen=True)
class Verdict:
    """What KernelGuard says of a text.

    failure: why there is no verdict, else empty. about_text: the text is the reason, not this machine.
    """

    should_filter: bool
    reason: str
    classification: str
    matches: tuple[Match, ...]
    failure: str = ""
    about_text: bool = True


class PendingVerdict:
    """A verdict that is being reached while the caller does something else."""

    def __init__(self, text: str) -> None:
        self._verdict: Verdict | None = None
        self._thread = threading.Thread(target=self._judge, args=(text,), daemon=True)
        self._thread.start()

    def _judge(self, text: str) -> None:
        self._verdict = judge(text)

    def result(self) -> Verdict:
        """Waits for the verdict."""
        self._thread.join()
        assert self._verdict is not None
        return self._verdict


def judge(text: str) -> Verdict:
    """KernelGuard's verdict on a text, from the cache where it is there."""
    translated = text.replace("\r\n", "\n").replace("\r", "\n")
    identity = _identity()
    if identity is None:
        return _no_verdict("KernelGuard is not installed", about_text=False)
    digest = hashlib.sha256(translated.encode()).hexdigest()
    known = _cached(identity, digest)
    if known is not None:
        return known
    verdict = _worker.judge(translated)
    if not verdict.failure:
        _keep(identity, digest, verdict)
    return verdict


def _no_verdict(failure: str, *, about_text: bool = True) -> Verdict:
    return Verdict(False, "", "", (), failure, about_text)


@cache
def _identity() -> str | None:
    """Names this KernelGuard, by its code's hash, and this Python, whose parser it uses; None where it is missing."""
    found = importlib.util.find_spec("kernelguard")
    if found is None or found.origin is None:
        return None
    code = hashlib.sha256(Path(found.origin).read_bytes()).hexdigest()
    return f"{code[:16]}-{sys.implementation.cache_tag}"


def _cache_file(identity: str, digest: str) -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("mxsub", appauthor=False) / "kernelguard" / identity / f"{digest}.json"


def _cached(identity: str, digest: str) -> Verdict | None:
    """A kept verdict; None where there is none that can be trusted whole."""
    try:
        entry = json.loads(_cache_file(identity, digest).read_bytes())
        if entry["text"] != digest or entry["check"] != _checksum(entry["verdict"]):
            return None
        return _verdict_from(entry["verdict"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _keep(identity: str, digest: str, verdict: Verdict) -> None:
    """Writes a verdict whole or not at all; a folder that cannot be written costs only the time saved."""
    content = asdict(verdict)
    entry = {"text": digest, "check": _checksum(content), "verdict": content}
    file = _cache_file(identity, digest)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as part:
                json.dump(entry, part)
            os.replace(name, file)
        except OSError:
            os.unlink(name)
    except OSError:
        return


def _checksum(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _verdict_from(content: dict[str, object]) -> Verdict:
    matches = content["matches"]
    if not isinstance(matches, list | tuple):
        raise TypeError("matches")
    return Verdict(
        should_filter=bool(content["should_filter"]),
        reason=str(content["reason"]),
        classification=str(content["classification"]),
        matches=tuple(Match(**match) for match in matches),
        failure=str(content["failure"]),
    )


class Worker:
    """A process that judges one text after another; started when first needed, replaced when it hangs or dies.

    seconds: how long it may take for one text.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._lock = threading.Lock()

    def judge(self, text: str) -> Verdict:
        """KernelGuard's verdict on a text, or why there is none."""
        with self._lock:
            for _ in range(2):
                answer, late = self._attempt(text)
                if answer:
                    return _verdict_from(json.loads(answer))
                self._end()
                if late:
                    return _no_verdict(f"KernelGuard does not finish within {self._seconds:.0f} seconds")
            return _no_verdict("KernelGuard's process cannot be started, or dies", about_text=False)

    def _attempt(self, text: str) -> tuple[bytes, bool]:
        """The process's answer, empty where there is none; and whether it was stopped for taking too long."""
        process = self._running()
        if process is None:
            return b"", False
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        alarm = threading.Timer(self._seconds, stop)
        alarm.daemon = True
        alarm.start()
        answer = self._ask(process, text)
        alarm.cancel()
        return answer, late.is_set()

    def _ask(self, process: subprocess.Popen[bytes], text: str) -> bytes:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(text).encode() + b"\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except OSError:
            return b""
        return answer if answer.endswith(b"\n") else b""

    def _running(self) -> subprocess.Popen[bytes] | None:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._end()
        if self._closed:
            return None
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "mxsub.submit.lint.guard_worker", str(self._seconds)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            return None
        return self._process

    def _end(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue
        self._process = None

    def close(self) -> None:
        """Ends the process for good, also while it judges."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()
        with self._lock:
            self._end()


_worker = Worker()
atexit.register(_worker.close)
