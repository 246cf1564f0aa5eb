"""The consoles that mxsub writes to, and its progress bar."""

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.text import Text

PIPED_WIDTH = 140


def say(out: Console, text: str, style: str = "") -> None:
    """One line as it is: no markup, no wrapping."""
    out.print(Text(text, style=style), soft_wrap=True)


def console(*, stderr: bool = False) -> Console:
    """A console that neither wraps nor colours what a script reads."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, highlight=False, width=None if stream.isatty() else PIPED_WIDTH)


class Progress:
    """A progress bar on stderr for what takes over a second; nothing where nobody watches."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = console(stderr=True)
        self._quiet = quiet or not self._console.is_terminal

    def __enter__(self) -> Self:
        from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        self._bar = Bar(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            disable=self._quiet,
        )
        self._bar.start()
        self._task = self._bar.add_task("starting", total=None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def __call__(self, description: str, done: int, total: int | None) -> None:
        """Called by the harness: what it does now, and how many of how many cases are done."""
        self._bar.update(self._task, description=description, completed=done, total=total)
