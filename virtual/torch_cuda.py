"""torch.cuda of the virtual device, in place of the real one in this process."""

import threading
import types
from collections.abc import Callable
from typing import Any

import torch
import torch.profiler.profiler

from mxsub.virtual import device
from mxsub.virtual.clock import CLOCK
from mxsub.virtual.torch_mode import CUDA, VirtualGpuMode, is_cuda


class _AnyGenerator(type(torch.Generator)):  # type: ignore[misc]
    """isinstance(x, torch.Generator) stays true for the generators that torch has made itself."""

    real = torch.Generator

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.real)


class Generator(torch.Generator, metaclass=_AnyGenerator):
    """torch.Generator, also for device="cuda". The same seed gives other numbers than on a GPU."""

    _where: torch.device

    def __new__(cls, device: Any = "cpu") -> "Generator":
        self = super().__new__(cls, device="cpu")  # type: ignore[call-arg]
        self._where = CUDA if is_cuda(device) else torch.device("cpu")
        return self

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return self._where


class Event:
    """torch.cuda.Event on the virtual clock."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, external: bool = False
    ) -> None:
        self._ns: int | None = None

    def record(self, stream: Any = None) -> None:
        self._ns = CLOCK.ns

    def wait(self, stream: Any = None) -> None:
        pass

    def synchronize(self) -> None:
        pass

    def query(self) -> bool:
        return True

    def elapsed_time(self, end_event: "Event") -> float:
        """Milliseconds between two recorded events: 1e-6 for every wave instruction executed between them.

        At least one, as on a GPU: an evaluator divides by the mean.
        """
        if self._ns is None or end_event._ns is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return max(end_event._ns - self._ns, 1) / 1e6


class Queue:
    """torch.cuda.Stream. All of them are one: work is done when it is submitted."""

    cuda_stream = 0
    device = CUDA
    device_index = 0
    priority = 0

    def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:
        pass

    def __enter__(self) -> "Queue":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Queue)

    def __hash__(self) -> int:
        return self.cuda_stream

    def record_event(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.record()
        return event

    def wait_event(self, event: Event) -> None:
        pass

    def wait_stream(self, stream: "Queue") -> None:
        pass

    def synchronize(self) -> None:
        pass

    def query(self) -> bool:
        return True


class DeviceContext:
    """with torch.cuda.device(0): ..."""

    def __init__(self, device: Any = None) -> None:
        if device is not None and not isinstance(device, torch.Tensor):
            is_cuda(device)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


class NoGraphs:
    """torch.cuda.CUDAGraph and torch.cuda.graph: refused when made."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise RuntimeError("virtual MI355X: graphs are not emulated; launch the kernels directly")


def _refuse_graphed_callables(*_: Any, **__: Any) -> None:
    NoGraphs()


def compile_stand_in(model: Any = None, *, backend: Any = "inductor", **options: Any) -> Any:
    """torch.compile: compiled functions may be made, and refuse to be called."""
    if backend == "eager":
        return _torch_compile(model, backend=backend, **options)
    if model is None:
        return lambda real_model: compile_stand_in(real_model, backend=backend, **options)

    def refuse(*_: Any, **__: Any) -> None:
        raise RuntimeError(
            "virtual MI355X: torch.compile is not emulated; call the function itself, or use a Triton kernel"
        )

    return refuse


_torch_compile = torch.compile
_torch_custom_op: Callable[..., Any] = torch.library.custom_op
_PROPERTIES = types.SimpleNamespace(**device.TORCH_PROPERTIES)
_QUEUE = Queue()


def custom_op_stand_in(*args: Any, device_types: Any = None, **options: Any) -> Any:
    """torch.library.custom_op: torch has the tensors of the virtual device on the CPU, so one for "cuda" takes any."""
    named = (device_types,) if isinstance(device_types, str) else tuple(device_types or ())
    return _torch_custom_op(*args, device_types=None if "cuda" in named else device_types, **options)


def _gives(value: Any = None) -> Callable[..., Any]:
    # A new function each time: dynamo refuses torch functions that are one object under two names.
    return lambda *_, **__: value


