"""Keeps what a command learned, without letting the history get in the command's way."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from mxsub.submit.history import History


def keep(folder: Path, record: Callable[["History"], object]) -> None:
    """Records something in the history of the project around a folder, if there is one. A history that cannot be
    written takes nothing away from what was found: a warning, and the command goes on."""
    from mxsub.submit.errors import EnvironmentProblem
    from mxsub.submit.history import History

    history = History.around_or_none(folder)
    if history is None:
        return
    try:
        with history:
            record(history)
    except EnvironmentProblem as error:
        click.echo(f"warning: not recorded: {error.message}\n{error.hint}", err=True)
