"""Vector instructions: the tables of opcodes turned into functions of the waves that run them."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual import (
    comparisons,
    conversions,
    division,
    dot_products,
    lanes,
    narrow_conversions,
    vector_bytes,
    vector_float,
    vector_integer,
)
from mxsub.virtual.assembly import Instruction, scalar
from mxsub.virtual.faults import UnsupportedForm
from mxsub.virtual.lane_patterns import dpp_pattern
from mxsub.virtual.mode import is_overflow_clamped_anywhere, overflow_clamped
from mxsub.virtual.operands import DTYPES, Reader, Writer, reader, writer
from mxsub.virtual.operations import Function, Operation, Table
from mxsub.virtual.registers import EXEC, MODE, VCC
from mxsub.virtual.waves import LANES, Waves

Array = npt.NDArray[Any]
Step = Callable[[Waves], Any]

OPERATIONS: Table = {
    **vector_integer.OPERATIONS,
    **vector_bytes.OPERATIONS,
    **dot_products.OPERATIONS,
    **vector_float.OPERATIONS,
    **division.OPERATIONS,
    **comparisons.OPERATIONS,
    **conversions.OPERATIONS,
    **narrow_conversions.OPERATIONS,
}
OPCODES = OPERATIONS.keys() | lanes.BINDERS.keys()

# Integer operations that clamp keeps to what their result holds.
_SATURATING = re.compile(r"v_(?:pk_)?(?:add|sub|subrev|mad|sad|msad|dot)")
# Sources that the assembly text does not name: the type of each and the scalar registers that it is in.
_IMPLICIT = {"vcc": ("mask", scalar(VCC, 2)), "mode": ("u32", scalar(MODE))}


def bind(instruction: Instruction) -> Step:
    """A function that runs the instruction. Raises UnsupportedForm."""
    if instruction.opcode in lanes.BINDERS:
        return lanes.BINDERS[instruction.opcode](instruction)
    operation = OPERATIONS[instruction.opcode]
    results = operation.results
    _check_selection(instruction, operation)
    function = _modified(instruction, operation.function_for(instruction), results)
    operands = list(instruction.operands)
    targets = [operands.pop(0) for _ in results]
    explicit = len(operands)
    reads: list[Reader] = []
    for kind in operation.sources:
        position = explicit - len(operands)
        if kind in _IMPLICIT:
            kind, operand = _IMPLICIT[kind]
        elif kind == "old":
            kind, operand = results[0], targets[0]
        else:
            operand = operands.pop(0)
        reads.append(reader(instruction, operand, kind, position))
    if operands:
        raise UnsupportedForm(f"{explicit} sources instead of {explicit - len(operands)}")
    if results[0].rstrip("^+").endswith("f16"):
        reads.append(reader(instruction, scalar(MODE), "u32"))
        function = _overflow_clamped(function)
    writes = [writer(instruction, target, kind, explicit) for target, kind in zip(targets, results, strict=True)]
    if instruction.opcode.startswith("v_cmpx"):
        writes.append(writer(instruction, scalar(EXEC, 2), "mask"))
    if "dpp" in instruction.encoding:
        return _dpp(instruction, function, reads, writes)
    if len(writes) > 1:
        return _several_results(function, reads, writes)
    return _one_result(function, reads, writes[0])


def _check_selection(instruction: Instruction, operation: Operation) -> None:
    """op_sel picks halves, or what an operation of its own makes of it. Raises UnsupportedForm."""
    if operation.make is None and any(instruction.modifiers.get("op_sel", ())):
        kinds = (*operation.results, *operation.sources)
        if not any(kind.startswith("2x") or "16" in kind for kind in kinds):
            raise UnsupportedForm("op_sel of whole registers")


def _one_result(function: Function, reads: list[Reader], write: Writer) -> Step:
    """Spelt out by the number of sources: this is where most of the time goes."""
    if len(reads) == 1:
        (read,) = reads
        return lambda waves: write(waves, function(read(waves)), waves.active())
    if len(reads) == 2:
        first, second = reads
        return lambda waves: write(waves, function(first(waves), second(waves)), waves.active())
    if len(reads) == 3:
        first, second, third = reads
        return lambda waves: write(waves, function(first(waves), second(waves), third(waves)), waves.active())
    return lambda waves: write(waves, function(*[read(waves) for read in reads]), waves.active())


def _several_results(function: Function, reads: list[Reader], writes: list[Writer]) -> Step:
    def run(waves: Waves) -> None:
        _write_all(waves, writes, function(*[read(waves) for read in reads]), waves.active())

    return run


def _write_all(waves: Waves, writes: list[Writer], values: Any, mask: Array | None) -> None:
    if not isinstance(values, tuple):  # v_cmpx: one result in two places
        values = (values,) * len(writes)
    for write, value in zip(writes, values, strict=True):
        write(waves, value, mask)


def _dpp(instruction: Instruction, function: Function, reads: list[Reader], writes: list[Writer]) -> Step:
    """The first source comes from other lanes. A lane without a source reads 0 with bound_ctrl, else is not written."""
    source, valid, allowed = dpp_pattern(instruction.modifiers)
    zero = "bound_ctrl" in instruction.modifiers
    allowed = (allowed if zero else allowed & valid)[None]
    all_allowed = bool(allowed.all())
    read_first, *read_others = reads

    def run(waves: Waves) -> None:
        active = waves.active()
        first = read_first(waves)
        first = np.broadcast_to(first, (len(first), LANES))[:, source]
        usable = valid[None] if active is None else valid & active[:, source]
        mask = active if all_allowed else allowed if active is None else allowed & active
        if zero:
            if not usable.all():
                first = np.where(usable, first, first.dtype.type(0))
        elif active is not None:
            assert mask is not None
            mask = mask & usable
        _write_all(waves, writes, function(first, *[read(waves) for read in read_others]), mask)

    return run


def _modified(instruction: Instruction, function: Function, results: tuple[str, ...]) -> Function:
    """Adds the output modifiers.

    The factors mul and div have no effect: the hardware ignores them while denormals are kept or MODE says IEEE, as
    Triton's kernels set both.
    """
    if not instruction.modifiers.get("clamp"):
        return function
    kind = results[0].rstrip("^+").removeprefix("2x")
    if len(results) > 1 or kind not in DTYPES:
        raise UnsupportedForm("clamp")
    if DTYPES[kind].kind == "f":
        return _between_0_and_1(function)
    if DTYPES[kind].itemsize > 4 or not _SATURATING.match(instruction.opcode):
        raise UnsupportedForm("clamp")
    return _saturated(function, DTYPES[kind])


def _between_0_and_1(function: Function) -> Function:
    """A NaN becomes 0, as does -0."""

    def run(*sources: Array) -> Array:
        value = function(*sources)
        clamped: Array = np.where(value > 0, np.minimum(value, 1), value.dtype.type(0))
        return clamped

    return run


def _saturated(function: Function, dtype: np.dtype[Any]) -> Function:
    """An integer operation in 64 bits, clipped to what the result's type holds."""
    limits = np.iinfo(dtype)

    def run(*sources: Array) -> Array:
        clipped: Array = np.clip(function(*(source.astype(np.int64) for source in sources)), limits.min, limits.max)
        return clipped

    return run


def _overflow_clamped(function: Function) -> Function:
    """A float16 result that overflows is the largest number, where MODE says so; infinities of the sources stay."""

    def run(*sources: Array) -> Array:
        *sources_, mode = sources
        value: Array = function(*sources_)
        if not is_overflow_clamped_anywhere(mode):
            return value
        value = np.asarray(value).astype(np.float16)
        infinite = np.isinf(value) & overflow_clamped(mode)
        for source in sources_:
            if source.dtype.kind == "f":
                infinite = infinite & ~np.isinf(source)
        return np.where(infinite, np.copysign(np.finfo(np.float16).max, value), value)

    return run
