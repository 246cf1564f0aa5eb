"""exec: matrix instructions that run with lanes off, on inputs which those lanes have not got.

MFMA uses all 64 lanes whatever EXEC says. An input that was last written under the same narrow EXEC is stale in the
other lanes: Triton 3.6.0's LLVM makes such code when it sinks scaled MFMA, and the packing of its scales, under the
branch of a masked store (LLVM pull request 178627 has fixed it; Triton 3.7.1 and later have that).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.register_uses import SCALAR, name, registers, uses
from mxsub.virtual.watching import Launched, Step, Watcher
from mxsub.virtual.waves import LANES, Waves

Array = npt.NDArray[Any]

_FIXED = "Triton 3.6.0 compiles masked stores that are branches to this; 3.7.1, 3.8.0 and 3.9.0 do not"


class StaleLanes(Watcher):
    """Tags of registers: ("stale", register) -> by lane the instruction, and 1, that wrote while the lane was off."""

    def begin(self, launched: Launched) -> None:
        self._code = launched.program.code

    def around(self, pc: int, step: Step | None) -> Step | None:
        instruction = self._code[pc]
        used = uses(instruction)
        written = sorted(register for register in used.writes if register < SCALAR)
        if step is None or not written:
            return step
        if instruction.opcode.startswith(("v_mfma", "v_smfmac")):
            sides_and_scales = [*instruction.operands[1:3], *instruction.operands[4:]]
            inputs = [r for operand in sides_and_scales for r in registers(operand) if r < SCALAR]
            return self._around_matrix(step, inputs, written)

        def run(waves: Waves) -> object:
            mask = waves.active()
            if mask is None:
                for register in written:
                    waves.tags.pop(("stale", register), None)
            else:
                some = mask.any(1, keepdims=True)
                for register in written:
                    before = waves.tags.get(("stale", register), 0)
                    off = np.where(some, pc + 1, before)
                    waves.tags["stale", register] = np.where(mask, 0, off)
            return step(waves)

        return run

    def _around_matrix(self, step: Step, inputs: list[int], written: list[int]) -> Step:
        def run(waves: Waves) -> object:
            mask = waves.active()
            if mask is not None:
                on = np.broadcast_to(mask, (waves.count, LANES))
                partly = on.any(1, keepdims=True) & ~on
                for register in inputs:
                    stale = waves.tags.get(("stale", register))
                    if stale is not None and (lanes := partly & (stale != 0)).any():
                        self._report(waves, register, lanes, np.broadcast_to(stale, lanes.shape))
            for register in written:  # whatever EXEC says
                waves.tags.pop(("stale", register), None)
            return step(waves)

        return run

    def _report(self, waves: Waves, register: int, lanes: Array, stale: Array) -> None:
        row, lane = (int(index) for index in np.argwhere(lanes)[0])
        writer = self._code[int(stale[row, lane]) - 1]
        where = f" at {writer.source}" if writer.source else ""
        waves.shared.find(
            waves,
            "exec",
            f"reads {name(register)} in lanes that are off, and were off when {writer.opcode} wrote it{where}: MFMA "
            f"uses all lanes whatever EXEC says, so what it computes is wrong. {_FIXED}",
            row=row,
            lane=lane,
            count=int(lanes.any(1).sum()),
            kind=f"stale v{register}",
        )
