"""An opcode counts as implemented only with a test of what it does."""

import numpy as np
import pytest

from mxsub.virtual import lanes, scalar, vector
from tests.instructions import expectations
from tests.instructions.coverage import (
    LEFT_OUT,
    TESTED_SCALAR,
    TESTED_VECTOR,
    arithmetic_of_the_pseudo_code,
)
from tests.instructions.vector_bench import Run, VectorBench
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


# As v_fma_mix_f32, where one rounding in place of two tells; in a half it hardly ever does.
@pytest.mark.parametrize("opcode", sorted(expectations.EXCEPTIONS.keys() - {"v_fma_mixlo_f16", "v_fma_mixhi_f16"}))
def test_exceptions_are_needed(opcode, random, monkeypatch):
    """By the text itself, the emulator would be wrong."""
    monkeypatch.delitem(expectations.EXCEPTIONS, opcode)
    bench = VectorBench(random, 16)
    with np.errstate(all="ignore"), pytest.raises(AssertionError, match="lanes differ"):
        bench.check(Run(opcode))
