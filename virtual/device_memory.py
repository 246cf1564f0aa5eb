"""Which tensors are on the virtual device, and at which device addresses.

A tensor is on the device when its storage is: storages live in host memory, and those of the device carry an
`Allocation` as an attribute, which torch keeps for as long as the storage lives. Views, parameters and detached tensors
share the storage, so they are on the device without being told. A storage gets its address when somebody first asks for
it, keeps it while it lives, and the emulator finds it there; once it is gone an access to the address is a fault.
"""

import ctypes
import threading
import weakref
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from mxsub.virtual.memory import Buffer, GlobalMemory

_ATTRIBUTE = "_mxsub_allocation"

# Addresses are handed out upwards, as far apart as 32-bit offsets reach, and used again only after all of them were.
_FIRST, _END = 1 << 44, 1 << 47
_GAP = 1 << 32
_ALIGNMENT = 2 << 20


@dataclass
class Allocation:
    """What the device knows of a storage.

    buffer: its place in the emulator's memory, once it has one.
    host: (address, bytes) of the memory behind the buffer; they change when the storage is resized.
    stands_for: where it is a stand-in for a tensor too large to be worth memory, such as one that flushes caches, the
    bytes of that; else 0.
    unwritten: of each byte 1 where nothing has written it, where that is followed (unwritten.py). made_at: then, the
    line that made it.
    """

    buffer: Buffer | None = None
    host: tuple[int, int] = (0, 0)
    stands_for: int = 0
    unwritten: np.ndarray[Any, np.dtype[np.uint8]] | None = None
    made_at: str = ""

    def marks_of_unwritten(self, size: int) -> np.ndarray[Any, np.dtype[np.uint8]] | None:
        """`unwritten` for a storage of `size` bytes now, which may have been resized since; new bytes are unwritten."""
        if self.unwritten is not None and len(self.unwritten) != size:
            kept = self.unwritten[:size]
            self.unwritten = np.concatenate([kept, np.ones(size - len(kept), np.uint8)])
        return self.unwritten


def _storage_of(tensor: torch.Tensor) -> torch.UntypedStorage | None:
    while torch._C._functorch.is_functorch_wrapped_tensor(tensor):  # inside vmap and the like
        tensor = torch._C._functorch.get_unwrapped(tensor)
    try:
        return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):
        # A sparse tensor has no storage: it is on no device.
        return None


def allocation_of(tensor: torch.Tensor) -> Allocation | None:
    """The allocation of a tensor's storage; None for a tensor that is not on the device."""
    return getattr(_storage_of(tensor), _ATTRIBUTE, None)


def on_device(tensor: torch.Tensor) -> bool:
    """Is the tensor's storage on the device?"""
    return hasattr(_storage_of(tensor), _ATTRIBUTE)


def put_on_device(tensor: torch.Tensor, stands_for: int = 0) -> None:
    """Put the tensor's storage, and so all views of it, on the device."""
    storage = _storage_of(tensor)
    if storage is not None and not hasattr(storage, _ATTRIBUTE):
        setattr(storage, _ATTRIBUTE, Allocation(stands_for=stands_for))


def label(name: str, tensor: torch.Tensor) -> str:
    """What messages call a buffer: `b_ptr (uint8 [180, 4096])`."""
    return f"{name} ({str(tensor.dtype).removeprefix('torch.')} {list(tensor.shape)})"


class DeviceMemory:
    """The addresses of all storages on the device, and the emulator's memory that they point into.

    memory: what a launch reads and writes. Call `free_dead()` before one.
    lock: held while addresses change, and during a launch.
    """

    def __init__(self) -> None:
        self.memory = GlobalMemory()
        self.lock = threading.RLock()
        self._next = _FIRST
        self._live: dict[int, Buffer] = {}
        # Finalizers run at any time, in the middle of a launch too, so they only leave a note here.
        self._dead: deque[Buffer] = deque()

    def address(self, tensor: torch.Tensor, name: str = "") -> int:
        """The device address of the tensor's first element; 0 for a tensor without memory.

        name: what faults shall call the storage from now on; where there is none it keeps the one it has.
        Raises RuntimeError when the tensor is not on the device.
        """
        storage, allocation = _storage_of(tensor), allocation_of(tensor)
        if storage is None or allocation is None:
            raise RuntimeError("virtual MI355X: a tensor on the CPU has no device address")
        host = storage.data_ptr()
        if not host or not tensor.data_ptr():
            return 0
        with self.lock:
            if allocation.buffer is None or allocation.host != (host, storage.nbytes()):
                self._map(storage, allocation, name or label("a tensor", tensor))
            elif name:
                allocation.buffer.name = name
        assert allocation.buffer is not None
        return allocation.buffer.base + tensor.data_ptr() - host

    def free_dead(self) -> None:
        """Take storages that no longer live out of the emulator's memory."""
        with self.lock:
            while self._dead:
                self._unmap(self._dead.popleft())

    def _map(self, storage: torch.UntypedStorage, allocation: Allocation, name: str) -> None:
        self.free_dead()
        host, size = storage.data_ptr(), storage.nbytes()
        if allocation.buffer is None:
            # An allocation is its storage's alone, and dies with it.
            weakref.finalize(storage, self._storage_died, allocation).atexit = False
        else:
            self._unmap(allocation.buffer)
        # By address: a view that owned the storage would keep it alive.
        data = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(host))
        allocation.buffer = self.memory.map(name, data, base=self._free_address(size))
        allocation.host = (host, size)
        allocation.buffer.unwritten = allocation.marks_of_unwritten(size)
        self._live[allocation.buffer.base] = allocation.buffer

    def _storage_died(self, allocation: Allocation) -> None:
        if allocation.buffer is not None:
            self._dead.append(allocation.buffer)

    def _unmap(self, buffer: Buffer) -> None:
        del self._live[buffer.base]
        self.memory.unmap(buffer)

    def _free_address(self, size: int) -> int:
        base = self._next
        rounds = 0
        while True:
            if base + size > _END:
                base, rounds = _FIRST, rounds + 1
                if rounds > 1:
                    raise RuntimeError("HIP out of memory: the virtual MI355X has no addresses left")
            taken = [
                b for b in self._live.values() if b.base < base + size + _GAP and base < b.base + len(b.data) + _GAP
            ]
            if not taken:
                break
            base = _aligned(max(b.base + len(b.data) for b in taken) + _GAP)
        self._next = _aligned(base + size + _GAP)
        return base


def _aligned(address: int) -> int:
    return -(-address // _ALIGNMENT) * _ALIGNMENT


DEVICE_MEMORY = DeviceMemory()


def is_stand_in(tensor: Any) -> bool:
    """Is it a tensor that is too large for the virtual device to give it memory?"""
    allocation = allocation_of(tensor)
    return allocation is not None and allocation.stands_for > 0
