"""The trend as a picture."""

from pathlib import Path

from mxsub.submit.errors import EnvironmentProblem, UsageError, shown
from mxsub.submit.listing.trend import Trend

FORMATS = (".png", ".svg", ".pdf")


def write_picture(trend: Trend, path: Path) -> None:
    """Geometric means in time, the best so far and aiter's.

    Raises UsageError for another kind of file or one that cannot be written; EnvironmentProblem where matplotlib is
    missing.
    """
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"{shown(path)}: no known kind of picture", f"Its name has to end in {', '.join(FORMATS)}.")
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise EnvironmentProblem(
            "pictures need matplotlib, which is not installed", "pip install 'mxsub[plot]'"
        ) from None
    figure = Figure(figsize=(10, 5), layout="constrained")
    axes = figure.subplots()
    numbers = list(range(1, len(trend.points) + 1))
    axes.step(numbers, list(trend.best), where="post", label="best so far")
    for mode, marker in (("benchmark", "o"), ("leaderboard", "s")):
        chosen = [(n, point.mean) for n, point in zip(numbers, trend.points, strict=True) if point.mode == mode]
        if chosen:
            label = "ranked" if mode == "leaderboard" else mode
            axes.plot([n for n, _ in chosen], [mean for _, mean in chosen], marker, markersize=5, label=label)
    if trend.aiter is not None:
        axes.axhline(trend.aiter, color="gray", linestyle="--", label=f"aiter {trend.aiter:.3f} us")
    axes.set(xlabel="submission", ylabel="geometric mean, us", title=f"{trend.leaderboard} on {trend.gpu}")
    axes.grid(axis="y", alpha=0.3)
    axes.legend()
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise UsageError(f"{shown(path)}: cannot be written: {error.strerror}") from None
