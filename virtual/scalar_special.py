"""Scalar instructions on what is no ordinary register: the program counter, MODE, the clock, registers numbered by M0.

An instruction's address, which s_getpc and calls put into registers, is CODE_BASE plus four times its number.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.assembly import Instruction, Operand
from mxsub.virtual.branching import Branch
from mxsub.virtual.faults import UnsupportedForm, Violation
from mxsub.virtual.mode import check_written_field, mode_field
from mxsub.virtual.operands import reader, scalar_writer
from mxsub.virtual.registers import M0, MODE, TIME, VCC
from mxsub.virtual.waves import Waves

Array = npt.NDArray[Any]
Step = Callable[[Waves], Any]
U32, I64 = np.uint32, np.int64

CODE_BASE = 0x7C00_0000_0000
# Cycles between two readings of the clock by one wave: it tells their order, and no time.
_BETWEEN_READINGS = 100


def place_of(operand: Operand, labels: dict[str, int]) -> int:
    """The instruction at a label. Raises UnsupportedForm."""
    if operand.name not in labels:
        raise UnsupportedForm("a branch to no label")
    return labels[operand.name]


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
    branch = Branch(place_of(instruction.operands[1], labels), True)
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


BINDERS: dict[str, Callable[[Instruction, dict[str, int], int], Step]] = {
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
