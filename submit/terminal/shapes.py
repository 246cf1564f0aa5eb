"""Times shape by shape, against those of others."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mxsub.submit.listing.shape_comparison import Rival, ShapeComparison, change_percent, is_noise
from mxsub.submit.scores import ShapeTime
from mxsub.submit.terminal.console import say

NOISE_NOTE = "~: no more than chance makes, as of two standard errors"


def show_shapes(out: Console, comparison: ShapeComparison) -> None:
    """A row a shape and one for the geometric mean; nothing where the submission was not timed."""
    if not comparison.times:
        return
    rivals = _titled(comparison)
    table = Table(box=None, pad_edge=False)
    table.add_column("shape")
    for name in ("mean us", "+-", "best", "aiter", *rivals):
        table.add_column(name, justify="right")
    for shape, time in comparison.times.items():
        aiter = comparison.aiter.get(shape)
        table.add_row(
            shape, f"{time.mean:.3f}", f"{time.err:.3f}", f"{time.best:.3f}",
            against(time.mean, aiter), *(_against_rival(shape, time, rival) for rival in rivals.values()),
        )  # fmt: skip
    if comparison.mean is not None:
        table.add_row(
            "geometric mean", f"{comparison.mean:.3f}", "", "", against(comparison.mean, comparison.aiter_mean),
            *(against(comparison.mean, rival.mean) for rival in rivals.values()), style="bold",
        )  # fmt: skip
    out.print(table)
    if any(is_noise(time, rival, shape) for shape, time in comparison.times.items() for rival in rivals.values()):
        say(out, NOISE_NOTE, style="dim")


def _titled(comparison: ShapeComparison) -> dict[str, Rival]:
    """The rivals by their columns' titles; one column where they are the same."""
    previous, best = comparison.previous, comparison.best
    if previous is None or best is None:
        return {}
    if previous == best:
        return {f"before it, best so far: {best.label}": best}
    return {f"before it: {previous.label}": previous, f"best so far: {best.label}": best}


def against(new: float, old: float | None, *, noise: bool = False, with_time: bool = True) -> Text:
    """Another's time, and how much the new one is above or below it: `9.462  -12.3 %`."""
    if not old:
        return Text("-")
    percent = change_percent(new, old)
    style = "" if noise else "green" if percent < 0 else "red" if percent > 0 else ""
    change = (f"{'~' if noise else ''}{percent:+.1f} %".rjust(9), style)
    return Text.assemble(f"{old:.3f} ", change) if with_time else Text.assemble(change)


def _against_rival(shape: str, time: ShapeTime, rival: Rival) -> Text:
    old = rival.times.get(shape)
    return Text("-") if old is None else against(time.mean, old.mean, noise=is_noise(time, rival, shape))
