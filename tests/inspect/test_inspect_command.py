"""`mxsub inspect`, on the shipped project and on submissions that do something else."""

import json
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from click.testing import CliRunner, Result

from mxsub.cli import main
from mxsub.submit.history import History
from mxsub.submit.new_project import create_project

pytest.importorskip("torch")
pytest.importorskip("triton")
pytestmark = pytest.mark.slow

# It tunes itself in its first call, and calls torch for something that needs a kernel, and for something that does not.
TUNED = """\
    #!POPCORN leaderboard amd-mxfp4-mm
    import torch
    import triton
    import triton.language as tl


    @triton.autotune([triton.Config({"BLOCK": BLOCK}, num_warps=warps) for warps in (1, 2)], key=["n"])
    @triton.jit
    def fill(target, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(target + at, at.to(tl.bfloat16), mask=at < n)


    def custom_kernel(data):
        a, b = data[:2]
        target = torch.empty((a.shape[0], b.shape[0]), dtype=torch.bfloat16, device=a.device)
        zeros = torch.zeros(64, device=a.device).view(8, 8)
        fill[lambda meta: (triton.cdiv(target.numel(), meta["BLOCK"]),)](target, target.numel())
        return target
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("project")
    create_project(made)
    return made


def inspect(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["inspect", *words, "--project", str(folder)], prog_name="mxsub")


def found(folder: Path, *words: str) -> dict[str, Any]:
    told = inspect(folder, *words, "--json")
    assert told.exit_code == 0, told.output
    content: dict[str, Any] = json.loads(told.stdout)
    return content


@dataclass(frozen=True)
class Inspected:
    """told: the tables. shapes: what the history keeps of each. cache: where Triton put what it compiled."""

    told: str
    shapes: dict[str, Any]
    cache: Path


@pytest.fixture(scope="module")
def benchmarks(tmp_path_factory: pytest.TempPathFactory) -> Inspected:
    """Three shapes of the shipped project in one run, since each run takes seconds to start.

    No number of waves is wanted: then LLVM's count of those that fit is not cut down to it.
    """
    project, cache = tmp_path_factory.mktemp("benchmarks"), tmp_path_factory.mktemp("cache")
    create_project(project)
    configs = project / "configs.yaml"
    configs.write_text(configs.read_text().replace("waves_per_eu: 2", "waves_per_eu: 0"))
    words = [word for shape in ("4,2880,512", "16,2112,7168", "256,3072,1536") for word in ("--shape", shape)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITON_CACHE_DIR", str(cache))
        told = inspect(project, *words, "--time")
    assert told.exit_code == 0, told.output
    with History.open(project) as history:
        (version,) = history.versions.entries()
        kept = history.inspections.of(version.sha256)
    return Inspected(told.output, {shape: record.content for shape, record in kept.items()}, cache)


def test_a_benchmark_shape(benchmarks: Inspected) -> None:
    """4 x 2880 x 512: 90 tiles of 8 x 32, each weight read once and each activation by all of them."""
    shape = benchmarks.shapes["4x2880x512"]
    (launch,) = shape["launches"]
    counts = launch["counts"]
    assert (shape["shape"], launch["kernel"], launch["grid"]) == ("4x2880x512", "mxfp4_gemm_direct", [90, 1, 1])
    assert counts["spread"] == {
        "workgroups": 90, "units_used": 90, "rounds": 1, "last_round_units": 90, "busy": 90 / 256,
    }  # fmt: skip
    arguments = {(entry["argument"], entry["verb"]): entry for entry in counts["traffic"]["arguments"]}
    weights, scales = arguments["b_ptr", "reads"], arguments["b_scales_ptr", "reads"]
    assert weights["asked_bytes"] == weights["distinct_launch_bytes"] == weights["tensor_bytes"] == 2880 * 512 // 2
    assert weights["cache_modifiers"] == {"sc0 nt": 2880 * 512 // 2}  # .cg
    assert scales["distinct_launch_bytes"] == 2880 * 512 // 32
    activations = arguments["a_ptr", "reads"]
    assert activations["distinct_launch_bytes"] == 4 * 512 * 2
    assert activations["distinct_workgroups_bytes"] == 90 * 4 * 512 * 2
    assert activations["distinct_dies_bytes"] == 8 * 4 * 512 * 2
    assert arguments["c_ptr", "writes"]["asked_bytes"] == 4 * 2880 * 2
    work = counts["work"]
    # Rows of 16 in place of 4; every tile at least once.
    assert work["matrix_flops"]["fp4"] >= 2 * 16 * 2880 * 512
    assert work["matrix_flops"]["fp4"] == 65536 * work["executed"]["matrix"]
    assert work["converted_values"]["fp4"] % (90 * 8 * 512) == 0
    kinds = {finding["kind"] for finding in [*shape["findings"], *counts["findings"]]}
    assert kinds == {"redundant conversions", "idle units", "few waves"}
    estimate = launch["timing"]["estimated_us"]
    assert 0.1 < estimate["fast"] <= estimate["likely"] <= estimate["slow"] < 10
    assert counts["roofline"]["floor_us"] < estimate["fast"]
    call = shape["estimated_us"]
    assert call["likely"] == pytest.approx(estimate["likely"] + 5.5)


def test_registers_and_waves_are_the_compilers(benchmarks: Inspected) -> None:
    """LLVM writes its own count of waves into the assembly, which Triton keeps."""
    said: dict[str, list[dict[str, int]]] = {}
    for file in benchmarks.cache.rglob("*.amdgcn"):
        lines = file.read_text().splitlines()
        numbers = {
            key: int(line.rpartition(":")[2])
            for line in lines
            for key in ("TotalNumVgprs", "NumAgprs", "Occupancy", "ScratchSize")
            if line.startswith(f"; {key}:")
        }
        name = next(line.split()[1] for line in lines if ".amdhsa_kernel" in line)
        said.setdefault(name, []).append(numbers)
    launches = [launch for shape in benchmarks.shapes.values() for launch in shape["launches"]]
    assert len(launches) == 4
    for launch in launches:
        resources = launch["counts"]["resources"]
        own = {
            "TotalNumVgprs": resources["vgprs"] + resources["agprs"],
            "NumAgprs": resources["agprs"],
            "ScratchSize": resources["scratch_bytes"],
            "Occupancy": launch["counts"]["occupancy"]["waves_per_simd"],
        }
        assert own in said[launch["kernel"]]


def test_the_tables(benchmarks: Inspected) -> None:
    for text in (
        "VGPRs", "waves/SIMD", "CUs in the last", "branch and sync", "in the code", "by XCD", "sc0 nt", "by conflicts",
        "memory floor us", "estimated from the machine code, not measured", "the call, with launches",
        "reduce_splitk: 33 workgroups for 256 CUs: 223 of them (87%) get none",
        "converts 3,784,704 values to fp4 where A has m x k = 114,688: each 33.0 times",
    ):  # fmt: skip
        assert text in benchmarks.told, text


@pytest.fixture(scope="module")
def compared(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Tiles of 64 and of 512, side by side."""
    files = []
    for block in ("64", "512"):
        files.append(tmp_path_factory.mktemp("tuned") / f"{block}.py")
        files[-1].write_text(dedent(TUNED.replace("BLOCK}", block + "}")))
    return found(folder, "--compare", *map(str, files), "--shape", "4,2880,512")


