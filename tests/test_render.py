"""A variant rendered to one file: deterministic, readable, only what is in use, and clean before the service."""

import ast
import subprocess
import sys
from pathlib import Path

import kernelguard
import pytest

from mxsub.submit.errors import UsageError
from mxsub.submit.gpus import GPUS
from mxsub.submit.project import SHIPPED, load_project
from mxsub.submit.render import Submission, render
from mxsub.submit.shapes import Shape

VARIANTS = ("constexpr", "runtime")


def masked(folder: Path) -> Path:
    path = folder / "kernels" / "toy_gemm.py"
    path.write_text(path.read_text().replace("dropped", "masked"))
    return folder


def shipped(variant: str, gpu: str = "MI355X") -> Submission:
    project = load_project(SHIPPED)
    return render(project, project.variant(variant), GPUS[gpu])


def functions(text: str) -> list[str]:
    return [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]


def test_only_the_fragments_in_use_each_after_what_it_calls(project_folder: Path) -> None:
    project = load_project(masked(project_folder))
    submission = render(project, project.variant())
    assert functions(submission.text) == [
        "quantize_fast", "tile", "toy_gemm", "config_of", "compiled", "launcher", "custom_kernel",
    ]  # fmt: skip
    assert list(submission.provenance.fragments) == ["quantize_fast", "tile", "toy_gemm"]
    assert "mxsub.kernels" not in submission.text
    assert "FRAGMENT" not in submission.text


def test_split_k_brings_its_kernels(project_folder: Path) -> None:
    path = masked(project_folder) / "configs.yaml"
    path.write_text(path.read_text().replace("k: 7168}", "k: 7168, NUM_KSPLIT: 7}"))
    project = load_project(project_folder)
    assert {"toy_split", "toy_reduce"} <= set(functions(render(project, project.variant()).text))


def test_a_gpu_without_the_fp4_conversion_gets_the_portable_quantization(project_folder: Path) -> None:
    project = load_project(masked(project_folder))
    submission = render(project, project.variant(), GPUS["H200"])
    assert "quantize_slow" in functions(submission.text)
    assert "quantize_fast" not in submission.text
    assert submission.configs[Shape(4, 2880, 512)]["QUANTIZE"] == "slow"


def test_no_portable_quantization(project_folder: Path) -> None:
    path = masked(project_folder) / "configs.yaml"
    path.write_text(path.read_text().replace("quantize_slow, ", ""))
    project = load_project(project_folder)
    with pytest.raises(UsageError, match="H200 has no FP4 conversion instruction, which the fragment 'quantize_fast'"):
        render(project, project.variant(), GPUS["H200"])


def test_an_unknown_launcher(project_folder: Path) -> None:
    path = masked(project_folder) / "configs.yaml"
    path.write_text(path.read_text().replace("launcher: toy", "launcher: toys"))
    project = load_project(project_folder)
    with pytest.raises(UsageError, match=r"configs\.yaml:25:15: there is no template 'launch_toys\.py\.jinja'"):
        render(project, project.variant())


def test_a_broken_template_is_named_with_its_line(project_folder: Path) -> None:
    (masked(project_folder) / "templates" / "launch_toy.py.jinja").write_text("a\n{{ colour }}\n{% if %}\n")
    project = load_project(project_folder)
    with pytest.raises(UsageError, match=r"launch_toy\.py\.jinja:3:1: "):
        render(project, project.variant())


def test_what_the_docstring_says_of_the_inputs_changes_with_them(project_folder: Path) -> None:
    project = load_project(masked(project_folder))
    before = render(project, project.variant())
    assert render(load_project(project_folder), project.variant()).text == before.text
    path = project_folder / "kernels" / "tile.py"
    path.write_text(path.read_text().replace("return pid", "return pid + 0"))
    project = load_project(project_folder)
    after = render(project, project.variant())
    assert after.provenance.inputs != before.provenance.inputs
    assert after.provenance.inputs[:16] in after.text


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("gpu", ["MI355X", "H200"])
def test_the_shipped_variants_are_clean(variant: str, gpu: str) -> None:
    text = shipped(variant, gpu).text
    verdict = kernelguard.analyze_code(text)
    assert verdict["matched_patterns"] == []
    assert not verdict["should_filter"]
    assert "stream" not in text.lower()
    assert text.startswith(f"#!POPCORN leaderboard amd-mxfp4-mm\n#!POPCORN gpu {gpu}\n")
    assert "aiter" not in text


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("gpu", ["MI355X", "H200"])
def test_the_shipped_variants_are_formatted_and_use_all_they_import(variant: str, gpu: str, tmp_path: Path) -> None:
    path = tmp_path / "submission.py"
    path.write_text(shipped(variant, gpu).text)
    ruff = [sys.executable, "-m", "ruff"]
    options = ["--isolated", "--line-length", "120", str(path)]
    first_party = ["--config", "lint.isort.known-first-party=['task']"]
    subprocess.run([*ruff, "format", "--check", *options], check=True)
    # E402: the environment has to be set before torch is imported.
    subprocess.run([*ruff, "check", "--select", "E,F,W,I", "--ignore", "E402", *first_party, *options], check=True)


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_shipped_variants_leave_amd_options_out_for_nvidia(variant: str) -> None:
    text = shipped(variant, "H200").text
    assert "waves_per_eu" not in text
    assert "matrix_instr_nonkdim" not in text
    assert "v_cvt_scalef32" not in text
    assert "HIP_FORCE_DEV_KERNARG" not in text
    assert "quantize_mxfp4_software" in functions(text)


def test_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    code = (
        "from mxsub.submit.project import *; from mxsub.submit.render import render;"
        "p = load_project(SHIPPED); print(render(p, p.variant('constexpr')).sha256)"
    )
    hashes = {
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={"PYTHONHASHSEED": seed},
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert hashes == {shipped("constexpr").sha256}
