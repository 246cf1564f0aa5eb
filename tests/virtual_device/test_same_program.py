"""The same program as the runner's, in whole processes; same_program.py has what one process can check."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mxsub import virtual

FOLDER = Path(__file__).parent


def printed(script: str, **variables: str) -> dict[str, object]:
    """The JSON that a script prints which runs in this folder."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(FOLDER), **variables},
        cwd=FOLDER,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, object] = json.loads(done.stdout)
    return result


def on_the_device(script: str) -> dict[str, object]:
    variables = virtual.environment()
    path = os.pathsep.join([variables.pop("PYTHONPATH"), str(FOLDER)])
    return printed(script, PYTHONPATH=path, **variables)


@pytest.mark.slow
def test_the_machine_code_is_that_of_a_process_without_the_device():
    begin = "import json, sys, torch, triton\nfrom same_program import *\n"
    plain = printed(
        begin + "code = ahead_of_time(strided_copy, COPY, POINTERS, {'block': BLOCK})\n"
        "print(json.dumps({'mxsub': 'mxsub' in sys.modules, 'code': code}))"
    )
    here = on_the_device(
        begin + "code = runs(strided_copy[(1,)](*tensors(2), 3, 5, BLOCK))\n"
        "print(json.dumps({'mxsub': 'mxsub' in sys.modules, 'code': code}))"
    )
    assert (plain["mxsub"], here["mxsub"]) == (False, True)
    assert here["code"] == plain["code"]


@pytest.mark.slow
def test_variables_that_a_submission_sets_before_its_imports():
    """TRITON_DEBUG is one that Triton reads once, when it is imported."""
    submission = """
import os
os.environ["AMDGCN_USE_BUFFER_OPS"] = "0"
os.environ["TRITON_DEBUG"] = "1"
os.environ["TRITON_DEFAULT_FP_FUSION"] = "0"
import json
import torch
from toy_kernels import scaled_sum

x, out = torch.ones(64, device="cuda"), torch.zeros(64, device="cuda")
kernel = scaled_sum[(1,)](x, x, out, 64, 2.5, BLOCK=64)
code = kernel.asm["amdgcn"]
print(json.dumps({
    "sum": out.sum().item(), "debug": kernel.metadata.debug, "fused": kernel.metadata.enable_fp_fusion,
    "buffer": "buffer_load" in code, "global": "global_load" in code, "fma": "v_fma" in code,
    "near": "tt.pointer_range" in kernel.asm["ttir"],
}))
"""
    assert on_the_device(submission) == {
        "sum": 224.0,
        "debug": True,
        "fused": False,
        "buffer": False,
        "global": True,
        "fma": False,
        "near": False,
    }
    unset = "\n".join(line for line in submission.splitlines() if "os.environ" not in line)
    assert on_the_device(unset) == {
        "sum": 224.0,
        "debug": False,
        "fused": True,
        "buffer": True,
        "global": False,
        "fma": True,
        "near": True,
    }
