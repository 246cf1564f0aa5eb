"""Tensors of the virtual device: host tensors whose storage is on the device, which a TorchFunctionMode sets and shows.

The mode sees every call of a torch function. It takes "cuda" out of the arguments, puts the storage of what comes back
on the device, and answers for tensors there what a GPU's would (`is_cuda`, `device`, `data_ptr()`, no `numpy()`).
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _device

from mxsub.virtual import device, device_checks, unwritten
from mxsub.virtual.device_memory import DEVICE_MEMORY, allocation_of, is_stand_in, on_device, put_on_device

CUDA = torch.device("cuda", 0)
T = torch.Tensor
Function = Callable[..., Any]


def is_cuda(where: Any) -> bool:
    """Is it the device, as users write it: a string, a torch.device, an ordinal.

    Raises RuntimeError for a second GPU, which there is none of.
    """
    target = torch.device("cuda", where) if isinstance(where, int) else torch.device(where)
    if target.type == "cuda" and target.index not in (None, 0):
        raise RuntimeError("HIP error: invalid device ordinal")
    return target.type == "cuda"


def tensors_in(values: Iterable[Any]) -> list[torch.Tensor]:
    """All tensors among some arguments, in lists and tuples too."""
    found: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, T):
            found.append(value)
        elif isinstance(value, (tuple, list)):
            found += tensors_in(value)
    return found


def put_results_on_device(result: Any, host_tensors: Iterable[torch.Tensor] = ()) -> Any:
    """Put all tensors of a result on the device, except those that share memory with a tensor on the host."""
    host_storages = {t.untyped_storage()._cdata for t in host_tensors}
    for tensor in tensors_in((result,)):
        if not host_storages or tensor.untyped_storage()._cdata not in host_storages:
            put_on_device(tensor)
    return result


def _call(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Any torch function: decides where its result is, and calls it on the CPU."""
    tensors = tensors_in((*args, *kwargs.values()))
    there = [on_device(t) for t in tensors]
    where = kwargs.get("device")
    if where is None and function in _device._device_constructors():
        where = _device.CURRENT_DEVICE  # of set_default_device() and `with torch.device()`
    if where is not None:
        result_there = is_cuda(where)
        kwargs = {**kwargs, "device": "cpu"}
    else:
        result_there = any(there)
    if kwargs.get("pin_memory"):
        kwargs = {**kwargs, "pin_memory": False}
    if function in _RANDOM or kwargs.get("generator") is not None:
        kwargs = _with_generator(function, kwargs, result_there)
    if not result_there:
        return function(*args, **kwargs)
    if function in _SIZED and (size := _size_of_huge(args, kwargs)) is not None:
        return _stand_in(size, kwargs.get("dtype"))
    host_tensors = [t for t, is_there in zip(tensors, there, strict=True) if not is_there]
    if host_tensors and len(host_tensors) < len(tensors):
        device_checks.check_same_device(function, tensors, there)
    return put_results_on_device(function(*args, **kwargs), host_tensors)


def _with_generator(function: Function, kwargs: dict[str, Any], result_there: bool) -> dict[str, Any]:
    """Random numbers on the device come from its own default generator."""
    generator = kwargs.get("generator")
    if generator is None:
        return {**kwargs, "generator": torch.cuda.default_generators[0]} if result_there else kwargs
    device_checks.check_generator(generator, result_there)
    return kwargs


# --- tensors too large for this machine ------------------------------------------------------------------------------


