"""The kernel-argument segment of a launch: from Python values to the bytes that Triton's own AMD launcher passes.

Triton's signature of a kernel maps argument names to types: `*bf16`, `i32`, `fp32`, `constexpr`, `tensordesc<...>`, or
a tuple of types. The kernel takes all of them but the constexprs, in order, tuples and tensor descriptors taken apart,
and then two pointers to scratch memory. Where each one goes is in the metadata of the assembly.
"""

import ctypes
import operator
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mxsub.virtual import metadata

INTEGER_SIZES = {
    "i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "u1": 1, "u8": 1, "u16": 2, "u32": 4, "u64": 8,
}  # fmt: skip
FLOAT_SIZES = {"fp16": 2, "bf16": 2, "fp32": 4, "f32": 4, "fp64": 8}


class Argument(NamedTuple):
    """One value that a kernel takes.

    name: as in the kernel's signature; `t[1]` in a tuple, `d.base` of a descriptor.
    type: Triton's name of it.
    position: its number as Triton's launcher counts, constexprs included.
    """

    name: str
    type: str
    position: int
    value: Any


def _descriptor_fields(type_name: str, descriptor: Any) -> Iterator[tuple[str, str, Any]]:
    """-> (suffix, type, value) of a host-side TensorDescriptor: base, shape, strides, flags, shape, strides."""
    element = re.match(r"tensordesc<([^\[>]*)", type_name)
    assert element is not None, type_name
    yield ".base", "*" + element[1], descriptor.base
    yield from ((f".{field}", "i64", x) for field in ("shape", "strides") for x in getattr(descriptor, field))
    yield ".padding", "i1", descriptor.padding == "nan"
    if hasattr(descriptor, "round_f32_to_tf32"):  # Triton 3.7 and later
        yield ".round_f32_to_tf32", "i1", descriptor.round_f32_to_tf32
    yield from ((".shape", "i32", x) for x in descriptor.shape)
    yield from ((".strides", "i64", x) for x in descriptor.strides)


def _leaves(name: str, type_name: Any, value: Any) -> Iterator[tuple[str, str, Any]]:
    if isinstance(type_name, tuple):
        for i, (inner_type, inner_value) in enumerate(zip(type_name, value, strict=True)):
            yield from _leaves(f"{name}[{i}]", inner_type, inner_value)
    elif type_name.startswith("tensordesc"):
        for suffix, field_type, field_value in _descriptor_fields(type_name, value):
            yield name + suffix, field_type, field_value
    else:
        yield name, type_name, value


def flatten(signature: Mapping[Any, Any], values: Sequence[Any]) -> list[Argument]:
    """What the kernel takes of the values passed for its signature.

    signature: {argument name: Triton type}, constexprs included. values: one for each of its entries.
    Raises TypeError when their numbers differ.
    """
    if len(values) != len(signature):
        raise TypeError(f"kernel takes {len(signature)} arguments, constexprs included ({len(values)} given)")
    leaves = (
        leaf
        for (name, type_name), value in zip(signature.items(), values, strict=True)
        for leaf in _leaves(str(name), type_name, value)
    )
    return [Argument(n, t, i, v) for i, (n, t, v) in enumerate(leaves) if t != "constexpr"]


def _packed_integer(type_name: str, value: Any) -> bytes:
    """Signed types refuse what does not fit, unsigned ones take it modulo their size: as PyArg_ParseTuple does."""
    size, number = INTEGER_SIZES[type_name], operator.index(value)
    if type_name.startswith("u") or (size == 1 and number > 0):
        return (number & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    return number.to_bytes(size, "little", signed=True)


def _packed_float(type_name: str, value: Any) -> bytes:
    number = float(value)
    if type_name == "fp64":
        return struct.pack("<d", number)
    if type_name == "fp16":
        return struct.pack("<e", number)
    single = bytes(ctypes.c_float(number))  # too large a number becomes infinity, as in C
    return single[2:] if type_name == "bf16" else single  # the AMD launcher cuts bf16 off, it does not round


def pack(
    kernel: str,
    arguments: Sequence[Argument],
    scratch: Sequence[int],
    hidden: Mapping[str, int],
    slots: Sequence[metadata.Argument],
    size: int,
    address_of: Callable[[Argument], int],
) -> bytes:
    """The kernel-argument segment, `size` bytes.

    kernel: its name, for messages. scratch: the addresses of global and profile scratch, 0 for none.
    hidden: what the runtime adds on its own, see hidden_values(). slots: the layout, in the order of the arguments
    (Program.arguments). address_of: gives the device address of a pointer argument.
    Raises RuntimeError when the layout is not the one that the arguments need.
    """
    visible = [slot for slot in slots if not slot.value_kind.startswith("hidden_")]
    if len(visible) != len(arguments) + len(scratch):
        raise RuntimeError(
            f"virtual MI355X: kernel {kernel} declares {len(visible)} arguments in its metadata, "
            f"and Triton's signature makes {len(arguments)} and {len(scratch)} scratch pointers"
        )
    packed = [_packed(argument, address_of) for argument in arguments]
    packed += [address.to_bytes(8, "little") for address in scratch]
    segment = bytearray(size)
    for i, (slot, data) in enumerate(zip(visible, packed, strict=True)):
        if slot.size != len(data):
            raise RuntimeError(
                f"virtual MI355X: argument {i} of kernel {kernel} has {slot.size} bytes in its metadata, "
                f"and Triton's signature makes {len(data)}"
            )
        segment[slot.offset : slot.offset + slot.size] = data
    for slot in slots:
        if slot.value_kind in hidden:
            value = hidden[slot.value_kind].to_bytes(slot.size, "little")
            segment[slot.offset : slot.offset + slot.size] = value
    return bytes(segment)


def hidden_values(grid: tuple[int, int, int], threads: int, lds_bytes: int, services: int) -> dict[str, int]:
    """The hidden arguments of a launch by their kind ("User Guide for AMDGPU Backend", kernel argument metadata).

    grid: workgroups along x, y, z. threads: of a workgroup. lds_bytes: that the launch adds to a workgroup's.
    services: the address that stands for what the runtime offers to kernels; newer compilers list these arguments for
    kernels, too, that use none. Grids that Triton launches are of whole workgroups and begin at 0.
    """
    group = (threads, 1, 1)
    values = {f"hidden_block_count_{axis}": count for axis, count in zip("xyz", grid, strict=True)}
    values |= {f"hidden_group_size_{axis}": count for axis, count in zip("xyz", group, strict=True)}
    values |= {f"hidden_{what}_{axis}": 0 for what in ("remainder", "global_offset") for axis in "xyz"}
    values |= dict.fromkeys((f"hidden_{service}" for service in _SERVICES), services)
    return values | {"hidden_grid_dims": 3, "hidden_dynamic_lds_size": lds_bytes}


_SERVICES = (
    "printf_buffer", "hostcall_buffer", "multigrid_sync_arg", "heap_v1", "default_queue", "completion_action",
    "queue_ptr",
)  # fmt: skip


def _packed(argument: Argument, address_of: Callable[[Argument], int]) -> bytes:
    if argument.type.startswith("*"):
        return (address_of(argument) & (1 << 64) - 1).to_bytes(8, "little")
    if argument.type in INTEGER_SIZES:
        return _packed_integer(argument.type, argument.value)
    return _packed_float(argument.type, argument.value)
