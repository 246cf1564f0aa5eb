"""Submissions as the service's database holds them; a job's state follows from the clock alone."""

import heapq
import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from .runner import Evaluation, Outcome
from .upload import Upload
from .users import User

FINAL = ("succeeded", "failed", "timed_out", "hacked")


@dataclass(frozen=True)
class Timeline:
    """When a job changes, in seconds since 1970; math.inf for never.

    stored: from when the public runs are there, `done` on all of them. final: from when the job's status is final.
    heartbeat: seconds between heartbeats; late: how far behind the clock they are.
    """

    pending: float
    running: float
    stored: float
    done: float
    final: float
    heartbeat: float
    late: float = 0.0


@dataclass(frozen=True)
class Run:
    """A row of the runs table."""

    evaluation: Evaluation
    start: float
    end: float

    @property
    def mode(self) -> str:
        """test, benchmark, leaderboard or profile.N."""
        return self.evaluation.mode

    @property
    def secret(self) -> bool:
        """Of the secret workflow."""
        return self.evaluation.secret

    @property
    def passed(self) -> bool:
        """`check` was pass."""
        return self.evaluation.passed

    @property
    def score(self) -> Decimal | None:
        """Seconds, for leaderboard runs that passed."""
        return self.evaluation.score


@dataclass
class Row:
    """One submission. `job_id` is None for a streaming one."""

    id: int
    user_id: int
    user: str
    leaderboard: str
    gpu: str
    mode: str
    file_name: str
    code: str
    created: datetime
    job_id: int | None
    timeline: Timeline
    outcome: Outcome
    left_at: float = math.inf

    def state(self, now: float | None = None) -> "State":
        """All that depends on the clock, at one moment (seconds since 1970; None: at present)."""
        now = time.time() if now is None else now
        times = self.timeline
        status, beat = None, None
        if self.job_id is not None:
            status = self._status(now)
            if now >= times.running:
                beats = math.floor((min(now, times.final) - times.running) / times.heartbeat)
                beat = times.running - times.late if times.late else times.running + beats * times.heartbeat
        return State(
            done=now >= min(times.done, self.left_at),
            status=status,
            error=self.outcome.error if status in FINAL else None,
            last_heartbeat=beat,
            runs=self._runs(now),
        )

    @property
    def done(self) -> bool:
        """Nothing more will be stored (a stream that its client left is done at once)."""
        return self.state().done

    @property
    def status(self) -> str | None:
        """The job's status; None without a job."""
        return self.state().status

    @property
    def error(self) -> str | None:
        """The job's error, once its status is final."""
        return self.state().error

    @property
    def runs(self) -> list["Run"]:
        """The runs that are stored by now, in the order of their running."""
        return self.state().runs

    def _status(self, now: float) -> str:
        if now >= self.timeline.final:
            return self.outcome.status
        if now >= self.timeline.running:
            return "running"
        return "pending" if now >= self.timeline.pending else "initial"

    def _runs(self, now: float) -> list["Run"]:
        """Public ones from `stored` on, the others when the row is done; none if the client left before that."""
        if now < self.timeline.stored or self.left_at < self.timeline.done:
            return []
        done = now >= self.timeline.done
        return timed([run for run in self.outcome.evaluations if done or not run.secret], self.timeline)


@dataclass(frozen=True)
class State:
    """A row at one moment. last_heartbeat: seconds since 1970, None before the job runs."""

    done: bool
    status: str | None
    error: str | None
    last_heartbeat: float | None
    runs: list[Run]

    @property
    def ranked(self) -> bool:
        """A score counts: the public and the secret leaderboard run passed, no secret one failed, none was hacked."""
        scored = any(run.mode == "leaderboard" and run.passed and run.score for run in self.runs if not run.secret)
        secret = [run for run in self.runs if run.secret]
        verified = any(run.mode == "leaderboard" for run in secret) and all(run.passed for run in secret)
        return scored and verified and self.status != "hacked"


