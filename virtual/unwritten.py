"""Which bytes of tensors made by torch.empty() nothing has written yet; for the sanitizer `init`.

Kernels' stores are taken down by the sanitizer itself (sanitizers/definedness.py), in the same arrays. Here are torch's
functions: those that make tensors, those that write in place, and all others, which read what they are given.
"""

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from mxsub.virtual import SAMPLE_VARIABLE, WATCH_VARIABLE, launch_log
from mxsub.virtual.device_memory import allocation_of, label
from mxsub.virtual.findings import Finding

Function = Callable[..., Any]
T = torch.Tensor

_MAKERS = {torch.empty, torch.empty_like, torch.empty_strided, torch.empty_permuted, T.new_empty, T.new_empty_strided}
# What asks a tensor for its form, or gives a new one of the same.
_FORM = """
    size stride dim ndimension numel nelement element_size storage_offset is_contiguous data_ptr untyped_storage storage
    _typed_storage is_floating_point is_complex is_pinned get_device is_signed type __len__ __hash__ __get__ __set__
    requires_grad_ retain_grad register_hook record_stream is_set_to is_shared data_dependent __class__
    t_ transpose_ squeeze_ unsqueeze_ swapaxes_ swapdims_ as_strided_ resize_ resize_as_ set_ detach_ rename_
    share_memory_ zeros_like ones_like full_like rand_like randn_like randint_like new_zeros new_ones new_full
    new_tensor result_type can_cast broadcast_shapes __deepcopy__
"""
_ASKS_FORM = frozenset(_FORM.split())


def is_followed() -> bool:
    """Does this process follow what nothing has written? The sanitizer and samples do."""
    return "init" in os.environ.get(WATCH_VARIABLE, "").split(",")


