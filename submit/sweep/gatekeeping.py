"""What the texts of a sweep have to have passed here before the first of them leaves."""

from collections.abc import Callable, Sequence

from mxsub.submit.errors import MxsubError
from mxsub.submit.harness.result import Run
from mxsub.submit.harness.run import Progress
from mxsub.submit.history import History
from mxsub.submit.history.sweeps import LeftOut
from mxsub.submit.posting.gate import missing_modes
from mxsub.submit.posting.submitting import Prepared, prepare
from mxsub.submit.shapes import Shape
from mxsub.submit.sweep.planning import MODE, Plan, Step, with_steps
from mxsub.submit.trial import RunRequest, run_task
from mxsub.submit.trial import record as record_run


def untested(plan: Plan, history: History) -> int:
    """How many of the texts have yet to pass `mxsub test` here."""
    task, gpu = plan.project.task, plan.gpu.name
    return sum(
        bool(missing_modes(MODE, history.runs.passed(step.submission.sha256, task=task, gpu=gpu)))
        for step in plan.steps
    )


def judged(plan: Plan, history: History) -> list[Prepared]:
    """Every text as a version of the history, with what lint says of it and what it has passed."""
    return [prepare(plan.source(step), MODE, history) for step in plan.steps]


def without(prepared: Sequence[Prepared]) -> list[str]:
    """What `--force` goes without, a phrase each."""
    refused = [one for one in prepared if one.gate.refusals]
    missing = sum(bool(one.gate.missing) for one in prepared)
    phrases = [f"lint's acceptance of {one.judged.label} ({one.gate.refusals[0]})" for one in refused]
    return phrases + ([f"`mxsub test --mode {MODE}` of {missing} of {len(prepared)} texts"] if missing else [])


def check_gate(prepared: Sequence[Prepared]) -> None:
    """Raises MxsubError where a text may not leave yet."""
    for one in prepared:
        if one.gate.refusals:
            raise MxsubError(
                f"the service would refuse {one.judged.label}: {one.gate.refusals[0]}",
                f"`mxsub lint {one.version.sha256[:12]}` shows all of it.",
            )
    missing = sum(bool(one.gate.missing) for one in prepared)
    if missing:
        raise MxsubError(
            f"{missing} of {len(prepared)} texts have not passed `mxsub test --mode {MODE}` here, and nothing was sent",
            "`--test` runs it for each of them first; `--force` goes without.",
        )


def tested(plan: Plan, history: History, notify: Callable[[str], None], on_progress: Progress) -> Plan:
    """Runs `mxsub test` for each text that has yet to pass it, and keeps each run as it ends; the plan without the
    candidates that do not pass.

    Raises MxsubError where the baseline does not pass.
    """
    steps: list[Step] = []
    left_out = list(plan.left_out)
    for step in plan.steps:
        remaining: Step | None = step
        while remaining is not None and (ran := _failed(plan, remaining, history, on_progress)) is not None:
            if not remaining.candidates:
                raise MxsubError(
                    f"the configs as they are do not pass `mxsub test --mode {MODE}`, and nothing was sent: {ran.error}"
                )
            bad = {case.shape: case.error or case.message for case in ran.cases if case.status == "fail"}
            blamed = [shape for shape in remaining.candidates if str(shape) in bad] or list(remaining.candidates)
            for shape in blamed:
                why = bad.get(str(shape)) or ran.error
                sentence = f"does not pass `mxsub test` here: {why.splitlines()[0] if why else ran.outcome}"
                left_out.append(LeftOut(str(shape), remaining.candidates[shape], sentence))
                notify(f"{shape}: {sentence}")
            remaining = _without(plan, remaining, blamed)
        if remaining is not None:
            steps.append(remaining)
    return with_steps(plan, steps, left_out)


def _without(plan: Plan, step: Step, shapes: Sequence[Shape]) -> Step | None:
    """The step without some shapes' candidates; None where no other is in it."""
    kept = {shape: values for shape, values in step.candidates.items() if shape not in shapes}
    return plan.step(kept) if kept else None


def _failed(plan: Plan, step: Step, history: History, on_progress: Progress) -> Run | None:
    """The run that a text does not pass; None where it passes, or has passed."""
    prepared = prepare(plan.source(step), MODE, history)
    if not prepared.gate.missing:
        return None
    request = RunRequest(prepared.version.sha256, plan.project.folder, gpu=plan.gpu.name, mode=MODE)
    ran = run_task(request, on_progress)
    record_run(ran, history)
    return None if ran.run.passed else ran.run
