"""Mistakes that pass on the CPU and fail on a GPU: operands, indices and generators of another device."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

# Functions that want all operands on one device, by name without underscores: `__add__`, `add_` and `add` are one.
# Others, such as copy_(), to() and the *_like factories, take what comes.
_NAMES = """
    add radd iadd sub rsub isub subtract mul rmul imul multiply div truediv rtruediv itruediv divide floordiv
    rfloordiv floor_divide remainder fmod mod rmod pow rpow atan2 hypot maximum minimum fmax fmin lerp addcmul
    addcdiv matmul rmatmul imatmul mm bmm mv dot vdot inner outer addmm addmv addbmm baddbmm einsum tensordot linear
    bilinear scaled_dot_product_attention embedding conv1d conv2d conv3d cat concat concatenate stack hstack vstack
    dstack where masked_fill masked_select gather scatter index_select eq ne lt le gt ge equal allclose isclose and
    or xor rand ror rxor iand ior ixor logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor
    mse_loss l1_loss cross_entropy layer_norm
"""
_ONE_DEVICE = frozenset(_NAMES.split())


def check_same_device(function: Callable[..., Any], tensors: Sequence[torch.Tensor], there: Sequence[bool]) -> None:
    """Raise RuntimeError, in torch's words, when a function's operands are on two devices.

    tensors: some on the device and some not, as `there` says; single numbers on the CPU may join any.
    """
    if getattr(function, "__name__", "").strip("_") not in _ONE_DEVICE:
        return
    if any(not is_there and tensor.dim() for tensor, is_there in zip(tensors, there, strict=True)):
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
        )


def check_indices(indexed_there: bool, indices: Sequence[torch.Tensor], there: Sequence[bool]) -> None:
    """Raise RuntimeError, in torch's words, when a tensor on the CPU is indexed with one on the device."""
    if not indexed_there and any(t and i.dim() for i, t in zip(indices, there, strict=True)):
        raise RuntimeError("indices should be either on cpu or on the same device as the indexed tensor (cpu)")


def check_generator(generator: torch.Generator, result_there: bool) -> None:
    """Raise RuntimeError, in torch's words, when a generator is not of the device that its numbers go to."""
    wanted = "cuda" if result_there else "cpu"
    if generator.device.type != wanted:
        raise RuntimeError(f"Expected a '{wanted}' device type for generator but found '{generator.device.type}'")
