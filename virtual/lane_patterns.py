"""Which lane gets its value from which: the DPP modifiers and the patterns of ds_swizzle_b32."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.faults import UnsupportedForm

Array = npt.NDArray[Any]

_LANE = np.arange(64)
_ROW = _LANE & 48
_WITHIN = _LANE & 15
_EVERY = np.ones(64, np.bool_)

# name -> function of the modifier's value: (lane that each lane reads from, is there such a lane)
_DPP: dict[str, Callable[[Any], tuple[Array, Array]]] = {
    "quad_perm": lambda value: ((_LANE & 60) + np.array(value)[_LANE & 3], _EVERY),
    "row_shl": lambda value: (_LANE + value, _WITHIN + value < 16),
    "row_shr": lambda value: (_LANE - value, value <= _WITHIN),
    "row_ror": lambda value: (_ROW + (_WITHIN - value & 15), _EVERY),
    "row_mirror": lambda _: (_ROW + 15 - _WITHIN, _EVERY),
    "row_half_mirror": lambda _: ((_LANE & 56) + 7 - (_LANE & 7), _EVERY),
    "row_newbcast": lambda value: (_ROW + value, _EVERY),
    "row_bcast": lambda value: (_ROW - 1, _LANE >= 16) if value == 15 else (np.full(64, 31), _LANE >= 32),
    "wave_shl": lambda _: (_LANE + 1, _LANE < 63),
    "wave_rol": lambda _: (_LANE + 1 & 63, _EVERY),
    "wave_shr": lambda _: (_LANE - 1, _LANE > 0),
    "wave_ror": lambda _: (_LANE - 1 & 63, _EVERY),
}


def dpp_pattern(modifiers: dict[str, Any]) -> tuple[Array, Array, Array]:
    """The three arrays of 64: the lane each lane reads from, is there one, may the lane be written."""
    names = [name for name in modifiers if name in _DPP]
    if len(names) != 1:
        raise UnsupportedForm("DPP control")
    source, valid = _DPP[names[0]](modifiers[names[0]])
    rows = modifiers.get("row_mask", 15) >> (_LANE // 16) & 1
    banks = modifiers.get("bank_mask", 15) >> (_WITHIN // 4) & 1
    return np.where(valid, source, 0), valid, (rows & banks).astype(np.bool_)


# The compiler's names of patterns -> function of their numbers: the lane that each lane reads from.
_NAMED_SWIZZLES: dict[str, Callable[..., Array]] = {
    "QUAD_PERM": lambda *lanes: (_LANE & 60) + np.array(lanes)[_LANE & 3],
    "BROADCAST": lambda size, lane: _LANE // size * size + lane,
    "SWAP": lambda size: _LANE ^ size,
    "REVERSE": lambda size: _LANE ^ (size - 1),
    "FFT": lambda kept: _reversed(kept),
    "ROTATE": lambda right, count: _rotated(-count if right else count, 0),
}
_NAMED_SWIZZLE = re.compile(r"swizzle\((\w+),(.*)\)$")


def swizzle_pattern(offset: int | str) -> Array:
    """The lane that each lane reads from, for the offset of a ds_swizzle_b32, a number or `swizzle(SWAP,16)`.

    Its modes, from the highest numbers on: FFT, rotation, within quads, by bit masks within 32 lanes. Source: AMD's
    CDNA4 manual, DS_SWIZZLE_B32.
    """
    if isinstance(offset, str):
        match = _NAMED_SWIZZLE.match(offset)
        if not match or match[1] not in (*_NAMED_SWIZZLES, "BITMASK_PERM"):
            raise UnsupportedForm("this pattern of ds_swizzle")
        if match[1] == "BITMASK_PERM":
            return _bit_permutation(match[2].strip().strip('"'))
        return _NAMED_SWIZZLES[match[1]](*(int(number) for number in match[2].split(",")))
    low, middle, high = offset & 31, offset >> 5 & 31, offset >> 10 & 31
    if offset >= 0xE000:
        return _reversed(low)
    if offset >= 0xC000:
        return _rotated(-middle if high & 1 else middle, low)
    if offset >= 0x8000:
        return (_LANE & 60) + (offset >> 2 * (_LANE & 3) & 3)
    return (_LANE & 32) + (((_LANE & low) | middle) ^ high)


def _reversed(kept: int) -> Array:
    """The five low bits of the lane's number turned round, but for those in the mask, which stay."""
    turned = sum((_LANE >> bit & 1) << 4 - bit for bit in range(5))
    return (_LANE & 32) + (turned >> kept.bit_count() | _LANE & kept)


def _rotated(count: int, kept: int) -> Array:
    """From so many lanes on among 32, but for the bits of the lane's number in the mask, which stay."""
    return (_LANE & 32) + (_LANE & kept | _LANE + count & 31 & ~kept)


def _bit_permutation(text: str) -> Array:
    """Five letters, for the bits of the lane's number from the highest on: 0, 1, p(reserved), i(nverted)."""
    source = _LANE & 32
    for bit, letter in zip((16, 8, 4, 2, 1), text, strict=True):
        source = source + {"0": 0 * _LANE, "1": bit + 0 * _LANE, "p": _LANE & bit, "i": ~_LANE & bit}[letter]
    return source
