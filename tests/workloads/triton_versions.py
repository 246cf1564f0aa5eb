"""The versions of Triton that the workloads run on: the one beside this Python, others in folders of their own."""

import os
from pathlib import Path

INSTALLED = "3.6.0"  # in .venv, as on the runner
OTHERS = ("3.7.1", "3.8.0", "3.9.0")
VERSIONS = (INSTALLED, *OTHERS)
VENV = Path(__file__).parents[2] / ".venv"


def environment_of(version: str) -> dict[str, str]:
    """The variables that give a child process another version of Triton; torch stays the same.

    Raises FileNotFoundError where the version is not installed.
    """
    if version == INSTALLED:
        return {}
    folder = VENV / f"triton-{version}"
    if not (folder / "triton" / "__init__.py").is_file():
        raise FileNotFoundError(f"there is no Triton {version} in {folder}: `make .venv/{folder.name}` installs it")
    path = [str(folder), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {"PYTHONPATH": os.pathsep.join(path)}
