"""Matrix instructions (MFMA and its sparse form): D = A x B + C for each wave, whatever EXEC says.

Where the elements are is in matrix_layout.py; which instructions there are, in matrix_opcodes.py. Scaled ones take for
the 32 elements of a row and a part of K the E8M0 scale in the lane that has that row and part; op_sel (low bit of its
number) and op_sel_hi (high bit) pick the byte.

Products are exact; in which order the hardware adds, and how it rounds between, is not documented. Here the products
are summed first, in float64, then C is added; integers wrap. Products of 4- and 6-bit elements are summed in float32,
which holds their sum unless the scales are far apart. A sum that rounded would depend on how many waves are multiplied
at once, and waves with the same inputs have to get the same result, as on the hardware.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.assembly import Instruction, Operand
from mxsub.virtual.faults import UnsupportedForm
from mxsub.virtual.matrix_formats import BITS
from mxsub.virtual.matrix_layout import LANE_PATTERNS, InputLayout, broadcast_lanes, by_register
from mxsub.virtual.matrix_opcodes import F8F6F4, OPCODES, MatrixOpcode
from mxsub.virtual.matrix_operands import Matrices, MatrixOperand, Scale
from mxsub.virtual.matrix_sparse import SparseIndex, sparse_product
from mxsub.virtual.operands import DTYPES, constant
from mxsub.virtual.waves import LANES, Waves

Array = npt.NDArray[Any]
Step = Callable[[Waves], None]
U32, U64 = np.uint32, np.uint64

SCALED_WITH_LANES_OFF = (
    "scaled MFMA ran with lanes switched off; it uses all lanes whatever EXEC says, and the scales of those lanes "
    "are likely stale. Triton 3.6.0 moves it under a masked store's branch (fixed in 3.7.1); buffer stores, the JIT's "
    "default, avoid it"
)
PLAIN_WITH_LANES_OFF = "MFMA ran with lanes switched off; it uses all lanes whatever EXEC says"

# One large product of all pairs is still faster than many small ones when so many pairs are not needed.
_PAIRS_FOR_A_WAVE = 2

# Multiplications for which OpenBLAS does not start threads, which cost more than they bring at these sizes.
_ONE_THREAD = 1 << 18


def is_known(opcode: str) -> bool:
    """Is it a matrix instruction that is emulated?"""
    return opcode in OPCODES


def bind(instruction: Instruction) -> Step:
    """A function that runs the instruction. Raises UnsupportedForm."""
    opcode = OPCODES[instruction.opcode]
    target, a, b, third, *scales = instruction.operands
    left, right = _sides(instruction, opcode, (a, b), scales)
    add = _adder(instruction, opcode, target, target if opcode.sparse else third)
    warning = SCALED_WITH_LANES_OFF if opcode.scaled else PLAIN_WITH_LANES_OFF
    if opcode.sparse:
        index = SparseIndex(instruction, third, left.layout)

        def multiply(waves: Waves) -> Array:
            return sparse_product(left.matrices(waves), index.positions(waves), right.matrices(waves))

    else:

        def multiply(waves: Waves) -> Array:
            return _product(left.matrices(waves), right.matrices(waves))

    def run(waves: Waves) -> None:
        mask = waves.active()
        if mask is not None:
            on = np.broadcast_to(mask.sum(1), waves.count)
            if partial := int(((on > 0) & (on < LANES)).sum()):
                waves.shared.find(waves, "exec", warning, row=int(np.argmax(on < LANES)), count=partial)
        add(waves, multiply(waves))

    return run


def _sides(
    instruction: Instruction, opcode: MatrixOpcode, operands: tuple[Operand, Operand], scales: list[Operand]
) -> list[MatrixOperand]:
    """A and B."""
    lanes: tuple[Array | None, Array | None] = None, None
    if opcode.formats is None:
        try:
            forms = [F8F6F4[int(instruction.modifiers.get(name, 0))] for name in ("cbsz", "blgp")]
        except KeyError:
            raise UnsupportedForm("a number that stands for no matrix format") from None
    else:
        forms = list(opcode.formats)
        if not opcode.sparse and opcode.result != "f64":
            lanes = _broadcasts(instruction, opcode)
    sides = []
    for k, operand in enumerate(operands):
        depth = opcode.depth // 2 if opcode.sparse and k == 0 else opcode.depth
        layout = InputLayout(opcode.rows, depth, opcode.blocks, BITS[forms[k]])
        scale = None
        if opcode.scaled:
            scale = Scale(scales[k], instruction.bit("op_sel", k) + 2 * instruction.bit("op_sel_hi", k, 1))
        sides.append(MatrixOperand(operand, forms[k], layout, lanes[k], scale))
    return sides


def _broadcasts(instruction: Instruction, opcode: MatrixOpcode) -> tuple[Array | None, Array | None]:
    """From which lane each lane takes A and B; section 7.1.6 of the manual."""
    cbsz, abid, blgp = (int(instruction.modifiers.get(name, 0)) for name in ("cbsz", "abid", "blgp"))
    if 1 << cbsz > opcode.blocks or (cbsz and abid >= 1 << cbsz):
        raise UnsupportedForm("a broadcast of a block that there is not")
    return broadcast_lanes(cbsz, abid), LANE_PATTERNS[blgp]


def _product(first: Matrices, second: Matrices) -> Array:
    """A times B transposed, (waves, blocks, R, R). A matrix that many waves share is multiplied with all of theirs at
    once."""
    if first.which is not None and second.which is not None and _is_grid(first, second):
        return _product_of_all(first.values[:, 0], second.values[:, 0])[first.which, :, second.which][:, None]
    if second.which is not None and first.which is None and first.values.shape[1] == 1:
        return _shared_product(first.values, second.values[:, 0], second.which)
    if first.which is not None and second.which is None and second.values.shape[1] == 1:
        return _shared_product(second.values, first.values[:, 0], first.which).swapaxes(2, 3)
    product: Array = np.matmul(first.all(), second.all().swapaxes(2, 3))
    return product


def _is_grid(first: Matrices, second: Matrices) -> bool:
    """Do the waves have nearly all pairs of the distinct matrices, as the tiles of a product do?"""
    assert first.which is not None
    pairs = len(first.values) * len(second.values)
    return first.values.shape[1] == second.values.shape[1] == 1 and pairs <= _PAIRS_FOR_A_WAVE * len(first.which)


def _product_of_all(first: Array, second: Array) -> Array:
    """(a, R, K) and (b, R, K) to the product of each of the first with each of the second, (a, R, b, R)."""
    rows, depth = first.shape[1:]
    product: Array = first.reshape(-1, depth) @ second.reshape(-1, depth).T
    return product.reshape(len(first), rows, len(second), rows)


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


def _adder(
    instruction: Instruction, opcode: MatrixOpcode, target: Operand, addend: Operand
) -> Callable[[Waves, Array], None]:
    """A function of the waves and their products, (waves, blocks, R, R), that adds C and writes D.

    All of C is read before any of D is written: they may overlap.
    """
    dtype = DTYPES[opcode.result]
    size = dtype.itemsize // 4
    count = opcode.rows * opcode.rows * opcode.blocks // LANES
    tall = 1 if opcode.result == "f64" else 4
    for operand in (target, addend):
        if not operand.is_constant and (operand.kind != "vector" or operand.count != count * size):
            raise UnsupportedForm(f"a result or an addend in other than {count * size} vector registers")
    first, source = target.register, addend.register
    value = constant(addend, dtype) if addend.is_constant else None
    nothing = value is not None and not value.any()
    negated = [bool(instruction.bit("neg", k)) for k in range(3)]

    def read(waves: Waves, k: int) -> Array:
        if value is not None:
            return value
        low = waves.v[source + size * k]
        return low.view(dtype) if size == 1 else _joined(low, waves.v[source + size * k + 1]).view(dtype)

    def add(waves: Waves, products: Array) -> None:
        parts = by_register(products, tall)
        if dtype.kind == "i":  # exact until here
            parts = parts.astype(dtype)
        if negated[0] != negated[1]:
            parts = -parts
        if nothing:
            sums = list(parts)
        elif negated[2]:
            sums = [part - read(waves, k) for k, part in enumerate(parts)]
        else:
            sums = [part + read(waves, k) for k, part in enumerate(parts)]
        for k, part in enumerate(sums):
            part = part.astype(dtype, copy=False)
            if size == 1:
                waves.v[first + k] = part.view(U32)
            else:
                bits = part.view(U64)
                waves.v[first + 2 * k] = bits.astype(U32)
                waves.v[first + 2 * k + 1] = (bits >> U64(32)).astype(U32)

    return add


def _joined(low: Array, high: Array) -> Array:
    joined: Array = low | high.astype(U64) << U64(32)
    return joined
