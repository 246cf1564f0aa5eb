"""The matrix instructions of gfx950: which shapes there are of which formats.

Source: the tables of section 7.1.2, 7.1.5 and 7.5 of AMD's CDNA4 instruction set manual; the names are LLVM's.
"""

from dataclasses import dataclass

EIGHT_BIT_PAIRS = tuple((a, b) for a in ("bf8", "fp8") for b in ("bf8", "fp8"))
# What cbsz, of A, and blgp, of B, pick for f8f6f4.
F8F6F4 = {0: "fp8", 1: "bf8", 2: "fp6", 3: "bf6", 4: "fp4"}


@dataclass(frozen=True)
class MatrixOpcode:
    """`blocks` products of an R x K by a K x R matrix.

    rows, depth: R and K. formats: of A and B, None where modifiers pick them (f8f6f4). result: f32, i32 or f64.
    scaled: do A and B come with scales? sparse: does A hold only two of each four along K, and an index which?
    """

    rows: int
    depth: int
    blocks: int
    formats: tuple[str, str] | None
    result: str
    scaled: bool = False
    sparse: bool = False


# format -> (rows, depth, blocks)
_DENSE = {
    "f32": ((32, 1, 2), (16, 1, 4), (4, 1, 16), (32, 2, 1), (16, 4, 1)),
    "f16": ((32, 4, 2), (16, 4, 4), (4, 4, 16), (32, 8, 1), (16, 16, 1), (16, 32, 1), (32, 16, 1)),
    "bf16": ((32, 4, 2), (16, 4, 4), (4, 4, 16), (32, 8, 1), (16, 16, 1), (16, 32, 1), (32, 16, 1)),
    "i8": ((32, 4, 2), (16, 4, 4), (4, 4, 16), (32, 16, 1), (16, 32, 1), (16, 64, 1), (32, 32, 1)),
    "f64": ((16, 4, 1), (4, 4, 4)),
}
_RESULTS = {"i8": "i32", "f64": "f64"}
# format -> (rows, depth)
_SPARSE = {
    "f16": ((16, 32), (32, 16), (16, 64), (32, 32)),
    "bf16": ((16, 32), (32, 16), (16, 64), (32, 32)),
    "i8": ((16, 64), (32, 32), (16, 128), (32, 64)),
}
_SPARSE_EIGHT_BIT = ((16, 64), (32, 32), (16, 128), (32, 64))


def _table() -> dict[str, MatrixOpcode]:
    table: dict[str, MatrixOpcode] = {}
    for form, shapes in _DENSE.items():
        result = _RESULTS.get(form, "f32")
        for rows, depth, blocks in shapes:
            middle = f"_{blocks}b" if blocks > 1 else ""
            name = f"v_mfma_{result}_{rows}x{rows}x{depth}{middle}_{form}"
            table[name] = MatrixOpcode(rows, depth, blocks, (form, form), result)
    for form, pairs in _SPARSE.items():
        result = _RESULTS.get(form, "f32")
        for rows, depth in pairs:
            name = f"v_smfmac_{result}_{rows}x{rows}x{depth}_{form}"
            table[name] = MatrixOpcode(rows, depth, 1, (form, form), result, sparse=True)
    for a, b in EIGHT_BIT_PAIRS:
        for rows, depth in ((16, 32), (32, 16)):
            table[f"v_mfma_f32_{rows}x{rows}x{depth}_{a}_{b}"] = MatrixOpcode(rows, depth, 1, (a, b), "f32")
        for rows, depth in _SPARSE_EIGHT_BIT:
            name = f"v_smfmac_f32_{rows}x{rows}x{depth}_{a}_{b}"
            table[name] = MatrixOpcode(rows, depth, 1, (a, b), "f32", sparse=True)
    for rows, depth in ((16, 128), (32, 64)):
        shape = f"f32_{rows}x{rows}x{depth}_f8f6f4"
        table[f"v_mfma_{shape}"] = MatrixOpcode(rows, depth, 1, None, "f32")
        table[f"v_mfma_scale_{shape}"] = MatrixOpcode(rows, depth, 1, None, "f32", scaled=True)
    return table


OPCODES = _table()
