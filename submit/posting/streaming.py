"""Hands in a profile, whose request lasts until its result is there, and keeps what it brings."""

import base64
import io
import zipfile
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from mxsub.submit.errors import EnvironmentProblem, shown
from mxsub.submit.history.codec import now
from mxsub.submit.history.submissions import ResultRecord, SubmissionRecord
from mxsub.submit.kernelbot import EvalResult, Streamed
from mxsub.submit.posting.sending import Desk, UnderWay, Wait, send
from mxsub.submit.posting.verdict import judge

# A run whose traceback is worth more than its verdict.
MOST_OUTPUT_SHOWN = 4000


@dataclass(frozen=True)
class Profile:
    """A profile submission and what only its answer holds.

    traces: the profiler's archives, written as files. output: the end of what the evaluator of a run that did not
    pass wrote to stderr and stdout, by run.
    """

    record: SubmissionRecord
    traces: tuple[Path, ...] = ()
    output: dict[str, str] = field(default_factory=dict)


def send_profile(desk: Desk, record: SubmissionRecord, text: bytes, wait: Wait) -> Profile:
    """Hands in a profile and stays until its result is there. Where it was handed in before, or the connection is
    lost, the record is all there is: the service cancels the run."""
    answer: list[Streamed] = []

    def post(attempt: SubmissionRecord, under_way: UnderWay) -> None:
        def beat(seconds: float) -> None:
            desk.progress(f"under way for {seconds:.0f} s")
            under_way()

        answer.append(
            desk.bot.submit_streaming(
                attempt.leaderboard,
                str(attempt.gpu),
                str(attempt.mode),
                attempt.file_name,
                text,
                beat,
            )
        )
        _keep(desk, attempt, answer[0])

    record = send(desk, record, post, wait)
    if not answer:
        return Profile(record)
    return Profile(desk.history.submissions.get(record.uid), _written(desk, record, answer[0]), _output(answer[0]))


def _keep(desk: Desk, record: SubmissionRecord, streamed: Streamed) -> None:
    """Runs and verdict, the moment they are there."""
    runs = [_result(name, entry) for name, entry in streamed.runs.items() if entry.run is not None]
    if streamed.success:
        judgement = judge(record.mode, "succeeded", None, True, runs, settled=True)
    else:
        judgement = judge(record.mode, "failed", streamed.error, True, runs, settled=True)
    assert judgement is not None
    system = streamed.system.model_dump(exclude_defaults=True)
    desk.history.submissions.update(
        record.uid,
        {"system": system, "runs": [{"mode": run.mode, "passed": run.passed} for run in runs]},
        runs,
        verdict=judgement.verdict,
        sentence=judgement.sentence,
        finished=now(),
    )


def _result(name: str, entry: EvalResult) -> ResultRecord:
    assert entry.run is not None
    started, ended = (_utc(time) for time in (entry.start, entry.end))
    return ResultRecord(name, started, ended, "", entry.run.passed, None, entry.run.result)


def _utc(time: datetime | None) -> datetime:
    """The runner's local time; its machines run on UTC."""
    if time is None:
        return now()
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time


def _output(streamed: Streamed) -> dict[str, str]:
    return {
        name: f"{entry.run.stdout}\n{entry.run.stderr}".strip()[-MOST_OUTPUT_SHOWN:]
        for name, entry in streamed.runs.items()
        if entry.run is not None and not entry.run.passed
    }


def _written(desk: Desk, record: SubmissionRecord, streamed: Streamed) -> tuple[Path, ...]:
    """The profiler's archives, as `.mxsub/profiles/NUMBER/profile.0.zip`."""
    folder = desk.history.file.path.parent / "profiles" / str(record.remote_id or record.uid)
    written = []
    for name, entry in streamed.runs.items():
        if entry.profile is None or not entry.profile.trace:
            continue
        path = folder / f"{Path(name).name}.zip"
        try:
            archive = base64.b64decode(entry.profile.trace, validate=True)
        except ValueError:
            desk.notify(f"{name}: the profiler's archive came damaged and was left out")
            continue
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive)
        except OSError as error:
            raise EnvironmentProblem(
                f"{shown(path)}: the profiler's archive cannot be written: {error.strerror}",
                "Its runs and verdict are kept: `mxsub submit --resume` shows them. For the archive, profile again.",
            ) from None
        if not zipfile.is_zipfile(io.BytesIO(archive)):
            desk.notify(f"{name}: the profiler's archive is no whole zip file; {shown(path)} has it as it came")
        written.append(path)
    return tuple(written)
