"""A submission with its verdict: its times against those of others, its place, and what it came to."""

from rich.console import Console

from mxsub.submit.history import History
from mxsub.submit.listing.shape_comparison import compare_shapes
from mxsub.submit.plain_text import one_line
from mxsub.submit.posting.placing import Place
from mxsub.submit.posting.submitting import Submitted
from mxsub.submit.terminal.console import console, say
from mxsub.submit.terminal.shapes import show_shapes


def show_submitted(history: History, submitted: Submitted) -> None:
    """The table of its times, its place, and the verdict; of one that is not followed, that it is handed in."""
    out, record = console(), submitted.record
    _show_profile(out, submitted)
    show_shapes(out, compare_shapes(history, record))
    _show_place(out, submitted)
    number = f"#{record.remote_id}" if record.remote_id is not None else record.file_name
    what = f"{number}: {record.mode} on {record.leaderboard} on {record.gpu}"
    if record.unfinished:
        say(out, f"{what}: handed in; `mxsub log` has the verdict later", style="yellow")
        return
    mean = f"; geometric mean {record.geometric_mean:.3f} us" if record.geometric_mean else ""
    say(out, f"{what}: {record.verdict}{mean}", style="bold green" if record.verdict == "passed" else "bold red")
    if record.verdict != "passed" and record.sentence:
        say(out, one_line(record.sentence), style="red")


def _show_place(out: Console, submitted: Submitted) -> None:
    place = submitted.place
    if place is not None:
        own = "" if place.submission == submitted.record.remote_id else f" (with #{place.submission}, which is faster)"
        say(out, place_text(place) + own)


def place_text(place: Place) -> str:
    """`rank 3 of 40; rank 2 (ada) is 0.120 us faster, 1.20 %`."""
    if place.ahead is None:
        distance = "nobody is faster"
    else:
        name = one_line(place.ahead.user_name or "somebody")
        distance = f"rank {place.ahead.rank} ({name}) is {place.gap:.3f} us faster, {place.gap_percent:.2f} %"
    return f"rank {place.rank} of {place.of}; {distance}"


def _show_profile(out: Console, submitted: Submitted) -> None:
    if submitted.profile is None:
        return
    for name, text in submitted.profile.output.items():
        say(out, f"{name} wrote:", style="bold")
        for line in text.splitlines():
            say(out, f"    {one_line(line)}")
    for path in submitted.profile.traces:
        say(out, f"the profiler's archive: {path}")
