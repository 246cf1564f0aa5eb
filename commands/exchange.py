"""The commands that carry a history from one place to another."""

import sys
from pathlib import Path

import click

from mxsub.commands.options import as_json, print_json, project_folder

STANDARD = Path("-")


@click.group()
def history() -> None:
    """Export the history as JSON lines, or import such a file."""


@history.command("export")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), default=STANDARD)
@click.option("--force", is_flag=True, help="Overwrite a file that no export wrote.")
@project_folder
@as_json
def export_history(file: Path, force: bool, folder: Path, as_json: bool) -> None:
    """Write all that the history has to FILE, or to standard output."""
    from mxsub.submit.errors import UsageError
    from mxsub.submit.history import History
    from mxsub.submit.history.exporting import export, export_file

    if file == STANDARD and as_json:
        raise UsageError("--json tells of a FILE, and the lines go to standard output", "Name a file.")
    with History.around(folder) as opened:
        if file == STANDARD:
            export(opened, sys.stdout.buffer)
            return
        counts = export_file(opened, file, force=force)
    if as_json:
        print_json({"file": str(file), "bytes": file.stat().st_size, **counts})
    else:
        kinds = ", ".join(f"{count:,} {kind}s" for kind, count in counts.items())
        click.echo(f"{file}: {kinds}, {file.stat().st_size:,} bytes")


@history.command("import")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@project_folder
@as_json
def import_history(file: Path, folder: Path, as_json: bool) -> None:
    """Take what FILE (- for standard input) has into the history; what is here stays."""
    from mxsub.submit.errors import UsageError, check_no_device
    from mxsub.submit.history import History
    from mxsub.submit.history.importing import import_lines

    with History.around(folder) as opened:
        if file == STANDARD:
            imported = import_lines(opened, sys.stdin.buffer, "standard input")
        else:
            check_no_device(file)
            try:
                with file.open("rb") as lines:
                    imported = import_lines(opened, lines, str(file))
            except OSError as error:
                raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
    if as_json:
        print_json(imported.to_dict())
        return
    click.echo(imported.sentence)
    for name in imported.kept_tags:
        click.echo(f"the tag {name} means another version here, and is left as it is", err=True)


COMMANDS = (history,)
