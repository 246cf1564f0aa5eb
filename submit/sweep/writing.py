"""Puts the best configs of a sweep into configs.yaml, whose comments and layout stay.

Where the project has several variants, a variant's best configs go to its own `shapes`, so that the others keep theirs.
"""

import difflib
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from mxsub.submit.errors import EnvironmentProblem, MxsubError, UsageError, read_bytes, shown
from mxsub.submit.history.sweeps import Configs, Values
from mxsub.submit.project import Listed, Project, find_project
from mxsub.submit.replacing import replaced
from mxsub.submit.sweep.outcome import SweepOutcome
from mxsub.submit.sweep.wording import words_for

# Where items of a list may stand: (columns of their content, columns of the dash).
_INDENTS = ((4, 2), (2, 0))
_NO_WRAPPING = 1 << 16


@dataclass(frozen=True)
class Written:
    """What was written. changes: by shape, what its config has otherwise now. diff: of the file, a line each."""

    file: str
    changes: Configs
    diff: tuple[str, ...]

    @property
    def sentence(self) -> str:
        if not self.changes:
            return f"{self.file}: unchanged: no candidate is faster than the baseline by more than chance makes"
        shapes = "; ".join(f"{shape}: {words_for(values)}" for shape, values in self.changes.items())
        return f"{self.file}: {'written' if self.diff else 'has them already'}: {shapes}"

    def to_dict(self) -> dict[str, Any]:
        return {"file": self.file, "written": bool(self.diff), "changes": self.changes, "diff": list(self.diff)}


def write_best(folder: Path, outcome: SweepOutcome) -> Written:
    """Writes the best config of each shape that has one; the file is replaced as a whole or not at all.

    Raises MxsubError where one of their configs has changed since the sweep began; UsageError where the file is no
    project's, or lacks the variant or a shape.
    """
    project = find_project(folder)
    path = project.source.path
    best = {shape.shape: shape.best.changes for shape in outcome.shapes if shape.best}
    if not best or _has(project, outcome, best):
        return Written(shown(path), best, ())
    _check_unchanged(project, outcome, best)
    data = read_bytes(path)
    old = data.decode().replace("\r\n", "\n")
    yaml = _keeping_layout(old)
    content = yaml.load(old)
    for shape, values in best.items():
        _set(content, project, outcome.sweep.variant, shape, values)
    new = _dumped(yaml, content)
    with replaced(path, error=EnvironmentProblem) as file:
        file.write((new.replace("\n", "\r\n") if b"\r\n" in data else new).encode())
        if read_bytes(path) != data:
            raise MxsubError(f"{shown(path)}: changed just now; nothing was written", "Try again.")
    diff = difflib.unified_diff(old.splitlines(), new.splitlines(), shown(path), shown(path), lineterm="")
    return Written(shown(path), best, tuple(diff))


def _listed(project: Project, variant: str, shape: str) -> Listed:
    for entry in project.variant(variant).listed:
        if str(entry.shape) == shape:
            return entry
    raise UsageError(f"{project.source.shown}: the shape {shape} is not listed any more", "Nothing was written.")


def _has(project: Project, outcome: SweepOutcome, best: Configs) -> bool:
    """The file has the best configs already."""
    baseline, variant = outcome.sweep.baseline, outcome.sweep.variant
    return all(
        _listed(project, variant, shape).config == {**baseline[shape], **values} for shape, values in best.items()
    )


def _check_unchanged(project: Project, outcome: SweepOutcome, best: Configs) -> None:
    """The configs are those that the best ones were measured against."""
    for shape in best:
        entry, then = _listed(project, outcome.sweep.variant, shape), outcome.sweep.baseline[shape]
        for knob in {**then, **entry.config}:
            if then.get(knob) != entry.config.get(knob):
                place = project.source.where(entry.places.get(knob, entry.places[""]))
                raise MxsubError(
                    f"{place}: {knob} of {shape} was {then.get(knob)} when the sweep began and is "
                    f"{entry.config.get(knob)}; nothing was written",
                    "Sweep again from the configs as they are now, or put the best ones in by hand: "
                    f"`mxsub sweep show {outcome.sweep.label}`.",
                )


def _set(content: Any, project: Project, variant: str, shape: str, values: Values) -> None:
    entry = _listed(project, variant, shape)
    own = content["variants"][variant]
    in_own = any(place[:3] == ("variants", variant, "shapes") for place in entry.places.values())
    if in_own or len(content["variants"]) > 1:
        target = _own_entry(own, entry, [one.shape for one in project.variant(variant).listed])
    else:
        target = _entry(content["shapes"], entry)
    for knob, value in values.items():
        target[knob] = DoubleQuotedScalarString(value) if isinstance(value, str) else value


def _entry(entries: Any, wanted: Listed) -> Any:
    return next((one for one in entries if (one["m"], one["n"], one["k"]) == tuple(wanted.shape)), None)


def _own_entry(variant: Any, wanted: Listed, order: list[Any]) -> Any:
    """The variant's own entry of a shape, which is added where it has none: in the project's order of shapes."""
    if "shapes" not in variant:
        # Before what is there already: a comment or blank line at the end of the last key belongs to what follows.
        variant.insert(list(variant).index("fragments"), "shapes", CommentedSeq())
    entries = variant["shapes"]
    found = _entry(entries, wanted)
    if found is None:
        found = CommentedMap(zip("mnk", wanted.shape, strict=True))
        found.fa.set_flow_style()
        later = order[order.index(wanted.shape) :]
        positions = [i for i, one in enumerate(entries) if (one["m"], one["n"], one["k"]) in later]
        entries.insert(positions[0] if positions else len(entries), found)
    return found


def _keeping_layout(text: str) -> YAML:
    """A YAML that writes the file's own indentation: the one of those in use that changes the fewest lines."""

    def changed(yaml: YAML) -> int:
        pairs = zip(text.splitlines(), _dumped(yaml, yaml.load(text)).splitlines(), strict=False)
        return sum(a != b for a, b in pairs)

    return min((_yaml(sequence, offset) for sequence, offset in _INDENTS), key=changed)


def _yaml(sequence: int, offset: int) -> YAML:
    yaml = YAML(typ="rt")
    yaml.preserve_quotes = True
    yaml.width = _NO_WRAPPING
    yaml.indent(mapping=2, sequence=sequence, offset=offset)
    return yaml


def _dumped(yaml: YAML, content: Any) -> str:
    out = io.StringIO()
    yaml.dump(content, out)
    return out.getvalue()
