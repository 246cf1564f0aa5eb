"""What was made and submitted, a line each."""

from collections.abc import Sequence
from datetime import datetime

from rich.table import Table
from rich.text import Text

from mxsub.submit.history.submissions import SubmissionRecord
from mxsub.submit.listing.log import LogEntry
from mxsub.submit.plain_text import one_line
from mxsub.submit.terminal.console import console, say


def show_log(entries: Sequence[LogEntry], more: bool) -> None:
    """more: there are older ones that were not asked for."""
    out = console()
    if not entries:
        say(out, "nothing is recorded that fits: `mxsub build`, `mxsub test` and `mxsub submit` record what they do")
        return
    table = Table(box=None, pad_edge=False)
    for name in ("when", "submission", "version", "variant", "mode", "verdict"):
        table.add_column(name, no_wrap=True)
    table.add_column("mean us", justify="right", no_wrap=True)
    table.add_column("rank", justify="right", no_wrap=True)
    table.add_column("run here")
    for entry in entries:
        table.add_row(*_cells(entry))
    out.print(table)
    if more:
        say(out, "older ones: --limit N or --all", style="dim")


def local_time(time: datetime) -> str:
    """In this machine's time zone."""
    return f"{time.astimezone():%Y-%m-%d %H:%M}"


def number_text(record: SubmissionRecord) -> str:
    """`#123`; "-" for one that the service never gave a number."""
    return "-" if record.remote_id is None else f"#{record.remote_id}"


def verdict_text(record: SubmissionRecord) -> Text:
    """How a submission ended, or where it is."""
    if record.deleted:
        return Text("deleted" if record.verdict in (None, "deleted") else f"{record.verdict}, deleted", style="dim")
    if record.unfinished:
        return Text(one_line(record.status or "") or {"recorded": "not sent"}.get(record.state, "sent"), style="yellow")
    return Text(one_line(record.verdict or ""), style="green" if record.verdict == "passed" else "red")


def _cells(entry: LogEntry) -> list[str | Text]:
    version, record = entry.version, entry.submission
    named = "-"
    if version is not None:
        named = ", ".join(version.tags) or version.sha256[:12]
    elif record is not None:
        named = one_line(record.file_name)
    local = Text(", ").join(
        Text(mode if outcome == "passed" else f"{mode} {outcome}", style="green" if outcome == "passed" else "red")
        for mode, outcome in entry.local.items()
    )
    cells: list[str | Text] = [local_time(entry.time)]
    if record is None:
        cells += ["-", named, (version and version.variant) or "-", "-", "-", "-", "-"]
    else:
        cells += [
            number_text(record),
            named,
            (version and version.variant) or "-",
            record.mode or "-",
            verdict_text(record),
            "-" if record.geometric_mean is None else f"{record.geometric_mean:.3f}",
            "-" if record.rank is None else str(record.rank),
        ]
    return [*cells, local]
