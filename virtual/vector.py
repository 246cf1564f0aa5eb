"""Vector instructions: the tables of opcodes turned into functions of the waves that run them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual import conversions, lanes, vector_float, vector_integer
from mxsub.virtual.assembly import Instruction, scalar
from mxsub.virtual.faults import UnsupportedForm
from mxsub.virtual.lane_patterns import dpp_pattern
from mxsub.virtual.operands import DTYPES, Reader, Writer, reader, writer
from mxsub.virtual.operations import Function, Table
from mxsub.virtual.registers import EXEC, VCC
from mxsub.virtual.waves import LANES, Waves

Array = npt.NDArray[Any]
Step = Callable[[Waves], Any]

OPERATIONS: Table = {**vector_integer.OPERATIONS, **vector_float.OPERATIONS, **conversions.OPERATIONS}
OPCODES = OPERATIONS.keys() | lanes.BINDERS.keys()

_OUTPUT_FACTORS = {("mul", 2): 2.0, ("mul", 4): 4.0, ("div", 2): 0.5}


def bind(instruction: Instruction) -> Step:
    """A function that runs the instruction. Raises UnsupportedForm."""
    if instruction.opcode in lanes.BINDERS:
        return lanes.BINDERS[instruction.opcode](instruction)
    operation = OPERATIONS[instruction.opcode]
    results, sources = operation.results, operation.sources
    function = _modified(instruction, operation.function_for(instruction), results[0])
    operands = list(instruction.operands)
    targets = [operands.pop(0) for _ in results]
    if "old" in sources:
        operands.append(targets[0])
    if "vcc" in sources:  # v_div_fmas reads it without saying so
        operands.append(scalar(VCC, 2))
        sources = tuple("mask" if kind == "vcc" else kind for kind in sources)
    if len(operands) != len(sources):
        raise UnsupportedForm(f"{len(operands)} sources instead of {len(sources)}")
    reads = [
        reader(instruction, operand, results[0] if kind == "old" else kind, position)
        for position, (operand, kind) in enumerate(zip(operands, sources, strict=True))
    ]
    writes = [writer(instruction, target, kind) for target, kind in zip(targets, results, strict=True)]
    if instruction.opcode.startswith("v_cmpx"):
        writes.append(writer(instruction, scalar(EXEC, 2), "mask"))
    if "dpp" in instruction.encoding:
        if len(writes) > 1:
            raise UnsupportedForm("DPP with two results")
        return _dpp(instruction, function, reads, writes[0])
    if len(writes) > 1:
        return _several_results(function, reads, writes)
    return _one_result(function, reads, writes[0])


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
        values, mask = function(*[read(waves) for read in reads]), waves.active()
        if not isinstance(values, tuple):  # v_cmpx: one result in two places
            values = (values,) * len(writes)
        for write, value in zip(writes, values, strict=True):
            write(waves, value, mask)

    return run


def _dpp(instruction: Instruction, function: Function, reads: list[Reader], write: Writer) -> Step:
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
        write(waves, function(first, *[read(waves) for read in read_others]), mask)

    return run


def _modified(instruction: Instruction, function: Function, result: str) -> Function:
    """Adds the output modifiers mul, div and clamp."""
    modifiers = instruction.modifiers
    is_float = result.rstrip("+")[-3:] in ("f16", "f32", "f64")
    for name in ("mul", "div"):
        if name in modifiers:
            if not is_float:
                raise UnsupportedForm(f"{name} of an integer")
            function = _scaled(function, _OUTPUT_FACTORS[name, modifiers[name]])
    if not modifiers.get("clamp"):
        return function
    if is_float:
        plain = function
        return lambda *sources: np.clip(np.nan_to_num(plain(*sources), nan=0.0), 0, 1)
    if result not in DTYPES or DTYPES[result].itemsize > 4:
        raise UnsupportedForm("clamp")
    return _saturated(function, DTYPES[result])


def _scaled(function: Function, factor: float) -> Function:
    def run(*sources: Array) -> Array:
        value = function(*sources)
        return np.asarray(value * value.dtype.type(factor))

    return run


def _saturated(function: Function, dtype: np.dtype[Any]) -> Function:
    """An integer operation in 64 bits, clipped to what the result's type holds."""
    limits = np.iinfo(dtype)

    def run(*sources: Array) -> Array:
        clipped: Array = np.clip(function(*(source.astype(np.int64) for source in sources)), limits.min, limits.max)
        return clipped

    return run
