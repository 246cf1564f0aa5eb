"""Every error that mxsub shows to its user.

    MxsubError                 exit code 1: a check failed
    ├── UsageError             exit code 2: the command, a file it names or configs.yaml is wrong
    │   ├── NoProject          no configs.yaml here or above
    │   └── UnknownFragment    no kernel fragment of that name
    ├── EnvironmentProblem     exit code 3: something that this machine lacks
    └── ServiceError           exit code 4: the network or the service

The CLI prints `message` and, if there is one, `hint` on a line of its own, and exits with `exit_code`.
"""

import os
from pathlib import Path


class MxsubError(Exception):
    """One clear sentence for the user: what is wrong and where (`file:line:col`, where there is such a place).

    message: the sentence.
    hint: what to do next, or what is allowed; may be empty.
    """

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(MxsubError):
    """The command line, a file that it names, or configs.yaml is wrong."""

    exit_code = 2


class NoProject(UsageError):
    """There is no configs.yaml in a folder or above it."""


class UnknownFragment(UsageError):
    """There is no kernel fragment of that name."""


class EnvironmentProblem(MxsubError):
    """This machine lacks something: a package, a GPU, a compiler."""

    exit_code = 3


class ServiceError(MxsubError):
    """The network or the KernelBot service failed."""

    exit_code = 4


def shown(path: Path) -> str:
    """A path as messages show it: relative to the current folder where it lies in it."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def read_bytes(file: Path) -> bytes:
    """A file that the user named; UsageError where it cannot be read."""
    check_no_device(file)
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"{shown(file)}: cannot be read: {error.strerror}") from None


def check_no_device(file: Path) -> None:
    """Raises UsageError for a device such as /dev/zero, which may never end. A pipe is fine."""
    if file.is_char_device() or file.is_block_device():
        raise UsageError(f"{shown(file)}: is a device", "Name a file.")
