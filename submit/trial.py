"""Runs the task's evaluator over a file, a recorded version or a rendered variant, on the GPU or its virtual twin."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from mxsub.submit.errors import UsageError
from mxsub.submit.harness.case import Case
from mxsub.submit.harness.device import Device, find_device
from mxsub.submit.harness.result import KernelFinding, Run
from mxsub.submit.harness.run import Progress, Watch, run
from mxsub.submit.harness.task import Task, load_task, shipped_task
from mxsub.submit.history import History
from mxsub.submit.history.codec import now
from mxsub.submit.packages import installed
from mxsub.submit.project import Project
from mxsub.submit.project_folder import FILE_NAME
from mxsub.submit.recording import record_text
from mxsub.submit.shapes import Shape, parse_shape
from mxsub.submit.source import Source, source_of

DEFAULT_SEED = 1
# Of the virtual GPU; `memory` always looks.
SANITIZERS = ("memory", "init", "race", "sync", "exec")


@dataclass(frozen=True)
class RunRequest:
    """What `mxsub test` was asked for: `named` is a file or a recorded version; shapes as M,N,K texts, timeout in
    seconds; sanitize: names of sanitizers; sample: about how many workgroups of each launch run."""

    named: str | None = None
    folder: Path = Path()
    variant: str | None = None
    gpu: str | None = None
    mode: str = "test"
    task_folder: Path | None = None
    seeds: int = 0
    shapes: tuple[str, ...] = ()
    timeout: float | None = None
    sanitize: tuple[str, ...] = ()
    sample: int | None = None


@dataclass(frozen=True)
class Tested:
    """A run of the task's evaluator, and what it was run on.

    whole: it ran every case of the mode, of the project's own task. runner_triton: the Triton version of the
    leaderboard's runner; triton: the one that compiled here.
    """

    source: Source = field(repr=False)
    started: datetime
    task: str
    whole: bool
    device: Device
    run: Run
    triton: str
    runner_triton: str | None
    sanitized: tuple[str, ...] = ()
    sample: int | None = None

    @property
    def findings(self) -> tuple[KernelFinding, ...]:
        """What the sanitizers found that were asked for."""
        return self.run.emulation.findings if self.sanitized and self.run.emulation else ()

    @property
    def passed(self) -> bool:
        """Did the evaluator pass it, and the sanitizers that were asked for find nothing?"""
        return self.run.passed and not self.findings

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.source.text).hexdigest()

    def to_dict(self) -> dict[str, object]:
        return {
            "file": self.source.label,
            "sha256": self.sha256,
            "triton": self.triton,
            "runner_triton": self.runner_triton,
            "sanitized": self.sanitized,
            "sample": self.sample,
            **self.run.to_dict(),
            "passed": self.passed,
        }


def run_task(request: RunRequest, on_progress: Progress | None = None) -> Tested:
    """Runs the task's evaluator over what is named, or a rendered variant, on the GPU or its virtual twin.

    Raises UsageError where the task has no such case, EnvironmentProblem where there is neither GPU nor twin.
    """
    source = source_of(request.named, request.folder, request.variant, request.gpu)
    device = find_device(source.gpu)
    task = task_for(request, source.project)
    cases = cases_for(task, request, source.project)
    watch = _watch(request, device)
    started = now()
    ran = run(
        source.text,
        task,
        device,
        request.mode,
        seeds=request.seeds,
        cases=cases,
        timeout=request.timeout,
        on_progress=on_progress,
        watch=watch,
    )
    return Tested(
        source=source,
        started=started,
        task=task.name,
        whole=cases is None and request.task_folder is None and request.sample is None,
        device=device,
        run=ran,
        triton=installed("triton") or "none",
        runner_triton=source.project.runner.triton if source.project else None,
        sanitized=watch.sanitizers,
        sample=watch.sample,
    )


def record(tested: Tested, history: History) -> None:
    """Keeps the run; of a text that is not UTF-8 there is no version to keep it for."""
    version = record_text(history, tested.source.text, tested.source.submission)
    if version is None:
        return
    history.runs.record(
        version.sha256,
        started=tested.started,
        task=tested.task,
        mode=tested.run.mode,
        whole=tested.whole,
        gpu=tested.device.name,
        virtual=tested.device.virtual,
        triton=tested.triton,
        outcome=tested.run.outcome,
        geometric_mean=tested.run.geometric_mean,
        detail=tested.run.to_dict(),
    )


def task_of(project: Project) -> Task:
    """The project's own copy of its task, or else the shipped one."""
    own = project.folder / "tasks" / project.task
    return load_task(own) if own.is_dir() else shipped_task(project.task)


def task_for(request: RunRequest, project: Project | None) -> Task:
    if request.task_folder is not None:
        return load_task(request.task_folder)
    if project is None:
        raise UsageError(f"there is no {FILE_NAME} to take the task from", "Name a problem folder with --task.")
    return task_of(project)


def _watch(request: RunRequest, device: Device) -> Watch:
    """Raises UsageError for what only the virtual GPU can do, and for an unknown sanitizer."""
    asked = tuple(name.strip().lower() for text in request.sanitize for name in text.split(","))
    for name in asked:
        if name not in (*SANITIZERS, "all"):
            raise UsageError(
                f"--sanitize {name or repr(name)}: there is no such sanitizer",
                f"There are all, {', '.join(SANITIZERS)}.",
            )
    if (asked or request.sample) and not device.virtual:
        raise UsageError(
            f"--sanitize and --sample are of the virtual GPU, and this machine has a real {device.name}",
            "Leave them out.",
        )
    chosen = tuple(SANITIZERS) if "all" in asked else tuple(dict.fromkeys(asked))
    if request.sample is not None:
        if request.mode != "test":
            raise UsageError(f"--sample is of the mode test, not {request.mode}")
        if "init" in asked:
            raise UsageError(
                "--sample leaves memory unwritten, so that --sanitize init cannot tell what is never written",
                "Leave one of them out.",
            )
        chosen = tuple(name for name in chosen if name != "init")
    return Watch(chosen, request.sample)


def cases_for(task: Task, request: RunRequest, project: Project | None) -> list[Case] | None:
    """The task's own cases of the wanted shapes; a shape that it has no case of becomes one. None: all of them."""
    if not request.shapes:
        return None
    known = task.cases(request.mode)
    cases: list[Case] = []
    for text in request.shapes:
        shape = parse_shape(text)
        if project is not None:
            _check_multiples(shape, project)
        wanted = {"m": shape.m, "n": shape.n, "k": shape.k}
        same = [case for case in known if wanted.items() <= case.items()]
        cases += same or [{**wanted, "seed": DEFAULT_SEED}]
    return cases


def _check_multiples(shape: Shape, project: Project) -> None:
    for axis, value in shape._asdict().items():
        multiple = getattr(project.multiples, axis)
        if value % multiple:
            raise UsageError(f"--shape {shape}: {axis} is {value}, and must be a multiple of {multiple}")
