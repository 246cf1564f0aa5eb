"""From a text to its verdict: the steps of `mxsub submit`."""

from dataclasses import dataclass, field

from mxsub.submit.errors import UsageError
from mxsub.submit.history import History
from mxsub.submit.history.submissions import SubmissionRecord
from mxsub.submit.judgement import Judged, judge_source
from mxsub.submit.judgement import record as record_findings
from mxsub.submit.kernelbot import KernelBotError
from mxsub.submit.listing.shape_comparison import compare_shapes
from mxsub.submit.posting.following import OnNews, follow
from mxsub.submit.posting.gate import Gate, missing_modes
from mxsub.submit.posting.placing import Place, place_of
from mxsub.submit.posting.sending import Desk, Wait, hand_in_background
from mxsub.submit.posting.streaming import Profile, send_profile
from mxsub.submit.project_folder import FILE_NAME
from mxsub.submit.recording import record_text
from mxsub.submit.source import Source
from mxsub.submit.version import Version


@dataclass(frozen=True)
class Prepared:
    """A version that is ready to be handed in, if the gate is open or the user insists. project_gpu: the GPU is the
    one that the project names."""

    version: Version
    judged: Judged
    gate: Gate
    leaderboard: str
    gpu: str
    project_gpu: bool
    mode: str
    file_name: str


@dataclass(frozen=True)
class Submitted:
    """A submission with its verdict. place: in the ranking, where it was ranked. profile: of a profile."""

    record: SubmissionRecord
    place: Place | None = None
    profile: Profile | None = field(default=None, repr=False)

    def to_dict(self, history: History) -> dict[str, object]:
        return {
            **self.record.to_dict(),
            "results": [run.to_dict() for run in history.submissions.results(self.record.uid)],
            "comparison": compare_shapes(history, self.record).to_dict(),
            "place": self.place and self.place.to_dict(),
            "archives": [str(path) for path in self.profile.traces] if self.profile else [],
        }


def prepare(source: Source, mode: str, history: History, tag: str | None = None) -> Prepared:
    """Judges a text and looks up what it has passed here.

    Raises UsageError where there is no project, or the text is not UTF-8.
    """
    project = source.project
    if project is None:
        raise UsageError(f"there is no {FILE_NAME} to take the leaderboard from", "Run this in a project folder.")
    version = record_text(history, source.text, source.submission, tag)
    if version is None:
        raise UsageError(f"{source.label} is not UTF-8 text", "`mxsub lint` says where.")
    judged = judge_source(source)
    record_findings(judged, history)
    errors = [finding for finding in judged.findings if finding.severity == "error"]
    passed = history.runs.passed(version.sha256, task=project.task, gpu=source.gpu.name)
    return Prepared(
        version=version,
        judged=judged,
        gate=Gate(
            tuple(f"{finding.rule} {finding.name}: {finding.message}" for finding in errors),
            missing_modes(mode, passed),
        ),
        leaderboard=project.leaderboard,
        gpu=source.gpu.name,
        project_gpu=source.gpu.name == project.gpu.name,
        mode=mode,
        file_name=source.file_name,
    )


def begin(prepared: Prepared, desk: Desk, *, again: bool = False) -> tuple[SubmissionRecord, bool]:
    """The attempt to hand it in, on record before anything leaves; and whether it is an earlier one that goes on.

    again: hand it in although an earlier attempt of the same text in the same mode has no verdict yet.
    """
    submissions = desk.history.submissions
    kind = {
        "service": desk.bot.base_url,
        "account": desk.account,
        "leaderboard": prepared.leaderboard,
        "gpu": prepared.gpu,
        "mode": prepared.mode,
        "file_name": prepared.file_name,
    }
    if again:
        return submissions.begin(prepared.version.sha256, **kind), False
    return submissions.begin_unless_under_way(prepared.version.sha256, **kind)


def hand_in(desk: Desk, record: SubmissionRecord, wait: Wait) -> Submitted:
    """Hands an attempt in, if it is not yet, and returns it as accepted."""
    text = desk.history.versions.get(str(record.sha256)).text.encode() if record.sha256 else b""
    if record.mode == "profile":
        profile = send_profile(desk, record, text, wait)
        return Submitted(profile.record, profile=profile)
    return Submitted(hand_in_background(desk, record, text, wait))


def see_through(desk: Desk, submitted: Submitted, on_news: OnNews) -> Submitted:
    """Follows a submission to its verdict, and a ranked one that passed to its place."""
    record = follow(desk, submitted.record, on_news)
    place = None
    if record.mode == "leaderboard" and record.verdict == "passed":
        try:
            place = find_place(desk, record)
        except KernelBotError as error:
            desk.notify(f"the ranking cannot be read: {error.message}")
        if place is not None:
            record = desk.history.submissions.update(record.uid, {"rank": place.rank}, rank=place.rank)
    return Submitted(record, place, submitted.profile)


def find_place(desk: Desk, record: SubmissionRecord) -> Place | None:
    """Where the user of a submission stands in its board's ranking."""
    if record.remote_id is None or record.gpu is None:
        return None
    user_id = desk.bot.submission(record.remote_id).user_id
    return place_of(desk.bot.ranking(record.leaderboard, record.gpu), user_id)


def to_resume(desk: Desk) -> list[SubmissionRecord]:
    """Attempts at this service that have no verdict yet, the oldest first."""
    unfinished = desk.history.submissions.unfinished()
    return [record for record in reversed(unfinished) if record.service == desk.bot.base_url]
