"""What the page shows of one version."""

from collections.abc import Iterator, Mapping, Sequence

from mxsub.submit.config_table import configs_in, shown_value
from mxsub.submit.diff import diff
from mxsub.submit.history import History
from mxsub.submit.history.runs import RunRecord
from mxsub.submit.html_report.contents import Change, ConfigTable, LocalRun, Submitted, VersionDetail, VersionRow
from mxsub.submit.plain_text import one_line
from mxsub.submit.version import Version

MOST_RUNS = 12
# Of a diff, and of all diffs of a page together.
MOST_DIFF_LINES = 400
MOST_DIFF_CHARACTERS = 1_500_000

NANOSECONDS_PER_MICROSECOND = 1e3


def details_of(history: History, rows: Sequence[VersionRow], submitted: Sequence[Submitted]) -> Iterator[VersionDetail]:
    """Of versions, newest first. Older ones go without their diffs once the diffs together are too long.

    submitted: of all versions, first to last.
    """
    room = MOST_DIFF_CHARACTERS
    for row in rows:
        version = history.versions.get(row.sha256)
        change = _change(history, version, _base_of(row, submitted), room)
        room -= sum(len(line.text) for line in change.lines) if change else 0
        runs = history.runs.of(row.sha256)
        timed = [one for one in row.submissions if one.timed and one.times]
        yield VersionDetail(
            row=row,
            facts=_facts(version),
            config=_config_table(version),
            runs=tuple(local_run(run) for run in runs[:MOST_RUNS]),
            more_runs=max(0, len(runs) - MOST_RUNS),
            results={one.record.uid: _results(history, one) for one in row.submissions},
            timed=min(timed, key=lambda one: one.record.geometric_mean or 0) if timed else None,
            change=change,
        )


def local_run(run: RunRecord) -> LocalRun:
    """A run in words; its sentence needs the run's details."""
    cases = run.detail.get("cases")
    passed = sum(isinstance(case, dict) and case.get("status") == "pass" for case in cases or ())
    return LocalRun(
        started=run.started,
        mode=run.mode + ("" if run.whole else ", in part"),
        device=f"virtual {run.gpu}" if run.virtual else run.gpu,
        triton=run.triton,
        outcome=run.outcome,
        cases=f"{passed} of {run.detail.get('expected', len(cases))}" if cases else "-",
        figure=_figure(run),
        sentence="" if run.passed else one_line(str(run.detail.get("error") or "")),
    )


def _figure(run: RunRecord) -> str:
    if run.geometric_mean is None:
        return "-"
    if run.virtual:
        return f"{run.geometric_mean:,.0f} wave instructions"
    return f"{run.geometric_mean / NANOSECONDS_PER_MICROSECOND:.3f} us"


def _facts(version: Version) -> dict[str, str]:
    """Where it came from; the hashes of fragments are left to the diff, which names those that changed."""
    facts = {"origin": version.origin, "variant": version.variant, "gpu": version.gpu}
    facts |= {key: str(value) for key, value in (version.provenance or {}).items() if not isinstance(value, dict)}
    size = f"{len(version.text.encode('utf-8', 'replace')):,} bytes, {len(version.text.splitlines()):,} lines"
    return {key: value for key, value in facts.items() if value} | {"text": size}


def _config_table(version: Version) -> ConfigTable:
    configs: Mapping[str, Mapping[str, object]] = configs_in(version.text)
    if not configs:
        configs = {shape: values for shape, values in (version.config or {}).items() if isinstance(values, dict)}
    keys = tuple(dict.fromkeys(key for values in configs.values() for key in values))
    return ConfigTable(
        keys,
        tuple(
            (shape, tuple(one_line(shown_value(values[key])) if key in values else "" for key in keys))  # type: ignore[arg-type]
            for shape, values in configs.items()
        ),
    )


def _results(history: History, one: Submitted) -> str:
    """`test passed in 12 s, benchmark failed in 3 s`."""
    return ", ".join(
        f"{run.mode} {'passed' if run.passed else 'failed'} in {(run.ended - run.started).total_seconds():.0f} s"
        for run in history.submissions.results(one.record.uid)
    )


def _base_of(row: VersionRow, submitted: Sequence[Submitted]) -> Submitted | None:
    """The last submission of another version before this one was first submitted, or else before it was made."""
    time = min((one.record.time for one in row.submissions), default=row.recorded)
    before = [one for one in submitted if one.record.sha256 not in (None, row.sha256) and one.record.time < time]
    return before[-1] if before else None


def _change(history: History, version: Version, base: Submitted | None, room: int) -> Change | None:
    if base is None or base.record.sha256 is None:
        return None
    difference = diff(history.versions.get(base.record.sha256), version)
    lines = []
    for line in difference.lines[:MOST_DIFF_LINES]:
        room -= len(line.text)
        if room < 0:
            break
        lines.append(line)
    return Change(difference, base.label, base.anchor, tuple(lines), len(difference.lines) - len(lines))
