"""Scalar instructions, turned into functions of the waves that run them: arithmetic, control flow, what concerns EXEC.

An instruction's address, which s_getpc and calls put into registers, is CODE_BASE plus four times its number.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.assembly import Instruction, Operand, integer, scalar
from mxsub.virtual.control_flow import DISTANCE
from mxsub.virtual.faults import UnsupportedForm, Violation
from mxsub.virtual.mode import check_written_field, mode_field
from mxsub.virtual.operands import Reader, Writer, reader, scalar_writer
from mxsub.virtual.registers import EXEC, M0, MODE, TIME, VCC
from mxsub.virtual.scalar_operations import GIVEN, KEPT, NONZERO, OPERATIONS, ScalarOperation
from mxsub.virtual.waves import Waves

__all__ = ["BARRIER", "END", "GIVEN", "KEPT", "NONZERO", "OPCODES", "OPERATIONS", "Branch", "bind"]

Array = npt.NDArray[Any]
Step = Callable[[Waves], Any]
U32, I64 = np.uint32, np.int64

# What an instruction's function returns to the machine, where it is not None: one of these, or a Branch.
END, BARRIER = "end", "barrier"

CODE_BASE = 0x7C00_0000_0000
# Cycles between two readings of the clock by one wave: it tells their order, and no time.
_BETWEEN_READINGS = 100


@dataclass(frozen=True)
class Branch:
    """taken: which waves go to `target`, bool (waves or 1, 1); True stands for all of them."""

    target: int
    taken: Array | bool


# Timing and caches: what they order has already happened in lockstep.
_WITHOUT_EFFECT = {
    "s_nop",
    "s_waitcnt",
    "s_setprio",
    "s_sleep",
    "s_wakeup",
    "s_icache_inv",
    "s_dcache_inv",
    "s_dcache_inv_vol",
    "s_dcache_wb",
    "s_dcache_wb_vol",
    "s_incperflevel",
    "s_decperflevel",
    "s_ttracedata",
    "s_sendmsg",
}
_CONTROL = {"s_endpgm": END, "s_barrier": BARRIER}
_NOBODY: Array = np.zeros((1, 1), np.bool_)
_BRANCHES: dict[str, Callable[[Waves], Array | bool]] = {
    "s_branch": lambda waves: True,
    "s_cbranch_scc0": lambda waves: ~waves.scc,
    "s_cbranch_scc1": lambda waves: waves.scc,
    "s_cbranch_vccz": lambda waves: ~_any(waves, VCC),
    "s_cbranch_vccnz": lambda waves: _any(waves, VCC),
    "s_cbranch_execz": lambda waves: ~_any(waves, EXEC),
    "s_cbranch_execnz": lambda waves: _any(waves, EXEC),
    # No debugger is attached.
    "s_cbranch_cdbgsys": lambda waves: _NOBODY,
    "s_cbranch_cdbguser": lambda waves: _NOBODY,
    "s_cbranch_cdbgsys_or_user": lambda waves: _NOBODY,
    "s_cbranch_cdbgsys_and_user": lambda waves: _NOBODY,
}
# opcode's verb -> the new EXEC, of the source and the old EXEC
_NEW_EXEC: dict[str, Callable[[Array, Array], Array]] = {
    "and": lambda source, exec_: source & exec_,
    "or": lambda source, exec_: source | exec_,
    "xor": lambda source, exec_: source ^ exec_,
    "andn2": lambda source, exec_: source & ~exec_,
    "orn2": lambda source, exec_: source | ~exec_,
    "andn1": lambda source, exec_: ~source & exec_,
    "orn1": lambda source, exec_: ~source | exec_,
    "nand": lambda source, exec_: ~(source & exec_),
    "nor": lambda source, exec_: ~(source | exec_),
    "xnor": lambda source, exec_: ~(source ^ exec_),
}
_SAVEEXEC = {f"s_{verb}_saveexec_b64": function for verb, function in _NEW_EXEC.items()}
_WREXEC = {f"s_{verb}_wrexec_b64": _NEW_EXEC[verb] for verb in ("andn1", "andn2")}

_SYMBOL = re.compile(r"(.+)@rel32@(lo|hi)\+(4|12)$")


def _any(waves: Waves, pair: int) -> Array:
    some: Array = (waves.s[pair] | waves.s[pair + 1]) != 0
    return some


def bind(instruction: Instruction, labels: dict[str, int], number: int) -> Step | None:
    """A function that runs the instruction, or None for one without effect. number: of the instruction in the code.

    Raises UnsupportedForm.
    """
    name = instruction.opcode
    if name in _WITHOUT_EFFECT:
        return None
    if name in _CONTROL:
        what = _CONTROL[name]
        return lambda waves: what
    if name in _BRANCHES:
        target, taken = _place(instruction.operands[0], labels), _BRANCHES[name]
        return lambda waves: Branch(target, taken(waves))
    if name in _SAVEEXEC or name in _WREXEC:
        return _bind_exec(instruction)
    if name in _SPECIAL:
        return _SPECIAL[name](instruction, labels, number)
    return _bind_operation(instruction, OPERATIONS[name], labels, number)


def _place(operand: Operand, labels: dict[str, int]) -> int:
    if operand.name not in labels:
        raise UnsupportedForm("a branch to no label")
    return labels[operand.name]


def _resolved(operand: Operand, labels: dict[str, int], number: int) -> Operand:
    """`f@rel32@lo+4` as the constant that the linker would put there: the distance from the s_add_u32 that comes behind
    s_getpc, and the distance's upper half in the s_addc_u32 after it. Also distances that the assembler computes."""
    if match := DISTANCE.match(operand.name):
        if not {match[1], match[2]} <= labels.keys():
            raise UnsupportedForm("a distance between what are no labels")
        distance = 4 * (labels[match[1]] - labels[match[2]])
        return integer(distance >> 32 if match[3] == ">>32" else distance & 0xFFFFFFFF)
    match = _SYMBOL.match(operand.name)
    if not match:
        return operand
    if match[1] not in labels:
        raise UnsupportedForm("the address of what is no function")
    is_high = match[2] == "hi"
    distance = 4 * (labels[match[1]] - (number - is_high))
    return integer(distance >> 32 if is_high else distance)


