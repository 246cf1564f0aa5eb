"""The bytes of each memory."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from mxsub.virtual.assembly import Instruction
from mxsub.virtual.inspection.architecture import DIES, LINE_BYTES
from mxsub.virtual.inspection.lines import Distinct
from mxsub.virtual.inspection.opcodes import class_of
from mxsub.virtual.inspection.usage import BufferUse, InstructionUse
from mxsub.virtual.waves import LANES


@dataclass(frozen=True)
class ArgumentTraffic:
    """What a launch reads of one tensor, or writes to it. All in bytes.

    asked: by lanes. lines: of the cache lines of each access of a wave, whole. launch, dies, workgroups: of the
    distinct lines of the launch, of each die, of each workgroup (see lines.py). modifiers: cache modifiers -> asked.
    """

    argument: str
    verb: str
    size: int
    asked: int
    lines: int
    launch: int
    dies: int
    workgroups: int
    modifiers: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        return {
            "argument": self.argument,
            "verb": self.verb,
            "tensor_bytes": self.size,
            "asked_bytes": self.asked,
            "line_bytes": self.lines,
            "distinct_launch_bytes": self.launch,
            "distinct_dies_bytes": self.dies,
            "distinct_workgroups_bytes": self.workgroups,
            "cache_modifiers": self.modifiers,
        }


@dataclass(frozen=True)
class Local:
    """What a launch moves in LDS or scratch, bytes. cycles, conflicts: of LDS, of all units together."""

    read: int
    written: int
    cycles: int = 0
    conflicts: int = 0

    def to_dict(self) -> dict[str, Any]:
        return {f"{key}{'_bytes' if key in ('read', 'written') else ''}": value for key, value in asdict(self).items()}


@dataclass(frozen=True)
class Traffic:
    """lanes_on: share of the lanes of vector memory instructions that reach memory."""

    arguments: tuple[ArgumentTraffic, ...]
    lds: Local
    scratch: Local
    lanes_on: float

    def total(self, verb: str, what: str) -> int:
        """The sum of one of ArgumentTraffic's figures over the arguments that are read, or written."""
        return sum(getattr(argument, what) for argument in self.arguments if argument.verb == verb)

    def to_dict(self) -> dict[str, Any]:
        return {
            "arguments": [argument.to_dict() for argument in self.arguments],
            "read_distinct_bytes": self.total("reads", "launch"),
            "written_distinct_bytes": self.total("writes", "launch"),
            "read_asked_bytes": self.total("reads", "asked"),
            "written_asked_bytes": self.total("writes", "asked"),
            "lds": self.lds.to_dict(),
            "scratch": {"read_bytes": self.scratch.read, "written_bytes": self.scratch.written},
            "memory_lanes_on_share": round(self.lanes_on, 4),
        }


def traffic_of(
    code: list[Instruction],
    uses: list[InstructionUse],
    reads: Iterable[BufferUse],
    writes: Iterable[BufferUse],
    scale: float = 1.0,
) -> Traffic:
    """scale: how many times the launch has what was counted, where only a part of it ran; distinct lines are not
    scaled, but for those of workgroups."""
    arguments = [_argument(use, verb, scale) for verb, each in (("reads", reads), ("writes", writes)) for use in each]
    lanes = slots = 0
    for instruction, use in zip(code, uses, strict=True):
        if class_of(instruction.opcode) in ("global load", "global store", "global atomic"):
            lanes, slots = lanes + use.lanes, slots + use.visits * LANES
    return Traffic(
        arguments=tuple(sorted(arguments, key=lambda argument: (argument.verb, -argument.asked))),
        lds=_local(code, uses, "LDS", scale),
        scratch=_local(code, uses, "scratch", scale),
        lanes_on=lanes / slots if slots else 1.0,
    )


def lines_read(reads: Iterable[BufferUse], scale: float = 1.0) -> Distinct:
    """Of all buffers. Of a sample of the workgroups (scale: how many times it is the launch) the best guess: as many
    times the lines, but of each buffer no more than it has, and on the dies no more than that on each."""
    total = Distinct()
    for use in reads:
        found = use.distinct
        launch = min(round(found.launch * scale), max(found.launch, -(-use.size // LINE_BYTES)))
        dies = min(round(found.dies * scale), DIES * launch)
        total += Distinct(launch, dies, round(found.workgroups * scale))
    return total


def _argument(use: BufferUse, verb: str, scale: float) -> ArgumentTraffic:
    found = use.distinct
    return ArgumentTraffic(
        argument=use.argument,
        verb=verb,
        size=use.size,
        asked=round(use.bytes * scale),
        lines=round(use.lines * scale) * LINE_BYTES,
        launch=found.launch * LINE_BYTES,
        dies=found.dies * LINE_BYTES,
        workgroups=round(found.workgroups * scale) * LINE_BYTES,
        modifiers={name: round(count * scale) for name, count in use.modifiers.items()},
    )


def _local(code: list[Instruction], uses: list[InstructionUse], kind: str, scale: float) -> Local:
    moved = {True: 0, False: 0}
    cycles = conflicts = 0
    for instruction, use in zip(code, uses, strict=True):
        if class_of(instruction.opcode) == kind:
            moved["read" in instruction.opcode or "load" in instruction.opcode] += use.bytes
            cycles, conflicts = cycles + use.cycles, conflicts + use.conflicts
    return Local(*(round(number * scale) for number in (moved[True], moved[False], cycles, conflicts)))