def _size_of_huge(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[int, ...] | None:
    """The size of a tensor that gets no memory, such as one that flushes caches; None for all others."""
    lists = [a for a in (kwargs.get("size"), *args) if isinstance(a, (tuple, list))]
    size = tuple(lists[0]) if lists else args
    if not all(isinstance(n, int) for n in size):
        return None
    dtype = kwargs.get("dtype") or torch.get_default_dtype()
    return size if math.prod(size) * dtype.itemsize > device.LARGEST_TENSOR_BYTES else None


def _stand_in(size: tuple[int, ...], dtype: torch.dtype | None) -> torch.Tensor:
    scalar = torch.zeros((), dtype=dtype, device="cpu")
    put_on_device(scalar, stands_for=math.prod(size) * scalar.element_size())
    return scalar.expand(size)


def _storage(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> torch.UntypedStorage:
    """Of a stand-in one as large as the real one's, without memory: Triton compiles by its size."""
    allocation = allocation_of(args[0])
    if allocation is not None and allocation.stands_for:
        return torch.empty(allocation.stands_for, dtype=torch.uint8, device="meta").untyped_storage()
    storage: torch.UntypedStorage = function(*args, **kwargs)
    return storage


def _fill(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Methods that fill a tensor in place; a stand-in has but one element to fill."""
    if is_stand_in(args[0]):
        function(args[0].as_strided((), ()), *args[1:], **kwargs)
        return args[0]
    return _call(function, args, kwargs)


# --- functions that are not as on the CPU ----------------------------------------------------------------------------


def _move(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Tensor.to(), .cuda(), .cpu(), .type_as(): a change of device always copies."""
    tensor, rest, kwargs = args[0], list(args[1:]), dict(kwargs)
    target = on_device(tensor)
    if function is T.to:
        if rest and isinstance(rest[0], T):
            target = on_device(rest[0])
        elif rest and isinstance(rest[0], (str, torch.device, int)):
            target, rest[0] = is_cuda(rest[0]), "cpu"
        elif kwargs.get("device") is not None:
            target, kwargs["device"] = is_cuda(kwargs["device"]), "cpu"
        elif isinstance(kwargs.get("other"), T):
            target = on_device(kwargs["other"])
        result = function(tensor, *rest, **kwargs)
    elif function is T.type_as:
        target, result = on_device(rest[0]), function(tensor, *rest, **kwargs)
    else:
        target, result = function is T.cuda, tensor
    if target != on_device(tensor) and result.untyped_storage()._cdata == tensor.untyped_storage()._cdata:
        result = tensor.clone()
    return put_results_on_device(result) if target else result


def _adopt(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """torch.as_tensor() and asarray() share memory with their source, unless that is on another device."""
    source = kwargs["data"] if "data" in kwargs else args[0] if args else kwargs["obj"]
    source_there = isinstance(source, T) and on_device(source)
    where = kwargs.get("device")
    if where is None and not isinstance(source, T):
        where = _device.CURRENT_DEVICE
    target = source_there if where is None else is_cuda(where)
    if where is not None:
        kwargs = {**kwargs, "device": "cpu"}
    result = function(*args, **kwargs)
    if target != source_there:
        result = result.clone()
    return put_results_on_device(result) if target else result


def _refuse_numpy(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if on_device(args[0]):
        raise TypeError(
            "can't convert cuda:0 device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first."
        )
    return function(*args, **kwargs)


def _data_ptr(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    return DEVICE_MEMORY.address(args[0]) if on_device(args[0]) else int(function(*args, **kwargs))


def _shown(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Printing, with the mode on: so that the text tells the device."""
    with VirtualGpuMode():
        return torch._tensor_str._str(args[0], **kwargs)  # type: ignore[no-untyped-call]


def _type(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    result = _call(function, args, kwargs)
    if isinstance(result, str) and on_device(args[0]):
        return result.replace("torch.", "torch.cuda.", 1)
    return result


def _index(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    indices = tensors_in(args[1:])
    device_checks.check_indices(on_device(args[0]), indices, [on_device(i) for i in indices])
    return _call(function, args, kwargs)


def _answer(value: Any) -> Function:
    """A property or method that has another value on the device."""

    def answered(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return value if on_device(args[0]) else function(*args, **kwargs)

    return answered


def _same(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return args[0]


def _nothing(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    return None


_SIZED = {torch.empty, torch.zeros, torch.ones, torch.full, torch.rand, torch.randn, torch.randint}
_RANDOM = {torch.rand, torch.randn, torch.randint, torch.randperm}
_RANDOM |= {T.random_, T.uniform_, T.normal_, T.bernoulli_, T.exponential_}
_SPECIAL: dict[Any, Function] = {
    T.is_cuda.__get__: _answer(True),  # type: ignore[attr-defined]
    T.is_cpu.__get__: _answer(False),  # type: ignore[attr-defined]
    T.device.__get__: _answer(CUDA),
    T.get_device: _answer(0),
    torch.get_device: _answer(0),
    T.data_ptr: _data_ptr,
    T.untyped_storage: _storage,
    T.to: _move,
    T.cuda: _move,
    T.cpu: _move,
    T.type_as: _move,
    T.type: _type,
    T.numpy: _refuse_numpy,
    T.__array__: _refuse_numpy,
    T.__repr__: _shown,
    T.__getitem__: _index,
    T.pin_memory: _same,
    T.record_stream: _nothing,
    torch.as_tensor: _adopt,
    torch.asarray: _adopt,
    T.fill_: _fill,
    T.zero_: _fill,
    T.random_: _fill,
    T.uniform_: _fill,
    T.normal_: _fill,
}


class VirtualGpuMode(TorchFunctionMode):
    """While it is entered, this thread's torch has the virtual device.

    follows: is it followed what nothing has written?
    """

    def __init__(self) -> None:
        super().__init__()
        self.follows = unwritten.is_followed()

    def __torch_function__(
        self, func: Function, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        handler: Function = _SPECIAL.get(func, _call)
        if self.follows:
            return unwritten.followed(handler, func, args, kwargs or {})
        return handler(func, args, kwargs or {})
