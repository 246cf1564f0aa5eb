"""Reading what a process writes while it runs, however much that is."""

import os
import threading
from collections.abc import Callable

CHUNK_BYTES = 64 * 1024


class Capture:
    """Reads a pipe to its end in a thread of its own; keeps the first and the last `limit` bytes.

    on_line: called from that thread with each line. A line longer than `limit` is cut there.
    """

    def __init__(self, descriptor: int, limit: int, on_line: Callable[[str], None] | None = None) -> None:
        self._descriptor, self._limit, self._on_line = descriptor, limit, on_line
        self._head, self._tail, self._omitted = bytearray(), bytearray(), 0
        self._line = bytearray()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            while chunk := os.read(self._descriptor, CHUNK_BYTES):
                self._keep(chunk)
                if self._on_line:
                    self._split(chunk)
        finally:
            os.close(self._descriptor)

    def _keep(self, chunk: bytes) -> None:
        room = self._limit - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        # The tail grows to twice its limit before it is cut, so that cutting costs little a byte.
        if len(self._tail) > 2 * self._limit:
            self._cut_tail()

    def _cut_tail(self) -> None:
        over = max(len(self._tail) - self._limit, 0)
        self._omitted += over
        del self._tail[:over]

    def _split(self, chunk: bytes) -> None:
        assert self._on_line is not None
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            self._line += piece[: self._limit - len(self._line)]
            self._on_line(self._line.decode("utf-8", "replace"))
            self._line.clear()
        self._line += rest[: self._limit - len(self._line)]

    def text(self, wait: float = 2.0) -> str:
        """All that was kept, with a line about what was left out. Waits `wait` seconds at most for the pipe's end."""
        self._thread.join(wait)
        self._cut_tail()
        middle = f"\n[... {self._omitted:,} bytes left out ...]\n".encode() if self._omitted else b""
        return (self._head + middle + self._tail).decode("utf-8", "replace")
