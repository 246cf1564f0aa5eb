"""What each instruction costs its wave and the unit that runs it."""

import re
from dataclasses import dataclass

from mxsub.virtual.assembly import Instruction
from mxsub.virtual.inspection.opcodes import class_of, is_transcendental, matrix_passes
from mxsub.virtual.inspection.timing.figures import Figures

PASS = 4  # cycles
# LLVM SISchedule.td marks these with WriteFloatCvt or WriteQuarterRate32 in the full-speed models.
_SLOW = re.compile(
    r"v_cvt_(f32_[iu]|[iu]32_f32|f32_ubyte|f16_f32|f32_f16|f32_bf16|pk_f32_(fp8|bf8)|f32_(fp8|bf8)"
    r"|(sr_)?(pk_)?(fp8|bf8)_f32|pkrtz_f16_f32|flr|rpi|pknorm)|v_mul_f64|v_fma_f64|v_add_f64"
)
_COUNTER = re.compile(r"(vmcnt|lgkmcnt)\((\d+)\)")
_OF_CLASS = {
    "matrix": "matrix",
    "vector": "vector",
    "scalar": "scalar",
    "LDS": "LDS",
    "global load": "memory",
    "global store": "memory",
    "global atomic": "memory",
    "scratch": "memory",
    "scalar load": "scalar load",
}


@dataclass(frozen=True)
class Cost:
    """unit: matrix, vector, scalar, LDS, memory, scalar load, wait, barrier, branch, idle or end.

    cycles: that the unit is kept, of memory and LDS what the access adds to. vmcnt, lgkmcnt: what a wait waits for.
    """

    unit: str
    cycles: float
    vmcnt: int | None = None
    lgkmcnt: int | None = None
    stores: bool = False


def cost_of(instruction: Instruction, figures: Figures) -> Cost:
    """Of one instruction, as far as it does not depend on what it finds."""
    opcode, issue = instruction.opcode, figures.issue
    kind = class_of(opcode)
    if kind == "matrix":
        return Cost("matrix", PASS * matrix_passes(instruction))
    if kind == "vector":
        if is_transcendental(opcode):
            return Cost("vector", issue * figures.transcendental_passes)
        return Cost("vector", issue * (figures.slow_vector_passes if _SLOW.match(opcode) else 1))
    if kind != "branch and sync":
        return Cost(_OF_CLASS[kind], issue, stores="store" in opcode or "write" in opcode)
    if opcode.startswith("s_waitcnt"):
        counters = {name: int(value) for name, value in _COUNTER.findall(instruction.text)}
        return Cost("wait", issue, counters.get("vmcnt"), counters.get("lgkmcnt"))
    if opcode == "s_nop":
        return Cost("idle", issue * (1 + int(instruction.operands[0].constant)))
    if opcode == "s_sleep":
        return Cost("idle", 64 * int(instruction.operands[0].constant))
    if opcode.startswith(("s_branch", "s_cbranch", "s_setpc", "s_swappc", "s_call")):
        return Cost("branch", issue)
    return Cost({"s_barrier": "barrier", "s_endpgm": "end"}.get(opcode, "scalar"), issue)
