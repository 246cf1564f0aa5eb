"""YAML files whose every value knows its place, so that an error can say file:line:col."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Never, TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from mxsub.submit.errors import UsageError, read_bytes, shown

Model = TypeVar("Model", bound=BaseModel)
Place = Sequence[int | str]


class YamlFile:
    """One parsed YAML file.

    data: its content as ruamel.yaml's mappings and sequences.
    Raises UsageError where the file cannot be read, or is no YAML mapping (or list, where a list is wanted).
    """

    def __init__(self, path: Path, *, a_list: bool = False) -> None:
        self.path, self.shown = path, shown(path)
        try:
            text = read_bytes(path).decode("utf-8")
        except UnicodeDecodeError as error:
            raise UsageError(f"{self.shown}: is not UTF-8 (byte {error.start})") from None
        try:
            self.data = YAML(typ="rt").load(text)
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            where = f"{self.shown}:{mark.line + 1}:{mark.column + 1}" if mark else self.shown
            tab = mark is not None and "\t" in [*text.splitlines(), ""][mark.line][: mark.column + 1]
            said = " ".join(str(error.problem or error.context or "").split())
            problem = "a tab, which YAML does not allow here" if tab else f"is no valid YAML: {said}"
            raise UsageError(f"{where}: {problem}", "Indent with blanks." if tab else "") from None
        except YAMLError as error:
            raise UsageError(f"{self.shown}: is no valid YAML: {' '.join(str(error).split())}") from None
        if not isinstance(self.data, CommentedSeq if a_list else CommentedMap):
            raise UsageError(f"{self.shown}:1:1: a {'list' if a_list else 'mapping of keys to values'} is needed here")

    def where(self, place: Place, *, key: bool = False) -> str:
        """`file:line:col` of the value at a path of keys and indices, or of its key.

        A place that does not exist (a missing key) is answered with the nearest one around it.
        """
        node: Any = self.data
        line, column = 0, 0
        for depth, step in enumerate(place):
            last = depth == len(place) - 1
            if isinstance(node, CommentedMap) and step in node:
                line, column = node.lc.key(step) if key and last else node.lc.value(step)
            elif isinstance(node, CommentedSeq) and isinstance(step, int) and step < len(node):
                line, column = node.lc.item(step)
            else:
                break
            node = node[step]
        return f"{self.shown}:{line + 1}:{column + 1}"

    def fail(self, place: Place, problem: str, hint: str = "", *, key: bool = False) -> Never:
        """Raises UsageError about the value at a place."""
        raise UsageError(f"{self.where(place, key=key)}: {problem}", hint)

    def parse(self, model: type[Model]) -> Model:
        """The content as a pydantic model; UsageError with the place of the first thing that does not fit."""
        try:
            return model.model_validate(self.data)
        except ValidationError as error:
            first = error.errors()[0]
            place = [step for step in first["loc"] if step != "[key]"]
            name = ".".join(map(str, place))
            match first["type"]:
                case "missing":
                    self.fail(place[:-1], f"the key '{place[-1]}' is missing here")
                case "extra_forbidden":
                    allowed = ", ".join(_fields_around(model, place))
                    hint = f"Allowed here: {allowed}." if allowed else ""
                    self.fail(place, f"unknown key '{place[-1]}'", hint, key=True)
                case _:
                    said = first["msg"].removeprefix("Value error, ")
                    self.fail(place, f"{name} is {first['input']!r}: {said[0].lower()}{said[1:]}")
        raise AssertionError("unreachable")


def _fields_around(model: type[BaseModel], place: Place) -> list[str]:
    """The keys that the model knows where `place` has one that it does not."""
    fields: list[str] = []
    current: Any = model
    for step in place[:-1]:
        if not (isinstance(current, type) and issubclass(current, BaseModel)):
            break
        field = current.model_fields.get(str(step))
        if field is None:
            continue
        current = field.annotation
        while arguments := getattr(current, "__args__", None):
            current = arguments[-1]
    if isinstance(current, type) and issubclass(current, BaseModel):
        fields = [info.alias or name for name, info in current.model_fields.items()]
    return fields
