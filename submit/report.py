"""How results look in a terminal, and plainly when piped."""

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mxsub.submit.config_table import shown_value
from mxsub.submit.diff import Difference
from mxsub.submit.doctor import Health
from mxsub.submit.harness.result import CaseResult, Run
from mxsub.submit.trial import Tested

PIPED_WIDTH = 140
FAILED_SEEDS_SHOWN = 10
NANOSECONDS_PER_MICROSECOND = 1000.0
EMULATED_TIMES = "emulated: wave instructions executed, not time; a real GPU may rank configs otherwise"


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


def show_run(tested: Tested) -> None:
    """Where it ran, a line a case, the seeds, and the verdict."""
    out, ran = console(), tested.run
    say(out, f"{tested.device.detail}; {_toolchain(tested)}")
    if tested.device.virtual and ran.mode in ("benchmark", "leaderboard"):
        say(out, EMULATED_TIMES, style="yellow")
    if ran.cases:
        out.print(_case_table(ran))
    if ran.mode == "profile":
        _show_profile(out, ran)
    if ran.seeds:
        worst = "" if ran.seeds.worst_margin is None else f", worst error over tolerance {ran.seeds.worst_margin:.3f}"
        say(out, f"fresh seeds: {ran.seeds.passed} of {ran.seeds.total} checks passed{worst}")
        for spec in ran.seeds.failed[:FAILED_SEEDS_SHOWN]:
            say(out, f"    failed: {'; '.join(f'{key}: {value}' for key, value in spec.items())}", style="red")
    if ran.emulation:
        done = ran.emulation
        say(
            out,
            f"emulated {done.launches:,} kernel launches, {done.wave_instructions:,} wave instructions, "
            f"in {done.seconds:.2f} s; {ran.duration:.1f} s in all",
            style="dim",
        )
        for warning, count in done.warnings.items():
            say(out, f"warning: {warning} ({count:,} times)", style="yellow")
    _show_verdict(out, tested)


def _show_profile(out: Console, ran: Run) -> None:
    """On hardware the profiler's table of each case; of a virtual GPU what each kernel executed."""
    if not ran.device.virtual:
        for case in ran.cases:
            say(out, f"\n{case.shape}", style="bold")
            say(out, case.report)
        return
    kernels = ran.emulation.kernels if ran.emulation else ()
    classes = list(dict.fromkeys(name for kernel in kernels for name in kernel.wave_instructions))
    table = Table(box=None, pad_edge=False, title=EMULATED_TIMES, title_style="yellow", title_justify="left")
    table.add_column("kernel")
    for name in ("launches", *classes):
        table.add_column(name, justify="right")
    for kernel in kernels:
        counts = [f"{kernel.wave_instructions.get(name, 0):,}" for name in classes]
        table.add_row(kernel.kernel, f"{kernel.launches:,}", *counts)
    out.print(table)


def _toolchain(tested: Tested) -> str:
    mine = f"compiled by Triton {tested.triton}"
    if tested.runner_triton is None:
        return mine
    if tested.triton == tested.runner_triton:
        return f"{mine}, which is the runner's version"
    return f"{mine}, while the runner has {tested.runner_triton}, which may compile otherwise"


def _case_table(ran: Run) -> Table:
    """A row a case; only the columns that the run has something for."""
    table = Table(box=None, pad_edge=False)
    timed = any(case.timing for case in ran.cases)
    matched = any(case.matched for case in ran.cases)
    table.add_column("case")
    table.add_column("result")
    if timed:
        unit = "wave instructions" if ran.device.virtual else "mean us"
        for name in (unit, "runs") if ran.device.virtual else (unit, "+-", "best", "worst", "runs"):
            table.add_column(name, justify="right")
    if matched:
        table.add_column("bit-equal", justify="right")
        table.add_column("error / tolerance", justify="right")
    for case in ran.cases:
        style = {"pass": "green", "fail": "red"}.get(case.status, "yellow")
        row: list[str | Text] = [case.shape, Text(case.status or "did not finish", style=style)]
        if timed:
            row += _timing_cells(case, virtual=ran.device.virtual)
        if matched:
            equal, total = case.matched or (0, 0)
            row += [f"{100 * equal / total:.4f} %" if total else "-"]
            row += ["-" if case.margin is None else f"{case.margin:.3f}"]
        table.add_row(*row)
    return table


def _timing_cells(case: CaseResult, *, virtual: bool) -> list[str]:
    timing = case.timing
    if timing is None:
        return ["-", "-"] if virtual else ["-"] * 5
    if virtual:
        return [f"{timing.mean:,.0f}", str(timing.runs)]
    times = (timing.mean, timing.err, timing.best, timing.worst)
    return [*(f"{time / NANOSECONDS_PER_MICROSECOND:.2f}" for time in times), str(timing.runs)]


def _show_verdict(out: Console, tested: Tested) -> None:
    ran = tested.run
    passed = sum(case.status == "pass" for case in ran.cases)
    share = ""
    equal = sum(case.matched[0] for case in ran.cases if case.matched)
    total = sum(case.matched[1] for case in ran.cases if case.matched)
    if total:
        share = f"; {100 * equal / total:.4f} % of the elements bit-equal to the reference"
    mean = ran.geometric_mean
    if mean and ran.passed and not ran.device.virtual:
        share += f"; geometric mean {mean / NANOSECONDS_PER_MICROSECOND:.3f} us"
    where = f"the virtual {ran.device.name}" if ran.device.virtual else ran.device.name
    say(
        out,
        f"{tested.label}: {ran.mode}: {passed} of {ran.expected} passed on {where}{share}",
        style="bold green" if ran.passed else "bold red",
    )
    if ran.error:
        say(out, f"{ran.outcome}: {ran.error}", style="red")


def show_difference(difference: Difference) -> None:
    """The configs as a table per shape, then the code with unchanged runs folded."""
    out = console()
    say(out, difference.sentence, style="bold")
    for origin in difference.origins:
        say(out, f"{origin.key}: {origin.old or '-'} -> {origin.new or '-'}", style="dim")
    for note in difference.notes:
        say(out, note, style="yellow")
    if difference.configs:
        table = Table(box=None, pad_edge=False)
        for name in ("shape", "config", "old", "new"):
            table.add_column(name)
        last = ""
        for change in difference.configs:
            values = [shown_value(value) if value is not None else "-" for value in (change.old, change.new)]
            table.add_row(change.shape if change.shape != last else "", change.key, *values)
            last = change.shape
        out.print(table)
        if difference.same_shapes:
            say(out, f"{difference.same_shapes} shapes have the same config", style="dim")
    width = len(str(max((line.old or line.new or 0 for line in difference.lines), default=0)))
    for line in difference.lines:
        if line.kind == "folded":
            say(out, f"⋯ {line.hidden:,} unchanged {'line' if line.hidden == 1 else 'lines'}", style="dim")
            continue
        numbers = f"{line.old or '':>{width}} {line.new or '':>{width}}"
        style = {"added": "green", "removed": "red", "same": ""}[line.kind]
        say(out, f"{numbers} {line.sign} {line.text}", style=style)


def show_health(health: Health) -> None:
    """A line a check, and the verdict."""
    out = console()
    for check in health.checks:
        mark, style = {"ok": ("ok", "green"), "note": ("note", "yellow"), "missing": ("missing", "bold red")}[
            check.state
        ]
        line = Text(f"{mark:<8}", style=style)
        line.append(f"{check.name}: {check.found}", style="default")
        out.print(line, soft_wrap=True)
        if check.hint:
            say(out, f"        {check.hint}", style="dim")
    say(out, health.sentence, style="green" if health.healthy else "bold red")
