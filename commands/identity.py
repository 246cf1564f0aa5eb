"""The commands about who you are to KernelBot."""

import click

from mxsub.commands.options import api_url, as_json, print_json


@click.command()
@click.argument("provider", type=click.Choice(["discord", "github"], case_sensitive=False))
@click.option("--again", is_flag=True, help="The account was registered before: its new id replaces the old one.")
@click.option("--no-browser", is_flag=True, help="Only print the login page's address.")
@api_url
def register(provider: str, again: bool, no_browser: bool, api_url: str | None) -> None:
    """Log in with Discord or GitHub; the id that you get goes to ~/.popcorn.yaml once it works."""
    from mxsub.submit.kernelbot import KernelBot, Patience, service_url
    from mxsub.submit.kernelbot import register as register_with
    from mxsub.submit.popcorn_config import config_path

    def show(url: str) -> None:
        click.echo(f"Log in here; the address is for you alone:\n{url}\nWaiting for the login, up to 10 minutes.")
        if not no_browser:
            click.launch(url)

    with KernelBot(service_url(api_url), patience=Patience.from_environment()) as bot:
        cli_id = register_with(bot, provider.lower(), again, show)
    click.echo(f"registered: the service knows the id {cli_id}, which is in {config_path()}")


@click.command()
@api_url
@as_json
def whoami(api_url: str | None, as_json: bool) -> None:
    """Whether the service knows this machine's id, and as whom; exit 4 where it does not."""
    from mxsub.submit.posting.account import identify, open_service

    with open_service(api_url) as bot:
        found = identify(bot)
    if as_json:
        print_json(found.to_dict())
    else:
        click.echo(found.sentence)


@click.command()
@click.argument("code")
@api_url
def join(code: str, api_url: str | None) -> None:
    """Open closed leaderboards with an invite code."""
    from mxsub.submit.posting.account import open_service

    with open_service(api_url) as bot:
        boards = bot.join(code)
    click.echo(f"open to you: {', '.join(boards)}" if boards else "the code opened no leaderboard")


COMMANDS = (register, whoami, join)
