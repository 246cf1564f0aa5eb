"""The Triton driver of the virtual MI355X: compiles for gfx950 as the JIT does on the hardware, launches here.

Derived from Triton's HIPDriver without its `__init__`, which compiles C against libamdhip64. For Triton 3.6 to 3.9.
"""

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import triton
import triton.backends
import triton.testing
from triton import knobs
from triton.backends.amd.driver import HIPDriver
from triton.runtime import _allocation

from mxsub.virtual import device, kernel_arguments, kernel_launch
from mxsub.virtual.clock import CLOCK
from mxsub.virtual.kernel_arguments import Argument
from mxsub.virtual.kernel_launch import Kernel
from mxsub.virtual.metadata import parse_metadata

SERVICES_ADDRESS = 1 << 43  # below all tensors


class DriverUtils:
    """What Triton's AMD driver has compiled C for: loading kernels, and facts about the device."""

    def __init__(self) -> None:
        self.kernels: dict[int, Kernel] = {}
        self._assembly = ""
        # load_binary() gets the binary only. This hook is called just before it, with the files of all stages.
        knobs.runtime.kernel_load_start_hook.add(self._about_to_load)

    def _about_to_load(
        self, module: Any, function: Any, name: str, metadata_group: Mapping[str, str], hash: str
    ) -> None:
        files = [file for file in metadata_group.values() if str(file).endswith(".amdgcn")]
        self._assembly = Path(files[0]).read_text() if files else ""

    def load_binary(self, name: str, binary: bytes, shared: int, device_index: int) -> tuple[int, int, int, int, int]:
        """-> module, function, VGPRs, dwords of scratch a lane, the most threads of a workgroup: what HIP's
        hipFuncGetAttribute says of them (NUM_REGS, LOCAL_SIZE_BYTES / 4, MAX_THREADS_PER_BLOCK).

        Raises RuntimeError where Triton's cache has the binary alone.
        """
        assembly, self._assembly = self._assembly, ""
        if not assembly:
            raise RuntimeError(
                f"virtual MI355X: kernel {name} has no assembly text to run: it was compiled elsewhere with "
                "TRITON_STORE_BINARY_ONLY; clear Triton's cache"
            )
        handle = 0x1000 + len(self.kernels)
        self.kernels[handle] = Kernel(name, assembly)
        counts = parse_metadata(assembly).numbers
        scratch = counts.get("private_segment_fixed_size", 0) // 4
        threads = min(counts.get("max_flat_workgroup_size", device.MAX_THREADS), device.MAX_THREADS)
        return handle, handle, counts.get("vgpr_count", 0), scratch, threads

    def unload_module(self, module: int) -> None:
        """Called by Triton 3.7 and later. The kernel stays: a submission may hold its handle for longer."""

    def get_device_properties(self, device_index: int) -> dict[str, Any]:
        return dict(device.TRITON_PROPERTIES)


@functools.cache
def driver_utils() -> DriverUtils:
    """The one of this process: handles of kernels stay good when Triton makes a driver anew."""
    return DriverUtils()


class VirtualLauncher:
    """Triton makes one per compiled kernel, and calls it to launch."""

    def __init__(self, source: Any, metadata: Any) -> None:
        self.signature: dict[Any, Any] = dict(source.signature)
        self.metadata = metadata

    def __call__(
        self,
        grid_x: int,
        grid_y: int,
        grid_z: int,
        queue: int,
        function: int,
        packed_metadata: Any,
        launch_metadata: Any,
        enter_hook: Callable[[Any], object] | None,
        exit_hook: Callable[[Any], object] | None,
        *args: Any,
    ) -> None:
        arguments = kernel_arguments.flatten(self.signature, args)
        if enter_hook is not None:
            enter_hook(launch_metadata)
        grid = (grid_x, grid_y, grid_z)
        if grid_x * grid_y * grid_z:
            kernel = driver_utils().kernels[function]
            kernarg = self.kernarg(kernel, arguments, grid, queue)
            kernel_launch.run(kernel, grid, kernarg, self.metadata.num_warps, self.metadata.shared)
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def kernarg(self, kernel: Kernel, arguments: list[Argument], grid: tuple[int, int, int], queue: int) -> bytes:
        """The kernel-argument segment of a launch."""
        scratch = [
            self._scratch(kind, allocator, grid, queue)
            for kind, allocator in (
                ("global", _allocation._allocator),
                ("profile", getattr(_allocation, "_profile_allocator", None)),
            )
        ]
        threads, lds = self.metadata.num_warps * device.WARP_SIZE, self.metadata.shared
        hidden = kernel_arguments.hidden_values(grid, threads, lds, runtime_services())
        slots, size = kernel.program.arguments, kernel.program.kernarg_size
        return kernel_arguments.pack(kernel.name, arguments, scratch, hidden, slots, size, address_of_pointer)

    def _scratch(self, kind: str, allocator: Any, grid: tuple[int, int, int], queue: int) -> int:
        """AMD kernels end with two scratch pointers; both are null unless a feature asks for memory."""
        size = getattr(self.metadata, f"{kind}_scratch_size", 0)
        if not size:
            return 0
        alignment = getattr(self.metadata, f"{kind}_scratch_align")
        memory = allocator.get()(grid[0] * grid[1] * grid[2] * size, alignment, queue)
        return address_of_pointer(Argument(f"{kind} scratch", "*i8", -1, memory))