def _bind_operation(
    instruction: Instruction, operation: ScalarOperation, labels: dict[str, int], number: int
) -> Callable[[Waves], None]:
    operands = [_resolved(operand, labels, number) for operand in instruction.operands]
    write: Writer | None = scalar_writer(operands.pop(0), operation.result) if operation.result else None
    reads: list[Reader] = []
    for kind in operation.sources:
        if kind == "scc":
            reads.append(lambda waves: waves.scc)
        elif kind == "old":
            reads.append(reader(instruction, instruction.operands[0], operation.result))
        else:
            reads.append(reader(instruction, operands.pop(0), kind))
    if operands:
        raise UnsupportedForm("more operands than expected")
    function, scc = operation.function, operation.scc

    def run(waves: Waves) -> None:
        value = function(*[read(waves) for read in reads])
        if scc == GIVEN:
            if write is None:
                waves.scc = value
                return
            value, waves.scc = value
        elif scc == NONZERO:
            waves.scc = value != 0
        if write is not None:
            write(waves, value, None)

    return run


def _bind_exec(instruction: Instruction) -> Callable[[Waves], None]:
    """The result is the old EXEC, or, of the *_wrexec, the new one."""
    function = _SAVEEXEC.get(instruction.opcode) or _WREXEC[instruction.opcode]
    saves = instruction.opcode in _SAVEEXEC
    target, source = instruction.operands
    exec_ = scalar(EXEC, 2)
    read, read_exec = reader(instruction, source, "i64"), reader(instruction, exec_, "i64")
    write, write_exec = scalar_writer(target, "i64"), scalar_writer(exec_, "i64")

    def run(waves: Waves) -> None:
        old = read_exec(waves)
        new = function(read(waves), old)
        write_exec(waves, new, None)
        write(waves, old if saves else new, None)
        waves.scc = new != 0

    return run


# ---- the program counter as a number


def _address(number: int) -> Array:
    return np.full((1, 1), CODE_BASE + 4 * number, I64)


def _get_pc(instruction: Instruction, labels: dict[str, int], number: int) -> Step:
    write = scalar_writer(instruction.operands[0], "i64")
    following = _address(number + 1)
    return lambda waves: write(waves, following, None)


def _jump(address: Array) -> Branch:
    """Raises Violation where the waves go to several places, or to none of the code."""
    numbers = (address - CODE_BASE) // 4
    if (numbers != numbers[0]).any():
        raise Violation("jumps to different functions in different waves, which is not emulated", 0, None, None)
    if not 0 <= numbers[0, 0] < 1 << 32:
        raise Violation("jumps out of the kernel's code", 0, None, int(address[0, 0]))
    return Branch(int(numbers[0, 0]), True)


def _set_pc(instruction: Instruction, labels: dict[str, int], number: int) -> Step:
    read = reader(instruction, instruction.operands[0], "i64")
    return lambda waves: _jump(read(waves))


