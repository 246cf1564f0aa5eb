"""The command that writes the history as a page."""

from pathlib import Path

import click

from mxsub.commands.options import as_json, print_json, project_folder


@click.command()
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), default=Path("report.html"),
    show_default=True, help="The file to write.",
)  # fmt: skip
@click.option("--board", "leaderboard", help="The leaderboard; that of the latest submission if not given.")
@click.option("--gpu", help="The GPU; that of the latest submission if not given.")
@click.option(
    "--last", type=click.IntRange(0), default=40, show_default=True, metavar="N",
    help="Config, lint, runs and diff of the latest N versions; the tables have all.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Overwrite a file that no report wrote.")
@project_folder
@as_json
def report(
    output: Path, leaderboard: str | None, gpu: str | None, last: int, force: bool, folder: Path, as_json: bool
) -> None:
    """Write the history as one HTML page: versions, times as plots, diffs, lint. The page needs no network."""
    from mxsub.submit.html_report.writing import write_report

    written = write_report(folder, output, leaderboard=leaderboard, gpu=gpu, last=last, force=force)
    if as_json:
        print_json(written.to_dict())
    else:
        click.echo(written.sentence)


COMMANDS = (report,)
