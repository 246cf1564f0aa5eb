"""The GPUs that mxsub knows by name: what torch calls them, and what their compiler can do."""

from dataclasses import dataclass
from typing import Literal

from mxsub.submit.errors import UsageError


@dataclass(frozen=True)
class Gpu:
    """One GPU as KernelBot names it.

    arch: the compiler's name of its architecture.
    torch_name: a part of what `torch.cuda.get_device_name()` answers on it.
    fp4_conversion: has an instruction that converts f32 pairs to FP4 (v_cvt_scalef32_pk_fp4_f32), so that the
        hardware quantization compiles; the portable one is built for the others.
    has_twin: mxsub can emulate it where there is none.
    """

    name: str
    vendor: Literal["amd", "nvidia"]
    arch: str
    torch_name: str
    fp4_conversion: bool = False
    has_twin: bool = False


GPUS: dict[str, Gpu] = {
    gpu.name: gpu
    for gpu in (
        Gpu("MI355X", "amd", "gfx950", "MI355X", fp4_conversion=True, has_twin=True),
        Gpu("MI350X", "amd", "gfx950", "MI350X", fp4_conversion=True),
        Gpu("MI325X", "amd", "gfx942", "MI325X"),
        Gpu("MI300X", "amd", "gfx942", "MI300X"),
        Gpu("MI250X", "amd", "gfx90a", "MI250X"),
        Gpu("B200", "nvidia", "sm_100", "B200"),
        Gpu("H200", "nvidia", "sm_90", "H200"),
        Gpu("H100", "nvidia", "sm_90", "H100"),
        Gpu("L40S", "nvidia", "sm_89", "L40S"),
        Gpu("A100", "nvidia", "sm_80", "A100"),
    )
}


def gpu_named(name: str) -> Gpu:
    """The GPU of that name, in any case.

    Raises UsageError for a name that is not in GPUS.
    """
    for gpu in GPUS.values():
        if gpu.name.lower() == name.lower():
            return gpu
    raise UsageError(f"unknown GPU '{name}'", f"mxsub knows {', '.join(GPUS)}.")
