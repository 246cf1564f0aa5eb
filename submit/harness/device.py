"""Where a submission runs: a GPU that this machine has, or the virtual twin of one that it has not."""

import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from mxsub.submit.errors import EnvironmentProblem
from mxsub.submit.gpus import Gpu

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


def installed(package: str) -> str | None:
    """The installed version of a package, or None; does not import it."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def present_gpus() -> list[str]:
    """What torch calls the GPUs of this machine; does not ask it where there is no driver to find one with."""
    if not (any(Path("/dev").glob("nvidia[0-9]*")) or Path("/dev/kfd").exists()):
        return []
    asked = subprocess.run([sys.executable, "-c", _ASK_TORCH], capture_output=True, text=True, timeout=120, check=False)
    if asked.returncode:
        return []
    names = json.loads(asked.stdout.strip().splitlines()[-1])
    return [str(name) for name in names]


def find_device(gpu: Gpu) -> Device:
    """The GPU itself where this machine has it, else its virtual twin.

    Raises EnvironmentProblem where there is neither, or where torch or Triton is not installed.
    """
    for package in ("torch", "triton", "numpy"):
        if installed(package) is None:
            raise EnvironmentProblem(
                f"{package} is not installed, and tests run on it",
                "Install what runs submissions: pip install 'mxsub[local]'.",
            )
    present = present_gpus()
    for name in present:
        if gpu.torch_name.lower() in name.lower():
            return Device(gpu.name, "hardware", f"{gpu.name}: this machine's {name}")
    if gpu.has_twin:
        return Device(
            gpu.name, "virtual", f"this machine has no {gpu.name}: running on the virtual {gpu.name}, which emulates it"
        )
    has = f"it has {', '.join(present)}" if present else "it has no GPU"
    raise EnvironmentProblem(
        f"this machine has no {gpu.name} ({has}), and mxsub cannot emulate that one",
        "Use a machine with that GPU, or --gpu MI355X, which is emulated where there is none.",
    )
