"""All that is known of one version or submission."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mxsub.submit.history.runs import RunRecord
from mxsub.submit.history.submissions import SubmissionRecord
from mxsub.submit.listing.about import About, SubmissionDetails
from mxsub.submit.plain_text import one_line
from mxsub.submit.terminal.console import console, say
from mxsub.submit.terminal.log import local_time, number_text, verdict_text
from mxsub.submit.terminal.shapes import show_shapes
from mxsub.submit.version import Version

RUNS_SHOWN = 10
SUBMISSIONS_SHOWN = 20


def show_about(found: About) -> None:
    """The version's facts, lint, runs here, its submissions, and the times of one of them."""
    out = console()
    if found.version is not None:
        _show_version(out, found.version)
        _show_lints(out, found)
        _show_runs(out, found.runs)
    if len(found.submissions) > 1:
        _show_submissions(out, found.submissions)
    if found.submission is not None:
        _show_submission(out, found.submission, with_text=found.version is not None)
    elif found.version is not None:
        say(out, "not submitted", style="dim")


def _show_version(out: Console, version: Version) -> None:
    say(out, f"{', '.join(version.tags) or version.label} (sha256 {version.sha256})", style="bold")
    origin = {"build": "rendered", "file": "read from a file", "remote": "pulled from the service"}[version.origin]
    made = f", variant {version.variant} for {version.gpu}" if version.variant else ""
    recorded = f", {local_time(version.recorded)}" if version.recorded else ", not in the history"
    size = f"{len(version.text.encode()):,} bytes, {len(version.text.splitlines()):,} lines"
    say(out, f"{origin}{made}{recorded}; {size}")
    facts = {key: value for key, value in (version.provenance or {}).items() if not isinstance(value, dict)}
    if facts:
        say(out, ", ".join(f"{key} {value}" for key, value in facts.items()), style="dim")


def _show_lints(out: Console, found: About) -> None:
    for lint in found.lints:
        place = " on ".join(part for part in (lint.leaderboard, lint.gpu) if part)
        verdict = "accepted" if lint.accepted else "refused"
        say(
            out,
            f"lint, {place}: {verdict}, {len(lint.findings)} findings, {local_time(lint.checked)}",
            style="green" if lint.accepted else "red",
        )
        for finding in lint.findings:
            where = f"{finding.get('line')}:{finding.get('column')}"
            say(out, f"    {where} {finding.get('rule')} {one_line(str(finding.get('message')))}")


def _show_runs(out: Console, runs: tuple[RunRecord, ...]) -> None:
    for run in runs[:RUNS_SHOWN]:
        where = f"the virtual {run.gpu}" if run.virtual else run.gpu
        part = "" if run.whole else ", in part"
        mean = ""
        if run.geometric_mean is not None:
            figure = f"{run.geometric_mean:,.0f} wave instructions"
            mean = f"; geometric mean {figure if run.virtual else f'{run.geometric_mean / 1000:.3f} us'}"
        say(
            out,
            f"run here, {local_time(run.started)}: {run.mode}{part} on {where}, Triton {run.triton}: "
            f"{run.outcome}{mean}",
            style="green" if run.passed else "red",
        )
    if len(runs) > RUNS_SHOWN:
        say(out, f"and {len(runs) - RUNS_SHOWN} earlier runs", style="dim")


def _show_submissions(out: Console, records: tuple[SubmissionRecord, ...]) -> None:
    table = Table(box=None, pad_edge=False)
    for name in ("when", "submission", "mode", "gpu", "verdict"):
        table.add_column(name)
    table.add_column("mean us", justify="right")
    table.add_column("rank", justify="right")
    for record in records[:SUBMISSIONS_SHOWN]:
        table.add_row(
            local_time(record.time), number_text(record), record.mode or "-", one_line(record.gpu or "-"),
            verdict_text(record),
            "-" if record.geometric_mean is None else f"{record.geometric_mean:.3f}",
            "-" if record.rank is None else str(record.rank),
        )  # fmt: skip
    out.print(table)
    if len(records) > SUBMISSIONS_SHOWN:
        say(out, f"and {len(records) - SUBMISSIONS_SHOWN} earlier submissions", style="dim")


def _show_submission(out: Console, details: SubmissionDetails, *, with_text: bool) -> None:
    record = details.record
    line = Text(
        f"{number_text(record)}: {one_line(record.file_name)}, {record.mode or '-'} on "
        f"{one_line(record.leaderboard)} on {one_line(record.gpu or '-')}, {local_time(record.time)}: ",
        style="bold",
    )
    line.append_text(verdict_text(record))
    out.print(line, soft_wrap=True)
    if record.sentence and record.verdict != "passed":
        say(out, one_line(record.sentence), style="red")
    if not with_text:
        say(out, f"its text is not here: `mxsub pull {record.remote_id}` fetches it", style="yellow")
    for run in details.results:
        seconds = (run.ended - run.started).total_seconds()
        score = f", score {run.score} s" if run.score is not None else ""
        outcome = "passed" if run.passed else "failed"
        say(out, f"    {one_line(run.mode)}: {outcome} in {seconds:.0f} s on {one_line(run.runner)}{score}")
    show_shapes(out, details.comparison)
    if record.geometric_mean is not None:
        rank = f", rank {record.rank}" if record.rank is not None else ""
        say(out, f"geometric mean {record.geometric_mean:.3f} us{rank}")
