"""Register numbers, as the hardware numbers them."""

VECTOR_REGISTERS = 512
# The scalar registers by their numbers, and MODE and a clock behind them.
SCALAR_REGISTERS = 130

# Accumulation registers follow the vector registers in one file.
AGPR = 256

# Special scalar operands.
FLAT_SCRATCH = 102
VCC = 106
TTMP = 108
M0 = 124
EXEC = 126
MODE = 128
TIME = 129
SCC = 253

# name -> (first register, how many)
SPECIAL_NAMES = {
    "vcc": (VCC, 2),
    "vcc_lo": (VCC, 1),
    "vcc_hi": (VCC + 1, 1),
    "exec": (EXEC, 2),
    "exec_lo": (EXEC, 1),
    "exec_hi": (EXEC + 1, 1),
    "m0": (M0, 1),
    "scc": (SCC, 1),
    "src_scc": (SCC, 1),
    "flat_scratch": (FLAT_SCRATCH, 2),
    "flat_scratch_lo": (FLAT_SCRATCH, 1),
    "flat_scratch_hi": (FLAT_SCRATCH + 1, 1),
}
