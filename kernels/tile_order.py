"""Which output tile a workgroup computes.

Tunable: GROUP_SIZE_M, the tile rows that are walked together, so that they find the same weights in L2.
"""

import triton
import triton.language as tl

FRAGMENT = {"role": "device", "generation": "any", "tunable": {"GROUP_SIZE_M": [1, 2, 4, 8, 16]}}


@triton.jit
def tile_of(pid, TILES_M, TILES_N, GROUP_SIZE_M: tl.constexpr):
    """(row, column) of tile number pid: row by row, or in groups of GROUP_SIZE_M rows by column."""
    if GROUP_SIZE_M == 1:
        return pid // TILES_N, pid % TILES_N
    group = pid // (GROUP_SIZE_M * TILES_N)
    first = group * GROUP_SIZE_M
    rows = tl.minimum(TILES_M - first, GROUP_SIZE_M)
    within = pid % (GROUP_SIZE_M * TILES_N)
    return first + within % rows, within // rows
