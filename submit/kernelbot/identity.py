"""Who the user is to KernelBot: an id in ~/.popcorn.yaml, which the official client reads and writes too."""

import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from mxsub.submit.errors import EnvironmentProblem, UsageError
from mxsub.submit.popcorn_config import config_path
from mxsub.submit.replacing import replaced

KEY = "cli_id"
_MEND = "The file was left as it is: mend it, or move it away and register again."


@dataclass(frozen=True)
class CliId:
    """An id. Whoever has it is the user, so it shows itself in part only; `secret` is the whole.

    Raises ValueError for what no HTTP header can hold, without repeating it.
    """

    secret: str = field(repr=False)

    def __post_init__(self) -> None:
        usable = self.secret.isascii() and self.secret.isprintable() and " " not in self.secret
        if not (usable and 0 < len(self.secret) <= 200):
            raise ValueError("an id is 1 to 200 printable ASCII signs without a blank")

    def __str__(self) -> str:
        return f"{self.secret[:4]}…{self.secret[-4:]}" if len(self.secret) >= 16 else "…"

    def __repr__(self) -> str:
        return f"CliId({self})"


def read_cli_id(path: Path | None = None) -> CliId | None:
    """The id of the file; None where there is no file, or no id in it.

    Raises UsageError with file:line:col where the file is not what it should be.
    """
    path = path or config_path()
    data = _parsed(path, _text(path))
    if data is None or data.get(KEY) is None:
        return None
    try:
        return CliId(_string(data[KEY]))
    except ValueError:
        line, column = data.lc.value(KEY)
        raise UsageError(f"{path}:{line + 1}:{column + 1}: {KEY} is no id", _MEND) from None


def write_cli_id(cli_id: CliId, path: Path | None = None) -> None:
    """Puts the id in the file, whose other keys and comments stay; it is private and whole at every moment.

    Raises UsageError where the file is broken, which then stays as it is; EnvironmentProblem where it cannot be
    written.
    """
    path = path or config_path()
    text = _text(path)
    data = _parsed(path, text)
    if data is None:
        # Empty, or nothing but comments, which ruamel.yaml would drop.
        before = text if not text or text.endswith("\n") else f"{text}\n"
        data = CommentedMap()
    else:
        before = ""
    data[KEY] = cli_id.secret
    stream = io.StringIO()
    _yaml().dump(data, stream)
    with replaced(path, mode=0o600, error=EnvironmentProblem) as file:
        file.write((before + stream.getvalue()).encode())


def _yaml() -> YAML:
    yaml = YAML(typ="rt")
    yaml.preserve_quotes = True
    yaml.width = 1_000_000  # a long value of somebody else's stays on its line
    return yaml


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        column = error.start - error.object.rfind(b"\n", 0, error.start)
        raise UsageError(f"{path}:{line}:{column}: is not UTF-8", _MEND) from None


def _parsed(path: Path, text: str) -> CommentedMap | None:
    """The mapping of the file; None where it is empty. The parser's own words may repeat the id, so only the place
    of a mistake is told."""
    where: str | None = None
    data: Any = None
    try:
        data = _yaml().load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else f"{path}:1:1"
    except (YAMLError, ValueError, RecursionError):
        where = f"{path}:1:1"
    if where:
        raise UsageError(f"{where}: is no valid YAML", _MEND)
    if data is not None and not isinstance(data, CommentedMap):
        raise UsageError(f"{path}:1:1: a mapping of keys to values is needed here", _MEND)
    return data


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("not a string")
    return str(value)
