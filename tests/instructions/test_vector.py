"""Every opcode of vector arithmetic, comparison and conversion against AMD's pseudo-code, in 128 lanes."""

import numpy as np
import pytest

from mxsub.virtual import vector
from tests.instructions.vector_bench import Run, VectorBench, explicit_kinds

# Tables of their own behind the opcode, and constants within it.
_TABLES = (0x00, 0x11, 0x96, 0xCA, 0xE8, 0xEC, 0xF8, 0xEA, 0x36, 0x6C, 0x78, 0xC8, 0xE0, 0xFE, 0x80, 0x40, 0x20, 0xFF)
_CONSTANTS = {"v_fmamk_f32": 1, "v_madmk_f16": 1, "v_fmaak_f32": 2, "v_madak_f16": 2}
ACCUMULATION = ("v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32")
TABLED = ("v_bitop3_b32", "v_bitop3_b16")
OPCODES = sorted(vector.OPERATIONS.keys() - {*ACCUMULATION, *TABLED})


@pytest.mark.parametrize("opcode", OPCODES)
def test_opcode(opcode, random):
    bench = VectorBench(random)
    for _ in range(4 if opcode in _CONSTANTS else 1):
        bits = 0xFFFF if opcode.endswith("f16") else 0xFFFFFFFF
        bench.check(Run(opcode, constant=_CONSTANTS.get(opcode), constant_bits=bits))


@pytest.mark.parametrize("opcode", sorted(set(OPCODES) - _CONSTANTS.keys()))
def test_scalar_source(opcode, random):
    """One of the sources is the same in all lanes of a wave."""
    kinds = explicit_kinds(opcode)
    scalar = [k for k, kind in enumerate(kinds) if kind != "mask" and "*" not in kind]
    VectorBench(random, 2).check(Run(opcode, uniform=int(random.choice(scalar))))


@pytest.mark.parametrize(
    "selector", [0x07060504, 0x01000706, 0x0C0C0400, 0x0D0B0A09, 0x080C0302, 0x03020100, 0x05040403, 0x0C0C0C0C]
)
def test_permutation_alike_in_all_lanes(selector, random):
    bench = VectorBench(random, 1)
    sources = bench.sources("v_perm_b32")
    sources[2][:] = selector
    bench.check(Run("v_perm_b32", uniform=2), sources)


@pytest.mark.parametrize("opcode", TABLED)
def test_truth_tables(opcode, random):
    bench = VectorBench(random, 1)
    for table in _TABLES:
        names = {"INST.OMOD": table >> 6, "INST.ABS": table >> 3 & 7, "INST.NEG": table & 7}
        bench.check(Run(opcode, f"bitop3:{table:#x}", names))


def test_accumulation_registers(bench, random):
    x = random.integers(0, 2**32, 64, dtype=np.uint32)
    text = "v_accvgpr_write_b32 a3, v10\nv_accvgpr_mov_b32 a4, a3\nv_accvgpr_read_b32 v20, a4"
    np.testing.assert_array_equal(bench.compute(text, x)[:, 0], x)
