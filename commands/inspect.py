"""Look at what a submission asks of the GPU."""

from pathlib import Path

import click

from mxsub.commands.options import as_json, print_json, project_folder, text_argument, variant_name
from mxsub.commands.recording import keep


@click.command()
@text_argument
@variant_name
@click.option("--shape", "shapes", multiple=True, metavar="M,N,K", help="Only these shapes; may be repeated.")
@click.option("--time", "timed", is_flag=True, help="Also estimate how long the launches take on an MI355X.")
@click.option("--compare", nargs=2, metavar="A B", help="Two files or versions side by side, instead of one.")
@click.option(
    "--sample", type=click.IntRange(1), metavar="N",
    help="Run about N workgroups of each launch, edges among them, and scale up.",
)  # fmt: skip
@click.option(
    "--task", "task_folder", type=click.Path(file_okay=False, exists=True, path_type=Path),
    help="A problem folder with a task.yml; the project's task if not given.",
)  # fmt: skip
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), help="Seconds; the task's if not given.")
@project_folder
@as_json
def inspect(
    named: str | None, variant: str | None, shapes: tuple[str, ...], timed: bool, compare: tuple[str, str] | None,
    sample: int | None, task_folder: Path | None, timeout: float | None, folder: Path, as_json: bool,
) -> None:  # fmt: skip
    """What each kernel of one call asks of the GPU: registers, waves, instructions, bytes, LDS conflicts, the floor.

    Runs one call for each of the task's benchmark shapes on the virtual MI355X and counts. `mxsub diff` shows what was
    found for both of its versions.
    """
    from mxsub.submit.errors import UsageError
    from mxsub.submit.inspect.inspecting import InspectRequest, record
    from mxsub.submit.inspect.inspecting import inspect as inspect_text
    from mxsub.submit.inspect.side_by_side import side_by_side
    from mxsub.submit.terminal.console import Progress, console
    from mxsub.submit.terminal.inspection import show_inspection, show_side_by_side

    if compare and (named or variant):
        raise UsageError("--compare names two texts, and there is a third", "Leave it out, or --variant.")
    found = []
    with Progress(quiet=as_json) as progress:
        for text in compare or (named,):
            request = InspectRequest(text, folder, variant, shapes, timed, sample, task_folder, timeout)
            found.append(inspect_text(request, progress))
    for inspection in found:
        keep(folder, lambda history, inspection=inspection: record(inspection, history))  # type: ignore[misc]
    if compare is None:
        if as_json:
            print_json(found[0].to_dict())
        else:
            show_inspection(found[0])
        return
    old, new = found
    compared = side_by_side(*({call.shape: call.to_dict() for call in inspection.calls} for inspection in found))
    if as_json:
        print_json({"old": old.to_dict(), "new": new.to_dict(), **compared.to_dict()})
    else:
        show_side_by_side(console(), compared, old.source.label, new.source.label)


COMMANDS = (inspect,)
