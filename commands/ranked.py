"""The commands about submissions that the service has: fetch one's text, the ranking, delete."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mxsub.commands.options import api_url, as_json, print_json, project_folder

if TYPE_CHECKING:
    from mxsub.submit.history import History
    from mxsub.submit.history.submissions import SubmissionRecord
    from mxsub.submit.kernelbot import KernelBot
    from mxsub.submit.posting.sending import Desk


@click.command()
@click.argument("submission", metavar="ID")
@click.option("--tag", help="A name for this version.")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="A file to write; - for standard output."
)
@click.option("--force", is_flag=True, help="Overwrite a file whose text is not in the history.")
@api_url
@project_folder
@as_json
def pull(
    submission: str, tag: str | None, output: Path | None, force: bool, api_url: str | None, folder: Path, as_json: bool
) -> None:
    """Fetch a submission's text from the service; it becomes a version of the history."""
    from mxsub.submit.history import History
    from mxsub.submit.posting.account import open_service
    from mxsub.submit.posting.pulling import number_of
    from mxsub.submit.posting.pulling import pull as pull_from
    from mxsub.submit.text_file import check_replaceable, write_text

    number = number_of(submission)
    with open_service(api_url) as bot, History.around(folder) as history:
        pulled = pull_from(_desk(history, bot), number, tag)
        to_file = output is not None and str(output) != "-"
        if output is not None and to_file and check_replaceable(output, pulled.version.text, history, force=force):
            write_text(output, pulled.version.text)
    if as_json:
        print_json(pulled.to_dict())
    elif output is not None and not to_file:
        click.echo(pulled.version.text, nl=False)
    else:
        click.echo(pulled.sentence + (f", in {output}" if to_file else ""))


@click.command()
@click.option("--board", "leaderboard", help="The leaderboard; the project's if not given.")
@click.option("--gpu", help="The GPU; the project's, or the board's only one, if not given.")
@click.option("--top", type=click.IntRange(0, 1_000_000), default=10, show_default=True, help="So many from the top.")
@click.option("--all", "all_of_it", is_flag=True, help="The whole ranking.")
@api_url
@project_folder
@as_json
def rank(
    leaderboard: str | None, gpu: str | None, top: int, all_of_it: bool, api_url: str | None, folder: Path,
    as_json: bool,
) -> None:  # fmt: skip
    """A board's ranking, your place in it, and how far the next one is. An open board needs no id."""
    from mxsub.submit.kernelbot import KernelBot, Patience, read_cli_id, service_url
    from mxsub.submit.posting.standing import standing

    with KernelBot(service_url(api_url), read_cli_id(), Patience.from_environment()) as bot:
        leaderboard, gpu = _place(bot, leaderboard, gpu, folder)
        found = standing(bot, leaderboard, gpu)
    if found.place is not None:
        _keep_rank(folder, bot.base_url, found.place.submission, found.place.rank)
    if as_json:
        print_json(found.to_dict())
    else:
        from mxsub.submit.terminal.standing import show_standing

        show_standing(found, len(found.ranking) if all_of_it else top)


@click.command()
@click.argument("submissions", nargs=-1, required=True, metavar="ID...")
@click.option("-y", "--yes", is_flag=True, help="Do not ask first.")
@api_url
@project_folder
@as_json
def delete(submissions: tuple[str, ...], yes: bool, api_url: str | None, folder: Path, as_json: bool) -> None:
    """Delete submissions from the service, with their places in the ranking and in the rate limit.

    The history keeps all of each, its text included.
    """
    from mxsub.submit.errors import ServiceError
    from mxsub.submit.history import History
    from mxsub.submit.posting.account import open_service
    from mxsub.submit.posting.deleting import before_deleting
    from mxsub.submit.posting.deleting import delete as delete_from
    from mxsub.submit.posting.pulling import number_of

    numbers = list(dict.fromkeys(number_of(text) for text in submissions))
    done, troubles = [], []
    with open_service(api_url) as bot, History.around(folder) as history:
        desk = _desk(history, bot)
        # All of them are known to be there, and kept, before the first one goes.
        records = [before_deleting(desk, number) for number in numbers]
        _confirm(records, yes)
        for record in records:
            try:
                done.append(delete_from(desk, record))
            except ServiceError as error:
                troubles.append(error)
                click.echo(f"#{record.remote_id}: not deleted: {error.message}", err=True)
    if as_json:
        print_json([deleted.to_dict() for deleted in done])
    else:
        for deleted in done:
            click.echo(deleted.sentence)
    sys.exit(troubles[0].exit_code if troubles else 0)


def _desk(history: "History", bot: "KernelBot") -> "Desk":
    from mxsub.submit.posting.pace import Pace
    from mxsub.submit.posting.sending import Desk

    return Desk(history, bot, Pace(), lambda text: click.echo(text, err=True), lambda _: None)


def _place(bot: "KernelBot", leaderboard: str | None, gpu: str | None, folder: Path) -> tuple[str, str]:
    """The board and GPU that were asked for, or else the project's."""
    from mxsub.submit.errors import UsageError
    from mxsub.submit.source import project_or_none

    project = project_or_none(folder)
    board = leaderboard or (project.leaderboard if project else None)
    if board is None:
        raise UsageError("there is no project here to take the leaderboard from", "Name one with --board.")
    if gpu is not None:
        return board, gpu
    if project is not None and project.leaderboard == board:
        return board, project.gpu.name
    gpus = bot.gpus(board)
    if len(gpus) != 1:
        raise UsageError(f"{board} has {len(gpus)} GPUs", f"Name one with --gpu: {', '.join(gpus)}.")
    return board, gpus[0]


def _keep_rank(folder: Path, service: str, number: int, rank: int) -> None:
    """Where the history has the ranked submission."""
    from mxsub.commands.recording import keep

    def record(history: "History") -> None:
        for known in history.submissions.numbered(number, service):
            if known.rank != rank:
                history.submissions.update(known.uid, {"rank": rank}, rank=rank)

    keep(folder, record)


def _confirm(records: "list[SubmissionRecord]", yes: bool) -> None:
    from mxsub.submit.errors import MxsubError, UsageError
    from mxsub.submit.plain_text import one_line

    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError("deleting is asked about, and nobody is there to answer", "Use --yes.")
    for record in records:
        mean = f", {record.geometric_mean:.3f} us" if record.geometric_mean else ""
        rank = f", rank {record.rank}" if record.rank else ""
        ends = record.verdict or "under way"
        click.echo(
            f"#{record.remote_id}: {one_line(record.file_name)}, {record.mode or '-'}, {ends}{mean}{rank}", err=True
        )
    if not click.confirm(f"Delete {'it' if len(records) == 1 else f'these {len(records)}'} for good?", err=True):
        raise MxsubError("not deleted: nothing was changed at the service")


COMMANDS = (pull, rank, delete)
