"""What one call of custom_kernel launched, and what is to be said of the call as a whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# A launch as the virtual GPU's log has it: kernel, grid, `counts`, and `timing` where that was asked for.
Launch = Mapping[str, Any]

_REPEATED = 2.0


@dataclass(frozen=True)
class Call:
    """shape: as CaseResult has it. case: the arguments of its input. torch: operations of torch -> how many, each a
    kernel of its own on a GPU. estimated_us: of the whole call, with its launches; None where it was not asked for."""

    shape: str
    case: Mapping[str, Any]
    launches: Sequence[Launch]
    torch: Mapping[str, int]
    estimated_us: Mapping[str, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "shape": self.shape,
            "case": dict(self.case),
            "launches": [dict(launch) for launch in self.launches],
            "torch_operations": dict(self.torch),
            "estimated_us": self.estimated_us and dict(self.estimated_us),
            "findings": call_findings(self),
        }


def call_findings(call: Call) -> list[dict[str, str]]:
    """Of the call as a whole; each launch has its own."""
    return [*_conversions(call), *_kernels(call)]


def _conversions(call: Call) -> list[dict[str, str]]:
    """Activations that are converted again and again: m times k values are there to be converted."""
    if not {"m", "k"} <= call.case.keys():
        return []
    there = int(call.case["m"]) * int(call.case["k"])
    found = []
    for launch in call.launches:
        for form, values in launch["counts"]["work"]["converted_values"].items():
            times = values / there
            if times >= _REPEATED:
                sentence = (
                    f"{launch['kernel']} converts {values:,} values to {form} where A has m x k = {there:,}: each "
                    f"{times:,.1f} times, by workgroups along n, by waves with the same rows, in rows that pad a tile"
                )
                found.append({"kind": "redundant conversions", "sentence": sentence})
    return found


def _kernels(call: Call) -> list[dict[str, str]]:
    if not call.torch:
        return []
    listed = ", ".join(f"{name} ({count})" if count > 1 else name for name, count in call.torch.items())
    return [
        {
            "kind": "torch operations",
            "sentence": f"calls operations of torch, each a kernel of its own on a GPU and not counted here: {listed}",
        }
    ]
