"""`mxsub test --sanitize` and `--sample`, as a user meets them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mxsub.submit.new_project import create_project

pytestmark = pytest.mark.slow

MXSUB = [sys.executable, "-c", "from mxsub.cli import main; main()"]
SHAPE = ("--shape", "8,2112,7168")
# Fills an output by a kernel that copies what torch has computed.
COPYING = """import torch
import triton
import triton.language as tl

from reference import ref_kernel


@triton.jit
def copy(x_ptr, out_ptr, count, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    at = {at}
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < count), mask=at < {written})


def custom_kernel(data):
    result = ref_kernel(data)
    out = torch.empty_like(result)
    copy[(triton.cdiv(out.numel(), {step}),)](result, out, out.numel(), BLOCK=1024)
    return out
"""


def mxsub(folder: Path, *arguments: object) -> tuple[int, str, str]:
    done = subprocess.run(
        [*MXSUB, *map(str, arguments)], capture_output=True, text=True, cwd=folder, timeout=240, check=False
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    create_project(tmp_path / "project")
    return tmp_path / "project"


def copying(folder: Path, **parts: str) -> Path:
    whole = {"at": "pid * BLOCK + tl.arange(0, BLOCK)", "written": "count", "step": "1024"}
    path = folder / "mine.py"
    path.write_text(COPYING.format(**{**whole, **parts}))
    return path


def line_of(path: Path, text: str) -> int:
    return next(number for number, line in enumerate(path.read_text().splitlines(), 1) if text in line)


def found(folder: Path, path: Path) -> tuple[int, dict]:
    code, out, _ = mxsub(folder, "test", path, *SHAPE, "--sanitize", "all", "--json")
    return code, json.loads(out)


def test_a_copy_without_fault(folder: Path) -> None:
    code, content = found(folder, copying(folder))
    assert content["emulation"]["findings"] == []
    assert content["sanitized"] == ["memory", "init", "race", "sync", "exec"]
    assert (code, content["passed"]) == (0, True)


def test_an_output_that_is_not_written_to_its_end(folder: Path) -> None:
    path = copying(folder, written="count - 300")
    code, content = found(folder, path)
    assert code == 1
    (finding,) = content["emulation"]["findings"]
    assert finding["sanitizer"] == "init"
    assert "while 300 of its 16,896 elements, first [7, 1812], were never written" in finding["sentence"]
    assert finding["source"] == f"submission.py:{line_of(path, 'torch.empty_like')}"


def test_two_programs_that_write_to_the_same_elements(folder: Path) -> None:
    """Right in its result, since both write the same; the sanitizer is what makes it fail."""
    path = copying(folder, at="pid * (BLOCK // 2) + tl.arange(0, BLOCK)", step="512")
    code, content = found(folder, path)
    assert content["cases"][0]["status"] == "pass"
    assert {finding["sanitizer"] for finding in content["emulation"]["findings"]} == {"race"}
    finding = content["emulation"]["findings"][0]
    assert finding["kernel"] == "copy"
    assert "with nothing that orders the two" in finding["sentence"]
    assert finding["source"].startswith(f"submission.py:{line_of(path, 'tl.store')}:")
    assert (code, content["passed"]) == (1, False)
    code, out, _ = mxsub(folder, "test", path, *SHAPE, "--sanitize", "init,exec")
    assert "sanitizers init, exec: nothing found" in out
    assert code == 0


def test_a_value_that_was_never_written(folder: Path) -> None:
    path = copying(folder)
    text = path.read_text().replace("copy[(", "result = torch.empty_like(result)\n    copy[(")
    path.write_text(text)
    code, content = found(folder, path)
    assert code == 1
    finding = content["emulation"]["findings"][0]
    assert (finding["sanitizer"], finding["kernel"]) == ("init", "copy")
    assert finding["sentence"].startswith("stores v")
    assert finding["source"].startswith(f"submission.py:{line_of(path, 'tl.store')}:")


def test_adding_to_what_was_never_written(folder: Path) -> None:
    path = copying(folder)
    path.write_text(path.read_text().replace("tl.store(", "tl.atomic_add("))
    code, content = found(folder, path)
    assert code == 1
    finding = content["emulation"]["findings"][0]
    assert (finding["sanitizer"], finding["kernel"]) == ("init", "copy")
    assert finding["sentence"].startswith("updates what nothing has written to out_ptr (bfloat16 [8, 2112]")
    assert finding["source"].startswith(f"submission.py:{line_of(path, 'tl.atomic_add')}:")
    path.write_text(path.read_text().replace("torch.empty_like", "torch.zeros_like"))
    code, content = found(folder, path)
    assert content["emulation"]["findings"] == []
    assert (code, content["passed"]) == (0, True)


@pytest.mark.parametrize("variant", ["constexpr", "runtime"])
def test_shipped_variants_are_clean(folder: Path, variant: str) -> None:
    code, out, _ = mxsub(folder, "test", "--variant", variant, "--sanitize", "all")
    assert "4 of 4 passed" in out
    assert "sanitizers memory, init, race, sync, exec: nothing found" in out
    assert code == 0


def test_the_miscompile_of_triton_3_6_is_named(folder: Path) -> None:
    configs = folder / "configs.yaml"
    text = configs.read_text()
    text = text.replace("BLOCK_SIZE_M: 8, BLOCK_SIZE_N: 32, BLOCK_SIZE_K: 512}", "BLOCK_SIZE_M: 16}")
    configs.write_text(text.replace('HIP_FORCE_DEV_KERNARG: "1"', 'AMDGCN_USE_BUFFER_OPS: "0"'))
    code, out, _ = mxsub(folder, "test", "--shape", "4,2880,512", "--sanitize", "exec", "--json")
    assert code == 1
    stale = [f for f in json.loads(out)["emulation"]["findings"] if "were off when" in f["sentence"]]
    assert stale
    assert all("Triton 3.6.0" in f["sentence"] and "3.7.1, 3.8.0 and 3.9.0 do not" in f["sentence"] for f in stale)
    assert all(f["instruction"].startswith("v_mfma_scale_f32_16x16x128_f8f6f4") for f in stale)


def test_a_sample_of_a_large_shape(folder: Path) -> None:
    """8,192 workgroups, of which a few run: what they wrote is compared, and no more."""
    code, out, _ = mxsub(folder, "test", "--sample", "32", "--shape", "1024,16384,512", "--sanitize", "race,exec")
    assert code == 0
    share = next(line for line in out.splitlines() if "were written and compared" in line)
    written, whole = (
        int(number.replace(",", "")) for number in share.split(":")[1].split(" elements")[0].split(" of ")
    )
    assert whole == 1024 * 16384
    assert written == 32 * 16 * 128  # tiles of 16 x 128, whole ones
    assert "a sample of about 32 workgroups of each launch, which says nothing of the rest:" in out


def test_a_sample_finds_what_is_wrong_in_it(folder: Path) -> None:
    path = copying(folder)
    path.write_text(
        path.read_text().replace("tl.load(x_ptr + at, mask=at < count)", "tl.load(x_ptr + at, mask=at < count) + 100")
    )
    code, out, _ = mxsub(folder, "test", path, *SHAPE, "--sample", "4")
    assert code == 1
    assert "Number of mismatched elements:" in out
    assert "3,584 of 16,896 elements were written and compared" in out


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        ("(out,)", "custom_kernel gave no tensor but tuple"),
        ("None", "custom_kernel gave no tensor but NoneType"),
        ("out.T", "SIZE MISMATCH: (2112, 8), wanted (8, 2112)"),
        ("out.cpu()", "Expected all tensors to be on the same device"),
        ("out.clone()", "the output was not made by torch.empty()"),
    ],
)
def test_a_sample_of_what_is_no_result(folder: Path, result: str, sentence: str) -> None:
    path = copying(folder)
    path.write_text(path.read_text().replace("return out", f"return {result}"))
    code, out, _ = mxsub(folder, "test", path, *SHAPE, "--sample", "4")
    assert code == 1
    assert sentence in out


def test_a_sample_leaves_out_sums_of_which_parts_are_missing(folder: Path) -> None:
    """Each element is the sum of what four workgroups add, and only a few of these run."""
    path = copying(folder)
    text = path.read_text().replace(
        "def custom_kernel(data):",
        """@triton.jit
