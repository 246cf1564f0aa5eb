"""A project's history, found from its folder."""

from pathlib import Path
from types import TracebackType
from typing import Self

from mxsub.submit.errors import NoProject
from mxsub.submit.history.file import HistoryFile
from mxsub.submit.history.inspections import Inspections
from mxsub.submit.history.lints import Lints
from mxsub.submit.history.runs import Runs
from mxsub.submit.history.submissions import Submissions
from mxsub.submit.history.sweeps import Sweeps
from mxsub.submit.history.versions import Versions
from mxsub.submit.project_folder import project_folder

FOLDER_NAME = ".mxsub"
FILE_NAME = "history.sqlite3"


class History:
    """The versions of one project and all that is known of each; close it, or use it in a `with` statement.

    Every method of its parts raises EnvironmentProblem, in one sentence, where the file cannot be read or written.
    """

    def __init__(self, file: HistoryFile) -> None:
        self.file = file
        self.versions = Versions(file)
        self.lints = Lints(file)
        self.runs = Runs(file)
        self.inspections = Inspections(file)
        self.submissions = Submissions(file)
        self.sweeps = Sweeps(file)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """The history of a project's folder; its file is made when something is first recorded."""
        return cls(HistoryFile(folder / FOLDER_NAME / FILE_NAME))

    @classmethod
    def around(cls, start: Path) -> Self:
        """The history of the project that `start` lies in; NoProject where it lies in none."""
        return cls.open(project_folder(start))

    @classmethod
    def around_or_none(cls, start: Path) -> Self | None:
        """The history of the project that `start` lies in, if it lies in one."""
        try:
            return cls.around(start)
        except NoProject:
            return None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets the file go; the next call opens it again."""
        self.file.close()
