"""Finds the two versions of a diff: files, tags or hashes."""

from pathlib import Path

from mxsub.submit.diff import Difference, diff
from mxsub.submit.errors import UsageError
from mxsub.submit.history import History
from mxsub.submit.project_folder import FILE_NAME
from mxsub.submit.source import project_or_none
from mxsub.submit.version import Version


def compare(a: str, b: str, folder: Path, context: int) -> Difference:
    """What changed between two versions, each a file, or a tag or hash of the project's history."""
    return diff(_version(a, folder), _version(b, folder), context)


def _version(reference: str, folder: Path) -> Version:
    if Path(reference).is_file():
        return Version.of_file(Path(reference))
    project = project_or_none(folder)
    if project is None:
        raise UsageError(f"there is no file '{reference}', and no {FILE_NAME} whose history could know it")
    return History.open(project.folder).versions.find(reference)
