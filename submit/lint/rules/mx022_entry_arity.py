"""MX022: a custom_kernel that cannot be called with one argument."""

from collections.abc import Iterator

from mxsub.submit.lint.entry_point import NAME
from mxsub.submit.lint.rule import Hit, Rule
from mxsub.submit.lint.source import Source


def check(source: Source) -> Iterator[Hit]:
    """Only when none of the definitions that may be in force can be called."""
    entry = source.entry_point
    if entry is None or entry.unknowable or not all(binding.problem for binding in entry.bindings):
        return
    for binding in entry.bindings:
        line, column = source.place_of(binding.node)
        yield Hit(line, column, f"{NAME} {binding.problem}; the evaluator calls {NAME}(data)")


RULE = Rule(
    code="MX022",
    name="entry-arity",
    severity="error",
    judge="runner",
    finds="a `custom_kernel` that cannot be called with exactly one positional argument",
    why="the evaluator calls `custom_kernel(data)`, with the input tuple as its only argument",
    example="""\
def custom_kernel(a, b):
    return a @ b
""",
    fix="Take one parameter, `def custom_kernel(data):`, and unpack the tuple inside.",
    check=check,
    needs="python",
)
