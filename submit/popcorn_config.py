"""Where the official client keeps the KernelBot id, and mxsub too; apart, as who only asks for that is in a hurry."""

from pathlib import Path

from mxsub.submit.errors import EnvironmentProblem


def config_path() -> Path:
    """~/.popcorn.yaml; EnvironmentProblem where there is no home folder."""
    try:
        return Path.home() / ".popcorn.yaml"
    except RuntimeError:
        raise EnvironmentProblem("there is no home folder to keep the KernelBot id in", "Set HOME.") from None
