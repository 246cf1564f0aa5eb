"""What changed between two versions."""

from rich.table import Table

from mxsub.submit.config_table import shown_value
from mxsub.submit.diff import Difference
from mxsub.submit.terminal.console import console, say


def show_difference(difference: Difference) -> None:
    """The configs as a table per shape, then the code with unchanged runs folded."""
    out = console()
    say(out, difference.sentence, style="bold")
    for origin in difference.origins:
        say(out, f"{origin.key}: {origin.old or '-'} -> {origin.new or '-'}", style="dim")
    for note in difference.notes:
        say(out, note, style="yellow")
    if difference.configs:
        table = Table(box=None, pad_edge=False)
        for name in ("shape", "config", "old", "new"):
            table.add_column(name)
        last = ""
        for change in difference.configs:
            values = [shown_value(value) if value is not None else "-" for value in (change.old, change.new)]
            table.add_row(change.shape if change.shape != last else "", change.key, *values)
            last = change.shape
        out.print(table)
        if difference.same_shapes:
            say(out, f"{difference.same_shapes} shapes have the same config", style="dim")
    width = len(str(max((line.old or line.new or 0 for line in difference.lines), default=0)))
    for line in difference.lines:
        if line.kind == "folded":
            say(out, f"⋯ {line.hidden:,} unchanged {'line' if line.hidden == 1 else 'lines'}", style="dim")
            continue
        numbers = f"{line.old or '':>{width}} {line.new or '':>{width}}"
        style = {"added": "green", "removed": "red", "same": ""}[line.kind]
        say(out, f"{numbers} {line.sign} {line.text}", style=style)
