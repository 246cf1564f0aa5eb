"""What a lane moves with a load or a store, and how registers hold it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.waves import Waves

Array = npt.NDArray[Any]
U8, U16, U32 = np.uint8, np.uint16, np.uint32


@dataclass(frozen=True)
class Piece:
    """size: bytes. signed: a load extends the sign. half: the half of the register that takes part, None for all."""

    size: int
    signed: bool = False
    half: int | None = None


_DWORDS = {"dword": Piece(4), "dwordx2": Piece(8), "dwordx3": Piece(12), "dwordx4": Piece(16)}
_WORDS = {"b32": Piece(4), "b64": Piece(8), "b96": Piece(12), "b128": Piece(16)}

# The end of an opcode's name -> what it moves: of loads and stores on global memory and scratch, and of those on LDS.
LOADS = {
    **_DWORDS,
    "ubyte": Piece(1),
    "sbyte": Piece(1, True),
    "ushort": Piece(2),
    "sshort": Piece(2, True),
    "ubyte_d16": Piece(1, False, 0),
    "ubyte_d16_hi": Piece(1, False, 1),
    "sbyte_d16": Piece(1, True, 0),
    "sbyte_d16_hi": Piece(1, True, 1),
    "short_d16": Piece(2, False, 0),
    "short_d16_hi": Piece(2, False, 1),
}
STORES = {
    **_DWORDS,
    "byte": Piece(1),
    "byte_d16_hi": Piece(1, False, 1),
    "short": Piece(2),
    "short_d16_hi": Piece(2, False, 1),
}
LDS_READS = {
    **_WORDS,
    "u8": Piece(1),
    "i8": Piece(1, True),
    "u16": Piece(2),
    "i16": Piece(2, True),
    "u8_d16": Piece(1, False, 0),
    "u8_d16_hi": Piece(1, False, 1),
    "i8_d16": Piece(1, True, 0),
    "i8_d16_hi": Piece(1, True, 1),
    "u16_d16": Piece(2, False, 0),
    "u16_d16_hi": Piece(2, False, 1),
}
LDS_WRITES = {
    **_WORDS,
    "b8": Piece(1),
    "b8_d16_hi": Piece(1, False, 1),
    "b16": Piece(2),
    "b16_d16_hi": Piece(2, False, 1),
}


def put(waves: Waves, first: int, data: Array, piece: Piece, mask: Array | None) -> None:
    """Bytes of each lane, uint8 (waves, 64, size), into registers from `first` on."""
    if piece.size >= 4:
        words = np.ascontiguousarray(data).view(U32)
        if words.shape[-1] == 1:
            waves.write(first, words[..., 0], mask)
            return
        # One copy in which each register is contiguous: everything later reads it.
        for k, word in enumerate(np.ascontiguousarray(np.moveaxis(words, -1, 0))):
            waves.write(first + k, word, mask)
        return
    value = data.view(f"{'i' if piece.signed else 'u'}{piece.size}")[..., 0]
    word = value.astype(np.int32).view(U32) if piece.signed else value.astype(U32)
    if piece.half is not None:
        kept = waves.v[first] & U32(0x0000FFFF if piece.half else 0xFFFF0000)
        word = (word & U32(0xFFFF)) << U32(16 * piece.half) | kept
    waves.write(first, word, mask)


def get(waves: Waves, first: int, piece: Piece) -> Array:
    """Registers from `first` on to the bytes of each lane, uint8 (waves, 64, size), or 1 in place of either."""
    words = [waves.v[first + k] for k in range(max(piece.size // 4, 1))]
    joined = np.stack(np.broadcast_arrays(*words), -1)
    data = (joined >> U32(16) if piece.half else joined).view(U8)
    return data[..., : piece.size]