def _replacements() -> dict[str, Any]:
    generator = Generator("cuda")
    return {
        "is_available": _gives(True),
        "is_initialized": _gives(True),
        "init": _gives(),
        "_lazy_init": _gives(),
        "device_count": _gives(1),
        "current_device": _gives(0),
        "set_device": DeviceContext,
        "device": DeviceContext,
        "device_of": DeviceContext,
        "get_device_name": _gives(device.NAME),
        "get_device_capability": _gives(device.CAPABILITY),
        "get_device_properties": _gives(_PROPERTIES),
        "get_arch_list": lambda: [device.ARCH],
        "is_bf16_supported": _gives(True),
        "synchronize": _gives(),
        "empty_cache": _gives(),
        "ipc_collect": _gives(),
        "Event": Event,
        "Stream": Queue,
        "ExternalStream": Queue,
        "stream": lambda stream: stream or _QUEUE,
        "set_stream": _gives(),
        "current_stream": _gives(_QUEUE),
        "default_stream": _gives(_QUEUE),
        "memory_allocated": _gives(0),
        "max_memory_allocated": _gives(0),
        "memory_reserved": _gives(0),
        "max_memory_reserved": _gives(0),
        "reset_peak_memory_stats": _gives(),
        "mem_get_info": _gives((device.MEMORY_BYTES, device.MEMORY_BYTES)),
        "default_generators": (generator,),
        "manual_seed": generator.manual_seed,
        "manual_seed_all": generator.manual_seed,
        "initial_seed": generator.initial_seed,
        "seed": generator.seed,
        "seed_all": generator.seed,
        "get_rng_state": lambda device=None: generator.get_state(),
        "set_rng_state": lambda new_state, device=None: generator.set_state(new_state),
        "CUDAGraph": NoGraphs,
        "graph": NoGraphs,
        "make_graphed_callables": _refuse_graphed_callables,
    }


def _install_in_threads() -> None:
    """Function modes belong to a thread, so each new one enters its own."""
    start = threading.Thread.start

    def start_in_mode(self: threading.Thread) -> None:
        run = self.run

        def run_in_mode() -> None:
            with VirtualGpuMode():
                run()

        self.run = run_in_mode  # type: ignore[method-assign]
        start(self)

    threading.Thread.start = start_in_mode  # type: ignore[method-assign]


def _install_in_profiler() -> None:
    """The profiler records what happens on the CPU only: it has no counters of this device to ask."""
    activity = torch.profiler.ProfilerActivity
    initialize = torch.profiler.profiler._KinetoProfile.__init__

    def initialize_for_cpu(self: Any, *, activities: Any = None, **options: Any) -> None:
        initialize(self, activities=[activity.CPU], **options)

    torch.profiler.profiler._KinetoProfile.__init__ = initialize_for_cpu  # type: ignore[method-assign]


def _install_as_accelerator() -> None:
    replacements = {
        "is_available": _gives(True),
        "current_accelerator": _gives(torch.device("cuda")),
        "device_count": _gives(1),
        "current_device_index": _gives(0),
        "synchronize": _gives(),
    }
    for name, value in replacements.items():
        setattr(torch.accelerator, name, value)


def install() -> None:
    """Make the virtual MI355X torch's one GPU, in all threads of this process, for good."""
    for name, value in _replacements().items():
        setattr(torch.cuda, name, value)
    for name in ("range_push", "range_pop", "mark", "range_start", "range_end"):
        setattr(torch.cuda.nvtx, name, _gives(0))
    torch.version.hip = device.HIP_VERSION
    torch.version.cuda = None
    torch._C._cuda_getCurrentRawStream = _gives(0)
    torch.Generator = Generator  # type: ignore[misc]
    torch.compile = compile_stand_in
    torch.library.custom_op = custom_op_stand_in
    VirtualGpuMode().__enter__()  # type: ignore[no-untyped-call]
    _install_in_threads()
    _install_in_profiler()
    if hasattr(torch, "accelerator"):  # torch 2.6 and later
        _install_as_accelerator()
