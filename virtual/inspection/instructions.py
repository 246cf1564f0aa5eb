"""Instructions by class, and what they compute."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from mxsub.virtual.assembly import Instruction
from mxsub.virtual.inspection.opcodes import (
    class_of,
    converted,
    matrix_flops,
    matrix_format,
    unpacked,
    vector_flops,
)
from mxsub.virtual.inspection.usage import InstructionUse
from mxsub.virtual.waves import LANES


@dataclass(frozen=True)
class Work:
    """What a launch executes.

    static: class -> instructions of the code. executed: class -> instructions, each counted once for every wave.
    matrix_flops: format -> operations of MFMA. vector_flops: of lanes that are on. converted: narrow format -> values
    converted to it, unpacked: from it. lanes_on: share of the lanes of vector instructions that are on.
    """

    static: Counter[str] = field(default_factory=Counter)
    executed: Counter[str] = field(default_factory=Counter)
    matrix_flops: Counter[str] = field(default_factory=Counter)
    vector_flops: int = 0
    converted: Counter[str] = field(default_factory=Counter)
    unpacked: Counter[str] = field(default_factory=Counter)
    lanes_on: float = 1.0

    def to_dict(self) -> dict[str, Any]:
        return {
            "static": dict(self.static),
            "executed": dict(self.executed),
            "matrix_flops": dict(self.matrix_flops),
            "vector_flops": self.vector_flops,
            "converted_values": dict(self.converted),
            "unpacked_values": dict(self.unpacked),
            "vector_lanes_on_share": round(self.lanes_on, 4),
        }


def work_of(code: list[Instruction], uses: Iterable[InstructionUse], scale: float = 1.0) -> Work:
    """scale: how many times the launch has what was counted, where only a part of it ran."""
    static: Counter[str] = Counter(class_of(instruction.opcode) for instruction in code)
    counts: dict[str, Counter[str]] = {
        name: Counter() for name in ("executed", "matrix_flops", "converted", "unpacked")
    }
    vector, lanes, slots = 0, 0, 0
    for instruction, use in zip(code, uses, strict=True):
        if not use.visits:
            continue
        opcode = instruction.opcode
        kind = class_of(opcode)
        counts["executed"][kind] += use.visits
        if kind == "matrix":
            counts["matrix_flops"][matrix_format(instruction)] += use.visits * matrix_flops(instruction)
        elif kind == "vector":
            vector += use.lanes * vector_flops(opcode)
            lanes, slots = lanes + use.lanes, slots + use.visits * LANES
            for name, found in (("converted", converted(opcode)), ("unpacked", unpacked(opcode))):
                if found is not None:
                    counts[name][found[0]] += use.lanes * found[1]
    scaled = {name: Counter({key: round(n * scale) for key, n in each.items()}) for name, each in counts.items()}
    return Work(static, vector_flops=round(vector * scale), lanes_on=lanes / slots if slots else 1.0, **scaled)
