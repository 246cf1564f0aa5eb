"""All that the history knows of one version, or of one submission."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mxsub.submit.harness.result import timing_unit
from mxsub.submit.history import History
from mxsub.submit.history.codec import time_text
from mxsub.submit.history.lints import LintRecord
from mxsub.submit.history.runs import RunRecord
from mxsub.submit.history.submissions import Event, ResultRecord, SubmissionRecord
from mxsub.submit.listing.shape_comparison import ShapeComparison, compare_shapes
from mxsub.submit.reference import submission_of, version_of
from mxsub.submit.version import Version


@dataclass(frozen=True)
class SubmissionDetails:
    """A submission with the service's runs of it, what was new each time it was asked about, and its times."""

    record: SubmissionRecord
    results: tuple[ResultRecord, ...]
    events: tuple[Event, ...]
    comparison: ShapeComparison

    def to_dict(self) -> dict[str, Any]:
        return {
            **self.record.to_dict(),
            "results": [run.to_dict() for run in self.results],
            "events": [{"seen": time_text(event.seen), **event.facts} for event in self.events],
            "comparison": self.comparison.to_dict(),
        }


@dataclass(frozen=True)
class About:
    """version: None for a submission whose text is not here. submission: the one that was named by its number, or
    else the version's latest that was timed, or else its latest. submissions, runs: all of the version, latest first.
    """

    version: Version | None
    submission: SubmissionDetails | None
    submissions: tuple[SubmissionRecord, ...]
    runs: tuple[RunRecord, ...]
    lints: tuple[LintRecord, ...]

    def to_dict(self) -> dict[str, Any]:
        version = self.version
        return {
            "version": version
            and {
                "label": version.label, "sha256": version.sha256, "recorded": time_text(version.recorded),
                "origin": version.origin, "tags": list(version.tags), "variant": version.variant, "gpu": version.gpu,
                "bytes": len(version.text.encode()), "config": version.config, "provenance": version.provenance,
            },
            "lints": [
                {
                    "leaderboard": lint.leaderboard, "gpu": lint.gpu, "checked": time_text(lint.checked),
                    "accepted": lint.accepted, "findings": list(lint.findings),
                }
                for lint in self.lints
            ],
            "runs": [
                {
                    "started": time_text(run.started), "task": run.task, "mode": run.mode, "whole": run.whole,
                    "gpu": run.gpu, "virtual": run.virtual, "triton": run.triton, "outcome": run.outcome,
                    "geometric_mean": run.geometric_mean, "unit": timing_unit(run.virtual),
                }
                for run in self.runs
            ],
            "submissions": [record.to_dict() for record in self.submissions],
            "submission": self.submission and self.submission.to_dict(),
        }  # fmt: skip


def about(reference: str, folder: Path) -> About:
    """What is known of a file, or of a tag, submission number or hash in the history of the project around `folder`.

    Raises UsageError where there is no such thing.
    """
    history = History.around_or_none(folder)
    if history is None:
        return About(version_of(reference, folder), None, (), (), ())
    with history:
        named = submission_of(reference, history)
        if named is not None and named.sha256 is None:
            return About(None, _details(history, named), (named,), (), ())
        version = version_of(reference, folder)
        if Path(reference).exists() and history.versions.has(version.text):
            version = history.versions.get(version.sha256, version.label)
        submissions = history.submissions.of(version.sha256)
        timed = [record for record in submissions if record.timed]
        chosen = named or next(iter(timed or submissions), None)
        return About(
            version,
            _details(history, chosen) if chosen else None,
            tuple(submissions),
            tuple(history.runs.of(version.sha256)),
            tuple(history.lints.of(version.sha256)),
        )


def _details(history: History, record: SubmissionRecord) -> SubmissionDetails:
    return SubmissionDetails(
        record,
        tuple(history.submissions.results(record.uid)),
        tuple(history.submissions.events(record.uid)),
        compare_shapes(history, record),
    )
