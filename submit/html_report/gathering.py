"""Reads a report's contents from a history."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from mxsub.submit.aiter_times import AITER_TIMES
from mxsub.submit.errors import MxsubError, UsageError
from mxsub.submit.history import History
from mxsub.submit.history.runs import RunRecord
from mxsub.submit.history.submissions import SubmissionRecord
from mxsub.submit.html_report.contents import (
    Best,
    Counts,
    Failure,
    Place,
    Report,
    ShapeTable,
    Submitted,
    Verdict,
    VersionRow,
)
from mxsub.submit.html_report.details import details_of, local_run
from mxsub.submit.plain_text import one_line
from mxsub.submit.scores import ShapeTime, geometric_mean, shape_times
from mxsub.submit.version import VersionEntry

# Bounds that keep the page under some 5 MB, however long the history is.
MOST_VERSIONS = 1000
MOST_TIMED = 300
MOST_SHAPE_ROWS = 25
MOST_SHAPES = 24
MOST_FAILURES = 50
MOST_FOREIGN = 200
TIMING_MODES = ("benchmark", "leaderboard")


def gather(history: History, folder: Path, *, leaderboard: str | None, gpu: str | None, last: int) -> Report:
    """What the page of a project shows, with the details of its `last` latest versions.

    leaderboard, gpu: of the latest submission where None. Raises UsageError where there are submissions and none to
    these.
    """
    records = history.submissions.latest()
    entries = history.versions.entries()
    runs = history.runs.latest()
    place = _place(records, folder, leaderboard, gpu)
    here = [record for record in records if _is_at(record, place)]
    shown, detailed = entries[:MOST_VERSIONS], entries[: min(last, MOST_VERSIONS)]
    anchors = {entry.sha256: f"v-{entry.sha256[:16]}" for entry in detailed}
    submitted = _submitted(history, here, entries, anchors)
    rows = _rows(history, shown, anchors, submitted, runs, place)
    known = {entry.sha256 for entry in entries}
    foreign = [one for one in reversed(submitted) if one.record.sha256 not in known]
    failures = _failures(history, submitted, runs, entries, anchors, place)
    return Report(
        project=folder.resolve().name or str(folder),
        place=place,
        counts=Counts(len(entries), len(runs), len(records)),
        best=_best(submitted, place),
        submissions=submitted,
        shapes=_shape_table(submitted, place),
        failures=tuple(failures[:MOST_FAILURES]),
        versions=rows,
        details=tuple(details_of(history, rows[: len(detailed)], submitted)),
        foreign=tuple(foreign[:MOST_FOREIGN]),
        left_out=tuple(
            _left_out(
                (len(records) - len(here), "submission", "to other boards, GPUs or services"),
                (len(entries) - len(shown), "version", "older than those in the table"),
                (len(shown) - len(detailed), "version", "not shown in detail: `--last N` shows the latest N"),
                (len(failures) - MOST_FAILURES, "failure", "older than those in the list"),
                (len(foreign) - MOST_FOREIGN, "submission", "made elsewhere and older than those in the list"),
            )
        ),
    )


def _place(records: Sequence[SubmissionRecord], folder: Path, leaderboard: str | None, gpu: str | None) -> Place:
    """Of the latest submission that fits, or else of the project's configs.yaml."""
    for record in records:
        if leaderboard in (None, record.leaderboard) and record.gpu and gpu in (None, record.gpu):
            return Place(record.leaderboard, record.gpu, record.service)
    if records and (leaderboard or gpu):
        places = sorted({f"{record.leaderboard} on {record.gpu}" for record in records if record.gpu})
        wanted = " on ".join(filter(None, (leaderboard or "any board", gpu)))
        raise UsageError(
            f"the history has no submission to {one_line(wanted)}", f"It has some to {one_line(', '.join(places))}."
        )
    # Reading a project takes longer to import than the history does.
    from mxsub.submit.project import find_project

    try:
        project = find_project(folder)
    except MxsubError:
        return Place(leaderboard, gpu, None)
    return Place(leaderboard or project.leaderboard, gpu or project.gpu.name, None)


def _is_at(record: SubmissionRecord, place: Place) -> bool:
    """One whose GPU is not known, as it was made elsewhere, counts as any."""
    return (
        record.leaderboard == place.leaderboard and record.gpu in (None, place.gpu) and record.service == place.service
    )


def _submitted(
    history: History,
    records: Sequence[SubmissionRecord],
    entries: Sequence[VersionEntry],
    anchors: Mapping[str, str],
) -> tuple[Submitted, ...]:
    """First to last; the latest timed ones with their times."""
    labels = {entry.sha256: entry.label for entry in entries}
    found, timed = [], 0
    for record in records:
        sha256 = record.sha256 or ""
        number = f"#{record.remote_id}" if record.remote_id is not None else one_line(record.file_name)
        one = Submitted(record, labels.get(sha256, number), anchors.get(sha256), {})
        if one.timed and timed < MOST_TIMED:
            one = replace(one, times=_plottable(shape_times(history.submissions.results(record.uid))))
            timed += 1
        found.append(one)
    return tuple(reversed(found))


