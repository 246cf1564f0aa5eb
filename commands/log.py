"""The commands that look back: what was made, and what came of it."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mxsub.commands.options import MODES, api_url, as_json, print_json, project_folder

if TYPE_CHECKING:
    from mxsub.submit.history import History
    from mxsub.submit.listing.log import LogEntry

ENTRIES = 20
# Who looks at a log does not wait for long.
QUICK_SECONDS = 10.0
QUICK_TIMEOUT = 3.0


@click.command()
@click.argument("version", required=False)
@click.option("-n", "--limit", type=click.IntRange(1, 1_000_000), help=f"At most so many; {ENTRIES} if not given.")
@click.option("--all", "all_of_it", is_flag=True, help="All of it.")
@click.option("--local", is_flag=True, help="What the history has; the service is not asked.")
@click.option("--remote", is_flag=True, help="Only what the service has; exit 4 where it cannot be asked.")
@click.option("--mode", type=click.Choice(MODES, case_sensitive=False), help="Submissions in this mode.")
@click.option("--verdict", help="Submissions that ended so, e.g. passed, failed or 'under way'.")
@click.option("--board", "leaderboard", help="Submissions to this leaderboard.")
@click.option("--gpu", help="Submissions to this GPU.")
@click.option("--variant", help="Versions of this variant.")
@click.option("--since", metavar="TIME", help="From then on: 2026-12-01, '2026-12-01 18:30', 12h, 3d, 2w.")
@click.option("--plot", is_flag=True, help="Draw the geometric mean over the submissions here.")
@click.option(
    "--picture", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Draw it as a picture: .png, .svg or .pdf.",
)  # fmt: skip
@api_url
@project_folder
@as_json
def log(
    version: str | None, limit: int | None, all_of_it: bool, local: bool, remote: bool, mode: str | None,
    verdict: str | None, leaderboard: str | None, gpu: str | None, variant: str | None, since: str | None, plot: bool,
    picture: Path | None, api_url: str | None, folder: Path, as_json: bool,
) -> None:  # fmt: skip
    """What was made and submitted, newest first; VERSION: only that one.

    Where an id is registered, the service is asked for news and for submissions that were made elsewhere; where it does
    not answer soon, the log is that of the history.
    """
    from mxsub.submit.errors import UsageError
    from mxsub.submit.history import History
    from mxsub.submit.listing.log import Filter
    from mxsub.submit.listing.log import log as entries_of
    from mxsub.submit.listing.moments import moment_of

    if local and remote:
        raise UsageError("--local and --remote exclude each other", "Leave one of them out.")
    if all_of_it and limit is not None:
        raise UsageError("--all and --limit exclude each other", "Leave one of them out.")
    drawn = plot or picture is not None
    # A plot without a limit is of all that fits.
    most = None if all_of_it or (drawn and limit is None) else limit or ENTRIES
    wanted = Filter(
        sha256=_hash(version, folder) if version else None,
        mode=mode.lower() if mode else None,
        verdict=_verdict(verdict) if verdict else None,
        leaderboard=leaderboard,
        gpu=gpu,
        variant=variant,
        since=moment_of(since, datetime.now(UTC)) if since else None,
        submitted=remote,
    )
    with History.around(folder) as history:
        if not local:
            _ask_service(history, folder, leaderboard, api_url, most, must=remote, quiet=as_json)
        found = entries_of(history, wanted, None if most is None else most + 1)
        shown = found[:most]
        if drawn:
            _draw(history, shown, plot, picture, as_json)
            return
    if as_json:
        print_json([entry.to_dict() for entry in shown])
    else:
        from mxsub.submit.terminal.log import show_log

        show_log(shown, len(found) > len(shown))


@click.command()
@click.argument("version")
@click.option("--text", is_flag=True, help="Print the version's text and nothing else.")
@project_folder
@as_json
def show(version: str, text: bool, folder: Path, as_json: bool) -> None:
    """All that is known of VERSION: a tag, a hash, a file, or the number of a submission."""
    from mxsub.submit.listing.about import about
    from mxsub.submit.reference import version_of

    if text:
        click.echo(version_of(version, folder).text, nl=False)
        return
    found = about(version, folder)
    if as_json:
        print_json(found.to_dict())
    else:
        from mxsub.submit.terminal.about import show_about

        show_about(found)


def _hash(version: str, folder: Path) -> str:
    from mxsub.submit.reference import version_of

    return version_of(version, folder).sha256


def _verdict(given: str) -> str:
    from typing import get_args

    from mxsub.submit.errors import UsageError
    from mxsub.submit.history.submissions import UNDER_WAY
    from mxsub.submit.posting.verdict import Verdict

    known = [UNDER_WAY, *get_args(Verdict)]
    if given.lower() not in known:
        raise UsageError(f"'{given}' is no verdict", f"There are: {', '.join(known)}.")
    return given.lower()


def _ask_service(
    history: "History", folder: Path, leaderboard: str | None, api_url: str | None, limit: int | None, *, must: bool,
    quiet: bool,
) -> None:  # fmt: skip
    """Takes the service's news into the history. Unless it must, a failure is told, and takes nothing away."""
    from mxsub.submit.errors import MxsubError
    from mxsub.submit.popcorn_config import config_path

    if not must and not config_path().exists():
        return
    from mxsub.submit.kernelbot import NotRegistered, Patience
    from mxsub.submit.posting.account import open_service
    from mxsub.submit.posting.merging import merge
    from mxsub.submit.posting.pace import Pace
    from mxsub.submit.posting.sending import Desk
    from mxsub.submit.project import find_project
    from mxsub.submit.terminal.following import Watch

    watch = Watch(quiet=quiet)
    try:
        board = leaderboard or find_project(folder).leaderboard
        patience = None if must else Patience(retries=0, get_timeout=QUICK_TIMEOUT)
        with watch, open_service(api_url, patience) as bot:
            watch.progress("asking the service")
            desk = Desk(history, bot, Pace(), watch.notify, watch.progress)
            merged = merge(desk, board, limit) if must else merge(desk, board, limit, QUICK_SECONDS)
    except NotRegistered:
        if must:
            raise
    except MxsubError as error:
        if must:
            raise
        click.echo(f"without news from the service: {error.message}", err=True)
    else:
        if merged.left:
            click.echo(f"{merged.left} more are new at the service: run it again, or with --remote", err=True)


def _draw(history: "History", entries: "list[LogEntry]", plot: bool, picture: Path | None, as_json: bool) -> None:
    from mxsub.submit.errors import MxsubError
    from mxsub.submit.listing.trend import trend_of

    trend = trend_of(history, [entry.submission for entry in entries if entry.submission])
    if trend is None:
        raise MxsubError("there is nothing to draw: no submission that fits was timed and passed")
    if picture is not None:
        from mxsub.submit.trend_picture import write_picture

        write_picture(trend, picture)
    if as_json:
        print_json(trend.to_dict())
        return
    if plot:
        from mxsub.submit.terminal.plot import show_trend

        show_trend(trend)
    if picture is not None:
        click.echo(f"{picture}: {len(trend.points)} submissions to {trend.leaderboard} on {trend.gpu}")


COMMANDS = (log, show)
