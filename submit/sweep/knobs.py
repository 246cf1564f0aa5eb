"""What a sweep is to try: values of config keys, from the command line or from a file."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ruamel.yaml.comments import CommentedMap

from mxsub.submit.config_check import quantizers
from mxsub.submit.errors import UsageError
from mxsub.submit.fragments import Value
from mxsub.submit.project import COMPILER_OPTIONS, Config, Variant
from mxsub.submit.shapes import Shape, parse_shape
from mxsub.submit.yaml_file import YamlFile

MOST_PROPOSALS = 200


@dataclass(frozen=True)
class Proposal:
    """Values to try together. shapes: those that it is for; None for all of the sweep."""

    values: Config
    shapes: frozenset[Shape] | None = None


def knobs_of(variant: Variant) -> dict[str, list[Value]]:
    """The keys that a variant's configs may have, and every value that any of its fragments takes."""
    declared: dict[str, list[Value]] = {"QUANTIZE": list(quantizers(variant))}
    for fragment in variant.fragments:
        for knob, values in fragment.info.tunable.items():
            known = declared.setdefault(knob, [])
            known += [value for value in values if value not in known]
    undeclared = {knob: list(values) for knob, values in COMPILER_OPTIONS.items() if knob not in declared}
    return {knob: declared[knob] for knob in sorted(declared)} | undeclared


def grid(words: Sequence[str], variant: Variant) -> list[Proposal]:
    """Every combination of the values in `KNOB=V1,V2` words.

    Raises UsageError for an unknown knob, a value that no fragment takes, or too many combinations.
    """
    knobs = knobs_of(variant)
    chosen: dict[str, list[Value]] = {}
    for word in words:
        knob, equals, listed = word.partition("=")
        if not equals:
            raise UsageError(f"'{word}' is no KNOB=V1,V2", f"Knobs of '{variant.name}': {', '.join(knobs)}.")
        if knob in chosen:
            raise UsageError(f"{knob} is given twice", "Give all its values at once, as KNOB=V1,V2.")
        if knob not in knobs:
            raise UsageError(f"variant '{variant.name}' has no knob '{knob}'", f"Its knobs: {', '.join(knobs)}.")
        chosen[knob] = list(dict.fromkeys(_value(knob, text.strip(), knobs[knob]) for text in listed.split(",")))
    combinations = [dict(zip(chosen, values, strict=True)) for values in _product(chosen)]
    return [Proposal(values) for values in combinations]


def listed_in(path: Path, variant: Variant, shapes: Iterable[Shape]) -> list[Proposal]:
    """The configs of a YAML list; each may say under `shapes` which of the sweep's it is for, as `[16x2112x7168]`.

    Raises UsageError with file:line:col for what does not fit.
    """
    source = YamlFile(path, a_list=True)
    knobs, known = knobs_of(variant), list(shapes)
    if not source.data or len(source.data) > MOST_PROPOSALS:
        source.fail((), f"1 to {MOST_PROPOSALS} configs are needed here, and there are {len(source.data)}")
    proposals = []
    for position, entry in enumerate(source.data):
        if not isinstance(entry, CommentedMap) or not set(entry) - {"shapes"}:
            source.fail((position,), "a config is needed here, as {BLOCK_SIZE_M: 16, num_warps: 8}")
        for knob, value in entry.items():
            if knob == "shapes":
                continue
            if knob not in knobs:
                source.fail(
                    (position, knob), f"variant '{variant.name}' has no knob '{knob}'",
                    f"Its knobs: {', '.join(knobs)}.", key=True,
                )  # fmt: skip
            if not any(type(value) is type(one) and value == one for one in knobs[knob]):
                source.fail((position, knob), f"{knob} is {value!r}, which is not allowed", _allowed(knobs[knob]))
        values = {str(knob): value for knob, value in entry.items() if knob != "shapes"}
        proposals.append(Proposal(values, _shapes(source, position, entry, known)))
    return proposals


def _product(chosen: Mapping[str, list[Value]]) -> Iterable[tuple[Value, ...]]:
    count = 1
    for values in chosen.values():
        count *= len(values)
    if count > MOST_PROPOSALS:
        raise UsageError(
            f"that makes {count:,} configs for each shape, and a sweep has at most {MOST_PROPOSALS}",
            "Sweep fewer knobs at once, or list the configs in a file with --configs.",
        )
    return itertools.product(*chosen.values())


def _value(knob: str, text: str, allowed: Sequence[Value]) -> Value:
    for value in allowed:
        if (str(value).lower() if isinstance(value, bool) else str(value)) == text:
            return value
    raise UsageError(f"{knob}={text} is not allowed", _allowed(allowed))


def _allowed(values: Sequence[Value]) -> str:
    return f"Allowed: {', '.join(repr(value) if value == '' else str(value) for value in values)}."


def _shapes(source: YamlFile, position: int, entry: CommentedMap, known: Sequence[Shape]) -> frozenset[Shape] | None:
    if "shapes" not in entry:
        return None
    texts = entry["shapes"]
    if not isinstance(texts, list) or not texts:
        source.fail((position, "shapes"), "a list of shapes is needed here, as [16x2112x7168]")
    found = set()
    for index, text in enumerate(texts):
        try:
            shape = parse_shape(str(text))
        except UsageError as error:
            source.fail((position, "shapes", index), error.message, "Write MxNxK, as 16x2112x7168.")
        if shape not in known:
            source.fail(
                (position, "shapes", index), f"the shape {shape} is none that a sweep can time",
                f"Those are {', '.join(map(str, known))}.",
            )  # fmt: skip
        found.add(shape)
    return frozenset(found)