def _plottable(times: Mapping[str, ShapeTime]) -> dict[str, ShapeTime]:
    """Without figures that are no times, whatever the service wrote."""
    return {shape: time for shape, time in times.items() if 0 < time.mean < math.inf and 0 <= time.err < math.inf}


def _best(submitted: Sequence[Submitted], place: Place) -> Best | None:
    timed = [one for one in submitted if one.timed]
    if not timed:
        return None
    ranked = [one for one in submitted if one.passed and one.record.rank is not None]
    return Best(min(timed, key=_mean), ranked[-1] if ranked else None, _aiter_mean(place))


def _shape_table(submitted: Sequence[Submitted], place: Place) -> ShapeTable:
    """The latest rows, and before them those that hold a shape's best time."""
    timed = [one for one in submitted if one.times and one.timed]
    aiter = AITER_TIMES.get(place.leaderboard or "", {})
    seen = dict.fromkeys([*aiter, *(shape for one in reversed(timed) for shape in one.times)])
    shapes = [shape for shape in seen if any(shape in one.times for one in timed)][:MOST_SHAPES]
    best = {
        shape: min((one for one in timed if shape in one.times), key=lambda one: one.times[shape].mean).record.uid
        for shape in shapes
    }
    fastest = min(timed, key=_mean).record.uid if timed else None
    latest = {one.record.uid for one in timed[-MOST_SHAPE_ROWS:]} | set(best.values()) | {fastest}
    rows = [one for one in reversed(timed) if one.record.uid in latest]
    return ShapeTable(tuple(shapes), tuple(rows), best, aiter, _aiter_mean(place), len(timed) - len(rows))


def _rows(
    history: History,
    entries: Sequence[VersionEntry],
    anchors: Mapping[str, str],
    submitted: Sequence[Submitted],
    runs: Sequence[RunRecord],
    place: Place,
) -> tuple[VersionRow, ...]:
    by_version: dict[str, list[Submitted]] = {}
    for one in reversed(submitted):
        by_version.setdefault(one.record.sha256 or "", []).append(one)
    local: dict[str, list[RunRecord]] = {}
    for run in reversed(runs):
        if run.whole and run.gpu == place.gpu:
            local.setdefault(run.sha256, []).append(run)
    return tuple(
        VersionRow(
            sha256=entry.sha256,
            tags=entry.tags,
            label=entry.label,
            anchor=anchors.get(entry.sha256),
            variant=entry.variant,
            recorded=entry.recorded,
            local={run.mode: run.outcome for run in local.get(entry.sha256, ())},
            wave_instructions=_wave_instructions(local.get(entry.sha256, ())),
            lint=_verdict(history, entry.sha256, place),
            submissions=tuple(by_version.get(entry.sha256, ())),
        )
        for entry in entries
    )


def _wave_instructions(runs: Iterable[RunRecord]) -> float | None:
    """Of the last run that counted them."""
    counted = [run.geometric_mean for run in runs if run.virtual and run.passed and run.mode in TIMING_MODES]
    return counted[-1] if counted else None


def _verdict(history: History, sha256: str, place: Place) -> Verdict:
    for lint in history.lints.of(sha256):
        if (lint.leaderboard, lint.gpu) in ((place.leaderboard, place.gpu), ("", place.gpu), ("", "")):
            severities = [finding.get("severity") for finding in lint.findings]
            return Verdict(lint.accepted, severities.count("error"), severities.count("warning"), lint.findings)
    return Verdict(None, 0, 0)


def _failures(
    history: History,
    submitted: Sequence[Submitted],
    runs: Sequence[RunRecord],
    entries: Sequence[VersionEntry],
    anchors: Mapping[str, str],
    place: Place,
) -> list[Failure]:
    """Newest first. Sentences of local runs stand in their details, which are read for those that may be shown."""
    labels = {entry.sha256: entry.label for entry in entries}
    found = [
        Failure(
            one.record.time, one.number, one.label, one.anchor, one.record.mode or "-", one.verdict,
            one.record.sentence or one.record.error or "",
        )
        for one in submitted
        if one.failed
    ]  # fmt: skip
    bad = [run for run in runs if not run.passed and run.gpu == place.gpu]
    sentences = {
        run.uid: local_run(run).sentence
        for sha256 in dict.fromkeys(run.sha256 for run in bad[:MOST_FAILURES])
        for run in history.runs.of(sha256)
    }
    for run in bad:
        what = f"local, {'virtual ' if run.virtual else ''}{run.gpu}"
        label, sentence = labels.get(run.sha256, run.sha256[:12]), sentences.get(run.uid, "")
        found.append(Failure(run.started, what, label, anchors.get(run.sha256), run.mode, run.outcome, sentence))
    return sorted(found, key=lambda failure: failure.time, reverse=True)


def _left_out(*parts: tuple[int, str, str]) -> list[str]:
    """A sentence each of how many of what are what; none where there are none."""
    return [
        f"{count:,} {noun}{'' if count == 1 else 's'} {'is' if count == 1 else 'are'} {what}"
        for count, noun, what in parts
        if count > 0
    ]


def _aiter_mean(place: Place) -> float | None:
    return geometric_mean(list(AITER_TIMES.get(place.leaderboard or "", {}).values()))


def _mean(one: Submitted) -> float:
    return one.record.geometric_mean or float("inf")
