"""Sweeps: the plan, what it came to, and the list of them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mxsub.submit.history.sweeps import LeftOut
from mxsub.submit.plain_text import one_line
from mxsub.submit.sweep.outcome import CandidateOutcome, ShapeOutcome, SweepOutcome
from mxsub.submit.sweep.wording import words_for
from mxsub.submit.terminal.console import console, say
from mxsub.submit.terminal.log import local_time
from mxsub.submit.terminal.shapes import NOISE_NOTE

if TYPE_CHECKING:
    # Reading a project takes longer to import than all of this.
    from mxsub.submit.sweep.planning import Plan

NOISE = f"{NOISE_NOTE}; such a candidate does not replace the baseline"


def show_plan(plan: "Plan", untested: int) -> None:
    """A line a submission, the candidates that are left out, and how many texts have yet to pass `mxsub test`."""
    out = console()
    table = Table(box=None, pad_edge=False)
    for name in ("submission", "version", "shape", "config"):
        table.add_column(name, no_wrap=True)
    for number, step in enumerate(plan.steps, 1):
        rows = [(str(shape), words_for(values)) for shape, values in step.candidates.items()]
        for first, (shape, words) in enumerate(rows or [("all", "as it is: the baseline")]):
            head = ("", "") if first else (str(number), step.submission.sha256[:12])
            table.add_row(*head, shape, Text(words))
    out.print(table)
    _show_left_out(out, plan.left_out)
    candidates = sum(len(step.candidates) for step in plan.steps)
    say(
        out,
        f"{len(plan.steps)} submissions of variant {plan.variant.name} to {plan.project.leaderboard} on "
        f"{plan.gpu.name} in the mode benchmark, for {candidates} candidates of {len(plan.shapes)} shapes",
        style="bold",
    )
    say(out, f"{untested} of their texts have yet to pass `mxsub test --mode benchmark` here; nothing was sent")


def show_outcome(outcome: SweepOutcome) -> None:
    """A table for each shape, what was left out, and the projected geometric mean."""
    out = console()
    for shape in outcome.shapes:
        if shape.candidates:
            _show_shape(out, shape)
    if any(candidate.noise for shape in outcome.shapes for candidate in shape.candidates):
        say(out, NOISE, style="dim")
    _show_left_out(out, outcome.sweep.left_out)
    baseline = outcome.trials[0]
    if baseline.state == "failed" and baseline.record:
        where = f" at {', '.join(baseline.failed)}" if baseline.failed else ""
        said = f"the baseline: {baseline.record.verdict}{where}: {one_line(baseline.record.sentence or '')}"
        say(out, f"{said}; without it nothing can be compared", style="bold red")
    _show_means(out, outcome)
    sweep, of = outcome.sweep, len(outcome.trials)
    say(out, f"sweep {sweep.label}: {outcome.state}, {outcome.done} of {of} submissions have a verdict", style="bold")
    for hint in _next_steps(outcome):
        say(out, hint, style="dim")


def show_list(outcomes: Sequence[SweepOutcome]) -> None:
    """A line a sweep, the latest first."""
    out = console()
    if not outcomes:
        say(out, "there is no sweep in the history: `mxsub sweep run KNOB=V1,V2` begins one")
        return
    table = Table(box=None, pad_edge=False)
    for name in ("sweep", "begun", "variant", "GPU", "state", "done"):
        table.add_column(name, no_wrap=True)
    for name in ("baseline us", "projected us"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("of")
    for outcome in outcomes:
        sweep, change = outcome.sweep, outcome.projected_change
        projected = "" if change is None else f"{outcome.projected_mean:.3f} {change:+.1f} %"
        table.add_row(
            sweep.label, local_time(sweep.begun), sweep.variant, sweep.gpu, outcome.state,
            f"{outcome.done}/{len(outcome.trials)}",
            "" if outcome.baseline_mean is None else f"{outcome.baseline_mean:.3f}", projected,
            Text(one_line(sweep.wanted)),
        )  # fmt: skip
    out.print(table)


def _next_steps(outcome: SweepOutcome) -> list[str]:
    label = outcome.sweep.label
    steps = []
    if outcome.state in ("open", "stopped"):
        steps.append(f"`mxsub sweep resume {label}` goes on with it")
    if outcome.repeatable:
        steps.append(f"`mxsub sweep resume {label} --again` makes again what the service refused, lost or did not run")
    if any(shape.best for shape in outcome.shapes):
        steps.append(f"`mxsub sweep write {label}` puts the best configs into configs.yaml")
    return steps


def _show_shape(out: Console, shape: ShapeOutcome) -> None:
    say(out, f"\n{shape.shape}", style="bold")
    table = Table(box=None, pad_edge=False)
    table.add_column("config", no_wrap=True)
    table.add_column("submission", no_wrap=True)
    for name in ("mean us", "+-", "change"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    base = shape.baseline
    table.add_row(
        "as it is", "", *((f"{base.mean:.3f}", f"{base.err:.3f}") if base else ("-", "-")), "",
        "" if shape.best or base is None else "stays",
    )  # fmt: skip
    for candidate in sorted(shape.candidates, key=_speed):
        time = candidate.time
        table.add_row(
            Text(one_line(words_for(candidate.changes))),
            "" if candidate.remote_id is None else f"#{candidate.remote_id}",
            *((f"{time.mean:.3f}", f"{time.err:.3f}") if time else ("-", "-")),
            _change(candidate),
            _remark(candidate, best=candidate is shape.best),
        )
    out.print(table)


def _speed(candidate: CandidateOutcome) -> float:
    """The fastest first, those without a time last."""
    return candidate.time.mean if candidate.time else float("inf")


def _change(candidate: CandidateOutcome) -> Text:
    if candidate.change is None:
        return Text("")
    if candidate.noise:
        return Text(f"~{candidate.change:+.1f} %")
    return Text(f"{candidate.change:+.1f} %", style="green" if candidate.change < 0 else "red")


def _remark(candidate: CandidateOutcome, *, best: bool) -> Text:
    if best:
        return Text("best", style="bold green")
    if candidate.why:
        return Text(one_line(candidate.why), style="red")
    return Text("" if candidate.state == "measured" else candidate.state, style="yellow")


def _show_means(out: Console, outcome: SweepOutcome) -> None:
    if outcome.baseline_mean is None or outcome.projected_mean is None:
        return
    found = sum(shape.best is not None for shape in outcome.shapes)
    if not found:
        say(out, f"geometric mean {outcome.baseline_mean:.3f} us: no candidate is better than the baseline")
        return
    say(
        out,
        f"projected geometric mean {outcome.projected_mean:.3f} us with the best of {found} shapes, the baseline's "
        f"{outcome.baseline_mean:.3f} us: {outcome.projected_change:+.1f} %; the combination itself was not measured",
    )


def _show_left_out(out: Console, left_out: Sequence[LeftOut]) -> None:
    if left_out:
        say(out, f"\nleft out, {len(left_out)} candidates that cannot be tried:", style="yellow")
    reasons: dict[tuple[str, str], list[str]] = {}
    for left in left_out:
        reasons.setdefault((left.shape, left.why), []).append(words_for(left.changes))
    for (shape, why), configs in reasons.items():
        more = f" and {len(configs) - 1} more" if len(configs) > 1 else ""
        say(out, f"    {shape}: {configs[0]}{more}: {one_line(why)}")
