"""What an answer of the service about a submission adds to the history."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, cast

from mxsub.submit.history import History
from mxsub.submit.history.codec import now, time_text
from mxsub.submit.history.submissions import Changes, Event, ResultRecord, SubmissionRecord
from mxsub.submit.kernelbot import RunEntry, SubmissionDetail
from mxsub.submit.plain_text import one_line
from mxsub.submit.posting.pace import Pace
from mxsub.submit.posting.verdict import FINAL, Judgement, Verdict, judge, mode_of
from mxsub.submit.scores import mean_of
from mxsub.submit.version import sha256_of


def observe(
    history: History, record: SubmissionRecord, detail: SubmissionDetail, pace: Pace | None = None
) -> SubmissionRecord:
    """Keeps what is new in the service's answer, and the verdict once there is one; returns the submission as it is
    then known. Writes nothing where nothing is new."""
    pace = pace or Pace()
    known = history.submissions.results(record.uid)
    runs = sorted((_result(run, detail) for run in detail.runs), key=lambda run: (run.started, run.mode))
    new = [run for run in runs if run not in known and not _told_better(run, known)]
    error = one_line(detail.job.error) if detail.job.error else record.error
    changes: Changes = {
        "remote_id": detail.id,
        "submitted": detail.submission_time,
        "status": detail.job.status,
        "error": error,
        "heartbeat": detail.job.last_heartbeat,
        "mode": record.mode or mode_of(runs),
        "gpu": record.gpu or next((run.runner for run in runs), None),
        "score": next((run.score for run in runs if run.mode == "leaderboard"), None),
        "geometric_mean": mean_of(runs),
    }
    if record.sha256 is None and history.versions.has(detail.code):
        changes["sha256"] = sha256_of(detail.code)
    events = history.submissions.events(record.uid)
    done_since = _first(events, "done", True)
    judgement = (
        _of_stream(record, detail)
        or _judge(record, detail, error, _with_results(runs, known), done_since, pace)
        or _lost(detail, events, pace)
    )
    if judgement is not None:
        changes["state"] = "finished"
        changes["verdict"], changes["sentence"] = judgement.verdict, judgement.sentence
        changes["finished"] = record.finished or max((run.ended for run in runs), default=detail.seen_at)
    elif record.state != "finished":
        changes["state"] = "accepted"
    changed = {name: value for name, value in changes.items() if getattr(record, name) != value}
    facts: dict[str, Any] = {name: _plain(value) for name, value in changed.items()}
    if detail.done and done_since is None:
        facts["done"] = True
    if new:
        facts["runs"] = [{"mode": run.mode, "passed": run.passed} for run in new]
    if not facts:
        return record
    return history.submissions.update(record.uid, facts, new, **cast(Changes, changed))


def observe_deleted(history: History, record: SubmissionRecord) -> SubmissionRecord:
    """Keeps that the service does not have a submission any more; all else that is known of it stays."""
    return history.submissions.update(
        record.uid,
        {"deleted": True},
        state="finished",
        verdict=record.verdict or "deleted",
        sentence=record.sentence or "it was deleted from the service before its verdict was known",
        finished=record.finished or now(),
        deleted=record.deleted or now(),
    )


def _judge(
    record: SubmissionRecord,
    detail: SubmissionDetail,
    error: str | None,
    runs: list[ResultRecord],
    done_since: datetime | None,
    pace: Pace,
) -> Judgement | None:
    settled = done_since is not None and (now() - done_since).total_seconds() >= pace.settle
    # One that is first seen long after its end has settled before.
    settled |= detail.seen_at - detail.submission_time > timedelta(seconds=pace.pending)
    return judge(record.mode, detail.job.status, error, detail.done, runs, settled=settled)


def _of_stream(record: SubmissionRecord, detail: SubmissionDetail) -> Judgement | None:
    """The verdict that a stream brought stands: of a runner that failed, the service shows nothing afterwards."""
    if record.verdict in (None, "lost") or detail.job.status is not None or detail.runs:
        return None
    return Judgement(cast(Verdict, record.verdict), record.sentence or "")


def _lost(detail: SubmissionDetail, events: list[Event], pace: Pace) -> Judgement | None:
    """A submission that the service forgot: it is not done, and nothing is done for it. status: None for a streamed
    one, which has no job."""
    job = detail.job
    if detail.done or job.status in FINAL:
        return None
    if job.status == "running":
        silence = detail.seen_at - (job.last_heartbeat or detail.seen_at)
        if silence > timedelta(seconds=pace.silence):
            return Judgement(
                "lost",
                f"the service calls it running, with no sign of life for {_minutes(silence)}: the service was "
                "restarted; submit it again",
            )
        since = _first(events, "status", "running")
        if since is not None and now() - since > timedelta(seconds=pace.running):
            return Judgement(
                "lost",
                f"it is still running after {_minutes(now() - since)}, while the service ends a job after 30 minutes; "
                "submit it again",
            )
        return None
    age = detail.seen_at - detail.submission_time
    if age > timedelta(seconds=pace.pending):
        return Judgement(
            "lost",
            f"it is still {job.status or 'not done'} after {_minutes(age)}: the service forgot it; submit it again",
        )
    return None


def _first(events: list[Event], name: str, value: object) -> datetime | None:
    """When a fact was first seen."""
    return next((event.seen for event in events if event.facts.get(name) == value), None)


def _result(run: RunEntry, detail: SubmissionDetail) -> ResultRecord:
    started = run.start_time or detail.submission_time
    return ResultRecord(
        run.mode,
        started,
        run.end_time or started,
        run.runner,
        run.passed,
        None if run.score is None else str(run.score),
        run.result,
    )


def _with_results(runs: list[ResultRecord], known: list[ResultRecord]) -> list[ResultRecord]:
    """The runs, with the results that only a stream showed."""
    streamed = {other.mode: other.result for other in known if other.result is not None}
    return [run if run.result is not None else replace(run, result=streamed.get(run.mode)) for run in runs]


def _told_better(run: ResultRecord, known: list[ResultRecord]) -> bool:
    """The answer of a streamed submission holds what its later showing leaves out."""
    return run.result is None and any(other.mode == run.mode and other.result is not None for other in known)


def _plain(value: object) -> object:
    return time_text(value) if isinstance(value, datetime) else value


def _minutes(time: timedelta) -> str:
    return f"{time.total_seconds() / 60:.0f} minutes"
