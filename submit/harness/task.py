"""A problem folder: task.yml, and the files that the evaluator is put together from."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mxsub.submit.errors import UsageError, shown
from mxsub.submit.harness.case import Case
from mxsub.submit.yaml_file import YamlFile

SHIPPED = Path(__file__).resolve().parent.parent.parent / "tasks"
SUBMISSION = "@SUBMISSION@"
DEFAULT_TIMEOUT = 180.0
Mode = Literal["test", "benchmark", "leaderboard", "profile"]


class _File(BaseModel):
    name: str
    source: str


class _Main(BaseModel):
    main: str


class _TaskEntry(BaseModel):
    """task.yml; keys that mxsub has no use for are let through."""

    model_config = ConfigDict(extra="ignore")
    lang: Literal["py"] = "py"
    files: list[_File]
    config: _Main
    tests: list[dict[str, Any]] = Field(default_factory=list)
    benchmarks: list[dict[str, Any]] = Field(default_factory=list)
    test_timeout: float = DEFAULT_TIMEOUT
    benchmark_timeout: float = DEFAULT_TIMEOUT
    ranked_timeout: float = DEFAULT_TIMEOUT
    ranking_by: Literal["last", "mean", "geom"] = "last"


@dataclass(frozen=True)
class Task:
    """One problem.

    files: name in the evaluator's folder -> its source in the problem folder; the submission's is None.
    timeouts: seconds by mode.
    """

    name: str
    folder: Path
    files: dict[str, Path | None]
    main: str
    tests: tuple[Case, ...]
    benchmarks: tuple[Case, ...]
    timeouts: dict[str, float]
    ranking_by: str

    def cases(self, mode: str) -> tuple[Case, ...]:
        """The cases that a mode runs, as the service writes them: all tests, or all benchmarks; with
        ranking_by "last" only the last benchmark."""
        if mode == "test":
            return self.tests
        return self.benchmarks[-1:] if self.ranking_by == "last" else self.benchmarks

    @property
    def submission_name(self) -> str:
        """The file name that the submission has in the evaluator's folder."""
        return next(name for name, source in self.files.items() if source is None)


def shipped_task(name: str) -> Task:
    """A problem that mxsub ships, by its board's name; UsageError where it ships none."""
    folder = SHIPPED / name
    if not folder.is_dir():
        known = ", ".join(sorted(path.parent.name for path in SHIPPED.glob("*/task.yml")))
        raise UsageError(f"mxsub ships no task '{name}'", f"It ships {known}; name a problem folder with --task DIR.")
    return load_task(folder)


def load_task(folder: Path) -> Task:
    """Reads a problem folder.

    Raises UsageError with file:line:col where task.yml does not fit, or names a file that is not there.
    """
    path = folder / "task.yml"
    if not path.is_file():
        raise UsageError(
            f"{shown(folder)} is no problem folder: it has no task.yml", "Name the folder with --task DIR."
        )
    source = YamlFile(path)
    entry = source.parse(_TaskEntry)
    files: dict[str, Path | None] = {}
    for position, file in enumerate(entry.files):
        if file.source == SUBMISSION:
            files[file.name] = None
            continue
        target = _find(folder, file.source)
        if target is None:
            source.fail(("files", position), f"the file '{file.source}' is not in {shown(folder)}", "Add it there.")
        files[file.name] = target
    if None not in files.values():
        source.fail(("files",), f"no file has the source {SUBMISSION}")
    if entry.config.main not in files:
        source.fail(("config", "main"), f"'{entry.config.main}' is not among the files")
    for key, cases in (("tests", entry.tests), ("benchmarks", entry.benchmarks)):
        for position, case in enumerate(cases):
            for name, value in case.items():
                if not (isinstance(value, int) or (isinstance(value, str) and value.isidentifier())):
                    allowed = "Evaluators read integers, true and false, and names of letters, digits and _."
                    source.fail((key, position, name), f"{name} is {value!r} in a case", allowed)
    return Task(
        name=folder.resolve().name,
        folder=folder,
        files=files,
        main=entry.config.main,
        tests=tuple(entry.tests),
        benchmarks=tuple(entry.benchmarks),
        timeouts={
            "test": entry.test_timeout,
            "benchmark": entry.benchmark_timeout,
            "profile": entry.benchmark_timeout,
            "leaderboard": entry.ranked_timeout,
        },
        ranking_by=entry.ranking_by,
    )


def _find(folder: Path, source: str) -> Path | None:
    """A file of the problem folder; problem sets keep shared ones in the folder above."""
    for candidate in (folder / source, folder.parent / source):
        if candidate.is_file():
            return candidate
    return None
