"""A submission under way: one line that changes where somebody watches, a line a change where nobody does."""

import time
from types import TracebackType
from typing import Self

from mxsub.submit.history.submissions import SubmissionRecord
from mxsub.submit.kernelbot import RateLimited, RunnerQueue
from mxsub.submit.plain_text import one_line
from mxsub.submit.terminal.console import console, say

# A rate limit without a number: ask again after so many seconds.
UNKNOWN_WAIT = 300.0

_STATUS = {
    "initial": "taken by the service",
    "pending": "waiting for its turn",
    "running": "running",
    "succeeded": "was run",
}


class Watch:
    """Tells on stderr how a submission goes; keep it open while it does. quiet: only what has a line of its own."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = console(stderr=True)
        self._quiet = quiet
        self._live = self._console.is_terminal and not quiet
        self._status = self._console.status("") if self._live else None
        self._last = ""
        self._started = time.monotonic()

    def __enter__(self) -> Self:
        if self._status:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status:
            self._status.stop()

    def notify(self, sentence: str) -> None:
        """Something that is worth a line of its own."""
        say(self._console, one_line(sentence), style="yellow")

    def progress(self, sentence: str) -> None:
        """What is being done just now: of interest to who watches only."""
        if self._status:
            self._status.update(sentence)

    def news(self, record: SubmissionRecord, queue: RunnerQueue | None) -> None:
        """What the service said when it was last asked."""
        number = f"#{record.remote_id}" if record.remote_id is not None else record.file_name
        said = _STATUS.get(record.status or "", one_line(record.status or "waiting"))
        text = f"{number}: {said}"
        if queue is not None and queue.queued_jobs is not None:
            text += f", {queue.queued_jobs} jobs in the runners' queue"
        self._show(text)

    def count_down(self, limit: RateLimited) -> None:
        """Waits until the rate limit has a place."""
        seconds = UNKNOWN_WAIT if limit.wait_seconds is None else limit.wait_seconds + 1
        self.notify(f"{limit.detail}: waiting {clock(seconds)} for a place")
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            if self._status:
                self._status.update(f"a place is free in {clock(left)}")
            time.sleep(min(left, 1.0))

    def _show(self, text: str) -> None:
        if self._status:
            self._status.update(f"{text} · {clock(time.monotonic() - self._started)}")
        elif text != self._last and not self._quiet:
            say(self._console, text)
        self._last = text


def clock(seconds: float) -> str:
    """`1:02:03`, or `2:03` below an hour."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
