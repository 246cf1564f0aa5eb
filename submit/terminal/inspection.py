"""What a submission asks of the GPU, as tables, and in sentences what is unusual."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mxsub.submit.inspect.calls import Call, call_findings
from mxsub.submit.inspect.figures import EXECUTED, GRID, RESOURCES, STATIC, WORK, Figure, Launch, figure_text
from mxsub.submit.inspect.side_by_side import FigureChange, SideBySide
from mxsub.submit.listing.shape_comparison import change_percent
from mxsub.submit.terminal.console import console, say

if TYPE_CHECKING:
    # What runs the calls takes longer to import than `mxsub diff` takes in all.
    from mxsub.submit.inspect.inspecting import Inspection

BYTES_NOTE = (
    "bytes: asked: by lanes; lines: whole cache lines of each access, 128 each; distinct: lines once a launch, which "
    "HBM must move; by XCD: once for each of the 8 dies; by workgroup: once for each workgroup, which L2 must give"
)
TIME_NOTE = (
    "estimated from the machine code, not measured; the range is that of the model's constants (docs/time-model.md)"
)
WAITS_SHOWN = 3


def show_inspection(inspection: "Inspection") -> None:
    """Tables with a row a launch, then the findings shape by shape."""
    out, calls = console(), inspection.calls
    runner = inspection.runner_triton
    same = (
        "" if runner is None else " as on the runner" if runner == inspection.triton else f", the runner has {runner}"
    )
    say(
        out,
        f"{inspection.source.label} on the virtual {inspection.gpu}; compiled by Triton {inspection.triton}{same}",
        style="bold",
    )
    _show_partial(out, calls)
    _show_table(out, calls, "registers of a lane (SGPRs: of a wave), LDS of a workgroup, scratch of a lane", RESOURCES)
    _show_table(out, calls, "the grid on 256 CUs, which are handed workgroups evenly", GRID)
    _show_instructions(out, calls)
    _show_bytes(out, calls)
    _show_table(out, calls, "operations, and the floor that an MI355X's peak rates set", WORK)
    if any(call.estimated_us for call in calls):
        _show_times(out, calls)
    for call in calls:
        _show_findings(out, call)


def _launches(calls: Sequence[Call]) -> Iterator[tuple[str, Launch]]:
    """With the shape where it is the shape's first."""
    for call in calls:
        for number, launch in enumerate(call.launches):
            yield "" if number else call.shape, launch


def _show_partial(out: Console, calls: Sequence[Call]) -> None:
    for call in calls:
        for launch in call.launches:
            counts = launch["counts"]
            if counts["workgroups_counted"] < counts["workgroups"]:
                say(
                    out,
                    f"{call.shape}, {launch['kernel']}: {counts['workgroups_counted']:,} of {counts['workgroups']:,} "
                    "workgroups counted and scaled up; distinct bytes, and the floors by them, are at least these",
                    style="yellow",
                )


def _table(title: str, *names: str, left: int = 2) -> Table:
    """The first `left` columns hold words."""
    table = Table(box=None, pad_edge=False, title=title, title_justify="left", title_style="dim")
    for number, name in enumerate(names):
        table.add_column(name, justify="left" if number < left else "right")
    return table


def _show_table(out: Console, calls: Sequence[Call], title: str, figures: tuple[Figure, ...]) -> None:
    table = _table(title, "shape", "kernel", *(_heading(figure) for figure in figures))
    for shape, launch in _launches(calls):
        table.add_row(shape, launch["kernel"], *_cells(launch, figures))
    out.print(table)


def _heading(figure: Figure) -> str:
    return f"{figure.name} {figure.unit}".strip() if figure.unit in ("us", "values") else figure.name


def _cells(launch: Launch, figures: tuple[Figure, ...]) -> list[str]:
    return [figure_text(figure.of(launch), figure.unit) for figure in figures]


def _show_instructions(out: Console, calls: Sequence[Call]) -> None:
    """Classes that no launch has are left out."""
    kept = [number for number, figure in enumerate(STATIC) if any(figure.of(launch) for _, launch in _launches(calls))]
    table = _table(
        "instructions that waves executed; below each kernel those in its code",
        "shape", "kernel", *(STATIC[number].name for number in kept),
    )  # fmt: skip
    for shape, launch in _launches(calls):
        for name, figures, style in ((launch["kernel"], EXECUTED, ""), ("  in the code", STATIC, "dim")):
            chosen = tuple(figures[number] for number in kept)
            table.add_row(shape if not style else "", name, *_cells(launch, chosen), style=style)
    out.print(table)


