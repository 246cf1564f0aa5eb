"""Which submissions a sweep takes.

A submission has one config for each shape and tells the time of each, so candidates of different shapes share one: the
first has the configs as they are, which is the baseline, and the i-th after it the i-th candidate of every shape.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from mxsub.submit import config_check
from mxsub.submit.errors import UsageError
from mxsub.submit.gpus import Gpu
from mxsub.submit.history.sweeps import Configs, LeftOut
from mxsub.submit.project import Config, Listed, Project, Variant
from mxsub.submit.render import Submission, render
from mxsub.submit.shapes import Shape, parse_shape
from mxsub.submit.source import Source
from mxsub.submit.sweep.knobs import Proposal
from mxsub.submit.trial import task_of

MODE = "benchmark"

_PLACE = re.compile(r"^.*?:\d+:\d+: ")


@dataclass(frozen=True)
class Step:
    """One submission. candidates: by shape, what its config has otherwise than the baseline; empty for that."""

    submission: Submission = field(repr=False)
    candidates: Mapping[Shape, Config]

    def configs(self) -> Configs:
        """The candidates as the history has them."""
        return {str(shape): values for shape, values in self.candidates.items()}


@dataclass(frozen=True)
class Plan:
    """The submissions of a sweep, the baseline first, and the candidates that are left out. wanted: what was asked for,
    in words."""

    project: Project = field(repr=False)
    variant: Variant = field(repr=False)
    gpu: Gpu
    shapes: tuple[Shape, ...]
    wanted: str
    steps: tuple[Step, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def baseline(self) -> Configs:
        """By shape, the config as configs.yaml has it now."""
        return {str(shape): self.variant.config(shape) for shape in self.shapes}

    def source(self, step: Step) -> Source:
        """A step's text as the other commands take it."""
        name = file_name(self.variant.name, step.submission.sha256)
        label = (
            f"submission {self.steps.index(step) + 1} of {len(self.steps)}" if step in self.steps else "a submission"
        )
        return Source(label, name, step.submission.text.encode(), self.project, self.gpu, step.submission)

    def step(self, candidates: Mapping[Shape, Config]) -> Step:
        """The submission with these candidates."""
        return Step(render(self.project, _with(self.variant, candidates), self.gpu), candidates)

    def to_dict(self) -> dict[str, Any]:
        return {
            "variant": self.variant.name, "leaderboard": self.project.leaderboard, "gpu": self.gpu.name, "mode": MODE,
            "wanted": self.wanted, "baseline": self.baseline,
            "submissions": [
                {"sha256": step.submission.sha256, "candidates": step.configs()} for step in self.steps
            ],
            "left_out": [asdict(left) for left in self.left_out],
        }  # fmt: skip


def file_name(variant: str, sha256: str) -> str:
    """What a text is handed in as."""
    return f"{variant}-{sha256[:12]}.py"


def timed_shapes(project: Project, variant: Variant) -> list[Shape]:
    """The shapes with a config of their own that the task's benchmark times, in its order."""
    cases = task_of(project).cases(MODE)
    timed = [Shape(*(int(case[axis]) for axis in "mnk")) for case in cases if {*"mnk"} <= case.keys()]
    listed = {entry.shape for entry in variant.listed}
    return [shape for shape in dict.fromkeys(timed) if shape in listed]


def chosen_shapes(wanted: Sequence[str], timed: Sequence[Shape]) -> tuple[Shape, ...]:
    """Those of `--shape`, or all; UsageError for one that is not timed, or where none is."""
    if not timed:
        raise UsageError("no shape of configs.yaml is one that the task's benchmark times", "List one under 'shapes'.")
    shapes = tuple(dict.fromkeys(parse_shape(text) for text in wanted)) or tuple(timed)
    for shape in shapes:
        if shape not in timed:
            raise UsageError(
                f"--shape {shape} is none that a sweep can time: it needs an entry in configs.yaml, and a benchmark",
                f"Those are {', '.join(map(str, timed))}.",
            )
    return shapes


def make_plan(
    project: Project, variant: Variant, gpu: Gpu, shapes: tuple[Shape, ...], proposals: Sequence[Proposal], wanted: str
) -> Plan:
    """Checks every candidate of every shape, and combines those that can be built.

    Raises UsageError where the configs as they are do not build, or no candidate is left.
    """
    plan = Plan(project, variant, gpu, shapes, wanted, (), ())
    baseline = plan.step({})
    left_out: list[LeftOut] = []
    feasible = {shape: _feasible(plan, shape, proposals, left_out) for shape in shapes}
    steps = [baseline]
    for position in range(max(map(len, feasible.values()))):
        chosen = {shape: found[position] for shape, found in feasible.items() if position < len(found)}
        step = plan.step(chosen)
        # The GPU may lack what a knob is about.
        idle = [shape for shape in chosen if step.submission.configs[shape] == baseline.submission.configs[shape]]
        if idle:
            left_out += [LeftOut(str(shape), chosen[shape], f"changes nothing on {gpu.name}") for shape in idle]
            step = plan.step({shape: values for shape, values in chosen.items() if shape not in idle})
        if step.candidates:
            steps.append(step)
    return with_steps(plan, steps, left_out)


def with_steps(plan: Plan, steps: Sequence[Step], left_out: Sequence[LeftOut]) -> Plan:
    """The plan with these submissions; UsageError where there is but the baseline."""
    if len(steps) < 2:
        why = f": {left_out[0].shape}: {left_out[0].why}" if left_out else ": all of them are the configs as they are"
        raise UsageError(f"no candidate is left to try{why}", "`mxsub sweep run --help` says how to name others.")
    return replace(plan, steps=tuple(steps), left_out=tuple(left_out))


def _feasible(plan: Plan, shape: Shape, proposals: Sequence[Proposal], left_out: list[LeftOut]) -> list[Config]:
    """What the candidates of a shape have otherwise than its config, each once; the others are added to left_out."""
    config = plan.variant.config(shape)
    found: list[Config] = []
    seen: list[Config] = [{}]
    for proposal in proposals:
        if proposal.shapes is not None and shape not in proposal.shapes:
            continue
        changes = {knob: value for knob, value in proposal.values.items() if config.get(knob) != value}
        if changes in seen:
            continue
        seen.append(changes)
        why = _why_not(plan, shape, changes)
        if why is None:
            found.append(changes)
        else:
            left_out.append(LeftOut(str(shape), changes, why))
    return found


def _why_not(plan: Plan, shape: Shape, changes: Config) -> str | None:
    """Why a config cannot be built, in words without a place in configs.yaml, where it does not stand."""
    only = _with(plan.variant, {shape: changes}, only=(shape,))
    try:
        config_check.check(plan.project, replace(only, rules=()))
    except UsageError as error:
        return _PLACE.sub("", error.message).removesuffix(f" for {shape} in variant '{only.name}'")
    return None


def _with(variant: Variant, candidates: Mapping[Shape, Config], only: Collection[Shape] | None = None) -> Variant:
    """The variant with other configs for some shapes; and with the entries of `only` some."""
    listed = [
        Listed(entry.shape, {**entry.config, **candidates.get(entry.shape, {})}, entry.places)
        for entry in variant.listed
        if only is None or entry.shape in only
    ]
    return replace(variant, listed=tuple(listed))
