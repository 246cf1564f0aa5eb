"""How far a sweep is: the submission of each of its trials, as the history has it."""

from mxsub.submit.history import History
from mxsub.submit.history.submissions import SubmissionRecord
from mxsub.submit.history.sweeps import SweepRecord, Trial

# Ends that say nothing about the config: such a submission may be made again.
NOT_ITS_FAULT = frozenset({"not run", "timed out", "cancelled", "lost", "deleted", "refused"})


def attempt_of(history: History, trial: Trial) -> SubmissionRecord | None:
    """The submission of a trial as it is known; None where it was not begun."""
    try:
        return history.submissions.get(trial.submission)
    except KeyError:
        return None


def to_do(history: History, sweep: SweepRecord) -> list[Trial]:
    """The trials without a verdict, in order; none where the baseline did not pass, as nothing compares with it."""
    baseline = attempt_of(history, sweep.trials[0])
    if baseline is not None and not baseline.unfinished and baseline.verdict != "passed":
        return []
    found = []
    for trial in sweep.trials:
        record = attempt_of(history, trial)
        if record is None or record.unfinished:
            found.append(trial)
    return found
