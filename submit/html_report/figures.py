"""The page's plots, each an <svg> element of the page. The same contents give the same bytes."""

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mxsub.submit.errors import EnvironmentProblem
from mxsub.submit.html_report.contents import Report, ShapeTable, Submitted
from mxsub.submit.html_report.svg import embedded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Stand for style.css's colours, and are replaced by classes.
INK, MUTED, GRID, ACCENT, GOOD, BAD, REFERENCE = (f"#00000{number}" for number in range(1, 8))
COLOURS = {
    INK: "ink", MUTED: "muted", GRID: "grid", ACCENT: "accent", GOOD: "good", BAD: "bad", REFERENCE: "reference",
}  # fmt: skip
SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "mxsub", "svg.fonttype": "none", "text.parse_math": False, "font.size": 9.5, "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED, "text.color": INK, "xtick.color": GRID, "ytick.color": GRID, "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED, "grid.color": GRID, "grid.linewidth": 0.6, "axes.spines.top": False,
    "axes.spines.right": False, "timezone": "UTC", "axes.axisbelow": True,
}  # fmt: skip
# Of years, months, days, hours, minutes and seconds; and of the first of each.
DATE_FORMATS: dict[str, Any] = {
    "formats": ["%Y", "%b", "%b %d", "%H:%M", "%H:%M", "%H:%M:%S"],
    "zero_formats": ["%Y", "%Y", "%b %d", "%b %d", "%H:%M", "%H:%M"],
    "show_offset": False,
}
# Beyond this factor between the extremes the axis is logarithmic.
WIDE_RANGE = 8.0


def figures_of(report: Report) -> tuple[str, dict[str, str]]:
    """The trend, and by shape a plot of its times; "" and none where nothing was timed.

    Raises EnvironmentProblem where matplotlib is missing.
    """
    timed = [one for one in report.submissions if one.timed]
    if not timed:
        return "", {}
    try:
        import matplotlib
    except ImportError:
        raise EnvironmentProblem(
            "the report's plots need matplotlib, which is not installed", "pip install 'mxsub[plot]'"
        ) from None
    with matplotlib.rc_context(SETTINGS):
        failed = [one for one in report.submissions if one.failed]
        trend = _trend(timed, failed, report.shapes.aiter_mean)
        rows = [one for one in timed if one.times]
        shapes = {
            shape: _shape(f"shape-{number}", shape, rows, report.shapes)
            for number, shape in enumerate(report.shapes.shapes)
        }
    return trend, shapes


