"""A ranking."""

from rich.table import Table

from mxsub.submit.plain_text import one_line
from mxsub.submit.posting.placing import microseconds
from mxsub.submit.posting.standing import Standing
from mxsub.submit.terminal.console import console, say
from mxsub.submit.terminal.shapes import against
from mxsub.submit.terminal.submission import place_text


def show_standing(standing: Standing, top: int) -> None:
    """The first `top`, the user's own place and those around it, and aiter's time."""
    out, place = console(), standing.place
    say(out, f"{standing.leaderboard} on {standing.gpu}: {len(standing.ranking)} ranked", style="bold")
    table = Table(box=None, pad_edge=False)
    for name in ("rank", "user", "submission", "mean us"):
        table.add_column(name, justify="left" if name == "user" else "right")
    if standing.aiter is not None:
        table.add_column(f"aiter {standing.aiter:.3f}", justify="right")
    for entry in standing.rows(top):
        if entry is None:
            table.add_row("⋯")
            continue
        mean = microseconds(entry)
        cells = [str(entry.rank), one_line(entry.user_name or "-"), f"#{entry.submission_id}", f"{mean:.3f}"]
        own = place is not None and entry.submission_id == place.submission
        change = [against(mean, standing.aiter, with_time=False)] if standing.aiter is not None else []
        table.add_row(*cells, *change, style="bold green" if own else "")
    if standing.ranking:
        out.print(table)
    if place is not None:
        say(out, f"you are {place_text(place)}")
    elif standing.known:
        say(out, "you are not ranked")
    else:
        say(out, "your own place is not known here: `mxsub register` tells the service who you are", style="dim")
