"""The commands that try many configs on the service."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mxsub.commands.options import (
    api_url,
    as_json,
    gpu_name,
    poll_option,
    print_json,
    project_folder,
    variant_name,
)

if TYPE_CHECKING:
    from mxsub.submit.errors import ServiceError
    from mxsub.submit.history import History
    from mxsub.submit.history.sweeps import SweepRecord, Trial
    from mxsub.submit.posting.sending import Desk
    from mxsub.submit.sweep.outcome import SweepOutcome
    from mxsub.submit.sweep.planning import Plan
    from mxsub.submit.terminal.following import Watch

sweep_argument = click.argument("named", required=False, metavar="[SWEEP]")
limit_option = click.option("--limit", type=click.IntRange(1), metavar="N", help="Hand in N at most now.")


@click.group()
def sweep() -> None:
    """Try many configs on the service, in benchmark mode and within its rate limits.

    SWEEP is the start of a sweep's name, as `mxsub sweep list` has it; the latest if not given.
    """


@sweep.command()
@click.argument("knobs", nargs=-1, metavar="[KNOB=V1,V2...]")
@click.option(
    "--configs", "file", type=click.Path(dir_okay=False, path_type=Path),
    help="A YAML list of configs to try, each with the shapes that it is for, if not all.",
)  # fmt: skip
@click.option("--shape", "shapes", multiple=True, metavar="M,N,K", help="Only these shapes; may be repeated.")
@variant_name
@gpu_name
@click.option("--test", is_flag=True, help="Run `mxsub test` for each text first; what fails is left out.")
@click.option("--force", is_flag=True, help="Go although texts have not passed `mxsub test` or lint; says which.")
@click.option("--dry-run", is_flag=True, help="Only show what would be submitted.")
@limit_option
@poll_option
@api_url
@project_folder
@as_json
def run(
    knobs: tuple[str, ...], file: Path | None, shapes: tuple[str, ...], variant: str | None, gpu: str | None,
    test: bool, force: bool, dry_run: bool, limit: int | None, poll_seconds: float, api_url: str | None, folder: Path,
    as_json: bool,
) -> None:  # fmt: skip
    """Begin a sweep: every combination of the knobs' values, or the configs of a file, for every shape.

    The first submission has the configs as they are; the others each have a candidate of every shape. Rate limits are
    waited out. Exit 1 where a submission did not pass.
    """
    from mxsub.submit.errors import UsageError
    from mxsub.submit.history import History

    if test and force:
        raise UsageError("--test runs what --force goes without", "Leave one of them out.")
    plan = _plan(folder, knobs, file, shapes, variant, gpu)
    if dry_run:
        with History.around(folder) as history:
            _show_plan(plan, history, as_json)
        return
    desk, watch = _desk(folder, api_url, poll_seconds, as_json)
    with desk.bot, desk.history:
        _go(desk, watch, _begun(desk, watch, plan, test, force, as_json), limit, as_json)


@sweep.command()
@sweep_argument
@click.option("--again", is_flag=True, help="Also make again what the service refused, lost or did not run.")
@limit_option
@poll_option
@api_url
@project_folder
@as_json
def resume(
    named: str | None, again: bool, limit: int | None, poll_seconds: float, api_url: str | None, folder: Path,
    as_json: bool,
) -> None:  # fmt: skip
    """Go on with a sweep that was interrupted, limited or stopped; nothing is submitted twice."""
    from mxsub.submit.sweep.carrying_out import reopen

    desk, watch = _desk(folder, api_url, poll_seconds, as_json)
    with desk.bot, desk.history:
        _go(desk, watch, reopen(desk, desk.history.sweeps.find(named), again=again), limit, as_json)


@sweep.command(name="list")
@project_folder
@as_json
def list_sweeps(folder: Path, as_json: bool) -> None:
    """The sweeps of this project, the latest first."""
    from mxsub.submit.history import History
    from mxsub.submit.sweep.outcome import outcome_of

    with History.around(folder) as history:
        outcomes = [outcome_of(history, sweep) for sweep in history.sweeps.latest()]
    if as_json:
        print_json([outcome.summary() for outcome in outcomes])
    else:
        from mxsub.submit.terminal.sweep import show_list

        show_list(outcomes)


@sweep.command()
@sweep_argument
@project_folder
@as_json
def show(named: str | None, folder: Path, as_json: bool) -> None:
    """The times of each shape's candidates against the baseline, and the best of them."""
    _show(_outcome(named, folder), as_json)


@sweep.command()
@sweep_argument
@project_folder
@as_json
def stop(named: str | None, folder: Path, as_json: bool) -> None:
    """Hand in no more of a sweep, here or in another terminal; `resume` goes on with it."""
    from mxsub.submit.history import History
    from mxsub.submit.history.codec import now

    outcome = _outcome(named, folder)
    if outcome.state == "open":
        with History.around(folder) as history:
            history.sweeps.set_stopped(outcome.sweep.uid, now())
        outcome = _outcome(outcome.sweep.uid, folder)
    if as_json:
        print_json(outcome.summary())
        return
    under_way = " and one is under way" if any(trial.state == "under way" for trial in outcome.trials) else ""
    done = f"{outcome.done} of {len(outcome.trials)} submissions have a verdict{under_way}"
    click.echo(f"sweep {outcome.sweep.label}: {outcome.state}; {done}")


