"""What a command works on: a file or a recorded version as it is, or a freshly rendered variant of the project."""

from dataclasses import dataclass
from pathlib import Path

from mxsub.submit.errors import NoProject, UsageError
from mxsub.submit.gpus import Gpu, gpu_named
from mxsub.submit.project import Project, find_project
from mxsub.submit.project_folder import FILE_NAME
from mxsub.submit.reference import text_of
from mxsub.submit.render import Submission, render


@dataclass(frozen=True)
class Source:
    """The text that a command works on.

    label: the file's path, the version as it was called, or "variant NAME". file_name: what it is handed in as.
    submission: None where it is not freshly rendered.
    """

    label: str
    file_name: str
    text: bytes
    project: Project | None
    gpu: Gpu
    submission: Submission | None


def source_of(named: str | None, folder: Path, variant: str | None, gpu: str | None) -> Source:
    """Reads a file or a recorded version, or renders a variant of the project around `folder` where none is named.

    Raises UsageError where there is neither.
    """
    if named is None:
        project = find_project(folder)
        wanted = gpu_named(gpu) if gpu else project.gpu
        submission = render(project, project.variant(variant), wanted)
        name = submission.provenance.variant
        file_name = f"{name}-{submission.sha256[:12]}.py"
        return Source(f"variant {name}", file_name, submission.text.encode(), project, wanted, submission)
    if variant:
        raise UsageError("--variant is for rendering, and a FILE is given", "Leave one of them out.")
    text = text_of(named, folder)
    around = project_or_none(folder)
    if gpu:
        wanted = gpu_named(gpu)
    elif around:
        wanted = around.gpu
    else:
        raise UsageError(f"there is no {FILE_NAME} to take the GPU from", "Name one with --gpu.")
    return Source(text.label, text.file_name, text.data, around, wanted, None)


def project_or_none(folder: Path) -> Project | None:
    try:
        return find_project(folder)
    except NoProject:
        return None
