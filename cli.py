"""The command line: its commands, and how their errors end."""

from typing import Any

import click

from mxsub import __version__
from mxsub.commands import exchange, identity, inspect, log, ranked, report, submit, sweep, workshop
from mxsub.submit.errors import MxsubError


class Commands(click.Group):
    """Turns every error into one sentence and an exit code: 0 ok, 1 findings or a failed check, 2 usage,
    3 environment, 4 network or service, 70 a fault of mxsub's own, 130 interrupted."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except MxsubError as error:
            click.secho("error: ", fg="red", bold=True, nl=False, err=True)
            click.echo(error.message + (f"\n{error.hint}" if error.hint else ""), err=True)
            ctx.exit(error.exit_code)
        except (KeyboardInterrupt, click.exceptions.Abort):
            click.echo("interrupted", err=True)
            ctx.exit(130)
        except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
            raise
        except Exception as error:
            from mxsub.submit.crash import keep_traceback

            kept = keep_traceback(error)
            click.echo(f"error: a fault of mxsub's own: {type(error).__name__}: {error}\nThe details: {kept}", err=True)
            ctx.exit(70)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version")
def main() -> None:
    """Build, lint, test and compare KernelBot submissions, on a virtual MI355X where there is no GPU.

    FILE is a submission, VERSION a tag, a submission's number or a hash from the history; without one, the project's
    variant is rendered and used.
    """


for module in (workshop, inspect, identity, submit, log, ranked, sweep, report, exchange):
    for command in module.COMMANDS:
        main.add_command(command)
