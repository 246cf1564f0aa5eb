"""Results in words: when they are the same, and how far apart they are."""

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]

_FLOATS = {"f64": np.float64, "f32": np.float32, "f16": np.float16}


def canonical(words: Words, held: str) -> Words:
    """The words with one NaN in place of all."""
    words = np.ascontiguousarray(words)
    if held in _FLOATS:
        bits = words.view(f"u{np.dtype(_FLOATS[held]).itemsize}")
        return np.where(np.isnan(bits.view(_FLOATS[held])), bits.dtype.type(-1 & np.iinfo(bits.dtype).max), bits)
    if held == "bf16":
        bits = words.view(np.uint16)
        return np.where(bits & 0x7FFF > 0x7F80, np.uint16(0xFFFF), bits)
    if held in ("fp8", "bf8"):
        bits = words.view(np.uint8)
        return np.where(bits & 0x7F > (0x7E if held == "fp8" else 0x7C), np.uint8(0xFF), bits)
    return words


def _ordered(words: Words, held: str) -> npt.NDArray[np.object_]:
    """Numbers as integers in their order; with 0 for both zeros. All NaNs are one."""
    bits = canonical(words, held)
    width = 8 * bits.dtype.itemsize
    sign = bits >> bits.dtype.type(width - 1)
    magnitude = (bits & bits.dtype.type((1 << width - 1) - 1)).astype(object)
    return np.where(sign == 1, -magnitude, magnitude)


def ulps_apart(got: Words, want: Words, held: str) -> npt.NDArray[np.object_]:
    return abs(_ordered(got, held) - _ordered(want, held)).max(1)


def distance(got: Words, want: Words, held: str) -> npt.NDArray[np.float64]:
    with np.errstate(all="ignore"):
        x, y = (np.ascontiguousarray(w).view(_FLOATS[held]).astype(np.float64) for w in (got, want))
        apart = np.abs(x - y)
    return np.where(np.isnan(x) & np.isnan(y), 0, np.where(np.isnan(apart), np.inf, apart)).max(1)
