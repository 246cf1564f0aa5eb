"""Vector instructions that move values across lanes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.assembly import Instruction
from mxsub.virtual.lane_patterns import swizzle_pattern
from mxsub.virtual.operands import reader, scalar_writer
from mxsub.virtual.waves import LANE, LANES, Waves

Array = npt.NDArray[Any]
Step = Callable[[Waves], Any]
U32 = np.uint32

SWAP_WITH_LANES_OFF = (
    "v_permlane*_swap ran with lanes switched off; AMD's pseudo-code swaps those lanes too, "
    "and its manual does not say whether the hardware does"
)


def _read_first_lane(instruction: Instruction) -> Step:
    write = scalar_writer(instruction.operands[0], "u32")
    read = reader(instruction, instruction.operands[1], "u32")

    def run(waves: Waves) -> None:
        value, mask = read(waves), waves.active()
        if value.shape[1] == 1 or mask is None:
            write(waves, value[:, :1], None)
            return
        rows = max(len(value), len(mask))
        # argmax gives 0 where no lane is on, and so does the hardware.
        first = np.broadcast_to(mask.argmax(1)[:, None], (rows, 1))
        write(waves, np.take_along_axis(np.broadcast_to(value, (rows, LANES)), first, 1), None)

    return run


def _read_lane(instruction: Instruction) -> Step:
    write = scalar_writer(instruction.operands[0], "u32")
    read = reader(instruction, instruction.operands[1], "u32")
    which = reader(instruction, instruction.operands[2], "u32")

    def run(waves: Waves) -> None:
        value, lane = read(waves), which(waves) & 63
        rows = max(len(value), len(lane))
        lane = np.broadcast_to(lane[:, :1], (rows, 1)).astype(np.intp)
        write(waves, np.take_along_axis(np.broadcast_to(value, (rows, LANES)), lane, 1), None)

    return run


def _write_lane(instruction: Instruction) -> Step:
    """Whatever EXEC says."""
    target = instruction.operands[0].register
    value, which = (reader(instruction, operand, "u32") for operand in instruction.operands[1:3])
    return lambda waves: waves.write(target, value(waves), (which(waves) & 63) == LANE)


def _swap_blocks(block: int) -> Callable[[Instruction], Step]:
    """v_permlane*_swap: odd blocks of lanes of the first register change places with even ones of the second, whatever
    EXEC says."""
    odd = (LANE & block) != 0

    def bind(instruction: Instruction) -> Step:
        first, second = (operand.register for operand in instruction.operands[:2])

        def run(waves: Waves) -> None:
            x, y = waves.full(first), waves.full(second)
            if waves.active() is not None:
                waves.shared.find(waves, "exec", SWAP_WITH_LANES_OFF, count=waves.count)
            waves.write(first, np.where(odd, np.roll(y, block, 1), x), None)
            waves.write(second, np.where(odd, y, np.roll(x, -block, 1)), None)

        return run

    return bind


def _swap(instruction: Instruction) -> Step:
    first, second = (operand.register for operand in instruction.operands)

    def run(waves: Waves) -> None:
        x, y, mask = waves.v[first], waves.v[second], waves.active()
        waves.write(first, y, mask)
        waves.write(second, x, mask)

    return run


def _ds_swizzle(instruction: Instruction) -> Step:
    target, source = (operand.register for operand in instruction.operands[:2])
    pattern = swizzle_pattern(instruction.modifiers.get("offset", 0))

    def run(waves: Waves) -> None:
        mask = waves.active()
        waves.write(target, _zero_where_off(waves.full(source), mask)[:, pattern], mask)

    return run


def _ds_pull(instruction: Instruction) -> Step:
    """ds_bpermute: each lane reads from the lane that it names, times four."""
    target, address, data = (operand.register for operand in instruction.operands)
    offset = U32(instruction.modifiers.get("offset", 0))

    def run(waves: Waves) -> None:
        mask = waves.active()
        lane = ((waves.v[address] + offset) >> U32(2) & U32(63)).astype(np.intp)
        value = _zero_where_off(waves.v[data], mask)
        rows = max(len(value), len(lane))
        value, lane = np.broadcast_to(value, (rows, LANES)), np.broadcast_to(lane, (rows, LANES))
        waves.write(target, np.take_along_axis(value, lane, 1), mask)

    return run


def _ds_push(instruction: Instruction) -> Step:
    """ds_permute: each lane sends to the lane that it names, times four; the highest sender wins, others get 0."""
    target, address, data = (operand.register for operand in instruction.operands)
    offset = U32(instruction.modifiers.get("offset", 0))

    def run(waves: Waves) -> None:
        mask = waves.active()
        shape = waves.count, LANES
        on = np.broadcast_to(True if mask is None else mask, shape)
        lane = np.broadcast_to((waves.v[address] + offset) >> U32(2) & U32(63), shape)
        result = np.zeros(shape, U32)
        row, column = np.nonzero(on)
        result[row, lane[row, column]] = waves.full(data)[row, column]
        waves.write(target, result, mask)

    return run


def _zero_where_off(value: Array, mask: Array | None) -> Array:
    return value if mask is None else np.where(mask, value, U32(0))


def _nothing(instruction: Instruction) -> Step:
    return lambda waves: None


# opcode -> what makes a function of the waves from the instruction
BINDERS: dict[str, Callable[[Instruction], Step]] = {
    "v_readfirstlane_b32": _read_first_lane,
    "v_readlane_b32": _read_lane,
    "v_writelane_b32": _write_lane,
    "v_permlane16_swap_b32": _swap_blocks(16),
    "v_permlane32_swap_b32": _swap_blocks(32),
    "v_swap_b32": _swap,
    "v_nop": _nothing,
}
LDS_BINDERS: dict[str, Callable[[Instruction], Step]] = {
    "ds_swizzle_b32": _ds_swizzle,
    "ds_bpermute_b32": _ds_pull,
    "ds_permute_b32": _ds_push,
}
