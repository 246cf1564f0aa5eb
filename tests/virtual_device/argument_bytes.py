"""Our kernel-argument segment against what Triton's own AMD launcher passes to a stub of HIP (hip_stub.c)."""

import ctypes
import subprocess
import sys
import tempfile
from pathlib import Path

import run_checks
import torch
import toy_kernels as kernels
import triton
from triton.backends.amd.driver import HIPDriver
from triton.tools.tensor_descriptor import TensorDescriptor

from mxsub.virtual import kernel_arguments


def built_stub() -> ctypes.CDLL:
    library = Path(tempfile.mkdtemp()) / "libamdhip64.so"
    source = Path(__file__).with_name("hip_stub.c")
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", source, "-o", library], check=True)
    triton.knobs.amd.libhip_path = str(library)
    stub = ctypes.CDLL(str(library))
    stub.stub_segment.restype = ctypes.POINTER(ctypes.c_ubyte)
    stub.stub_shape.restype = ctypes.POINTER(ctypes.c_uint)
    return stub


STUB = built_stub()


def launch_with_triton(kernel, grid, args):
    """Triton's launcher asks the active driver for its C functions, so the real one is active meanwhile."""
    virtual = triton.runtime.driver.active
    real = HIPDriver()
    triton.runtime.driver.set_active(real)
    try:
        launcher = real.launcher_cls(kernel.src, kernel.metadata)
        launcher(*grid, 0, 1, kernel.packed_metadata, None, None, None, *args)
    finally:
        triton.runtime.driver.set_active(virtual)


def compare(function, *args):
    """Launch a kernel here, then with Triton's launcher: the bytes, the grid and the block must be the same."""
    grid = (3, 2, 1)
    kernel = function.warmup(*args, grid=grid)
    kernel[grid]  # loads it
    loaded = triton.runtime.driver.active.utils.kernels[kernel.function]
    arguments = kernel_arguments.flatten(kernel.run.signature, args)
    ours = kernel.run.kernarg(loaded, arguments, grid, 0)
    slots = [slot for slot in loaded.program.arguments if not slot.value_kind.startswith("hidden_")]
    ints = ctypes.c_int * len(slots)
    STUB.stub_expect(len(slots), ints(*(s.offset for s in slots)), ints(*(s.size for s in slots)))
    launch_with_triton(kernel, grid, args)
    theirs = bytes(STUB.stub_segment()[: len(ours)])
    end = slots[-1].offset + slots[-1].size  # the runtime itself puts hidden arguments behind
    assert theirs[:end] == ours[:end], f"Triton passes {theirs.hex()}, we {ours.hex()}"
    assert STUB.stub_shape()[:7] == [*grid, kernel.metadata.num_warps * 64, 1, 1, kernel.metadata.shared]
    return ours


def check_pointers_and_numbers():
    x = torch.randn(1000, device="cuda")
    segment = compare(kernels.scaled_sum, x, x[3:], torch.empty_like(x), 1000, 2.5, 256)
    assert int.from_bytes(segment[:8], "little") == x.data_ptr()
    assert int.from_bytes(segment[8:16], "little") == x.data_ptr() + 12


def check_all_widths_constants_and_tuples():
    out, x = torch.empty(64, device="cuda"), torch.ones(1, device="cuda")
    # Triton 3.6 takes no negative int8.
    for numbers in (
        (True, 3, -300, -70000, 2**31 + 5, -(2**40), 1.1, 0.3, -1.7, 2.2),
        (False, 127, 32767, 2**31 - 1, 2**32 + 1, 2**62, 1e-42, 65504.0, 3.3895e38, 1e300),
        (False, 0, 0, -(2**31), 2**40, -1, float("inf"), float("-inf"), 1e-40, float("-inf")),
    ):
        compare(kernels.all_widths, out, *numbers, 1, None, (7, x), 5)


def check_too_large_a_float_becomes_infinity():
    x = torch.empty(64, device="cuda")
    segment = compare(kernels.scaled_sum, x, x, x, 64, 1e300, 256)
    assert bytes.fromhex("0000807f") in segment


def check_pointer_instead_of_none():
    out, x = torch.empty(64, device="cuda"), torch.ones(1, device="cuda")
    compare(kernels.all_widths, out, True, 3, -300, 5, 6, 7, 1.1, 0.3, -1.7, 2.2, 9, out, (1, x), 5)


def check_tensor_descriptor():
    x, out = torch.randn(64, 64, device="cuda"), torch.empty(64, 64, device="cuda")
    compare(kernels.described, TensorDescriptor.from_tensor(x, [16, 16]), out, 16)


if __name__ == "__main__":
    sys.exit(run_checks.main(globals()))
