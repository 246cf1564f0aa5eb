"""Two versions side by side."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mxsub.submit.comparison import Comparison
from mxsub.submit.config_table import shown_value
from mxsub.submit.diff import Difference
from mxsub.submit.harness.result import EMULATED_TIMES
from mxsub.submit.listing.result_comparison import LocalRun, ResultComparison, Submitted, shapes_of
from mxsub.submit.plain_text import one_line
from mxsub.submit.scores import ShapeTime, within_noise
from mxsub.submit.terminal.console import console, say
from mxsub.submit.terminal.inspection import show_side_by_side
from mxsub.submit.terminal.log import number_text, verdict_text
from mxsub.submit.terminal.shapes import NOISE_NOTE, against


def show_comparison(comparison: Comparison) -> None:
    """The configs as a table per shape, the results, what was inspected, the code with unchanged runs folded."""
    out, difference = console(), comparison.difference
    say(out, difference.sentence, style="bold")
    for origin in difference.origins:
        say(out, f"{origin.key}: {origin.old or '-'} -> {origin.new or '-'}", style="dim")
    for note in difference.notes:
        say(out, note, style="yellow")
    _show_configs(out, difference)
    if comparison.results is not None:
        _show_results(out, comparison.results)
    if comparison.inspected is not None:
        say(out, "what a call asks of the GPU, as `mxsub inspect` last found it:")
        show_side_by_side(out, comparison.inspected, "old", "new")
    _show_lines(out, difference)


def _show_configs(out: Console, difference: Difference) -> None:
    if not difference.configs:
        return
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


def _show_results(out: Console, results: ResultComparison) -> None:
    """Nothing for two versions that were never submitted nor timed."""
    old, new = results.submitted
    if old or new:
        for side, submitted in (("old", old), ("new", new)):
            out.print(_submission_line(side, submitted), soft_wrap=True)
        if old and new and not results.same_place:
            say(out, "they were submitted to different boards, GPUs or services: do not compare the times", "yellow")
        _show_times(out, old, new)
    if results.local:
        _show_local(out, *results.local)


def _submission_line(side: str, submitted: Submitted | None) -> Text:
    if submitted is None:
        return Text(f"{side}: not submitted", style="dim")
    record = submitted.record
    line = Text(f"{side}: {number_text(record)} {record.mode or ''} on {one_line(record.gpu or '-')}: ")
    line.append_text(verdict_text(record))
    if record.geometric_mean is not None:
        line.append(f"; geometric mean {record.geometric_mean:.3f} us")
    if record.rank is not None:
        line.append(f"; rank {record.rank}")
    return line


def _show_times(out: Console, old: Submitted | None, new: Submitted | None) -> None:
    before, after = old.times if old else {}, new.times if new else {}
    if not before and not after:
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("shape")
    for name in ("old us", "+-", "best", "new us", "+-", "best", "change"):
        table.add_column(name, justify="right")
    noise = False
    for shape in shapes_of(before, after):
        first, second = before.get(shape), after.get(shape)
        chance = first is not None and second is not None and within_noise(first, second)
        noise |= chance
        change = against(second.mean, first.mean, noise=chance, with_time=False) if first and second else Text("-")
        table.add_row(shape, *_time_cells(first), *_time_cells(second), change)
    means = [submitted.record.geometric_mean if submitted else None for submitted in (old, new)]
    if any(means):
        shown = ["-" if mean is None else f"{mean:.3f}" for mean in means]
        change = against(means[1], means[0], with_time=False) if means[0] and means[1] else Text("-")
        table.add_row("geometric mean", shown[0], "", "", shown[1], "", "", change, style="bold")
    out.print(table)
    if noise:
        say(out, NOISE_NOTE, style="dim")


def _time_cells(time: ShapeTime | None) -> list[str]:
    return ["-", "", ""] if time is None else [f"{time.mean:.3f}", f"{time.err:.3f}", f"{time.best:.3f}"]


def _show_local(out: Console, old: LocalRun, new: LocalRun) -> None:
    """In us, or as emulated in wave instructions."""
    virtual, scale = new.record.virtual, 1.0 if new.record.virtual else 1e-3
    where = f"the virtual {new.record.gpu}" if virtual else new.record.gpu
    say(out, f"run here, on {where}, in {'wave instructions' if virtual else 'us'}:")
    table = Table(box=None, pad_edge=False)
    table.add_column("shape")
    for name in ("old", "new", "change"):
        table.add_column(name, justify="right")
    rows: list[tuple[str, float | None, float | None]] = [
        (shape, _mean(old, shape), _mean(new, shape)) for shape in shapes_of(old.timings, new.timings)
    ]
    for shape, first, second in [*rows, ("geometric mean", old.mean, new.mean)]:
        shown = ["-" if mean is None else f"{mean * scale:,.{0 if virtual else 3}f}" for mean in (first, second)]
        change = against(second, first, with_time=False) if first and second else Text("-")
        table.add_row(shape, *shown, change, style="bold" if shape == "geometric mean" else "")
    out.print(table)
    if virtual:
        say(out, EMULATED_TIMES, style="yellow")
    if old.record.triton != new.record.triton:
        say(out, f"compiled by Triton {old.record.triton} and {new.record.triton}", style="yellow")


def _mean(run: LocalRun, shape: str) -> float | None:
    return run.timings[shape].mean if shape in run.timings else None


def _show_lines(out: Console, difference: Difference) -> None:
    width = len(str(max((line.old or line.new or 0 for line in difference.lines), default=0)))
    for line in difference.lines:
        if line.kind == "folded":
            say(out, f"⋯ {line.hidden:,} unchanged {'line' if line.hidden == 1 else 'lines'}", style="dim")
            continue
        numbers = f"{line.old or '':>{width}} {line.new or '':>{width}}"
        style = {"added": "green", "removed": "red", "same": ""}[line.kind]
        say(out, f"{numbers} {line.sign} {line.text}", style=style)
