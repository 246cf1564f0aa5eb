"""MX021: no custom_kernel for the evaluator to import."""

import difflib
from collections.abc import Iterator

from mxsub.submit.lint.entry_point import NAME
from mxsub.submit.lint.rule import Hit, Rule
from mxsub.submit.lint.source import Source


def check(source: Source) -> Iterator[Hit]:
    entry = source.entry_point
    if entry is None or entry.bindings or entry.unknowable:
        return
    if entry.nested is not None:
        line, column = source.place_of(entry.nested)
        yield Hit(line, column, f"{NAME} is defined inside a function or class, or only when the file is run itself")
        return
    close = difflib.get_close_matches(NAME, entry.module_names, n=1)
    yield Hit(
        1,
        1,
        f"the file defines no {NAME} at module level" + (f"; '{close[0]}' is close" if close else ""),
    )


RULE = Rule(
    code="MX021",
    name="entry-point",
    severity="error",
    judge="runner",
    finds="a file that binds no `custom_kernel` when it is imported",
    why=(
        "the evaluator runs `from submission import custom_kernel`; without it every test fails, and code under "
        "`if __name__ == '__main__':` does not run on import"
    ),
    example="""\
def kernel(data):
    return data
""",
    fix="Define `def custom_kernel(data):` at module level.",
    check=check,
    needs="python",
)
