"""What changed between two versions: configs by shape, provenance, and code as a folded unified diff.

difference = diff(a, b)
difference.configs   # one entry a shape and key
difference.lines     # the code; runs of unchanged lines folded
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from mxsub.submit.config_table import Config, Value, configs_in
from mxsub.submit.line_matching import matching_lines
from mxsub.submit.version import Version

CONTEXT = 3

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class ConfigChange:
    """One key of one shape's config.

    shape: "16x2112x7168", or the condition that stands for other shapes, "m <= 16".
    kind: whether the whole shape was added or removed, or a key of it added, removed or changed.
    old, new: the values; None where there is none (a config's own None is a Name).
    """

    shape: str
    kind: Literal["shape added", "shape removed", "added", "removed", "changed"]
    key: str
    old: Value
    new: Value

    def to_dict(self) -> dict[str, object]:
        return {
            "shape": self.shape,
            "kind": self.kind,
            "key": self.key,
            "old": _plain(self.old),
            "new": _plain(self.new),
        }


@dataclass(frozen=True)
class OriginChange:
    """A fact about where the two versions came from, such as the variant; None where it is not known."""

    key: str
    old: str | None
    new: str | None

    def to_dict(self) -> dict[str, object]:
        return {"key": self.key, "old": self.old, "new": self.new}


@dataclass(frozen=True)
class Line:
    """One line of the diff.

    old, new: its 1-based number on either side; None where it is not there.
    kind: "folded" stands for `hidden` unchanged lines, the first of them numbered `old` and `new`.
    """

    kind: Literal["same", "removed", "added", "folded"]
    old: int | None
    new: int | None
    text: str
    hidden: int = 0

    @property
    def sign(self) -> str:
        return {"same": " ", "removed": "-", "added": "+", "folded": ""}[self.kind]

    def to_dict(self) -> dict[str, object]:
        content: dict[str, object] = {"kind": self.kind, "old": self.old, "new": self.new, "text": self.text}
        return content | {"hidden": self.hidden} if self.kind == "folded" else content


@dataclass(frozen=True)
class Difference:
    """All that changed from `old` to `new`.

    identical: the texts are the same to the byte. notes: sentences on what no line shows, such as line ends.
    same_shapes: how many shapes have the same config on both sides.
    """

    old: Version
    new: Version
    identical: bool
    configs: tuple[ConfigChange, ...] = ()
    same_shapes: int = 0
    origins: tuple[OriginChange, ...] = ()
    lines: tuple[Line, ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = ()

    @property
    def added(self) -> int:
        return sum(line.kind == "added" for line in self.lines)

    @property
    def removed(self) -> int:
        return sum(line.kind == "removed" for line in self.lines)

    @property
    def sentence(self) -> str:
        """What changed, in short."""
        names = f"{self.old.label} and {self.new.label}"
        if self.identical:
            return f"{names} are identical (sha256 {self.old.sha256[:12]})"
        shapes = len({change.shape for change in self.configs})
        return (
            f"{self.old.label} ({self.old.sha256[:12]}) to {self.new.label} ({self.new.sha256[:12]}): "
            f"{_counted(self.added, 'line')} added, {self.removed:,} removed; "
            f"configs changed for {_counted(shapes, 'shape')}"
        )

    def to_dict(self) -> dict[str, object]:
        return {
            "old": _version_dict(self.old),
            "new": _version_dict(self.new),
            "identical": self.identical,
            "added": self.added,
            "removed": self.removed,
            "same_shapes": self.same_shapes,
            "configs": [change.to_dict() for change in self.configs],
            "origins": [change.to_dict() for change in self.origins],
            "notes": list(self.notes),
            "lines": [line.to_dict() for line in self.lines],
        }


def diff(a: Version, b: Version, context: int = CONTEXT) -> Difference:
    """What changed from `a` to `b`, with `context` unchanged lines around each change.

    Configs are read from the texts, and from what was recorded where a text has none that can be read.
    """
    if a.text == b.text:
        return Difference(a, b, identical=True, origins=tuple(_origin_changes(a, b)))
    old_configs, new_configs = _configs(a), _configs(b)
    old_lines, new_lines = _lines(a.text), _lines(b.text)
    return Difference(
        a,
        b,
        identical=False,
        configs=tuple(_config_changes(old_configs, new_configs)),
        same_shapes=sum(new_configs.get(shape) == config for shape, config in old_configs.items()),
        origins=tuple(_origin_changes(a, b)),
        lines=tuple(_folded(old_lines, new_lines, context)),
        notes=tuple(_notes(a, b)),
    )


def _configs(version: Version) -> Mapping[str, Config]:
    found = configs_in(version.text)
    if found or version.config is None:
        return found
    return {shape: config for shape, config in version.config.items() if isinstance(config, dict)}


def _config_changes(old: Mapping[str, Config], new: Mapping[str, Config]) -> Iterator[ConfigChange]:
    """Shape by shape: those of `old` in its order, then the added ones."""
    for shape in [*old, *(shape for shape in new if shape not in old)]:
        if shape not in new:
            for key, value in old[shape].items():
                yield ConfigChange(shape, "shape removed", key, value, None)
        elif shape not in old:
            for key, value in new[shape].items():
                yield ConfigChange(shape, "shape added", key, None, value)
        else:
            yield from _key_changes(shape, old[shape], new[shape])


def _key_changes(shape: str, old: Config, new: Config) -> Iterator[ConfigChange]:
    for key in [*old, *(key for key in new if key not in old)]:
        if key not in new:
            yield ConfigChange(shape, "removed", key, old[key], None)
        elif key not in old:
            yield ConfigChange(shape, "added", key, None, new[key])
        elif (type(old[key]), old[key]) != (type(new[key]), new[key]):
            yield ConfigChange(shape, "changed", key, old[key], new[key])


def _origin_changes(a: Version, b: Version) -> Iterator[OriginChange]:
    """Variant and GPU, and the provenance's own facts; nothing where one side has none of them."""
    old, new = _origin(a), _origin(b)
    if not old or not new:
        return
    for key in [*old, *(key for key in new if key not in old)]:
        if old.get(key) != new.get(key):
            yield OriginChange(key, old.get(key), new.get(key))


def _origin(version: Version) -> dict[str, str]:
    facts = {"variant": version.variant, "gpu": version.gpu}
    known = {key: value for key, value in facts.items() if value is not None}
    return known | _flattened(version.provenance or {}, "")


def _flattened(content: Mapping[str, object], prefix: str) -> dict[str, str]:
    facts: dict[str, str] = {}
    for key, value in content.items():
        if isinstance(value, dict):
            facts |= _flattened(value, f"{prefix}{key}.")
        else:
            facts[prefix + key] = str(value)
    return facts


def _lines(text: str) -> list[str]:
    """The lines without their ends; a text that ends with a line end has no empty line after it."""
    lines = _LINE_END.split(text)
    if lines[-1] == "":
        lines.pop()
    return lines


def _notes(a: Version, b: Version) -> Iterator[str]:
    ends = [_line_end_name(version.text) for version in (a, b)]
    if ends[0] != ends[1]:
        yield f"line ends differ: {ends[0]} in {a.label}, {ends[1]} in {b.label}"
    for version, other in ((a, b), (b, a)):
        if not _ends_its_last_line(version.text) and _ends_its_last_line(other.text):
            yield f"{version.label} has no line end after its last line"


def _line_end_name(text: str) -> str:
    names = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}
    found = sorted({names[end] for end in _LINE_END.findall(text)})
    return " and ".join(found) or "none"


