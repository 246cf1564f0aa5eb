"""What this machine can do for a submission, and what it lacks."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from mxsub import __version__
from mxsub.submit.errors import MxsubError, NoProject, shown
from mxsub.submit.harness.device import present_gpus
from mxsub.submit.packages import installed
from mxsub.submit.project import Project, find_project
from mxsub.submit.project_folder import FILE_NAME
from mxsub.submit.render import render

INSTALL = "pip install 'mxsub[local]'"
SCRATCH_BYTES = 2 * 10**9


@dataclass(frozen=True)
class Check:
    """state: "ok", "note" for what is good to know, "missing" for what a command needs. hint: what to do."""

    name: str
    state: Literal["ok", "note", "missing"]
    found: str
    hint: str = ""


@dataclass(frozen=True)
class Health:
    """Every check; healthy where nothing is missing."""

    checks: tuple[Check, ...]

    @property
    def healthy(self) -> bool:
        return not any(check.state == "missing" for check in self.checks)

    @property
    def sentence(self) -> str:
        missing = [check.name for check in self.checks if check.state == "missing"]
        return (
            f"missing: {', '.join(missing)}" if missing else "everything that build, lint, test and diff need is here"
        )

    def to_dict(self) -> dict[str, object]:
        return {"healthy": self.healthy, "checks": [asdict(check) for check in self.checks]}


def examine(folder: Path) -> Health:
    """Looks at Python, the packages, the GPUs, the scratch space, and the project around a folder."""
    try:
        project: Project | None = find_project(folder)
        problem = None
    except MxsubError as error:
        project, problem = None, error
    checks = [_python(), *_packages(project), _gpus(project), _scratch(), *_project(project, problem)]
    return Health(tuple(checks))


def _python() -> Check:
    return Check("Python", "ok", f"{sys.version.split()[0]} ({sys.executable}), mxsub {__version__}")


def _packages(project: Project | None) -> Iterator[Check]:
    yield Check("KernelGuard", "ok", installed("kernelguard") or "none")
    wanted = project.runner.triton if project else None
    for package in ("numpy", "torch", "triton"):
        found = installed(package)
        if found is None:
            yield Check(package, "missing", "not installed, and `mxsub test` runs on it", INSTALL)
        elif package == "triton" and wanted and found != wanted:
            yield Check(
                "triton", "note", f"{found}, while the runner has {wanted}",
                f"What is tested here is another compiler's code: pip install triton=={wanted}.",
            )  # fmt: skip
        else:
            same = ", the runner's version" if package == "triton" and wanted else ""
            yield Check(package, "ok", f"{found}{same}")


def _gpus(project: Project | None) -> Check:
    present = present_gpus()
    if project and any(project.gpu.torch_name.lower() in name.lower() for name in present):
        return Check("GPU", "ok", ", ".join(present))
    twin = f"`mxsub test` runs on the virtual {project.gpu.name}" if project and project.gpu.has_twin else ""
    return Check("GPU", "note", ", ".join(present) or "none", twin)


def _scratch() -> Check:
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    state: Literal["ok", "missing"] = "ok" if free > SCRATCH_BYTES else "missing"
    return Check("scratch space", state, f"{free / 1e9:.1f} GB free in {folder}", "" if state == "ok" else "Free some.")


def _project(project: Project | None, problem: MxsubError | None) -> Iterator[Check]:
    if isinstance(problem, NoProject):
        yield Check("project", "note", f"no {FILE_NAME} here or above", "Make a project with `mxsub init DIR`.")
        return
    if problem is not None:
        yield Check("project", "missing", problem.message, problem.hint)
        return
    assert project is not None
    yield Check("project", "ok", f"{shown(project.folder / FILE_NAME)}: {project.leaderboard} on {project.gpu.name}")
    for name in project.source.data["variants"]:
        try:
            size = len(render(project, project.variant(name)).text)
            yield Check(f"variant {name}", "ok", f"renders, {size:,} bytes")
        except MxsubError as error:
            yield Check(f"variant {name}", "missing", error.message, error.hint)
