"""The commands that need no service: make a project, render, lint, test, compare."""

import sys
from pathlib import Path

import click

from mxsub.commands.options import (
    MODES,
    as_json,
    gpu_name,
    print_json,
    project_folder,
    text_argument,
    variant_name,
)
from mxsub.commands.recording import keep


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=Path())
def init(folder: Path) -> None:
    """Make a new project folder from the shipped one: configs.yaml, kernels/ and templates/."""
    from mxsub.submit.new_project import create_project

    for path in create_project(folder):
        click.echo(path)


@click.command()
@variant_name
@gpu_name
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), default=Path("submission.py"),
    show_default=True, help="The file to write; - for standard output.",
)  # fmt: skip
@click.option("--tag", help="A name for this version, for `mxsub diff`.")
@click.option("--force", is_flag=True, help="Overwrite a file that mxsub did not write.")
@project_folder
@as_json
def build(
    variant: str | None, gpu: str | None, output: Path, tag: str | None, force: bool, folder: Path, as_json: bool
) -> None:
    """Render a variant into one submission file and record the version."""
    from mxsub.submit.build import build as build_submission

    built = build_submission(folder, variant, gpu, output, tag, force)
    if as_json:
        print_json(built.to_dict())
    elif str(output) == "-":
        click.echo(built.submission.text, nl=False)
    else:
        click.echo(built.sentence)


@click.command()
@text_argument
@variant_name
@gpu_name
@project_folder
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@as_json
def lint(named: str | None, variant: str | None, gpu: str | None, folder: Path, form: str, as_json: bool) -> None:
    """Judge a submission as the service will; exit 1 where it would be refused."""
    from mxsub.submit.judgement import judge, record, show

    judged = judge(named, folder, variant, gpu)
    keep(folder, lambda history: record(judged, history))
    if as_json or form == "json":
        print_json(judged.to_dict())
    else:
        show(judged)
    sys.exit(0 if judged.accepted else 1)


@click.command()
@click.argument("rule", required=False)
def explain(rule: str | None) -> None:
    """What a lint rule finds, why the service minds, and the fix; without RULE, all rules."""
    from mxsub.submit.lint import explain as explain_rule
    from mxsub.submit.lint import rule_list

    click.echo(explain_rule(rule) if rule else rule_list())


@click.command()
@text_argument
@variant_name
@gpu_name
@click.option("--mode", type=click.Choice(MODES, case_sensitive=False), default="test", show_default=True)
@click.option(
    "--task",
    "task_folder",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="A problem folder with a task.yml; the project's task if not given.",
)
@click.option("--seeds", type=click.IntRange(0), default=0, help="Also check every case on N fresh seeds.")
@click.option("--shape", "shapes", multiple=True, metavar="M,N,K", help="Only these shapes; may be repeated.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds; the task's if not given.")
@click.option(
    "--sanitize", multiple=True, metavar="all|memory|init|race|sync|exec",
    help="Also look for what hardware hides; several by commas. On the virtual GPU; memory always looks.",
)  # fmt: skip
@click.option(
    "--sample", type=click.IntRange(1), metavar="N",
    help="Run about N workgroups of each launch, edges among them, and compare what they write.",
)  # fmt: skip
@project_folder
@as_json
def test(
    named: str | None, variant: str | None, gpu: str | None, mode: str, task_folder: Path | None, seeds: int,
    shapes: tuple[str, ...], timeout: float | None, sanitize: tuple[str, ...], sample: int | None, folder: Path,
    as_json: bool,
) -> None:  # fmt: skip
    """Run the task's evaluator on the GPU, or on its virtual twin (MI355X) where there is none."""
    from mxsub.submit.terminal.console import Progress
    from mxsub.submit.terminal.run import show_run
    from mxsub.submit.trial import RunRequest, record, run_task

    request = RunRequest(
        named, folder, variant, gpu, mode.lower(), task_folder, seeds, shapes, timeout, sanitize, sample
    )
    with Progress(quiet=as_json) as progress:
        tested = run_task(request, progress)
    keep(folder, lambda history: record(tested, history))
    if as_json:
        print_json(tested.to_dict())
    else:
        show_run(tested)
    sys.exit(0 if tested.passed else 1)


@click.command()
@click.argument("a")
@click.argument("b")
@click.option("--context", type=click.IntRange(0), default=3, show_default=True, help="Unchanged lines around changes.")
@project_folder
@as_json
def diff(a: str, b: str, context: int, folder: Path, as_json: bool) -> None:
    """What changed between two versions, and the results of both: files, tags, submissions' numbers or hashes."""
    from mxsub.submit.comparison import compare

    comparison = compare(a, b, folder, context)
    if as_json:
        print_json(comparison.to_dict())
    else:
        from mxsub.submit.terminal.difference import show_comparison

        show_comparison(comparison)


@click.command()
@project_folder
@as_json
def doctor(folder: Path, as_json: bool) -> None:
    """What this machine can do, and what is missing; exit 3 where something needed is."""
    from mxsub.submit.doctor import examine

    report = examine(folder)
    if as_json:
        print_json(report.to_dict())
    else:
        from mxsub.submit.terminal.health import show_health

        show_health(report)
    sys.exit(0 if report.healthy else 3)


COMMANDS = (init, build, lint, explain, test, diff, doctor)
