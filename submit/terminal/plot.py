"""The trend as a plot of characters."""

from mxsub.submit.errors import EnvironmentProblem
from mxsub.submit.listing.trend import Trend
from mxsub.submit.terminal.console import console, say

HEIGHT = 20
WIDTH = 100


def show_trend(trend: Trend) -> None:
    """The geometric mean, submission by submission, the best so far, and aiter's. Raises EnvironmentProblem where
    plotext is missing."""
    try:
        import plotext
    except ImportError:
        raise EnvironmentProblem(
            "plots in the terminal need plotext, which is not installed", "pip install 'mxsub[plot]'"
        ) from None
    out, points = console(), trend.points
    numbers = list(range(1, len(points) + 1))
    plotext.clear_figure()
    plotext.theme("clear")
    plotext.limit_size(False, False)
    plotext.plot_size(min(out.width, WIDTH), HEIGHT)
    plotext.plot(numbers, list(trend.best), marker="braille", label="best so far")
    ranked = [number for number, point in zip(numbers, points, strict=True) if point.mode == "leaderboard"]
    others = [number for number in numbers if number not in set(ranked)]
    for chosen, marker, label in ((others, "o", "benchmark"), (ranked, "x", "ranked")):
        if chosen:
            plotext.scatter(chosen, [points[number - 1].mean for number in chosen], marker=marker, label=label)
    if trend.aiter is not None:
        plotext.plot([1, len(points)], [trend.aiter] * 2, marker="-", label=f"aiter {trend.aiter:.3f}")
    ticks = sorted({1, len(points), *range(1, len(points) + 1, max(1, len(points) // 4))})
    plotext.xticks(ticks, [str(number) for number in ticks])
    plotext.xlabel("submission")
    plotext.ylabel("geometric mean, us")
    for line in plotext.uncolorize(plotext.build()).splitlines():
        say(out, line.rstrip())
    first, last = points[0], points[-1]
    best = min(points, key=lambda point: point.mean)
    say(
        out,
        f"{trend.leaderboard} on {trend.gpu}: {len(points)} submissions, {first.label} {first.mean:.3f} us to "
        f"{last.label} {last.mean:.3f} us; the best is {best.label} with {best.mean:.3f} us",
    )
