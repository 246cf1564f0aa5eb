"""Matrix instructions (MFMA): D = A x B + C for each wave, whatever EXEC says.

Layout, for blocks of R x R that are K deep (R is 4, 16 or 32), the 64 lanes being 64 / R groups of R:

    A       lane l holds row l % R, and of it the K * R / 64 consecutive k from (l // R) * K * R / 64 on, low bits
            first; with 16 blocks of 4 x 4, lane l holds all of row l % 4 of block l // 4
    B       the same for the columns
    C, D    lane l holds column l % R; register 4 * q + r is row 4 * (q * 64 / R + l // R) + r
            with 16 blocks, lane l holds column l % 4 of block l // 4, a row a register
    scales  lane l holds, in the byte that op_sel (low bit of its number) and op_sel_hi (high bit) pick, the E8M0
            scale of the very 32 elements of A (or B) that it holds

Products are exact; in which order the hardware adds, and how it rounds between, is not documented.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.assembly import Instruction, Operand
from mxsub.virtual.faults import UnsupportedForm
from mxsub.virtual.matrix_operands import Matrices, MatrixOperand
from mxsub.virtual.waves import LANES, Waves

Array = npt.NDArray[Any]
U32, F32 = np.uint32, np.float32

_NAME = re.compile(r"v_mfma_(scale_)?f32_(4|16|32)x\2x(\d+)(_16b)?_?(f8f6f4|bf16|f16|(?:fp8|bf8)_(?:fp8|bf8))(?:_1k)?$")
# (rows, depth) of each format
_SHAPES = {
    "f8f6f4": {(16, 128), (32, 64)},
    "bf16": {(4, 4), (16, 16), (16, 32), (32, 8), (32, 16)},
    "f16": {(4, 4), (16, 16), (16, 32), (32, 8), (32, 16)},
    **{f"{a}_{b}": {(16, 32), (32, 16)} for a in ("fp8", "bf8") for b in ("fp8", "bf8")},
}
# cbsz, of A, and blgp, of B, for f8f6f4
_F8F6F4 = {0: "fp8", 1: "bf8", 4: "fp4"}
SCALED_WITH_LANES_OFF = (
    "scaled MFMA ran with lanes switched off; it uses all lanes whatever EXEC says, and the scales of those lanes "
    "are likely stale. Triton 3.6.0 moves it under a masked store's branch (fixed in 3.7.1); buffer stores, the JIT's "
    "default, avoid it"
)
PLAIN_WITH_LANES_OFF = "MFMA ran with lanes switched off; it uses all lanes whatever EXEC says"


# Multiplications for which OpenBLAS does not start threads, which cost more than they bring at these sizes.
_ONE_THREAD = 1 << 18


def is_known(opcode: str) -> bool:
    """Is it a matrix instruction that is emulated?"""
    match = _NAME.match(opcode)
    if not match:
        return False
    scaled, rows, depth, blocks, form = match.groups()
    if (scaled and form != "f8f6f4") or bool(blocks) != (rows == "4"):
        return False
    return (int(rows), int(depth)) in _SHAPES[form]


def bind(instruction: Instruction) -> Callable[[Waves], None]:
    """A function that runs the instruction. Raises UnsupportedForm."""
    match = _NAME.match(instruction.opcode)
    assert match is not None
    scaled, rows, depth, form = bool(match[1]), int(match[2]), int(match[3]), match[5]
    target, a, b, c, *scales = instruction.operands
    modifiers = instruction.modifiers
    broadcast = 0
    if form == "f8f6f4":
        try:
            forms = [_F8F6F4[int(modifiers.get(name, 0))] for name in ("cbsz", "blgp")]
        except KeyError:
            raise UnsupportedForm("6-bit matrix formats") from None
    else:
        forms = form.split("_") if "_" in form else [form, form]
        broadcast = int(modifiers.get("cbsz", 0))
        if modifiers.get("blgp") or (broadcast and rows != 4):
            raise UnsupportedForm("broadcast modifiers of MFMA")
    sides = []
    for k, operand in enumerate((a, b)):
        byte = instruction.bit("op_sel", k) + 2 * instruction.bit("op_sel_hi", k, 1) if scaled else 0
        sides.append(MatrixOperand(operand, forms[k], rows, depth, scales[k] if scaled else None, byte))
    left, right = sides
    if broadcast:  # block i takes A from the block that abid picks among the 2**cbsz around i
        blocks = np.arange(16) >> broadcast << broadcast | int(modifiers.get("abid", 0))
    warning = SCALED_WITH_LANES_OFF if scaled else PLAIN_WITH_LANES_OFF

    def run(waves: Waves) -> None:
        mask = waves.active()
        if mask is not None:
            on = np.broadcast_to(mask.sum(1), waves.count)
            if partial := int(((on > 0) & (on < LANES)).sum()):
                waves.shared.warnings[warning] += partial
        first, second = left.matrices(waves), right.matrices(waves)
        if broadcast:
            first = Matrices(first.all()[:, blocks], None)
        product = _product(first, second)
        _accumulate(waves, target.register, c, _by_register(product, rows))

    return run


def _product(first: Matrices, second: Matrices) -> Array:
    """A times B transposed, (waves, blocks, R, R). A matrix that many waves share is multiplied with all of theirs at
    once."""
    if second.which is not None and first.which is None and first.values.shape[1] == 1:
        return _shared_product(first.values, second.values[:, 0], second.which)
    if first.which is not None and second.which is None and second.values.shape[1] == 1:
        return _shared_product(second.values, first.values[:, 0], first.which).swapaxes(2, 3)
    product: Array = np.matmul(first.all(), second.all().swapaxes(2, 3))
    return product


def _shared_product(own: Array, shared: Array, which: Array) -> Array:
    """own: (waves, 1, R, K). shared: (distinct, R, K), of which each wave has number `which`."""
    rows, depth = own.shape[2:]
    product = np.empty((len(which), rows, rows), np.result_type(own, shared))
    own = np.broadcast_to(own[:, 0], (len(which), rows, depth))
    together = max(1, _ONE_THREAD // (rows * rows * depth))
    for number, matrix in enumerate(shared):
        waves = np.flatnonzero(which == number)
        even = len(waves) // together * together
        for some, size in ((waves[:even], together), (waves[even:], 1)):
            if len(some):
                part = np.matmul(own[some].reshape(-1, size * rows, depth), matrix.T)
                product[some] = part.reshape(-1, rows, rows)
    return product[:, None]


def _by_register(product: Array, rows: int) -> Array:
    """Products (waves, blocks, R, R) to (registers, waves, 64)."""
    count = len(product)
    if rows == 4:
        return product.transpose(2, 0, 1, 3).reshape(rows, count, LANES)
    groups = LANES // rows
    tall = rows // (4 * groups)
    parts = product.reshape(count, tall, groups, 4, rows).transpose(1, 3, 0, 2, 4)
    return parts.reshape(4 * tall, count, LANES)


def _accumulate(waves: Waves, target: int, addend: Operand, products: Array) -> None:
    """Add C and write D. All of C is read before any of D is written: they may overlap."""
    if addend.kind == "vector":
        sums = [part + waves.v[addend.register + k].view(F32) for k, part in enumerate(products)]
    elif addend.constant:
        sums = [part + F32(addend.constant) for part in products]
    else:
        sums = list(products)
    for k, part in enumerate(sums):
        waves.v[target + k] = part.astype(F32, copy=False).view(U32)