@functools.cache
def runtime_services() -> int:
    """An address with nothing there: a kernel that prints, asserts or allocates reads from it and is told why not."""
    import numpy as np

    from mxsub.virtual.device_memory import DEVICE_MEMORY

    name = "what the runtime has for printing, assertions and memory on the device, which is not emulated"
    with DEVICE_MEMORY.lock:
        return DEVICE_MEMORY.memory.map(name, np.zeros(0, np.uint8), writable=False, base=SERVICES_ADDRESS).base


def address_of_pointer(argument: Argument) -> int:
    """The device address that a pointer argument stands for: a tensor, an address, None, or anything with a data_ptr().

    Raises ValueError, in Triton's own words, for a tensor on the CPU, and TypeError for what is no pointer.
    """
    value = argument.value
    if value is None or isinstance(value, int):
        return value or 0
    if not hasattr(value, "data_ptr"):
        raise TypeError("Pointer argument must be either uint64 or have data_ptr method")
    import torch

    from mxsub.virtual.device_memory import DEVICE_MEMORY, is_stand_in, label, on_device

    tensor = getattr(value, "base", value)  # of Triton's TensorWrapper
    if not isinstance(tensor, torch.Tensor):
        return int(value.data_ptr())
    with torch._C.DisableTorchFunction():
        if not on_device(tensor) and tensor.data_ptr():
            raise ValueError(f"Pointer argument (at {argument.position}) cannot be accessed from Triton (cpu tensor?)")
        if is_stand_in(tensor):
            raise RuntimeError(
                f"virtual MI355X: {label(argument.name, tensor)} is too large to be given to a kernel; "
                f"tensors over {device.LARGEST_TENSOR_BYTES >> 30} GiB have no memory here"
            )
        return DEVICE_MEMORY.address(tensor, label(argument.name, tensor)) if tensor.data_ptr() else 0


def do_bench(
    fn: Callable[[], object],
    warmup: float | None = None,
    rep: float | None = None,
    grad_to_none: Any = None,
    quantiles: list[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """Stands in for triton.testing.do_bench: the virtual clock is exact, so one call is enough (ms)."""
    start = CLOCK.ns
    fn()
    ms = max(CLOCK.ns - start, 1) / 1e6
    if quantiles is not None:
        return [ms] * len(quantiles) if len(quantiles) > 1 else ms
    return [ms] if return_mode == "all" else ms


class VirtualDriver(HIPDriver):  # type: ignore[misc]
    """HIPDriver without HIP: what needs it is replaced, the rest is inherited."""

    def __init__(self) -> None:  # not super().__init__(): it compiles C against libamdhip64
        self.utils = driver_utils()
        self.launcher_cls = VirtualLauncher
        # Attributes, not methods, because that is what they are in Triton's GPUDriver.
        self.get_current_device = lambda: 0
        self.set_current_device = lambda index: None
        self.get_current_stream = lambda index=0: 0
        self.get_device_capability = lambda index=0: device.CAPABILITY

    @staticmethod
    def is_active() -> bool:
        return True

    def get_benchmarker(self) -> Callable[..., Any]:
        return do_bench

    def get_empty_cache_for_benchmark(self) -> None:
        return None

    def clear_cache(self, cache: Any) -> None:
        pass


def install() -> None:
    """Make the virtual MI355X the only device that Triton finds."""
    # It changes nothing about the machine code, only whether its text is kept, which is what runs here.
    knobs.compilation.store_binary_only = False
    amd = triton.backends.backends["amd"]
    triton.backends.backends["amd"] = type(amd)(compiler=amd.compiler, driver=VirtualDriver)
    triton.runtime.driver.set_active(VirtualDriver())
    triton.testing.do_bench = do_bench
    triton.testing.do_bench_cudagraph = do_bench
