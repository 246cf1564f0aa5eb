"""What benchmarks/coverage.py says of assemblies that are already there; what it compiles is the same each time."""

import gzip
import json

import pytest

from benchmarks import coverage
from benchmarks.coverage_worker import COMPILING

BEFORE = '\t.amdgcn_target "amdgcn-amd-amdhsa--gfx950"\n\t.amdhsa_kernel kernel\n'


def kept(folder, name, *instructions, **changes):
    """A result as a worker keeps it."""
    result = {"triton": "3.6.0", "workload": "toy", "size": {"n": "1"}, "config": {}, "environment": {}} | changes
    if not changes.get("error"):
        result["assembly"] = [BEFORE + "".join(f"\t{text}\n" for text in (*instructions, "s_endpgm"))]
    path = folder / f"{name}.json.gz"
    path.write_bytes(gzip.compress(json.dumps(result).encode()))
    return path


def test_all_that_is_met_is_there(tmp_path, capsys):
    paths = [kept(tmp_path, "a", "v_add_f32_e32 v1, v2, v3"), kept(tmp_path, "b", "s_mov_b32 s1, 0", triton="3.9.0")]
    assert coverage.report([coverage.decoded(path) for path in paths], None)
    said = capsys.readouterr().out
    assert "compiled: 2 (1 on Triton 3.6.0, 1 on Triton 3.9.0)" in said
    assert "opcodes implemented and tested: 3 of 3 met, 100.0%" in said


def test_what_is_missing_is_named_with_a_kernel_that_needs_it(tmp_path, capsys):
    paths = [
        kept(tmp_path, "a", "v_clrexcp", "v_add_f32_e32 v1, v2, v3"),
        kept(tmp_path, "b", "ds_read_b32 v1, v2 gds", "ds_read_b32 v7, v9 gds", config={"num_warps": 2}),
        kept(tmp_path, "c", error="OutOfResources: out of resource: shared memory, Required: 9"),
    ]
    missing = tmp_path / "missing.txt"
    assert not coverage.report([coverage.decoded(path) for path in paths], missing)
    said = capsys.readouterr().out
    assert "compiled: 2 (2 on Triton 3.6.0)" in said
    assert "   1 OutOfResources: out of resource: shared memory; such as toy, Triton 3.6.0, n=1" in said
    assert "opcodes implemented and tested: 2 of 4 met, 50.0%" in said
    first, second = missing.read_text().splitlines()
    assert first.startswith("ds_read_b32 v#, v# gds [")
    assert first.endswith("]: toy, Triton 3.6.0, n=1 num_warps=2")
    assert second == "v_clrexcp: toy, Triton 3.6.0, n=1"


def test_a_launch_that_was_interrupted_is_compiled_again(tmp_path):
    interrupted = kept(tmp_path, "a", error=COMPILING)
    refused = kept(tmp_path, "b", error="OutOfResources: shared memory")
    coverage.forget_interrupted([interrupted, refused, tmp_path / "c.json.gz"])
    assert (interrupted.exists(), refused.exists()) == (False, True)


@pytest.mark.slow
def test_the_plan_is_the_same_each_time_and_grows_at_its_end():
    from benchmarks.coverage_plan import launches
    from tests.workloads.workload import load

    workload = load("attention")
    few, many = launches(workload, 10), launches(workload, 30)
    assert len(many) == 30
    assert [launch.key("3.6.0") for launch in few] == [launch.key("3.6.0") for launch in many[:10]]
    keys = {launch.key(version) for launch in many for version in ("3.6.0", "3.9.0")}
    assert len(keys) == 60
    assert all(launch.config == workload.config and not launch.environment for launch in few[: len(workload.sizes)])
    assert any(launch.environment for launch in many)