@sweep.command()
@sweep_argument
@project_folder
@as_json
def write(named: str | None, folder: Path, as_json: bool) -> None:
    """Put the best config of each shape into configs.yaml; its comments and layout stay."""
    from mxsub.submit.sweep.writing import write_best

    written = write_best(folder, _outcome(named, folder))
    if as_json:
        print_json(written.to_dict())
        return
    for line in written.diff:
        click.echo(line)
    click.echo(written.sentence)


def _plan(
    folder: Path, knobs: tuple[str, ...], file: Path | None, shapes: tuple[str, ...], variant: str | None,
    gpu: str | None,
) -> "Plan":  # fmt: skip
    from mxsub.submit.errors import UsageError
    from mxsub.submit.gpus import gpu_named
    from mxsub.submit.project import find_project
    from mxsub.submit.sweep.knobs import grid, listed_in
    from mxsub.submit.sweep.planning import chosen_shapes, make_plan, timed_shapes

    if bool(knobs) == (file is not None):
        raise UsageError("a sweep tries either KNOB=V1,V2 ... or --configs FILE", "Give one of them.")
    project = find_project(folder)
    chosen = project.variant(variant)
    timed = timed_shapes(project, chosen)
    proposals = grid(knobs, chosen) if file is None else listed_in(file, chosen, timed)
    wanted = " ".join(knobs) if file is None else f"--configs {file.name}"
    wanted += "".join(f" --shape {shape}" for shape in shapes)
    wanted_gpu = gpu_named(gpu) if gpu else project.gpu
    return make_plan(project, chosen, wanted_gpu, chosen_shapes(shapes, timed), proposals, wanted)


def _desk(folder: Path, api_url: str | None, poll_seconds: float, as_json: bool) -> "tuple[Desk, Watch]":
    from mxsub.submit.history import History
    from mxsub.submit.posting.account import open_service
    from mxsub.submit.posting.pace import Pace
    from mxsub.submit.posting.sending import Desk
    from mxsub.submit.terminal.following import Watch

    watch = Watch(quiet=as_json)
    history, bot = History.around(folder), open_service(api_url)
    return Desk(history, bot, Pace.of_poll(poll_seconds), watch.notify, watch.progress), watch


def _begun(desk: "Desk", watch: "Watch", plan: "Plan", test: bool, force: bool, as_json: bool) -> "SweepRecord":
    """The sweep on record, once its texts may leave."""
    from mxsub.submit.sweep.carrying_out import begin
    from mxsub.submit.sweep.gatekeeping import check_gate, judged, tested, without
    from mxsub.submit.terminal.console import Progress

    if test:
        with Progress(quiet=as_json) as progress:
            plan = tested(plan, desk.history, watch.notify, progress)
    prepared = judged(plan, desk.history)
    if not force:
        check_gate(prepared)
    elif skipped := without(prepared):
        watch.notify(f"--force: without {', and without '.join(skipped)}")
    return begin(desk, plan, prepared)


def _go(desk: "Desk", watch: "Watch", sweep: "SweepRecord", limit: int | None, as_json: bool) -> None:
    """Carries it out as far as it goes, shows what it came to, and ends the command."""
    from mxsub.submit.errors import ServiceError
    from mxsub.submit.sweep.carrying_out import carry_out
    from mxsub.submit.sweep.outcome import outcome_of
    from mxsub.submit.sweep.wording import trial_words

    def on_trial(trial: "Trial") -> None:
        if not as_json:
            watch.notify(trial_words(trial, len(sweep.trials)))

    goes_on = f"Nothing is lost: `mxsub sweep resume {sweep.label}` goes on."
    trouble: ServiceError | None = None
    try:
        with watch:
            carry_out(desk, sweep, watch.count_down, on_trial, watch.news, limit)
    except KeyboardInterrupt:
        click.echo(goes_on, err=True)
        raise
    except ServiceError as error:
        trouble = _with_hint(error, goes_on)
    outcome = outcome_of(desk.history, desk.history.sweeps.get(sweep.uid))
    _show(outcome, as_json)
    if trouble is not None:
        raise trouble
    sys.exit(0 if outcome.all_passed else 1)


def _with_hint(error: "ServiceError", goes_on: str) -> "ServiceError":
    """The error with what to do about a sweep, rather than about one submission."""
    from mxsub.submit.posting.sending import RESUME

    error.hint = f"{error.hint.replace(RESUME, '')} {goes_on}".strip()
    return error


def _outcome(named: str | None, folder: Path) -> "SweepOutcome":
    from mxsub.submit.history import History
    from mxsub.submit.sweep.outcome import outcome_of

    with History.around(folder) as history:
        return outcome_of(history, history.sweeps.find(named))


def _show(outcome: "SweepOutcome", as_json: bool) -> None:
    if as_json:
        print_json(outcome.to_dict())
        return
    from mxsub.submit.terminal.sweep import show_outcome

    show_outcome(outcome)


def _show_plan(plan: "Plan", history: "History", as_json: bool) -> None:
    from mxsub.submit.sweep.gatekeeping import untested

    missing = untested(plan, history)
    if as_json:
        print_json({**plan.to_dict(), "untested": missing})
        return
    from mxsub.submit.terminal.sweep import show_plan

    show_plan(plan, missing)


COMMANDS = (sweep,)
