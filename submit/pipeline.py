"""The steps that the commands are made of, each callable from Python: build, lint, test, diff.

configs.yaml -> Project -> render -> Submission -> lint -> test on a device -> diff, one direction.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from mxsub.submit.diff import Difference
from mxsub.submit.diff import diff as compare
from mxsub.submit.errors import NoProject, UsageError, shown
from mxsub.submit.gpus import Gpu, gpu_named
from mxsub.submit.harness.device import Device, find_device, installed
from mxsub.submit.harness.result import Run
from mxsub.submit.harness.run import Progress, run
from mxsub.submit.harness.task import Case, Task, load_task, shipped_task
from mxsub.submit.history import History
from mxsub.submit.lint import accepted
from mxsub.submit.lint import lint as lint_text
from mxsub.submit.lint.finding import Finding
from mxsub.submit.project import FILE_NAME, Project, find_project
from mxsub.submit.render import Submission, render
from mxsub.submit.shapes import Shape, parse_shape
from mxsub.submit.version import Version

STANDARD_OUTPUT = Path("-")
DEFAULT_SEED = 1


@dataclass(frozen=True)
class Source:
    """The text that a command works on: a file as it is, or a freshly rendered variant.

    label: the file's path, or "variant NAME". submission: None for a file.
    """

    label: str
    text: bytes
    project: Project | None
    gpu: Gpu
    submission: Submission | None


def source_of(file: Path | None, folder: Path, variant: str | None, gpu: str | None) -> Source:
    """Reads a file, or renders a variant of the project around `folder` where there is none.

    Raises UsageError where there is neither.
    """
    if file is None:
        project = find_project(folder)
        wanted = gpu_named(gpu) if gpu else project.gpu
        submission = render(project, project.variant(variant), wanted)
        label = f"variant {submission.provenance.variant}"
        return Source(label, submission.text.encode(), project, wanted, submission)
    if variant:
        raise UsageError("--variant is for rendering, and a FILE is given", "Leave one of them out.")
    around = _project_or_none(folder)
    if gpu:
        wanted = gpu_named(gpu)
    elif around:
        wanted = around.gpu
    else:
        raise UsageError(f"there is no {FILE_NAME} to take the GPU from", "Name one with --gpu.")
    return Source(shown(file), _read(file), around, wanted, None)


def _project_or_none(folder: Path) -> Project | None:
    try:
        return find_project(folder)
    except NoProject:
        return None


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None


@dataclass(frozen=True)
class Built:
    """A rendered submission, where it was written, and the tag it was recorded under."""

    submission: Submission
    output: Path
    tag: str | None
    changed: bool

    @property
    def sentence(self) -> str:
        made = self.submission.provenance
        return (
            f"{self.output}: {'written' if self.changed else 'unchanged'}, variant {made.variant} for {made.gpu}, "
            f"{len(self.submission.text.encode()):,} bytes, sha256 {self.submission.sha256[:12]}"
            + (f", tag {self.tag}" if self.tag else "")
        )

    def to_dict(self) -> dict[str, object]:
        return {
            "file": str(self.output),
            "changed": self.changed,
            "sha256": self.submission.sha256,
            "bytes": len(self.submission.text.encode()),
            "tag": self.tag,
            "provenance": self.submission.provenance.to_dict(),
            "configs": [
                {"m": shape.m, "n": shape.n, "k": shape.k, **config}
                for shape, config in self.submission.configs.items()
            ],
        }


def build(
    folder: Path, variant: str | None, gpu: str | None, output: Path, tag: str | None = None, force: bool = False
) -> Built:
    """Renders a variant, records it in the project's history and writes it to `output` ("-": writes no file).

    Raises UsageError where `output` holds a text that no build wrote, unless `force` is given.
    """
    project = find_project(folder)
    submission = render(project, project.variant(variant), gpu_named(gpu) if gpu else None)
    history = History.open(project.folder)
    changed = True
    if output != STANDARD_OUTPUT:
        old = _read(output) if output.exists() else None
        changed = old != submission.text.encode()
        if old is not None and changed and not force and not history.has(old):
            raise UsageError(
                f"{output} holds a text that no `mxsub build` wrote, and is left as it is",
                "Name another file with -o, or overwrite it with --force.",
            )
    made = submission.provenance
    history.record(
        submission.text,
        variant=made.variant,
        gpu=made.gpu,
        config={str(shape): config for shape, config in submission.configs.items()},
        provenance=made.to_dict(),
        origin="build",
        tag=tag,
    )
    if output != STANDARD_OUTPUT and changed:
        try:
            output.write_text(submission.text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise UsageError(f"{output}: cannot be written: {error.strerror}") from None
    return Built(submission, output, tag, changed)


@dataclass(frozen=True)
class Judged:
    """The findings about a submission; accepted where none is an error."""

    label: str
    findings: tuple[Finding, ...]

    @property
    def accepted(self) -> bool:
        return accepted(list(self.findings))

    def to_dict(self) -> dict[str, object]:
        return {
            "file": self.label,
            "accepted": self.accepted,
            "findings": [finding.to_dict() for finding in self.findings],
        }


def lint(file: Path | None, folder: Path, variant: str | None = None, gpu: str | None = None) -> Judged:
    """Judges a file, or a rendered variant, as the service will, by the project's board and GPU where there is one."""
    if file is None:
        source = source_of(None, folder, variant, gpu)
        label, text, name, project = source.label, source.text, "submission.py", source.project
    else:
        label, text, name, project = shown(file), _read(file), file.name, _project_or_none(folder)
    wanted = gpu_named(gpu).name if gpu else project.gpu.name if project else None
    findings = lint_text(
        text,
        leaderboard=project.leaderboard if project else None,
        gpus=(wanted,) if wanted else (),
        filename=name,
    )
    return Judged(label, tuple(findings))