def followed(call: Function, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """call(function, args, kwargs), with what it makes, writes and reads taken down."""
    if function in _MAKERS:
        result = call(function, args, kwargs)
        _made(result)
        return result
    name = getattr(function, "__name__", "").removeprefix("_foreach_")
    if name in _ASKS_FORM or not _followed_tensors((*args, *kwargs.values())):
        return call(function, args, kwargs)
    inputs, targets = _inputs(name, args, kwargs), _targets(name, args, kwargs)
    in_part = _writes_in_part(name, args)
    result = call(function, args, kwargs)
    views = _storages((result,)) - _storages(tuple(targets))
    for tensor in inputs:
        if tensor.untyped_storage()._cdata not in views:
            _read(tensor, name)
    for target in targets:
        if in_part:
            _written_in_part(target, function, args, kwargs)
        else:
            _written(target)
    return result


def _storages(values: tuple[Any, ...]) -> set[int]:
    return {tensor.untyped_storage()._cdata for tensor in _followed_tensors(values)}


def _followed_tensors(values: tuple[Any, ...]) -> list[torch.Tensor]:
    found: list[torch.Tensor] = []
    for value in values:
        if isinstance(value, T):
            allocation = allocation_of(value)
            if allocation is not None and allocation.unwritten is not None:
                found.append(value)
        elif isinstance(value, (tuple, list)):
            found += _followed_tensors(tuple(value))
    return found


def _is_in_place(name: str) -> bool:
    return (name.endswith("_") and not name.endswith("__")) or name in _IN_PLACE_OPERATORS or name == "__setitem__"


def _inputs(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[torch.Tensor]:
    """The tensors that a function reads: all but out=, and but the first where it is only written."""
    only_written = name in _ONLY_WRITE or name in _WRITE_IN_PART or name == "__setitem__"
    values = args[1:] if only_written else args
    return _followed_tensors((*values, *(value for key, value in kwargs.items() if key != "out")))


def _targets(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[torch.Tensor]:
    """The tensors that a function writes to: the first of one whose name ends in an underscore, or out=."""
    values = [kwargs[key] for key in ("out",) if key in kwargs]
    if name == "__setitem__":
        part = _part(args[0], args[1])
        values.append(args[0] if part is None else part)
    elif _is_in_place(name):
        values.append(args[0])
    return _followed_tensors(tuple(values))


def _writes_in_part(name: str, args: tuple[Any, ...]) -> bool:
    return name in _WRITE_IN_PART or (name == "__setitem__" and _part(args[0], args[1]) is None)


def _part(tensor: torch.Tensor, index: Any) -> torch.Tensor | None:
    """The view that an assignment writes to; None where the index, such as a mask, makes none."""
    with torch._C.DisableTorchFunction():
        part = tensor[index]
        return part if part.untyped_storage()._cdata == tensor.untyped_storage()._cdata else None


_IN_PLACE_OPERATORS = tuple(
    f"__i{operator}__" for operator in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor")
)
# Those that do not read what they write to; all others that work in place do.
_FILL = "fill_ zero_ copy_ normal_ uniform_ random_ bernoulli_ exponential_ geometric_ log_normal_ cauchy_"
_ONLY_WRITE = frozenset(_FILL.split())
# Those that leave some elements as they are.
_FILL_IN_PART = "scatter_ index_copy_ index_fill_ index_put_ masked_fill_ masked_scatter_ put_ fill_diagonal_"
_WRITE_IN_PART = frozenset(_FILL_IN_PART.split())


def _made(result: Any) -> None:
    if not isinstance(result, T):
        return
    allocation = allocation_of(result)
    if allocation is None or allocation.stands_for:
        return
    allocation.unwritten = np.ones(result.untyped_storage().nbytes(), np.uint8)
    allocation.made_at = _caller()


def _elements(tensor: torch.Tensor) -> npt.NDArray[Any]:
    """A view of the marks of a tensor's bytes, (*shape, bytes of an element)."""
    allocation = allocation_of(tensor)
    assert allocation is not None
    marks = allocation.marks_of_unwritten(tensor.untyped_storage().nbytes())
    assert marks is not None
    size = tensor.element_size()
    return np.lib.stride_tricks.as_strided(
        marks[tensor.storage_offset() * size :],
        (*tensor.shape, size),
        (*(stride * size for stride in tensor.stride()), 1),
    )


def _written(tensor: torch.Tensor) -> None:
    with torch._C.DisableTorchFunction():
        if tensor.numel():
            _elements(tensor)[...] = 0


def _written_in_part(
    target: torch.Tensor, function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> None:
    """Marks what a function has written that leaves the other elements: what is the same afterwards, whatever was there
    before."""
    with torch._C.DisableTorchFunction(), torch.no_grad():
        unwritten = _elements(target)
        if not unwritten.any():
            return
        outcomes = []
        for byte in (0, 255):
            probe = torch.empty(target.shape, dtype=target.dtype)
            content = torch.empty(0, dtype=torch.uint8).set_(probe.untyped_storage()).fill_(byte)
            function(probe, *args[1:], **kwargs)
            outcomes.append(content.numpy().reshape(unwritten.shape))
        unwritten[outcomes[0] == outcomes[1]] = 0


def _read(tensor: torch.Tensor, function: str) -> None:
    with torch._C.DisableTorchFunction():
        if not tensor.numel():
            return
        unwritten = _elements(tensor).any(-1)
        count = int(unwritten.sum())
        if not count or os.environ.get(SAMPLE_VARIABLE):  # of a sample it is no fault
            return
        allocation = allocation_of(tensor)
        assert allocation is not None
        first = [int(index) for index in np.argwhere(unwritten)[0]]
        name = allocation.buffer.name if allocation.buffer is not None else label("a tensor", tensor)
        _written(tensor)  # said once
    sentence = (
        f"{name} is read by {function} while {count:,} of its {tensor.numel():,} elements, first {first}, were never "
        "written: on the hardware they hold whatever was in memory"
    )
    finding = Finding("init", sentence, allocation.made_at, "torch.empty", f"read at {_caller()}", 1)
    launch_log.record({"event": "finding", "kernel": "", **finding.to_dict()})


def written_elements(tensor: torch.Tensor) -> torch.Tensor | None:
    """Of each element whether all of it was written, bool of the tensor's shape on the CPU; None where that is not
    followed."""
    with torch._C.DisableTorchFunction():
        allocation = allocation_of(tensor)
        if allocation is None or allocation.unwritten is None:
            return None
        return torch.from_numpy(~_elements(tensor).any(-1))


def _caller() -> str:
    """`file.py:line` of the code that called torch, outside of torch and mxsub's virtual device."""
    frame = sys._getframe(1)
    own, torchs = os.path.dirname(__file__), os.path.dirname(torch.__file__)
    while frame.f_back is not None and frame.f_code.co_filename.startswith((own, torchs)):
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
