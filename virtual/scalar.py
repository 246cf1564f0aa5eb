"""Scalar instructions, turned into functions of the waves that run them: arithmetic, control flow, EXEC."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual import scalar_special
from mxsub.virtual.assembly import Instruction, Operand, integer, scalar
from mxsub.virtual.branching import BARRIER, END, Branch
from mxsub.virtual.control_flow import DISTANCE
from mxsub.virtual.faults import UnsupportedForm
from mxsub.virtual.operands import Reader, Writer, reader, scalar_writer
from mxsub.virtual.registers import EXEC, VCC
from mxsub.virtual.scalar_operations import GIVEN, KEPT, NONZERO, OPERATIONS, ScalarOperation
from mxsub.virtual.scalar_special import place_of
from mxsub.virtual.waves import Waves

__all__ = ["GIVEN", "KEPT", "NONZERO", "OPCODES", "OPERATIONS", "bind"]

Array = npt.NDArray[Any]
Step = Callable[[Waves], Any]

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
        target, taken = place_of(instruction.operands[0], labels), _BRANCHES[name]
        return lambda waves: Branch(target, taken(waves))
    if name in _SAVEEXEC or name in _WREXEC:
        return _bind_exec(instruction)
    if name in scalar_special.BINDERS:
        return scalar_special.BINDERS[name](instruction, labels, number)
    return _bind_operation(instruction, OPERATIONS[name], labels, number)


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


OPCODES = (
    OPERATIONS.keys()
    | _WITHOUT_EFFECT
    | _CONTROL.keys()
    | _BRANCHES.keys()
    | _SAVEEXEC.keys()
    | _WREXEC.keys()
    | scalar_special.BINDERS.keys()
)
