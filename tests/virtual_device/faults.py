"""What a submission sees, and the log holds, when a kernel cannot run."""

import json
import os
import re
from pathlib import Path

import run_checks
import torch
import toy_kernels as kernels
import triton
from run_checks import raises


def log():
    return [json.loads(line) for line in Path(os.environ["MXSUB_VIRTUAL_LOG"]).read_text().splitlines()]


def check_out_of_bounds_names_tensor_place_lane_and_distance():
    source, out = torch.zeros(4, 64, device="cuda"), torch.zeros(128, device="cuda")
    with raises(RuntimeError, "virtual MI355X: kernel past_the_end reads "):
        kernels.past_the_end[(1,)](source, out, 160, BLOCK=128)
    message = log()[-1]["message"]
    assert log()[-1] == {"event": "fault", "kernel": "past_the_end", "message": message}
    assert "\n" not in message
    assert "past the end of source (float32 [4, 64]" in message
    line = 1 + next(
        i
        for i, text in enumerate(Path(kernels.__file__).read_text().splitlines())
        if "tl.load(source + i + shift)" in text
    )
    assert f"toy_kernels.py:{line}:" in message
    assert re.search(r"workgroup 0, wave \d, lane \d+", message)
    assert not out.any()


def check_unknown_instruction_is_named():
    with raises(RuntimeError, "v_clrexcp"):
        kernels.unknown_instruction[(1,)](torch.zeros(1, dtype=torch.int32, device="cuda"))


def check_cpu_tensor_is_refused_in_tritons_words():
    x = torch.zeros(64, device="cuda")
    with raises(ValueError, "Pointer argument (at 1) cannot be accessed from Triton (cpu tensor?)"):
        kernels.scaled_sum[(1,)](x, torch.zeros(64), x, 64, 2.5, BLOCK=64)


def check_compile_error_passes_through():
    with raises(triton.compiler.errors.CompilationError, "BLOCK * 2"):
        kernels.wrong_shapes[(1,)](torch.zeros(64, device="cuda"), BLOCK=64)


def check_memory_ends_with_its_storage():
    def address():
        return torch.zeros(64, device="cuda").data_ptr()

    first, second = address(), address()
    assert first != second
    out = torch.zeros(1, 64, device="cuda")
    with raises(RuntimeError, "virtual MI355X: kernel from_pointers reads"):
        kernels.from_pointers[(1,)](torch.tensor([first], device="cuda"), out, 64)


def check_flush_tensor_is_refused_by_a_kernel():
    flush = torch.empty(64, 1024, 1024, 1024, device="cuda")
    with raises(
        RuntimeError, "virtual MI355X: x (float32 [64, 1024, 1024, 1024]) is too large to be given to a kernel"
    ):
        kernels.scaled_sum[(1,)](flush, flush, flush, 64, 2.5, BLOCK=64)


def check_log_of_a_launch():
    x = torch.ones(64, device="cuda")
    kernels.scaled_sum[(2,)](x, x, x.clone(), 64, 2.5, BLOCK=64, num_warps=2)
    entry = log()[-1]
    assert entry["event"] == "launch"
    assert entry["kernel"] == "scaled_sum"
    assert entry["grid"] == [2, 1, 1]
    assert entry["waves"] == 4
    assert sum(entry["wave_instructions"].values()) > 20
    assert entry["seconds"] > 0
    assert entry["findings"] == []


if __name__ == "__main__":
    run_checks.main(globals())
