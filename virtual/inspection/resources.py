"""What a kernel takes of a compute unit, how many of its waves fit, and how a grid fills the GPU."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from mxsub.virtual.inspection import architecture as gpu

if TYPE_CHECKING:
    from mxsub.virtual.machine import Program


@dataclass(frozen=True)
class Resources:
    """vgprs: of a lane, without agprs, and where there are any, rounded up to fours; sgprs: of a wave; *_spills:
    registers. scratch: bytes of a lane. lds: bytes of a workgroup, as launched."""

    vgprs: int
    agprs: int
    sgprs: int
    vgpr_spills: int
    sgpr_spills: int
    lds_bytes: int
    scratch_bytes: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Occupancy:
    """How many waves may be on a SIMD, and workgroups on a compute unit, at a time. limited_by: of what there is not
    enough for one more workgroup: registers, scalar registers, LDS, waves or workgroups."""

    waves_per_simd: float
    workgroups_per_unit: int
    limited_by: str

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Spread:
    """A grid over the compute units, which are handed workgroups evenly.

    units_used: that get any. rounds: workgroups of the busiest unit. last_round_units: how many have that many.
    busy: the share of the units' time that is used, where all workgroups take as long.
    """

    workgroups: int
    units_used: int
    rounds: int
    last_round_units: int
    busy: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def resources_of(program: "Program", lds_bytes: int) -> Resources:
    """lds_bytes: of a workgroup of the launch. The metadata's vgpr_count has the AGPRs in it (LLVM, AMDGPUUsage)."""
    return Resources(
        vgprs=program.vgpr_count - program.agpr_count,
        agprs=program.agpr_count,
        sgprs=program.sgpr_count,
        vgpr_spills=program.vgpr_spill_count,
        sgpr_spills=program.sgpr_spill_count,
        lds_bytes=lds_bytes,
        scratch_bytes=program.scratch_size,
    )


def occupancy_of(resources: Resources, waves_per_workgroup: int) -> Occupancy:
    """By LLVM's rules for gfx950: see architecture.py. A workgroup's waves are spread evenly over the four SIMDs."""
    vectors = max(_up(resources.vgprs + resources.agprs, gpu.VECTOR_GRANULE), gpu.VECTOR_GRANULE)
    many = resources.sgprs > gpu.SCALAR_REGISTERS_FOR_ALL_WAVES
    slots = {
        "waves": gpu.WAVES_PER_SIMD,
        "registers": gpu.VECTOR_REGISTERS // vectors,
        "scalar registers": gpu.WAVES_WITH_MORE_SCALAR_REGISTERS if many else gpu.WAVES_PER_SIMD,
    }
    fit = {what: max(waves * gpu.SIMDS // waves_per_workgroup, 1) for what, waves in slots.items()}
    if resources.lds_bytes:
        fit["LDS"] = max(gpu.LDS_BYTES // _up(resources.lds_bytes, gpu.LDS_GRANULE), 1)
    if waves_per_workgroup > 1:
        fit["workgroups"] = gpu.WORKGROUPS_PER_UNIT
    limit = min(fit, key=lambda what: fit[what])
    return Occupancy(fit[limit] * waves_per_workgroup / gpu.SIMDS, fit[limit], limit)


def spread_of(workgroups: int) -> Spread:
    """The rounds of a grid of at least one workgroup."""
    rounds = -(-workgroups // gpu.COMPUTE_UNITS)
    return Spread(
        workgroups=workgroups,
        units_used=min(workgroups, gpu.COMPUTE_UNITS),
        rounds=rounds,
        last_round_units=workgroups - (rounds - 1) * gpu.COMPUTE_UNITS,
        busy=workgroups / (rounds * gpu.COMPUTE_UNITS),
    )


def _up(value: int, granule: int) -> int:
    return -(-value // granule) * granule
