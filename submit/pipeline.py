"""The steps that the commands are made of, each callable from Python: build, lint, test, diff.

configs.yaml -> Project -> render -> Submission -> lint -> test on a device -> diff, one direction.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mxsub.submit.errors import NoProject, UsageError
from mxsub.submit.gpus import Gpu, gpu_named
from mxsub.submit.harness.device import Device
from mxsub.submit.harness.run import Run
from mxsub.submit.lint import Finding
from mxsub.submit.project import FILE_NAME, Project, find_project
from mxsub.submit.render import Submission, render

STANDARD_OUTPUT = Path("-")


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
    project = _project_or_none(folder)
    if gpu is None and project is None:
        raise UsageError(f"there is no {FILE_NAME} to take the GPU from", "Name one with --gpu.")
    wanted = gpu_named(gpu) if gpu or project is None else project.gpu  # type: ignore[arg-type]
    return Source(str(file), _read(file), project, wanted, None)


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
    from mxsub.submit.history import History

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
        return not any(finding.severity == "error" for finding in self.findings)

    def to_dict(self) -> dict[str, object]:
        return {
            "file": self.label,
            "accepted": self.accepted,
            "findings": [finding.to_dict() for finding in self.findings],
        }


def lint(file: Path | None, folder: Path, variant: str | None = None, gpu: str | None = None) -> Judged:
    """Judges a file, or a rendered variant, as the service of the project's board will."""
    from mxsub.submit.lint import lint as lint_text

    source = source_of(file, folder, variant, gpu or ("MI355X" if file and not _project_or_none(folder) else None))
    findings = lint_text(
        source.text,
        leaderboard=source.project.leaderboard if source.project else None,
        gpus=(source.gpu.name,) if source.project or gpu else (),
        filename=source.label if file else "submission.py",
    )
    return Judged(source.label, tuple(findings))


@dataclass(frozen=True)
class TestRequest:
    """What `mxsub test` was asked for; shapes as M,N,K texts, timeout in seconds."""

    __test__ = False  # pytest: a request, no test case

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


def test(request: TestRequest, on_progress: Callable[..., None] | None = None) -> Tested:
    """Runs the task's evaluator over a file, or a rendered variant, on the GPU or its virtual twin."""
    raise AssertionError((request, on_progress, json))