def add(x_ptr, sum_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(sum_ptr + at, tl.load(x_ptr + at, mask=at < count, other=0.0).to(tl.float32) / 4, mask=at < count)


def custom_kernel(data):""",
    )
    text = text.replace(
        "    copy[(",
        """    total = torch.zeros(result.shape, dtype=torch.float32, device=result.device)
    add[(triton.cdiv(out.numel(), 1024), 4)](result, total, out.numel(), BLOCK=1024)
    result = total
    copy[(""",
    )
    path.write_text(text)
    code, out, _ = mxsub(folder, "test", path, *SHAPE, "--sample", "4")
    assert "the sample wrote no element of the output from inputs that it had written: sample more workgroups" in out
    assert code == 1
    code, out, _ = mxsub(folder, "test", path, *SHAPE, "--sanitize", "all")
    assert "1 of 1 passed" in out
    assert "nothing found" in out
    assert code == 0


@pytest.mark.parametrize(
    ("arguments", "sentence", "hint"),
    [
        (("--sanitize", "race,"), "--sanitize '': there is no such sanitizer", "There are all, memory"),
        (
            ("--sanitize", "foo"),
            "--sanitize foo: there is no such sanitizer",
            "There are all, memory, init, race, sync, exec.",
        ),
        (("--sample", "4", "--mode", "benchmark"), "--sample is of the mode test, not benchmark", ""),
        (("--sample", "4", "--sanitize", "init"), "cannot tell what is never written", "Leave one of them out."),
    ],
)
def test_what_cannot_be_asked_for(folder: Path, arguments, sentence: str, hint: str) -> None:
    code, _, err = mxsub(folder, "test", *arguments)
    assert code == 2
    assert sentence in err
    assert hint in err
