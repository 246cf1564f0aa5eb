"""The opcodes that a test compares with AMD's pseudo-code or manual, and those that the emulator leaves out."""

from mxsub.virtual import memory_instructions
from tests.instructions import (
    test_lanes,
    test_matrix_dense,
    test_matrix_scaled,
    test_matrix_sparse,
    test_memory_lds,
    test_memory_scalar,
    test_memory_to_lds,
    test_memory_vector,
    test_scalar,
    test_vector,
)
from tests.pseudocode import TEXTS

TESTED_VECTOR = frozenset((*test_vector.OPCODES, *test_vector.TABLED, *test_vector.ACCUMULATION))
TESTED_SCALAR = frozenset(
    (
        *test_scalar.ARITHMETIC,
        *test_scalar.EXEC_WRITERS,
        *test_scalar.BRANCHES,
        *test_scalar.NUMBERED,
        *test_scalar.CALLS,
        *test_scalar.MODE_ACCESS,
        *test_scalar.CLOCKS,
        *test_scalar.ENDS,
        *test_scalar.WITHOUT_EFFECT,
    )
)
TESTED_MEMORY = frozenset(
    (
        *test_memory_lds.OPCODES,
        *test_memory_lds.TRANSPOSING,
        *test_memory_lds.BY_LANE,
        *test_memory_vector.OPCODES,
        *test_memory_to_lds.OPCODES,
        *test_memory_scalar.OPCODES,
        *test_lanes.LDS_OPCODES,
    )
)
TESTED_MATRIX = frozenset((*test_matrix_dense.DENSE, *test_matrix_scaled.SCALED, *test_matrix_sparse.SPARSE))
# test_memory_tables.py goes through those that have no effect here.
TESTED = (
    TESTED_VECTOR
    | TESTED_SCALAR
    | TESTED_MEMORY
    | TESTED_MATRIX
    | frozenset(test_lanes.OPCODES)
    | memory_instructions.WITHOUT_EFFECT
)

_STACK = "works on a stack of forks in scalar registers, which no compiler emits"
_INDEXING = "a mode in which the numbers of vector registers are offset; LLVM uses it for arrays in registers only"
# Opcodes of the pseudo-code's classes that the emulator refuses, and why.
LEFT_OUT = {
    "s_cbranch_g_fork": _STACK,
    "s_cbranch_i_fork": _STACK,
    "s_cbranch_join": _STACK,
    "s_rfe_b64": "returns from a trap handler",
    "s_setvskip": "a mode in which vector instructions are skipped, which no compiler emits",
    "s_set_gpr_idx_on": _INDEXING,
    "s_set_gpr_idx_off": _INDEXING,
    "s_set_gpr_idx_idx": _INDEXING,
    "s_set_gpr_idx_mode": _INDEXING,
}
# AMD's name -> the assembler's
RENAMED = {f"v_mad_mix{part}": f"v_fma_mix{part}" for part in ("_f32", "lo_f16", "hi_f16")}
_OTHER_CLASSES = ("v_mfma", "v_smfmac", "s_load", "s_store", "s_buffer", "s_atomic", "s_scratch", "s_dcache", "s_atc")


def arithmetic_of_the_pseudo_code() -> frozenset[str]:
    """Vector and scalar opcodes that AMD describes, as the assembler calls them; memory and matrices are elsewhere."""
    names = (name for name in TEXTS if name.startswith(("v_", "s_")) and not name.startswith(_OTHER_CLASSES))
    return frozenset(RENAMED.get(name, name) for name in names)
