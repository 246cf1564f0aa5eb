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

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.assembly import Instruction, Operand
from mxsub.virtual.faults import UnsupportedForm
from mxsub.virtual.formats import E2M1, E4M3, E5M2, E8M0, bf16_to_f32
from mxsub.virtual.waves import LANES, Waves

Array = npt.NDArray[Any]
U16, U32, F32, F64 = np.uint16, np.uint32, np.float32, np.float64

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
_BITS = {"fp8": 8, "bf8": 8, "fp4": 4, "bf16": 16, "f16": 16}
_CODES = {"fp8": E4M3, "bf8": E5M2, "fp4": E2M1}

SCALED_WITH_LANES_OFF = (
    "scaled MFMA ran with lanes switched off; it uses all lanes whatever EXEC says, and the scales of those lanes "
    "are likely stale. Triton 3.6.0 moves it under a masked store's branch (fixed in 3.7.1); buffer stores, the JIT's "
    "default, avoid it"
)
PLAIN_WITH_LANES_OFF = "MFMA ran with lanes switched off; it uses all lanes whatever EXEC says"

# Unpacked operands that are kept for instructions that use them again.
_KEPT_MATRICES = 24


def is_known(opcode: str) -> bool:
    """Is it a matrix instruction that is emulated?"""
    match = _NAME.match(opcode)
    if not match:
        return False
    scaled, rows, depth, blocks, form = match.groups()
    if (scaled and form != "f8f6f4") or bool(blocks) != (rows == "4"):
        return False
    return (int(rows), int(depth)) in _SHAPES[form]


@functools.cache
def _pairs(form: str) -> Array:
    """Sixteen bits of small numbers to those numbers as float32, all of them together in one item of the table."""
    bits = _BITS[form]
    codes = np.arange(1 << 16)[:, None] >> np.arange(0, 16, bits) & (1 << bits) - 1
    table: Array = np.ascontiguousarray(_CODES[form][codes]).view(np.complex128 if bits == 4 else np.uint64)[:, 0]
    return table


def _numbers(data: Array, form: str) -> Array:
    """Bits, uint16 (..., halfwords), to float32 (..., elements)."""
    if form == "bf16":
        return bf16_to_f32(data)
    if form == "f16":
        return data.view(np.float16).astype(F32)
    numbers: Array = np.take(_pairs(form), data).view(F32)
    return numbers


class _Side:
    """A or B: registers to matrices (waves, blocks, R, K), kept for as long as the registers hold the same arrays."""

    def __init__(self, operand: Operand, form: str, rows: int, depth: int, scale: Operand | None, byte: int) -> None:
        needed = depth * rows * (16 if rows == 4 else 1) * _BITS[form] // LANES // 32
        if operand.kind != "vector" or operand.count != needed:
            raise UnsupportedForm(f"a matrix operand in other than {needed} vector registers")
        if scale is not None and scale.kind != "vector":
            # The hardware reads other scales in odd ways (LLVM pull request 158117).
            raise UnsupportedForm("scales that are not in a vector register")
        self.registers = range(operand.register, operand.register + operand.count)
        self.form = form
        self.rows = rows
        self.scale = None if scale is None else scale.register
        self.byte = byte

    def matrices(self, waves: Waves) -> Array:
        words = [waves.v[register] for register in self.registers]
        scale = None if self.scale is None else waves.v[self.scale]
        key = (self.form, self.rows, self.byte, *map(id, words), id(scale))
        kept = waves.shared.matrices
        if key not in kept:
            if len(kept) >= _KEPT_MATRICES:
                kept.pop(next(iter(kept)))
            # The arrays are kept too, so that no other array can get their ids.
            kept[key] = (self._unpacked(words, scale), words, scale)
        matrices: Array = kept[key][0]
        return matrices

    def _unpacked(self, words: list[Array], scale: Array | None) -> Array:
        count, groups = max(len(word) for word in words), LANES // self.rows
        # As bits into the shape (waves, blocks, rows, groups along k, a lane's bits): they are fewer than the numbers.
        bits = np.stack([np.broadcast_to(word, (count, LANES)) for word in words], -1)
        bits = self._by_row(bits.view(U16), groups)
        values = _numbers(bits, self.form)
        if scale is not None:
            codes = np.broadcast_to(scale >> U32(8 * self.byte) & U32(255), (len(scale), LANES))
            factors = np.take(E8M0, self._by_row(codes[..., None], groups))
            # Powers of two are exact in float32 but for the largest; those, and NaN, need float64.
            if codes.max() < 250:
                values = np.multiply(values, factors.astype(F32), out=values if len(values) >= len(factors) else None)
            else:
                values = values * factors
        return values.reshape(*values.shape[:3], -1)

    def _by_row(self, lanes: Array, groups: int) -> Array:
        """(waves, 64, x) to (waves, blocks, rows, groups along k, x)."""
        if self.rows == 4:
            return lanes.reshape(len(lanes), groups, self.rows, 1, -1)
        by_group = lanes.reshape(len(lanes), groups, self.rows, -1)
        return np.ascontiguousarray(by_group.swapaxes(1, 2))[:, None]


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
        sides.append(_Side(operand, forms[k], rows, depth, scales[k] if scaled else None, byte))
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
        first = left.matrices(waves)
        if broadcast:
            first = first[:, blocks]
        product = np.matmul(first, right.matrices(waves).swapaxes(2, 3))
        _accumulate(waves, target.register, c, _by_register(product, rows))

    return run


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
