"""How results look in a terminal, and plainly when piped."""

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mxsub.submit.errors import shown
from mxsub.submit.pipeline import Judged, Tested

PIPED_WIDTH = 140
NANOSECONDS_PER_MICROSECOND = 1000.0


def console(*, stderr: bool = False) -> Console:
    """A console that neither wraps nor colours what a script reads."""
    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, highlight=False, width=None if stream.isatty() else PIPED_WIDTH)


def show_findings(judged: Judged) -> None:
    """One line a finding, then the verdict."""
    out = console()
    for finding in judged.findings:
        colour = "red" if finding.severity == "error" else "yellow"
        line = Text(f"{judged.label}:{finding.line}:{finding.column}: ")
        line.append(f"{finding.rule} {finding.name}", style=colour)
        line.append(f": {finding.message}")
        out.print(line, soft_wrap=True)
        if finding.hint:
            out.print(Text(f"    {finding.hint}", style="dim"), soft_wrap=True)
    errors = sum(finding.severity == "error" for finding in judged.findings)
    warnings = len(judged.findings) - errors
    verdict = "the service would accept it" if judged.accepted else "the service would refuse it"
    style = "green" if judged.accepted else "bold red"
    out.print(Text(f"{judged.label}: {errors} errors, {warnings} warnings: {verdict}", style=style), soft_wrap=True)


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


def show_run(tested: Tested) -> None:
    """Where it ran, a line a case, and the verdict."""
    raise AssertionError((shown, Table, tested))
