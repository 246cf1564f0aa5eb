"""MX005: GPU directives that lead the official client elsewhere."""

from collections.abc import Iterator

from mxsub.submit.gpus import GPUS
from mxsub.submit.lint.rule import Hit, Rule
from mxsub.submit.lint.source import Source


def check(source: Source) -> Iterator[Hit]:
    for directive in source.directives.all:
        if directive.key != "gpu" or not directive.values:
            continue
        if len(directive.values) > 1:
            line, column = source.place(directive.starts[3])
            yield Hit(line, column, "the official client refuses a file that names more than one GPU in a line")
        for position, name in enumerate(directive.values, start=2):
            message = _complaint(name, source.gpus)
            if message:
                line, column = source.place(directive.starts[position])
                yield Hit(line, column, message, _fix(source.gpus))


def _complaint(name: str, gpus: tuple[str, ...]) -> str:
    if name in gpus:
        return ""
    if gpus:
        named = next((gpu for gpu in gpus if gpu.lower() == name.lower()), None)
        if named:
            return f"the GPU is written '{name}', and the service knows it as '{named}', case included"
        return f"the file names the GPU '{name}', and is for {' or '.join(gpus)}"
    if name in GPUS:
        return ""
    spelt = next((gpu for gpu in GPUS if gpu.lower() == name.lower()), None)
    if spelt:
        return f"the GPU is written '{name}', and the service knows it as '{spelt}', case included"
    return f"no GPU that mxsub knows of is called '{name}'"


def _fix(gpus: tuple[str, ...]) -> str:
    return f"Write one of {', '.join(gpus or GPUS)}."


RULE = Rule(
    code="MX005",
    name="directive-gpu",
    severity="warning",
    judge="client",
    finds="`#!POPCORN gpu` lines that name several GPUs, one that is not the board's, or one in other letters",
    why=(
        "the server takes the GPU from the address that the file is posted to and never looks at this line, but the "
        "official client builds that address from it: it refuses several, and the server refuses an unknown one"
    ),
    example="""\
#!POPCORN gpu mi355x
#!POPCORN gpu MI355X H200
""",
    fix="Name one GPU, as the service spells it.",
    check=check,
)
