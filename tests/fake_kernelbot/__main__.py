"""The fake by hand: prints its URL and a cli id that works, and serves until Ctrl-C."""

import signal
import sys

import click

from .bot import FakeKernelBot
from .faults import FAULTS, Stage


def _faults() -> str:
    """The table of faults, by the place where they act."""
    lines = []
    for stage in Stage:
        lines.append(f"{stage.value}:")
        lines += [f"  {fault.name:20} {fault.description}" for fault in FAULTS.values() if fault.stage is stage]
    return "\n".join(lines)


def _list_faults(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(_faults())
        context.exit()


@click.command()
@click.option("--port", default=8765, show_default=True, help="Port on 127.0.0.1; 0 takes a free one.")
@click.option(
    "--fault", "faults", multiple=True, metavar="NAME[:TIMES][@ROUTE]", help="A fault that is on from the start."
)
@click.option("--queue-seconds", default=2.0, show_default=True, help="How long jobs are pending.")
@click.option("--run-seconds", default=5.0, show_default=True, help="How long jobs run.")
@click.option(
    "--rate-limit", "limits", multiple=True, metavar="CATEGORY=N", help="Submissions an hour; leaderboard or test."
)
@click.option("--user", default="ada", show_default=True, help="The account that the printed id belongs to.")
@click.option(
    "--list-faults", is_flag=True, is_eager=True, expose_value=False, callback=_list_faults, help="All faults."
)
def main(
    port: int, faults: tuple[str, ...], queue_seconds: float, run_seconds: float, limits: tuple[str, ...], user: str
) -> None:
    """A KernelBot on loopback, for trying clients by hand.

    A fault is on for TIMES requests, or until cleared. While it runs: POST /_fake/faults/NAME?times=N, DELETE
    /_fake/faults, GET /_fake/rows. A login is finished with GET /auth/cli/github?code=NAME&state=..., the state being
    that of the printed URL.
    """
    bot = FakeKernelBot(port, queue_seconds, run_seconds, 1.0, dict(_limit(text) for text in limits))
    for text in faults:
        bot.set_fault(*_fault(text))
    try:
        bot.start()
    except OSError as error:
        raise click.ClickException(f"port {port}: {error.strerror}") from None
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    click.echo(f"POPCORN_API_URL={bot.url}\ncli_id: {bot.add_user(user)}")
    try:
        signal.pause()
    except KeyboardInterrupt:
        bot.stop()


def _fault(text: str) -> tuple[str, int | None, str]:
    """(name, times or None, route) of NAME[:TIMES][@ROUTE]."""
    switch, _, route = text.partition("@")
    name, _, times = switch.partition(":")
    if name not in FAULTS:
        raise click.UsageError(f"no fault is named {name!r}; --list-faults lists them")
    if times and not times.isdecimal():
        raise click.UsageError(f"{text!r}: after the colon comes how many times, a number")
    return name, int(times) if times else None, route


def _limit(text: str) -> tuple[str, int]:
    """(category, number) of CATEGORY=N."""
    name, _, number = text.partition("=")
    if name not in ("leaderboard", "test") or not number.isdecimal():
        raise click.UsageError(f"{text!r} is not leaderboard=N or test=N")
    return name, int(number)


if __name__ == "__main__":
    main()
