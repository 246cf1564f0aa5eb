"""The least time that a launch can take on an MI355X: by the bytes, once each, and by the operations, at peak rates."""

from dataclasses import dataclass
from typing import Any

from mxsub.virtual.inspection import architecture as gpu
from mxsub.virtual.inspection.instructions import Work
from mxsub.virtual.inspection.traffic import Traffic


@dataclass(frozen=True)
class Roofline:
    """Floors in us: of HBM with every distinct line once, of the matrix cores, of the vector units.

    intensity: matrix operations a distinct byte; None where no byte is moved. bound: which floor is the highest.
    """

    memory: float
    matrix: float
    vector: float
    intensity: float | None

    @property
    def floor(self) -> float:
        return max(self.memory, self.matrix, self.vector)

    @property
    def bound(self) -> str:
        floors = {"memory": self.memory, "matrix": self.matrix, "vector": self.vector}
        return max(floors, key=lambda name: floors[name])

    def to_dict(self) -> dict[str, Any]:
        return {
            "memory_us": self.memory,
            "matrix_us": self.matrix,
            "vector_us": self.vector,
            "floor_us": self.floor,
            "bound_by": self.bound,
            "flops_per_distinct_byte": self.intensity,
        }


def roofline_of(work: Work, traffic: Traffic) -> Roofline:
    """Peak rates of the data sheet: see architecture.py."""
    moved = traffic.total("reads", "launch") + traffic.total("writes", "launch")
    flops = sum(work.matrix_flops.values())
    return Roofline(
        memory=moved / gpu.HBM_BYTES_PER_SECOND * 1e6,
        matrix=sum(count / gpu.MATRIX_FLOPS_PER_SECOND[form] for form, count in work.matrix_flops.items()) * 1e6,
        vector=work.vector_flops / gpu.VECTOR_FLOPS_PER_SECOND * 1e6,
        intensity=flops / moved if moved else None,
    )
