"""An opcode counts as implemented only with a test of what it does."""

from mxsub.virtual import lanes, scalar, vector
from tests.instructions import expectations
from tests.instructions.coverage import (
    LEFT_OUT,
    TESTED_SCALAR,
    TESTED_VECTOR,
    arithmetic_of_the_pseudo_code,
)
from tests.pseudocode import DESCRIBED

# No text of AMD's describes them; their names in the manual say it all.
WITHOUT_TEXT = {"v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32"}


def test_every_vector_opcode_is_tested():
    assert vector.OPERATIONS.keys() == TESTED_VECTOR


def test_every_scalar_opcode_is_tested():
    assert scalar.OPCODES == TESTED_SCALAR


def test_every_opcode_that_amd_describes_is_there_or_left_out_with_a_reason():
    known = vector.OPCODES | scalar.OPCODES | lanes.BINDERS.keys()
    assert arithmetic_of_the_pseudo_code() - known == LEFT_OUT.keys()


def test_what_is_compared_is_described():
    """By AMD, or by an expectation of our own."""
    described = {expectations.OTHER_NAMES.get(opcode, opcode) for opcode in TESTED_VECTOR} - WITHOUT_TEXT
    assert described - DESCRIBED == set()
