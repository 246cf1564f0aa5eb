"""MX020: text that the runner's Python cannot read."""

import platform
from collections.abc import Iterator

from mxsub.submit.lint.python_text import RUNNER_PYTHON
from mxsub.submit.lint.rule import Hit, Rule
from mxsub.submit.lint.source import Source

_RUNNER = ".".join(map(str, RUNNER_PYTHON))


def check(source: Source) -> Iterator[Hit]:
    problem = source.parsed.problem
    if problem is None or "\0" in source.text:
        return  # MX015 reports a NUL at its own place.
    here = f"Python {platform.python_version()}"
    if problem.kind == "syntax":
        yield Hit(problem.line, problem.column, f"the runner's Python {_RUNNER} cannot read this: {problem.message}")
    elif problem.kind == "newer":
        yield Hit(
            problem.line,
            problem.column,
            f"{here} cannot read this ({problem.message}); the runner's Python {_RUNNER} may, so what else is in the "
            "file is unchecked",
            f"Run mxsub with Python {_RUNNER} or newer to know.",
            "warning",
        )
    else:
        yield Hit(
            problem.line,
            problem.column,
            f"{here} gives up reading the file: {problem.message}; whether the runner's Python {_RUNNER} does too "
            "cannot be known here",
            "Split the expression that is nested or chained hundreds of times.",
            "warning",
        )


RULE = Rule(
    code="MX020",
    name="syntax",
    severity="error",
    judge="runner",
    finds=f"text that Python {_RUNNER} does not compile",
    why=(
        "the service takes any text, and the runner then fails on import: every test is lost, and the attempt counts "
        "for the rate limit"
    ),
    example="""\
def custom_kernel(data)
    return data
""",
    fix="Correct the line.",
    check=check,
    needs="python",
    details=(
        "A warning, not an error, where this Python cannot know: it is older than the runner's and the line\n"
        "may use newer syntax, or its parser gives up on nesting, which the runner's may not."
    ),
)