def _swap_pc(instruction: Instruction, labels: dict[str, int], number: int) -> Step:
    write = scalar_writer(instruction.operands[0], "i64")
    read = reader(instruction, instruction.operands[1], "i64")
    following = _address(number + 1)

    def run(waves: Waves) -> Branch:
        branch = _jump(read(waves))
        write(waves, following, None)
        return branch

    return run


def _call(instruction: Instruction, labels: dict[str, int], number: int) -> Step:
    write = scalar_writer(instruction.operands[0], "i64")
    branch = Branch(_place(instruction.operands[1], labels), True)
    following = _address(number + 1)

    def run(waves: Waves) -> Branch:
        write(waves, following, None)
        return branch

    return run


def _trap(instruction: Instruction, labels: dict[str, int], number: int) -> Step:
    def run(waves: Waves) -> None:
        raise Violation("stops at a trap, as a failed assertion does", 0, None, None)

    return run


# ---- hardware registers


def _get_register(instruction: Instruction, labels: dict[str, int], number: int) -> Step:
    first, bits = mode_field(instruction.text)
    write = scalar_writer(instruction.operands[0], "u32")
    ones = U32((1 << bits) - 1)
    return lambda waves: write(waves, waves.s[MODE] >> U32(first) & ones, None)


def _set_register(instruction: Instruction, labels: dict[str, int], number: int) -> Step:
    first, bits = mode_field(instruction.text)
    source = instruction.operands[-1]
    check_written_field(first, bits, int(source.constant) if source.is_constant else None)
    read = reader(instruction, source, "u32")
    field = U32((1 << bits) - 1 << first)

    def run(waves: Waves) -> None:
        waves.s[MODE] = (waves.s[MODE] & ~field) | (read(waves) << U32(first) & field)

    return run


def _read_clock(instruction: Instruction, labels: dict[str, int], number: int) -> Step:
    write = scalar_writer(instruction.operands[0], "u64")

    def run(waves: Waves) -> None:
        waves.s[TIME] = waves.s[TIME] + U32(_BETWEEN_READINGS)
        write(waves, waves.s[TIME].astype(np.uint64), None)

    return run


# ---- registers numbered by M0


def _numbered(waves: Waves, first: int, count: int) -> int:
    """The register that is M0 behind another. Raises Violation where there is none, or waves mean several."""
    offset = waves.s[M0]
    number = first + int(offset[0, 0])
    if (offset != offset[0]).any():
        raise Violation("addresses different scalar registers in different waves, which is not emulated", 0, None, None)
    if number + count > VCC:
        raise Violation(f"addresses scalar register {number}, which there is not", 0, None, None)
    return number


def _move_from_numbered(instruction: Instruction, labels: dict[str, int], number: int) -> Step:
    target, source = instruction.operands
    kind = "u64" if target.count == 2 else "u32"
    write = scalar_writer(target, kind)

    def run(waves: Waves) -> None:
        numbered = replace(source, register=_numbered(waves, source.register, source.count))
        write(waves, reader(instruction, numbered, kind)(waves), None)

    return run


def _move_to_numbered(instruction: Instruction, labels: dict[str, int], number: int) -> Step:
    target, source = instruction.operands
    kind = "i64" if target.count == 2 else "u32"
    read = reader(instruction, source, kind)

    def run(waves: Waves) -> None:
        numbered = replace(target, register=_numbered(waves, target.register, target.count))
        scalar_writer(numbered, kind)(waves, read(waves), None)

    return run


_SPECIAL: dict[str, Callable[[Instruction, dict[str, int], int], Step]] = {
    "s_getpc_b64": _get_pc,
    "s_setpc_b64": _set_pc,
    "s_swappc_b64": _swap_pc,
    "s_call_b64": _call,
    "s_trap": _trap,
    "s_getreg_b32": _get_register,
    "s_setreg_b32": _set_register,
    "s_setreg_imm32_b32": _set_register,
    "s_memtime": _read_clock,
    "s_memrealtime": _read_clock,
    "s_movrels_b32": _move_from_numbered,
    "s_movrels_b64": _move_from_numbered,
    "s_movreld_b32": _move_to_numbered,
    "s_movreld_b64": _move_to_numbered,
}

OPCODES = (
    OPERATIONS.keys()
    | _WITHOUT_EFFECT
    | _CONTROL.keys()
    | _BRANCHES.keys()
    | _SAVEEXEC.keys()
    | _WREXEC.keys()
    | _SPECIAL.keys()
)