def _trend(timed: Sequence[Submitted], failed: Sequence[Submitted], aiter: float | None) -> str:
    """Geometric means in time: those that passed, the best so far, aiter's, and along the bottom what failed."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.figure import Figure

    axes = Figure(figsize=(12.5, 3.8), layout="constrained").subplots()
    times, means = [one.record.time for one in timed], [_mean(one) for one in timed]
    best = [min(means[: position + 1]) for position in range(len(means))]
    axes.step(times, best, where="post", color=ACCENT, linewidth=1.6)  # type: ignore[arg-type]
    titles = {}
    for gid, ranked in (("benchmarks", False), ("ranked", True)):
        chosen = [one for one in timed if (one.record.mode == "leaderboard") == ranked]
        axes.plot(
            [one.record.time for one in chosen], [_mean(one) for one in chosen],  # type: ignore[arg-type]
            "o", gid=gid, color=ACCENT if ranked else "none", markeredgecolor=ACCENT, markersize=4.5,
            markeredgewidth=1,
        )  # fmt: skip
        titles[gid] = [_title(one) for one in chosen]
    axes.plot(
        [one.record.time for one in failed], [0.035] * len(failed), "x",  # type: ignore[arg-type]
        gid="failed", color=BAD, markersize=5, markeredgewidth=1.3, transform=axes.get_xaxis_transform(),
    )  # fmt: skip
    titles["failed"] = [_title(one) for one in failed]
    _reference(axes, aiter, means)
    locator = AutoDateLocator(minticks=3, maxticks=8)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator, **DATE_FORMATS))  # type: ignore[no-untyped-call]
    axes.set_ylabel("geometric mean, us")
    label = (
        f"Geometric mean of {len(timed)} timed submissions, from {means[0]:.3f} us to {means[-1]:.3f} us; the best is "
        f"{min(means):.3f} us" + (f", aiter's {aiter:.3f} us" if aiter else "") + f"; {len(failed)} did not pass"
    )
    return _svg(axes, "trend", label, titles)


def _shape(name: str, shape: str, rows: Sequence[Submitted], table: ShapeTable) -> str:
    """One shape's mean times with their standard errors, submission by submission; the best one marked."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    axes = Figure(figsize=(3.7, 2.0), layout="constrained").subplots()
    chosen = [(number, one) for number, one in enumerate(rows, 1) if shape in one.times]
    numbers, means = [number for number, _ in chosen], [one.times[shape].mean for _, one in chosen]
    errors = [one.times[shape].err for _, one in chosen]
    axes.errorbar(numbers, means, yerr=errors, fmt="none", ecolor=ACCENT, elinewidth=1, capsize=1.5)
    axes.plot(numbers, means, "o", gid="means", color=ACCENT, markersize=3)
    axes.plot(numbers, means, color=ACCENT, linewidth=0.8, alpha=0.6)
    at = next(position for position, (_, one) in enumerate(chosen) if one.record.uid == table.best[shape])
    axes.plot([numbers[at]], [means[at]], "o", color="none", markeredgecolor=GOOD, markersize=8, markeredgewidth=1.6)
    aiter = table.aiter.get(shape)
    _reference(axes, aiter, means)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    room = 0.5 + 0.02 * len(rows)
    axes.set_xlim(1 - room, len(rows) + room)
    label = f"{len(means)} times of this shape; the best is {means[at]:.3f} us, the latest {means[-1]:.3f} us" + (
        f", aiter's {aiter:.3f} us" if aiter else ""
    )
    titles = [f"{one.label} {one.number}: {one.times[shape].mean:.3f} us" for _, one in chosen]
    return _svg(axes, name, label, {"means": titles})


def _reference(axes: "Axes", aiter: float | None, means: Sequence[float]) -> None:
    """aiter's time as a line, a grid, and room around all of it."""
    known = [*means, *([aiter] if aiter else [])]
    low, high = min(known), max(known)
    if high > WIDE_RANGE * low:
        axes.set_yscale("log")
        axes.set_ylim(low / 1.4, high * 1.2)
    else:
        room = 0.12 * (high - low) or 0.05 * high
        axes.set_ylim(low - 1.6 * room, high + room)
    if aiter:
        axes.axhline(aiter, color=REFERENCE, linewidth=1.2, linestyle=(0, (5, 3)))
    axes.grid(axis="y")


def _svg(axes: "Axes", name: str, label: str, titles: Mapping[str, Sequence[str]]) -> str:
    figure, file = axes.figure, io.BytesIO()
    assert figure is not None
    # No date, and nothing behind the plot: the page's own colour shows.
    figure.savefig(file, format="svg", metadata={"Date": None}, transparent=True)  # type: ignore[union-attr]
    known = {gid: [_plain(text) for text in texts] for gid, texts in titles.items() if texts}
    return embedded(file.getvalue(), name, label, COLOURS, known)


def _title(one: Submitted) -> str:
    record = one.record
    result = f"{record.geometric_mean:.3f} us" if one.timed else one.verdict
    return f"{one.label} {one.number}, {record.mode or '-'}, {record.time:%Y-%m-%d %H:%M}: {result}"


def _plain(text: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in text)


def _mean(one: Submitted) -> float:
    return one.record.geometric_mean or 0.0
