"""What KernelBot's routes answer. Times are UTC, scores are seconds."""

from datetime import UTC, datetime
from typing import Any

from pydantic import AliasChoices, AliasPath, Field, ValidatorFunctionWrapHandler, field_validator

from mxsub.submit.kernelbot.fields import Answer, Id, Score, Text, Utc


class RunnerQueue(Answer):
    """How busy a GPU's runners are; None for what the service does not know.

    status: "available" or "unavailable"; "" where the answer had none.
    """

    runner: str = ""
    gpu: str = ""
    queued_jobs: int | None = None
    running_jobs: int | None = None
    available_runners: int | None = None
    status: str = ""
    error: str | None = None


class Accepted(Answer):
    """A submission that the service took to run in the background.

    id: the submission's. queue: as it was then.
    """

    id: Id = Field(validation_alias=AliasPath("details", "id"))
    job_status_id: Id | None = Field(default=None, validation_alias=AliasPath("details", "job_status_id"))
    queue: RunnerQueue = Field(default=RunnerQueue(), validation_alias="runner_queue")

    @field_validator("queue", "job_status_id", mode="wrap")
    @classmethod
    def _never_costs_the_id(cls, value: Any, handler: ValidatorFunctionWrapHandler, info: Any) -> Any:
        """Whatever else is wrong with the answer, the submission's id in it must not be lost."""
        try:
            return handler(value)
        except ValueError:
            return RunnerQueue() if info.field_name == "queue" else None


class Job(Answer):
    """The background job of a submission; all None for one that was streamed.

    status: initial, pending, running, succeeded ("was run", not "passed"), failed, timed_out, hacked, or another
    that a newer service has.
    """

    status: str | None = None
    error: str | None = None
    last_heartbeat: Utc | None = None


class RunEntry(Answer):
    """One public run of the evaluator.

    mode: test, benchmark, leaderboard or profile.N. score: seconds, of leaderboard runs only. result: the
    evaluator's output, of test and benchmark runs only.
    """

    start_time: Utc | None = None
    end_time: Utc | None = None
    mode: str
    runner: str
    score: Score | None = None
    passed: bool
    result: dict[str, Text] | None = None


class SubmissionDetail(Answer):
    """All that the service tells of one submission of the user's.

    runs: the public ones, in no order. seen_at: when the service answered, by its own clock, so that a job's
    heartbeat can be compared with it.
    """

    id: Id
    leaderboard_name: str
    file_name: str
    user_id: Text | None = None
    submission_time: Utc
    done: bool
    code: str
    runs: tuple[RunEntry, ...]
    job: Job = Job()
    runner_queue: RunnerQueue | None = None
    seen_at: Utc = Field(default_factory=lambda: datetime.now(UTC))

    @field_validator("job", mode="before")
    @classmethod
    def _no_job(cls, value: Any) -> Any:
        return {} if value is None else value


class ListedRun(Answer):
    """A run in a listing. score: seconds, None for test and benchmark runs."""

    gpu_type: str
    score: Score | None = None


class SubmissionEntry(Answer):
    """A submission in the user's list. runs: empty for anything but a ranked submission that passed."""

    id: Id
    leaderboard_name: str
    file_name: str
    submission_time: Utc
    done: bool
    runs: tuple[ListedRun, ...] = ()


class Task(Answer):
    """A leaderboard's task. files: text by name. tests, benchmarks: cases by argument. Timeouts are seconds."""

    lang: str = ""
    files: dict[str, str] = Field(default_factory=dict)
    tests: tuple[dict[str, Any], ...] = ()
    benchmarks: tuple[dict[str, Any], ...] = ()
    test_timeout: int = 180
    benchmark_timeout: int = 180
    ranked_timeout: int = 180
    ranking_by: str = "last"


class Leaderboard(Answer):
    """A leaderboard. visibility: "public", or "closed" for one that has to be joined."""

    id: Id
    name: str
    deadline: Utc | None = None
    gpu_types: tuple[str, ...] = ()
    description: str | None = None
    visibility: str = "public"
    task: Task | None = None


class RankingEntry(Answer):
    """A place in a ranking. score: seconds. file_name: of the submission."""

    submission_id: Id
    rank: int
    file_name: str = Field(validation_alias=AliasChoices("submission_name", "file_name"))
    submission_time: Utc
    score: Score = Field(validation_alias=AliasChoices("submission_score", "score"))
    user_id: Text | None = None
    user_name: str | None = None
    gpu_type: str = ""


class SubmissionCount(Answer):
    """count: users, or the runs of one user."""

    count: int


class Joined(Answer):
    """leaderboards: those that an invite code opened."""

    leaderboards: tuple[str, ...] = ()


class LoginStarted(Answer):
    """state: the future id."""

    state: str = Field(min_length=1)


class Health(Answer):
    """status: "ok"."""

    status: str
