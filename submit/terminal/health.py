"""What doctor found."""

from rich.text import Text

from mxsub.submit.doctor import Health
from mxsub.submit.terminal.console import console, say


def show_health(health: Health) -> None:
    """A line a check, and the verdict."""
    out = console()
    for check in health.checks:
        mark, style = {"ok": ("ok", "green"), "note": ("note", "yellow"), "missing": ("missing", "bold red")}[
            check.state
        ]
        line = Text(f"{mark:<8}", style=style)
        line.append(f"{check.name}: {check.found}", style="default")
        out.print(line, soft_wrap=True)
        if check.hint:
            say(out, f"        {check.hint}", style="dim")
    say(out, health.sentence, style="green" if health.healthy else "bold red")
