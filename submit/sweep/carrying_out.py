"""Carries a sweep out: one submission after the other, from wherever an earlier process ended.

The uid of each submission's attempt is in the plan, which is on record before the first leaves. An attempt is recorded
under it before its request leaves and is handed in exactly once (see posting.sending), so that a process that is killed
at any moment, or two at once, make one submission of each.
"""

from collections.abc import Callable, Sequence

from mxsub.submit.errors import UsageError
from mxsub.submit.history.codec import now
from mxsub.submit.history.submissions import SubmissionRecord
from mxsub.submit.history.sweeps import SweepRecord, Trial
from mxsub.submit.posting.following import OnNews
from mxsub.submit.posting.sending import Desk, Wait
from mxsub.submit.posting.submitting import Prepared, hand_in, see_through
from mxsub.submit.sweep.attempts import NOT_ITS_FAULT, attempt_of, to_do
from mxsub.submit.sweep.planning import MODE, Plan, file_name

OnTrial = Callable[[Trial], None]


def begin(desk: Desk, plan: Plan, prepared: Sequence[Prepared]) -> SweepRecord:
    """The sweep on record, before anything leaves. prepared: the texts of the plan's steps.

    Raises UsageError where a sweep of the same texts is not finished.
    """
    hashes = [one.version.sha256 for one in prepared]
    for earlier in desk.history.sweeps.latest():
        same = (earlier.service, [trial.sha256 for trial in earlier.trials]) == (desk.bot.base_url, hashes)
        if same and earlier.stopped is None and to_do(desk.history, earlier):
            raise UsageError(
                f"the sweep {earlier.label} of the same texts is not finished, and nothing was sent",
                f"`mxsub sweep resume {earlier.label}` goes on with it; `mxsub sweep stop {earlier.label}` ends it.",
            )
    return desk.history.sweeps.begin(
        [(sha256, step.configs()) for sha256, step in zip(hashes, plan.steps, strict=True)],
        service=desk.bot.base_url,
        account=desk.account,
        leaderboard=plan.project.leaderboard,
        gpu=plan.gpu.name,
        variant=plan.variant.name,
        wanted=plan.wanted,
        baseline=plan.baseline,
        left_out=plan.left_out,
    )


def reopen(desk: Desk, sweep: SweepRecord, *, again: bool = False) -> SweepRecord:
    """The sweep, free to go on. again: with what the service refused, lost or did not run.

    Raises UsageError where it was begun at another service.
    """
    if sweep.service != desk.bot.base_url:
        raise UsageError(
            f"the sweep {sweep.label} was begun at {sweep.service}, and this is {desk.bot.base_url}",
            "Name its service with --api-url.",
        )
    if sweep.stopped:
        desk.history.sweeps.set_stopped(sweep.uid, None)
    for trial in sweep.trials if again else ():
        record = attempt_of(desk.history, trial)
        if record is not None and record.verdict in NOT_ITS_FAULT:
            desk.history.sweeps.try_again(sweep.uid, trial.position)
    return desk.history.sweeps.get(sweep.uid)


def carry_out(
    desk: Desk, sweep: SweepRecord, wait: Wait, on_trial: OnTrial, on_news: OnNews, limit: int | None = None
) -> int:
    """Hands in and follows what has no verdict yet; at most `limit` that were not handed in before. Returns how many
    are still to do: also where somebody stopped the sweep meanwhile.

    Raises ServiceError where the service refuses one or cannot be asked; `mxsub sweep resume` goes on.
    """
    begun = 0
    while left := to_do(desk.history, sweep):
        trial = left[0]
        known = attempt_of(desk.history, trial)
        if known is None or known.state == "recorded":
            if begun == limit or desk.history.sweeps.get(sweep.uid).stopped:
                break
            begun += 1
        on_trial(trial)
        see_through(desk, hand_in(desk, _begun(desk, sweep, trial), wait), on_news)
    return len(left)


def _begun(desk: Desk, sweep: SweepRecord, trial: Trial) -> SubmissionRecord:
    """The attempt of a trial, on record; the one that is there where it was begun before."""
    attempt = SubmissionRecord(
        uid=trial.submission,
        sha256=trial.sha256,
        service=sweep.service,
        account=desk.account,
        leaderboard=sweep.leaderboard,
        gpu=sweep.gpu,
        mode=MODE,
        file_name=file_name(sweep.variant, trial.sha256),
        recorded=now(),
        state="recorded",
    )
    desk.history.submissions.add([attempt])
    return desk.history.submissions.get(trial.submission)
