"""MX017: a file name that the service does not take."""

from collections.abc import Iterator
from pathlib import PurePath

from mxsub.submit.lint.rule import Hit, Rule
from mxsub.submit.lint.source import Source

EXTENSIONS = (".py", ".cu", ".cuh", ".cpp")
ARCHIVES = (".zip", ".tar.gz", ".tgz")


def check(source: Source) -> Iterator[Hit]:
    name = PurePath(source.filename).name
    if name.endswith(EXTENSIONS):
        return
    if name.lower().endswith(EXTENSIONS):
        problem = "and the service takes the extension in lower case only"
    elif name.lower().endswith(ARCHIVES):
        problem = "and the service takes no archives, though the official client sends them"
    else:
        problem = f"and the service takes {', '.join(EXTENSIONS[:-1])} and {EXTENSIONS[-1]} files only"
    yield Hit(1, 1, f"the file is called '{name}', {problem}")


RULE = Rule(
    code="MX017",
    name="file-name",
    severity="error",
    judge="service",
    finds="a file name that does not end with .py, .cu, .cuh or .cpp, in lower case",
    why="the service refuses it with 'Please provide a Python (.py) or CUDA (.cu / .cuh / .cpp) file'",
    example="submission.PY, submission.txt, submission.zip",
    fix="Rename the file; the boards for Triton kernels want .py.",
    check=check,
    needs="bytes",
)
