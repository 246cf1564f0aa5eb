"""Submissions that go wrong, each as a user meets it: one right sentence, no traceback, nothing left running."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mxsub.submit.new_project import create_project

pytestmark = pytest.mark.slow

MXSUB = [sys.executable, "-c", "from mxsub.cli import main; main()"]
ONE_CASE = ("--shape", "8,2112,7168")
ZEROS = """
    a, b = data[:2]
    return torch.zeros((a.shape[0], b.shape[0]), dtype=torch.bfloat16, device=a.device)
"""


def run_test(folder: Path, *arguments: object) -> tuple[int, dict[str, object], str]:
    """`mxsub test --json`: exit code, content, stderr."""
    done = subprocess.run(
        [*MXSUB, "test", "--json", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=240,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    create_project(tmp_path / "project")
    return tmp_path / "project"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def submission(folder: Path, text: str) -> Path:
    path = folder / "mine.py"
    path.write_text(text)
    return path


def test_weights_taken_modulo_n(folder: Path) -> None:
    edit(folder / "kernels" / "tile_product.py", "% (N // 16)", "% N")
    code, content, _ = run_test(folder, "--shape", "256,2880,512")
    assert code == 1
    assert content["outcome"] == "crashed"
    error = str(content["error"])
    assert "kernel mxfp4_gemm_direct reads 16 bytes right past the end of b_ptr (uint8 [2880, 256]" in error
    assert "submission.py:" in error
    assert "lane" in error


def test_a_kernel_that_writes_past_its_output(folder: Path) -> None:
    edit(
        folder / "kernels" / "gemm_direct_constexpr.py",
        "mask=(rows[:, None] < M) & (columns[None, :] < N)",
        "mask=rows[:, None] < M",
    )
    code, content, _ = run_test(folder, "--shape", "256,2880,512")
    assert code == 1
    error = str(content["error"])
    assert "writes" in error
    assert "past the end of c_ptr (bfloat16 [256, 2880]" in error


def test_the_miscompile_of_triton_3_6_is_seen_and_the_default_is_right(folder: Path) -> None:
    """docs/virtual-gpu.md: without buffer operations masked stores are branches, under which MFMA is sunk."""
    configs = folder / "configs.yaml"
    edit(configs, "BLOCK_SIZE_M: 8, BLOCK_SIZE_N: 32, BLOCK_SIZE_K: 512}", "BLOCK_SIZE_M: 16}")  # M is 4
    edit(configs, 'HIP_FORCE_DEV_KERNARG: "1"', 'AMDGCN_USE_BUFFER_OPS: "0"')
    shape = ("--shape", "4,2880,512")
    code, content, _ = run_test(folder, *shape)
    assert code == 1
    assert content["outcome"] == "failed"
    assert "Number of mismatched elements:" in str(content["error"])
    assert "8640 of 11520 (75.00 %)" in str(content["error"])
    findings = content["emulation"]["findings"]  # type: ignore[index]
    assert len(findings) == 8  # one for each matrix instruction
    assert {finding["sanitizer"] for finding in findings} == {"exec"}
    assert all("fixed in 3.7.1" in finding["sentence"] for finding in findings)
    edit(configs, 'AMDGCN_USE_BUFFER_OPS: "0"', 'AMDGCN_USE_BUFFER_OPS: "1"')
    code, content, _ = run_test(folder, *shape)
    assert code == 0
    assert content["cases"][0]["matched"] == [11520, 11520]  # type: ignore[index]
    assert content["emulation"]["findings"] == []  # type: ignore[index]


def test_a_submission_that_never_returns(folder: Path) -> None:
    mine = submission(folder, "import time\ndef custom_kernel(data):\n    while True:\n        time.sleep(1)\n")
    code, content, _ = run_test(folder, mine, *ONE_CASE, "--timeout", 8)
    assert (code, content["outcome"]) == (1, "timed out")
    assert "did not finish within 8 s" in str(content["error"])
    assert 8 <= float(str(content["duration"])) < 14


def test_a_submission_that_prints_a_megabyte(folder: Path) -> None:
    text = f"import torch\nprint('x' * 1_000_000)\ndef custom_kernel(data):\n    print('y' * 1_000_000){ZEROS}"
    code, content, _ = run_test(folder, submission(folder, text), *ONE_CASE)
    assert (code, content["outcome"]) == (1, "failed")
    assert "Number of mismatched elements: 168" in str(content["error"])
    assert 0 < len(str(content["stdout"])) < 1_000_000


def test_a_submission_that_exits_in_its_import(folder: Path) -> None:
    code, content, _ = run_test(folder, submission(folder, "import sys\nsys.exit(3)\n"), *ONE_CASE)
    assert (code, content["passed"]) == (1, False)
    assert "3" in str(content["error"])
    assert "exit" in str(content["error"])


def test_a_submission_that_kills_its_process(folder: Path) -> None:
    text = "import os, signal\ndef custom_kernel(data):\n    os.kill(os.getpid(), signal.SIGSEGV)\n"
    code, content, _ = run_test(folder, submission(folder, text), *ONE_CASE)
    assert (code, content["outcome"]) == (1, "crashed")
    assert "SIGSEGV" in str(content["error"])
    assert "submission.py:3" in str(content["error"])
    assert float(str(content["duration"])) < 60


def test_a_wrong_result_names_the_share(folder: Path) -> None:
    code, content, _ = run_test(folder, submission(folder, f"import torch\ndef custom_kernel(data):{ZEROS}"), *ONE_CASE)
    assert (code, content["outcome"]) == (1, "failed")
    assert "of 16896 (" in str(content["error"])


def test_a_missing_module_is_named(folder: Path) -> None:
    code, content, _ = run_test(folder, submission(folder, "import aiter\n"), *ONE_CASE)
    assert code == 1
    assert "submission.py imports aiter, which is not installed here" in str(content["error"])
