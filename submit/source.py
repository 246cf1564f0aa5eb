"""What a command works on: a file as it is, or a freshly rendered variant of the project."""

from dataclasses import dataclass
from pathlib import Path

from mxsub.submit.errors import NoProject, UsageError, read_bytes, shown
from mxsub.submit.gpus import Gpu, gpu_named
from mxsub.submit.project import Project, find_project
from mxsub.submit.project_folder import FILE_NAME
from mxsub.submit.render import Submission, render


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
    around = project_or_none(folder)
    if gpu:
        wanted = gpu_named(gpu)
    elif around:
        wanted = around.gpu
    else:
        raise UsageError(f"there is no {FILE_NAME} to take the GPU from", "Name one with --gpu.")
    return Source(shown(file), read_bytes(file), around, wanted, None)


def project_or_none(folder: Path) -> Project | None:
    try:
        return find_project(folder)
    except NoProject:
        return None