def _show_bytes(out: Console, calls: Sequence[Call]) -> None:
    names = ("asked", "lines", "distinct", "by XCD", "by workgroup", "modifiers")
    table = _table("", "shape", "kernel", "memory", "", *names, left=4)
    for shape, launch in _launches(calls):
        first = (shape, launch["kernel"])
        for row in _byte_rows(launch["counts"]["traffic"]):
            table.add_row(*first, *row)
            first = ("", "")
    say(out, BYTES_NOTE, style="dim")
    out.print(table)


def _byte_rows(traffic: Mapping[str, Any]) -> Iterator[list[str]]:
    for argument in traffic["arguments"]:
        keys = ("asked", "line", "distinct_launch", "distinct_dies", "distinct_workgroups")
        yield [
            argument["argument"], argument["verb"], *(figure_text(argument[f"{key}_bytes"], "bytes") for key in keys),
            _modifiers(argument["cache_modifiers"]),
        ]  # fmt: skip
    for memory in ("LDS", "scratch"):
        own = traffic[memory.lower()]
        for verb, key in (("reads", "read_bytes"), ("writes", "written_bytes")):
            if own[key]:
                yield [memory, verb, figure_text(own[key], "bytes"), "", "", "", "", ""]
    if cycles := traffic["lds"]["cycles"]:
        yield ["LDS", "cycles", f"{cycles:,}", "", "", "", "", f"{traffic['lds']['conflicts']:,} by conflicts"]


def _modifiers(found: Mapping[str, int]) -> str:
    """`sc0 nt`; where there are several kinds of access, each with its bytes."""
    if len(found) <= 1:
        return next(iter(found), "") or "-"
    return ", ".join(f"{name or '-'}: {figure_text(count, 'bytes')}" for name, count in found.items())


def _show_times(out: Console, calls: Sequence[Call]) -> None:
    say(out, TIME_NOTE, style="yellow")
    table = _table("", "shape", "kernel", "estimated us", "from", "to", "floor us", "the waves wait for")
    for call in calls:
        for number, launch in enumerate(call.launches):
            timing = launch["timing"]
            waits = list(timing["waits_share"].items())[:WAITS_SHOWN]
            table.add_row(
                "" if number else call.shape, launch["kernel"], *_range(timing["estimated_us"]),
                figure_text(launch["counts"]["roofline"]["floor_us"], "us"),
                ", ".join(f"{what} {share:.0%}" for what, share in waits),
            )  # fmt: skip
        if call.estimated_us:
            table.add_row("", "the call, with launches", *_range(call.estimated_us), style="bold")
    out.print(table)


def _range(estimated: Mapping[str, float]) -> list[str]:
    return [figure_text(estimated[end], "us") for end in ("likely", "fast", "slow")]


def _show_findings(out: Console, call: Call) -> None:
    rows = [("", finding) for finding in call_findings(call)]
    rows += [(launch["kernel"], finding) for launch in call.launches for finding in launch["counts"]["findings"]]
    say(out, f"{call.shape}: {'unusual' if rows else 'nothing unusual'}", style="bold")
    for kernel, finding in rows:
        say(out, f"  {f'{kernel}: ' if kernel else ''}{finding['sentence']}")
    for launch in call.launches:
        for found in launch["findings"]:
            say(out, f"  warning: {launch['kernel']}: {found['sentence']} ({found['place']})", style="yellow")


def show_side_by_side(out: Console, compared: SideBySide, old: str, new: str) -> None:
    """The figures that differ; old, new: what the sides are called."""
    table = _table("", "shape", "kernel", "figure", old, new, "change", left=3)
    before = ("", "")
    for change in compared.changes:
        here = (change.shape, change.kernel or "the call")
        shown = [text if text != last or here[0] != before[0] else "" for text, last in zip(here, before, strict=True)]
        before = here
        table.add_row(*shown, _named(change), *_values(change))
    if compared.changes:
        out.print(table)
    if compared.same:
        say(out, f"the same in every figure: {', '.join(compared.same)}", style="dim")
    if compared.only:
        say(out, f"of one of the two only: {', '.join(compared.only)}", style="dim")
    for shape, kernel, sentence, is_new in compared.findings:
        side, style = (new, "yellow") if is_new else (old, "dim")
        say(out, f"{shape}: only {side}: {f'{kernel}: ' if kernel else ''}{sentence}", style=style)
    if any(change.figure == "estimated" for change in compared.changes):
        say(out, TIME_NOTE, style="yellow")


def _named(change: FigureChange) -> str:
    unit = f" {change.unit}" if change.unit in ("us", "values") else ""
    return f"{change.figure}{unit}"


def _values(change: FigureChange) -> list[str | Text]:
    values = [figure_text(value, change.unit) for value in (change.old, change.new)]
    if not change.old or change.new is None:
        return [*values, ""]
    return [*values, f"{change_percent(change.new, change.old):+.1f} %"]