def test_only_the_second_call_counts(compared: dict[str, Any]) -> None:
    """Not the launches with which Triton's autotuner tries its configs."""
    for side, workgroups in (("old", 180), ("new", 23)):
        (shape,) = compared[side]["shapes"]
        launches = [(launch["kernel"], launch["counts"]["workgroups"]) for launch in shape["launches"]]
        assert launches == [("fill", workgroups)]
        assert shape["torch_operations"] == {"zeros": 1}
        assert shape["findings"][0]["kind"] == "torch operations"


def test_two_side_by_side(folder: Path, compared: dict[str, Any]) -> None:
    changes = {entry["figure"]: (entry["old"], entry["new"]) for entry in compared["figures"]}
    assert changes["workgroups"] == (180, 23)
    assert changes["CUs used"] == (180, 23)
    with History.open(folder) as history:
        hashes = [compared[side]["sha256"] for side in ("old", "new")]
        assert all(history.inspections.of(sha256) for sha256 in hashes)


def test_a_submission_that_fails(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "bad.py"
    file.write_text("def custom_kernel(data):\n    raise ValueError('no such luck')\n")
    told = inspect(folder, str(file), "--shape", "4,2880,512")
    assert told.exit_code == 1
    assert told.stderr.splitlines()[-1].startswith("error: ")
    assert "ValueError: no such luck at submission.py:2, in case 1 of 1 (4x2880x512" in told.stderr


def test_wrong_words(folder: Path) -> None:
    for words, says in (
        (("nowhere.py",), "nowhere.py"),
        (("--shape", "4,2881,512"), "must be a multiple of 64"),
        (("--compare", "a", "b", "--variant", "runtime"), "--compare names two texts"),
    ):
        told = inspect(folder, *words)
        assert (told.exit_code, says in told.stderr) == (2, True), told.output
