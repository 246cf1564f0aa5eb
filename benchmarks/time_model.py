"""The time model against what is public: aiter's six times, and configs of which it is known that they are worse.

python -m benchmarks.time_model      prints the tables of docs/time-model.md
"""

import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mxsub.submit.aiter_times import AITER_TIMES
from mxsub.submit.inspect.calls import Call
from mxsub.submit.inspect.inspecting import InspectRequest, inspect
from mxsub.submit.project import SHIPPED, load_project
from mxsub.submit.render import render
from mxsub.submit.shapes import Shape, parse_shape

SPLIT, WIDE = Shape(16, 2112, 7168), Shape(64, 7168, 2048)
Changes = dict[str, Any]
MFMA_32 = {"matrix_instr_nonkdim": 32}
TILE_32 = {"BLOCK_SIZE_M": 32, "BLOCK_SIZE_N": 64}
DEEP = {"BLOCK_SIZE_K": 512, "num_warps": 8}

# What is known to be worse, and what a better and a worse config differ in from the shipped one. Of the last it is not
# known in which config: three are tried.
ORDERINGS: tuple[tuple[str, Shape, Changes, Changes], ...] = (
    ("8 warps worse than 4", SPLIT, {}, {"num_warps": 8}),
    ("BLOCK_SIZE_N 32 worse than 64", SPLIT, {}, {"BLOCK_SIZE_N": 32}),
    ("BLOCK_SIZE_N 128 worse than 64", SPLIT, {}, {"BLOCK_SIZE_N": 128}),
    ("matrix_instr_nonkdim 32 catastrophic: as shipped", WIDE, {}, MFMA_32),
    ("the same, BLOCK_SIZE_M 32, BLOCK_SIZE_N 64", WIDE, TILE_32, {**TILE_32, **MFMA_32}),
    ("the same, BLOCK_SIZE_K 512, 8 warps", WIDE, DEEP, {**DEEP, **MFMA_32}),
)


def calls(wanted: Mapping[Shape, Changes], sample: int | None = None) -> dict[Shape, Call]:
    """The shipped variant inspected with an estimate, of each shape with its config changed.

    It is changed in the text, since `mxsub build` refuses some of what is to be worse. sample: workgroups that run.
    """
    project = load_project(SHIPPED)
    text = render(project, project.variant("constexpr")).text
    for shape, changes in wanted.items():
        text = changed(text, shape, changes)
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "submission.py"
        file.write_text(text)
        request = InspectRequest(str(file), SHIPPED, shapes=tuple(map(str, wanted)), time=True, sample=sample)
        made = inspect(request)
    return dict(zip(wanted, made.calls, strict=True))


def changed(text: str, shape: Shape, changes: Changes) -> str:
    """A rendered submission with other values in a shape's entry of its config table."""
    before, start, rest = text.partition(f"({shape.m}, {shape.n}, {shape.k}): dict(")
    entry, end, after = rest.partition("\n    ),")
    for key, value in changes.items():
        entry, count = re.subn(rf"\b{key}=[^,]+", f"{key}={value}", entry)
        assert count == 1, key
    return before + start + entry + end + after


def estimate(call: Call) -> dict[str, float]:
    assert call.estimated_us is not None
    return dict(call.estimated_us)


def kernels(call: Call) -> float:
    """The likely time of the launches themselves, us."""
    return sum(float(launch["timing"]["estimated_us"]["likely"]) for launch in call.launches)


def main() -> None:
    published = AITER_TIMES["amd-mxfp4-mm"]
    print("| shape | estimated us | from | to | kernels alone | aiter's | off |\n|---|---|---|---|---|---|---|")
    for shape, call in calls({parse_shape(text): {} for text in published}).items():
        us, theirs = estimate(call), published[str(shape)]
        ends = " | ".join(f"{us[end]:.1f}" for end in ("likely", "fast", "slow"))
        off = 100 * (us["likely"] / theirs - 1)
        print(f"| {shape} | {ends} | {kernels(call):.2f} | {theirs:.1f} | {off:+.0f} % |", flush=True)
    print("\n| known | shape | better, kernels us | worse, kernels us | ratio |\n|---|---|---|---|---|")
    for known, shape, better, worse in ORDERINGS:
        one, other = (kernels(calls({shape: changes})[shape]) for changes in (better, worse))
        print(f"| {known} | {shape} | {one:.2f} | {other:.2f} | {other / one:.2f} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