@dataclass(frozen=True)
class RunRequest:
    """What `mxsub test` was asked for; shapes as M,N,K texts, timeout in seconds."""

    file: Path | None = None
    folder: Path = Path()
    variant: str | None = None
    gpu: str | None = None
    mode: str = "test"
    task_folder: Path | None = None
    seeds: int = 0
    shapes: tuple[str, ...] = ()
    timeout: float | None = None


@dataclass(frozen=True)
class Tested:
    """A run of the task's evaluator, and what it was run on.

    runner_triton: the Triton version of the leaderboard's runner; triton: the one that compiled here.
    """

    label: str
    sha256: str
    device: Device
    run: Run
    triton: str
    runner_triton: str | None

    def to_dict(self) -> dict[str, object]:
        return {
            "file": self.label,
            "sha256": self.sha256,
            "triton": self.triton,
            "runner_triton": self.runner_triton,
            **self.run.to_dict(),
        }


def run_task(request: RunRequest, on_progress: Progress | None = None) -> Tested:
    """Runs the task's evaluator over a file, or a rendered variant, on the GPU or its virtual twin.

    Raises UsageError where the task has no such case, EnvironmentProblem where there is neither GPU nor twin.
    """
    source = source_of(request.file, request.folder, request.variant, request.gpu)
    device = find_device(source.gpu)
    task = _task(request, source.project)
    cases = _cases(task, request, source.project)
    ran = run(
        source.text,
        task,
        device,
        request.mode,
        seeds=request.seeds,
        cases=cases,
        timeout=request.timeout,
        on_progress=on_progress,
    )
    return Tested(
        label=source.label,
        sha256=hashlib.sha256(source.text).hexdigest(),
        device=device,
        run=ran,
        triton=installed("triton") or "none",
        runner_triton=source.project.runner.triton if source.project else None,
    )


def _task(request: RunRequest, project: Project | None) -> Task:
    if request.task_folder is not None:
        return load_task(request.task_folder)
    if project is None:
        raise UsageError(f"there is no {FILE_NAME} to take the task from", "Name a problem folder with --task.")
    own = project.folder / "tasks" / project.task
    return load_task(own) if own.is_dir() else shipped_task(project.task)


def _cases(task: Task, request: RunRequest, project: Project | None) -> list[Case] | None:
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


def diff(a: str, b: str, folder: Path, context: int) -> Difference:
    """What changed between two versions, each a file, or a tag or hash of the project's history."""
    return compare(_version(a, folder), _version(b, folder), context)


def _version(reference: str, folder: Path) -> Version:
    if Path(reference).is_file():
        return Version.of_file(Path(reference))
    project = _project_or_none(folder)
    if project is None:
        raise UsageError(f"there is no file '{reference}', and no {FILE_NAME} whose history could know it")
    return History.open(project.folder).find(reference)
