"""A run of the task's evaluator."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mxsub.submit.harness.result import EMULATED_TIMES, CaseResult, KernelFinding, Run
from mxsub.submit.terminal.console import console, say
from mxsub.submit.trial import Tested

FAILED_SEEDS_SHOWN = 10
NANOSECONDS_PER_MICROSECOND = 1000.0


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
        for finding in done.findings:
            _show_finding(out, finding)
    _show_verdict(out, tested)


def _show_finding(out: Console, finding: KernelFinding) -> None:
    times = f"{finding.count:,} waves" if finding.count > 1 else "one wave"
    what = f"kernel {finding.kernel}: {finding.sentence} ({times})" if finding.kernel else finding.sentence
    say(out, f"{finding.sanitizer}: {what}", style="yellow")
    say(out, f"    {finding.source or 'an unknown line'}: {finding.instruction} ({finding.place})", style="yellow")


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
        f"{tested.source.label}: {ran.mode}: {passed} of {ran.expected} passed on {where}{share}",
        style="bold green" if ran.passed else "bold red",
    )
    if ran.error:
        say(out, f"{ran.outcome}: {ran.error}", style="red")
    if tested.sanitized:
        found = len(tested.findings)
        what = f"{found} finding{'s' if found != 1 else ''}" if found else "nothing found"
        say(out, f"sanitizers {', '.join(tested.sanitized)}: {what}", style="bold red" if found else "bold green")
    if tested.sample is not None:
        say(
            out,
            f"a sample of about {tested.sample:,} workgroups of each launch, which says nothing of the rest:",
            style="yellow",
        )
        for case in ran.cases:
            say(out, f"    {case.label}: {case.message or case.error or 'did not finish'}", style="yellow")
