"""Two inspections side by side: the figures of each kernel that differ."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from mxsub.submit.inspect.figures import Launch, Number, compared

# A call as Call.to_dict() gives it.
CallContent = Mapping[str, Any]


@dataclass(frozen=True)
class FigureChange:
    """One figure of one kernel, or of the whole call where kernel is empty. A side without it has None."""

    shape: str
    kernel: str
    figure: str
    unit: str
    old: Number | None
    new: Number | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class SideBySide:
    """shapes: that both have, in the old one's order; same: those without a difference. only: that one side has.
    findings: (shape, kernel, sentence) that one side has and the other has not; the new side's are marked True."""

    shapes: tuple[str, ...]
    same: tuple[str, ...]
    only: tuple[str, ...]
    changes: tuple[FigureChange, ...]
    findings: tuple[tuple[str, str, str, bool], ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "shapes": list(self.shapes),
            "same_shapes": list(self.same),
            "shapes_of_one_side": list(self.only),
            "figures": [change.to_dict() for change in self.changes],
            "findings": [
                {"shape": shape, "kernel": kernel, "sentence": sentence, "side": "new" if new else "old"}
                for shape, kernel, sentence, new in self.findings
            ],
        }


def side_by_side(old: Mapping[str, CallContent], new: Mapping[str, CallContent]) -> SideBySide:
    """old, new: by shape."""
    both = [shape for shape in old if shape in new]
    changes: list[FigureChange] = []
    findings: list[tuple[str, str, str, bool]] = []
    same = []
    for shape in both:
        own = [*_figures(shape, old[shape], new[shape])]
        changes += own
        findings += _findings(shape, old[shape], new[shape])
        if not own:
            same.append(shape)
    only = [shape for shape in [*old, *new] if (shape in old) != (shape in new)]
    return SideBySide(tuple(both), tuple(same), tuple(only), tuple(changes), tuple(findings))


def _figures(shape: str, old: CallContent, new: CallContent) -> Iterator[FigureChange]:
    for kernel, before, after in _pairs(old["launches"], new["launches"]):
        for figure in compared():
            values = [None if launch is None else figure.of(launch) for launch in (before, after)]
            # Both must have been asked for an estimate.
            if values[0] != values[1] and not (figure.name == "estimated" and None in values and before and after):
                yield FigureChange(shape, kernel, figure.name, figure.unit, *values)
    times = [call["estimated_us"] and call["estimated_us"]["likely"] for call in (old, new)]
    if all(times) and times[0] != times[1]:
        yield FigureChange(shape, "", "estimated", "us", *times)


def _pairs(old: list[Launch], new: list[Launch]) -> Iterator[tuple[str, Launch | None, Launch | None]]:
    """Launches of one kernel in both; those that are left in order, since a kernel may have been renamed."""
    rest = list(new)
    waiting = []
    for launch in old:
        match = next((other for other in rest if other["kernel"] == launch["kernel"]), None)
        if match is None:
            waiting.append(launch)
        else:
            rest.remove(match)
            yield launch["kernel"], launch, match
    for position in range(max(len(waiting), len(rest))):
        before = waiting[position] if position < len(waiting) else None
        after = rest[position] if position < len(rest) else None
        yield " -> ".join(launch["kernel"] if launch else "none" for launch in (before, after)), before, after


def _findings(shape: str, old: CallContent, new: CallContent) -> Iterator[tuple[str, str, str, bool]]:
    before, after = _sentences(old), _sentences(new)
    for is_new, own, other in ((False, before, after), (True, after, before)):
        kinds = {(kernel, kind) for kernel, kind, _ in other}
        for kernel, kind, sentence in own:
            if (kernel, kind) not in kinds:
                yield shape, kernel, sentence, is_new


def _sentences(call: CallContent) -> list[tuple[str, str, str]]:
    """(kernel, kind, sentence); the call's own without a kernel."""
    found = [("", finding) for finding in call["findings"]]
    found += [(launch["kernel"], finding) for launch in call["launches"] for finding in launch["counts"]["findings"]]
    return [(kernel, finding["kind"], finding["sentence"]) for kernel, finding in found]