def _ends_its_last_line(text: str) -> bool:
    return text.endswith(("\n", "\r"))


def _folded(old: list[str], new: list[str], context: int) -> Iterator[Line]:
    """The diff's lines; unchanged ones further than `context` from any change are folded into one entry a run."""
    lines = list(_all_lines(old, new))
    shown = _near_changes([line.kind != "same" for line in lines], context)
    run: list[Line] = []
    for line, is_shown in zip(lines, shown, strict=True):
        if is_shown:
            yield from _fold(run)
            run = []
            yield line
        else:
            run.append(line)
    yield from _fold(run)


def _near_changes(changed: list[bool], context: int) -> list[bool]:
    """Which lines are changed, or at most `context` lines away from one that is."""
    near = list(changed)
    for order in (range(len(changed)), range(len(changed) - 1, -1, -1)):
        away = context + 1
        for position in order:
            away = 0 if changed[position] else away + 1
            near[position] |= away <= context
    return near


def _fold(run: list[Line]) -> Iterator[Line]:
    if run:
        count = len(run)
        yield Line("folded", run[0].old, run[0].new, f"⋯ {_counted(count, 'unchanged line')}", count)


def _all_lines(old: list[str], new: list[str]) -> Iterator[Line]:
    """Every line of both sides, in order: before each common one what was removed, then what was added."""
    at_old = at_new = 0
    for next_old, next_new in [*matching_lines(old, new), (len(old), len(new))]:
        for position in range(at_old, next_old):
            yield Line("removed", position + 1, None, old[position])
        for position in range(at_new, next_new):
            yield Line("added", None, position + 1, new[position])
        if next_old < len(old):
            yield Line("same", next_old + 1, next_new + 1, old[next_old])
        at_old, at_new = next_old + 1, next_new + 1


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _plain(value: Value) -> int | float | str | bool | None:
    return value if isinstance(value, int | float | str | bool | None) else value.text


def _version_dict(version: Version) -> dict[str, object]:
    return {
        "label": version.label,
        "sha256": version.sha256,
        "variant": version.variant,
        "gpu": version.gpu,
        "tags": list(version.tags),
    }
