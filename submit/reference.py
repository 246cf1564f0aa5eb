"""Finds the text that a command line names: a file, or a version of the project's history."""

from dataclasses import dataclass
from pathlib import Path

from mxsub.submit.errors import UsageError, read_bytes, shown
from mxsub.submit.history import History
from mxsub.submit.history.submissions import SubmissionRecord
from mxsub.submit.history.versions import LONGEST_NUMBER
from mxsub.submit.project_folder import FILE_NAME
from mxsub.submit.version import Version


@dataclass(frozen=True)
class Named:
    """A text. label: as messages call it. file_name: what it is handed in as."""

    label: str
    file_name: str
    data: bytes


def text_of(reference: str, folder: Path) -> Named:
    """The bytes of a file, or of a version by tag, submission number or hash.

    Raises UsageError where there is neither.
    """
    path = Path(reference)
    if path.exists():
        return Named(shown(path), path.name, read_bytes(path))
    version = version_of(reference, folder)
    return Named(reference, f"{version.label.removeprefix('#')}.py", version.text.encode())


def submission_of(reference: str, history: History) -> SubmissionRecord | None:
    """The submission that a reference names by its number; None where it is a file, a tag or a hash.

    Raises UsageError for a number that several services have given.
    """
    number = reference.removeprefix("#")
    if Path(reference).exists() or not (number.isascii() and number.isdecimal()) or len(number) > LONGEST_NUMBER:
        return None
    found = history.submissions.numbered(int(number))
    if len(found) > 1:
        services = ", ".join(record.service for record in found)
        raise UsageError(f"#{number} is a submission of {len(found)} services: {services}", "Name it by its hash.")
    return found[0] if found else None


def version_of(reference: str, folder: Path) -> Version:
    """A file as a version, or a version by tag, submission number or hash.

    Raises UsageError where there is neither, or the file is no UTF-8 text.
    """
    path = Path(reference)
    if path.exists():
        return Version.of_file(path)
    history = History.around_or_none(folder)
    if history is None or len(path.parts) > 1:
        why = "" if history else f", and no {FILE_NAME} here or above whose history could know it"
        raise UsageError(f"there is no file '{reference}'{why}")
    with history:
        return history.versions.find(reference)
