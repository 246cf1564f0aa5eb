"""Where a submission runs: a GPU that this machine has, or the virtual twin of one that it has not."""

import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from mxsub.submit.errors import EnvironmentProblem
from mxsub.submit.gpus import Gpu
from mxsub.submit.packages import installed

ASK_SECONDS = 120
_ASK_TORCH = """
import json, torch
count = torch.cuda.device_count() if torch.cuda.is_available() else 0
print(json.dumps([torch.cuda.get_device_name(i) for i in range(count)]))
"""


@dataclass(frozen=True)
class Device:
    """name: the GPU's, as KernelBot has it. detail: one sentence for the user about what it is."""

    name: str
    kind: Literal["hardware", "virtual"]
    detail: str

    @property
    def virtual(self) -> bool:
        return self.kind == "virtual"

    def to_dict(self) -> dict[str, str]:
        return asdict(self)


def _has_driver() -> bool:
    """Whether there is a GPU's driver at all, so that torch, which takes seconds to load, is worth asking."""
    return any(Path("/dev").glob("nvidia[0-9]*")) or any(Path("/dev", name).exists() for name in ("kfd", "dxg"))


def present_gpus() -> list[str]:
    """What torch calls the GPUs of this machine."""
    if not _has_driver():
        return []
    try:
        asked = subprocess.run(
            [sys.executable, "-c", _ASK_TORCH], capture_output=True, text=True, timeout=ASK_SECONDS, check=True
        )
    except subprocess.SubprocessError:
        return []
    names = json.loads(asked.stdout.strip().splitlines()[-1])
    return [str(name) for name in names]


def find_device(gpu: Gpu) -> Device:
    """The GPU itself where this machine has it, else its virtual twin.

    Raises EnvironmentProblem where there is neither, or where what it takes is not installed.
    """
    _require("torch")
    present = present_gpus()
    for name in present:
        if gpu.torch_name.lower() in name.lower():
            return Device(gpu.name, "hardware", f"{gpu.name}: this machine's {name}")
    if gpu.has_twin:
        _require("triton", "numpy")
        return Device(
            gpu.name, "virtual", f"this machine has no {gpu.name}: running on the virtual {gpu.name}, which emulates it"
        )
    raise EnvironmentProblem(
        f"this machine has no {gpu.name} ({_what_it_has(present)}), and mxsub cannot emulate that one",
        "Use a machine with that GPU, or --gpu MI355X, which is emulated where there is none.",
    )


def twin_of(gpu: Gpu) -> Device:
    """The virtual twin of a GPU, whatever this machine has.

    Raises EnvironmentProblem where there is none, or where what it takes is not installed.
    """
    if not gpu.has_twin:
        raise EnvironmentProblem(
            f"mxsub cannot emulate the {gpu.name}, and this is counted on an emulated GPU", "Name the MI355X."
        )
    _require("torch", "triton", "numpy")
    return Device(gpu.name, "virtual", f"on the virtual {gpu.name}, which emulates it")


def _require(*packages: str) -> None:
    for package in packages:
        if installed(package) is None:
            raise EnvironmentProblem(
                f"{package} is not installed, and tests run on it",
                "Install what runs submissions: pip install 'mxsub[local]'.",
            )


def _what_it_has(present: list[str]) -> str:
    if present:
        return f"it has {', '.join(present)}"
    if _has_driver():
        return f"torch {installed('torch')} finds none of its GPUs; perhaps it is a build for the CPU only"
    return "it has no GPU"
