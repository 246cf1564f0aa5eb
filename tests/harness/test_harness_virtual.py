"""The shipped task on the virtual MI355X, with submissions in torch and Triton, in all modes."""

import pytest
from evaluators import submission

from mxsub.submit.harness.device import Device
from mxsub.submit.harness.run import run
from mxsub.submit.harness.task import Case, shipped_task

pytest.importorskip("torch")
pytest.importorskip("triton")
pytestmark = pytest.mark.slow

TASK = shipped_task("amd-mxfp4-mm")
VIRTUAL = Device("MI355X", "virtual", "")
CASES: list[Case] = [{"m": 3, "n": 64, "k": 64, "seed": 1}, {"m": 17, "n": 128, "k": 192, "seed": 2}]

# The right result by torch, then written by a kernel.
TORCH_AND_TRITON = submission(
    """
    import torch
    import triton
    import triton.language as tl
    from reference import ref_kernel


    @triton.jit
    def copy(source, target, size, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(target + at, tl.load(source + at, mask=at < size), mask=at < size)


    def custom_kernel(data):
        result = ref_kernel(data)
        target = torch.empty_like(result)
        copy[(triton.cdiv(result.numel(), 256),)](result, target, result.numel(), BLOCK=256)
        return target
    """
)


@pytest.mark.parametrize("mode", ["test", "benchmark", "leaderboard", "profile"])
def test_every_mode(mode: str) -> None:
    ran = run(TORCH_AND_TRITON, TASK, VIRTUAL, mode, cases=CASES)
    assert (ran.error, ran.outcome, len(ran.cases)) == ("", "passed", 2)
    assert ran.emulation is not None
    assert [kernel.kernel for kernel in ran.emulation.kernels] == ["copy"]
    if mode == "test":
        assert [case.matched for case in ran.cases] == [(192, 192), (2176, 2176)]
    elif mode == "profile":
        assert all("aten::" in case.report for case in ran.cases)
    else:
        # The clock counts instructions, so that every call takes the same and three are enough.
        timings = [case.timing for case in ran.cases if case.timing]
        assert [(timing.runs, timing.err) for timing in timings] == [(3, 0.0), (3, 0.0)]
        assert 0 < timings[0].mean < timings[1].mean


def test_a_kernel_that_writes_past_its_output() -> None:
    text = TORCH_AND_TRITON.replace(b", mask=at < size)\n", b")\n", 1).replace(b", mask=at < size), mask", b"), mask")
    text = text.replace(b"tl.load(source + at), mask=at < size)", b"1.0)")
    ran = run(text, TASK, VIRTUAL, "test", cases=CASES)
    assert ran.outcome == "crashed"
    assert "past the end of target" in ran.error
    assert "at submission.py:10" in ran.error


def test_a_wrong_result() -> None:
    text = TORCH_AND_TRITON.replace(b"return target", b"target[0, :32] += 1000\n    return target")
    ran = run(text, TASK, VIRTUAL, "test", cases=CASES)
    assert ran.outcome == "failed"
    assert ran.error == (
        "2 of 2 cases failed; the first, 3x64x64, seed 1: Number of mismatched elements: 32 of 192 (16.67 %)"
    )


def test_fresh_seeds() -> None:
    ran = run(TORCH_AND_TRITON, TASK, VIRTUAL, "test", cases=CASES, seeds=2)
    assert ran.seeds is not None
    assert (ran.seeds.passed, ran.seeds.total, ran.seeds.worst_margin) == (4, 4, 0.0)


def test_exit_in_import() -> None:
    ran = run(b"import sys\nsys.exit('stop')\n", TASK, VIRTUAL, "test", cases=CASES)
    assert ran.error == (
        "submission.py calls sys.exit('stop') in its import at submission.py:2, in case 1 of 2 (3x64x64, seed 1)"
    )
    ran = run(b"import os\nos._exit(0)\n", TASK, VIRTUAL, "test", cases=CASES)
    assert ran.error == "submission.py ends the process in its import, with exit code 0"


def test_a_segmentation_fault_in_a_benchmark() -> None:
    text = b"import ctypes\n\ndef custom_kernel(data):\n    ctypes.string_at(0)\n"
    ran = run(text, TASK, VIRTUAL, "benchmark", cases=CASES)
    assert ran.error == "died of SIGSEGV at submission.py:4, before the first case"