# The evaluator's exit code where it ran into its timeout.
TIMED_OUT = 114


def timed(evaluations: Sequence[Evaluation], timeline: Timeline) -> list[Run]:
    """Evaluations with their times: the public and the secret workflow run at once, each in equal steps. One that
    ran into its timeout has taken that long, whatever the fake's clock says."""
    runs = []
    for secret in (False, True):
        steps = [run for run in evaluations if run.secret is secret]
        step = (timeline.stored - timeline.running) / max(1, len(steps))
        for i, run in enumerate(steps):
            start, end = timeline.running + i * step, timeline.running + (i + 1) * step
            runs.append(Run(run, end - run.duration if run.exit_code == TIMED_OUT else start, end))
    return runs


@dataclass(frozen=True)
class Pace:
    """How fast jobs go, in seconds, and how many run at once."""

    queue: float = 0.0
    run: float = 0.2
    heartbeat: float = 0.1
    gap: float = 0.5
    jobs_at_once: int = 24


class Rows:
    """All submissions, in id order. Safe to use from many threads."""

    def __init__(self, pace: Pace) -> None:
        self.lock = threading.RLock()
        self._pace = pace
        self._rows: list[Row] = []
        self._last_id = 0
        self._last_job = 0
        self._free = [0.0] * pace.jobs_at_once  # when each of the places for jobs is free again

    def all(self) -> list[Row]:
        """Those that are not deleted, oldest first."""
        with self.lock:
            return list(self._rows)

    def find(self, row_id: int) -> Row | None:
        """The row with that id."""
        return next((row for row in self.all() if row.id == row_id), None)

    def delete(self, row: Row) -> None:
        """Removes it, its runs and its job."""
        with self.lock:
            self._rows.remove(row)

    def queued(self, gpu: str) -> int:
        """Jobs for a GPU that do not run yet."""
        return sum(row.gpu == gpu and row.status in ("initial", "pending") for row in self.all())

    def add(
        self,
        user: User,
        upload: Upload,
        code: str,
        outcome: Outcome,
        trouble: str | None,
        background: bool,
        age: float = 0.0,
    ) -> Row:
        """Stores a submission made `age` seconds ago; in the background its job waits for a place to run."""
        with self.lock:
            now = time.time() - age
            self._last_id += 1
            job_id = None
            if background or outcome.status == "hacked":
                self._last_job += 1
                job_id = self._last_job
            row = Row(
                id=self._last_id,
                user_id=user.number,
                user=user.name,
                leaderboard=upload.board,
                gpu=upload.gpu,
                mode=upload.mode.lower(),
                file_name=upload.file_name,
                code=code,
                created=datetime.fromtimestamp(now, UTC),
                job_id=job_id,
                timeline=self._timeline(now, trouble, background and not age),
                outcome=outcome,
            )
            self._rows.append(row)
            return row

    def _timeline(self, now: float, trouble: str | None, background: bool) -> Timeline:
        pace = self._pace
        running = now
        if background:
            running = max(now + pace.queue, heapq.heappop(self._free))
            heapq.heappush(self._free, running + pace.run)
        pending = now + (running - now) / 10
        stored = running + 0.9 * pace.run
        end = running + pace.run
        never = math.inf
        match trouble:
            case "done-before-status":
                return Timeline(pending, running, stored, end, end + pace.gap, pace.heartbeat)
            case "stays-running":
                return Timeline(pending, running, never, never, never, pace.heartbeat)
            case "stale-heartbeat":
                return Timeline(pending, running, never, never, never, pace.heartbeat, late=600.0)
            case "stays-pending" | "stays-initial" if not background:
                return Timeline(pending, running, never, never, never, pace.heartbeat)
            case "stays-pending":
                return Timeline(pending, never, never, never, never, pace.heartbeat)
            case "stays-initial":
                return Timeline(never, never, never, never, never, pace.heartbeat)
            case _:
                return Timeline(pending, running, stored, end, end, pace.heartbeat)
