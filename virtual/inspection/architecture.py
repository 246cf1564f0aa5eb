"""Facts about the MI355X (CDNA 4, gfx950) that count for a launch. Each comes with its source.

LLVM: lib/Target/AMDGPU (Utils/AMDGPUBaseInfo.cpp, AMDGPUSubtarget.cpp, GCNSubtarget.h) and its AMDGPUUsage document.
Data sheet: AMD Instinct MI355X GPU data sheet (2025). White paper: AMD CDNA 4 architecture white paper (2025).
"""

from mxsub.virtual.device import COMPUTE_UNITS as COMPUTE_UNITS
from mxsub.virtual.device import LDS_BYTES as LDS_BYTES  # of a compute unit; white paper

DIES = 8  # XCDs, each with an L2 of its own; data sheet
SIMDS = 4  # of a compute unit; white paper
WAVES_PER_SIMD = 8  # the most; LLVM, getMaxWavesPerEU
WORKGROUPS_PER_UNIT = 16  # the most, where they have several waves; LLVM, getMaxWorkGroupsPerCU
VECTOR_REGISTERS = 512  # of a lane, VGPRs and AGPRs in one file; LLVM, getTotalNumVGPRs
VECTOR_GRANULE = 8  # LLVM, getVGPRAllocGranule
LDS_GRANULE = 1280  # bytes; LLVM, getLdsDwGranularity of gfx950: 320 dwords

# SGPRs of a wave -> waves of a SIMD; LLVM, getOccupancyWithNumSGPRs. With up to 100 all eight fit.
SCALAR_REGISTERS_FOR_ALL_WAVES = 100
WAVES_WITH_MORE_SCALAR_REGISTERS = 7

LINE_BYTES = 128  # of L1 and L2; white paper
L1_BYTES = 32 << 10  # of a compute unit; white paper
PAGE_BYTES = 2 << 20  # that one translation covers, where the driver finds so much in one piece (recalled: amdgpu)

# Data sheet: the peak rates, dense.
HBM_BYTES_PER_SECOND = 8.0e12
MATRIX_FLOPS_PER_SECOND = {
    "fp4": 10.1e15,
    "fp6": 10.1e15,
    "fp8": 5.0e15,
    "i8": 5.0e15,
    "bf16": 2.5e15,
    "f16": 2.5e15,
    "f32": 157.3e12,
    "f64": 78.6e12,
}
VECTOR_FLOPS_PER_SECOND = 157.3e12  # f32


def die_of(workgroup: int) -> int:
    """The XCD on which a workgroup runs: they are handed out in turn (AMD's Instinct documentation on XCDs)."""
    return workgroup % DIES
