"""Arguments and options that several commands have, and what they print for scripts."""

import json
from pathlib import Path

import click

MODES = ("test", "benchmark", "leaderboard", "profile")

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")
project_folder = click.option(
    "--project",
    "folder",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    default=Path(),
    help="The project folder; by default the current one or the nearest above with a configs.yaml.",
)
variant_name = click.option("--variant", help="The variant of configs.yaml; its default_variant if not given.")
gpu_name = click.option("--gpu", help="The GPU, e.g. MI355X or H200; the project's if not given.")
text_argument = click.argument("named", required=False, metavar="[FILE|VERSION]")
api_url = click.option(
    "--api-url", metavar="URL", help="The service; $POPCORN_API_URL, or the public one, if not given."
)
poll_option = click.option(
    "--poll", "poll_seconds", type=click.FloatRange(0.05, 600), default=5.0, show_default=True,
    help="Seconds between two questions about a submission.",
)  # fmt: skip


def print_json(content: object) -> None:
    click.echo(json.dumps(content, indent=2, ensure_ascii=False))
