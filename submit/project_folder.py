"""Finds a project's folder, without reading its configs.yaml."""

from pathlib import Path

from mxsub.submit.errors import NoProject

FILE_NAME = "configs.yaml"


def project_folder(start: Path) -> Path:
    """The folder of the configs.yaml that is in `start` or in the nearest folder above it; NoProject for none."""
    start = start.resolve()
    for folder in (start, *start.parents):
        if (folder / FILE_NAME).is_file():
            return folder
    raise NoProject(
        f"there is no {FILE_NAME} in {start} or above",
        "Run this in a project folder, name one with --project, or make one with `mxsub init DIR`.",
    )
