"""A new project folder from the shipped one."""

import shutil
from pathlib import Path

from mxsub.submit.errors import UsageError
from mxsub.submit.project import SHIPPED
from mxsub.submit.project_folder import FILE_NAME

PARTS = (FILE_NAME, "kernels", "templates")


def create_project(folder: Path) -> list[Path]:
    """Copies configs.yaml, kernels/ and templates/ into a folder, which is made if it does not exist.

    Returns the paths written. Raises UsageError, and writes nothing, where one of them is there already.
    """
    for part in PARTS:
        if (folder / part).exists():
            raise UsageError(f"{folder / part} exists already", "Name another folder; nothing was written.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy2(SHIPPED / FILE_NAME, folder / FILE_NAME)
        for part in PARTS[1:]:
            shutil.copytree(SHIPPED / part, folder / part, ignore=shutil.ignore_patterns("__pycache__", "__init__.py"))
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written: {error.strerror}") from None
    return [folder / part for part in PARTS]
