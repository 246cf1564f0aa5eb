"""Operands for the tests of arithmetic: corner values and random ones, by type."""

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint32]

_F32 = [
    0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x3F000000, 0x3FC00000, 0x40200000, 0xC0200000, 0x7F7FFFFF,
    0xFF7FFFFF, 0x00800000, 0x80800000, 0x007FFFFF, 0x00000001, 0x80000001, 0x7F800000, 0xFF800000, 0x7FC00000,
    0xFFC12345, 0x7F800001, 0xFFA00000, 0x4F000000, 0xCF000000, 0x4F800000, 0x3EFFFFFF, 0x437F0000, 0x47800000,
    0x7E800000, 0x7F000000,
]  # fmt: skip
_F16 = [
    0x0000, 0x8000, 0x3C00, 0xBC00, 0x3800, 0x3E00, 0x4100, 0x7BFF, 0xFBFF, 0x0400, 0x03FF, 0x0001, 0x8001,
    0x7C00, 0xFC00, 0x7E00, 0xFE12, 0x7C01, 0xFD00, 0x6400, 0x77FF,
]  # fmt: skip
_BF16 = [0x0000, 0x8000, 0x3F80, 0xBF80, 0x3F00, 0x7F7F, 0xFF7F, 0x0080, 0x0001, 0x7F80, 0xFF80, 0x7FC0, 0x7F81, 0x4080]
_F64 = [
    0x0000000000000000, 0x8000000000000000, 0x3FF0000000000000, 0xBFF0000000000000, 0x3FE0000000000000,
    0x4004000000000000, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, 0x0010000000000000, 0x000FFFFFFFFFFFFF,
    0x0000000000000001, 0x8000000000000001, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000,
    0x7FF0000000000001, 0xFFF4000000000000, 0x41DFFFFFFFC00000, 0x41E0000000000000, 0xC1E0000000200000,
    0x41EFFFFFFFE00000, 0x47EFFFFFE0000000, 0x47EFFFFFF0000000, 0x36A0000000000000, 0x7FD0000000000000,
    0x7FE0000000000000, 0x7BE0000000000000,
]  # fmt: skip
_I32 = [
    0, 1, 2, 3, 7, 15, 16, 31, 32, 63, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFF,
    0x800000, 0xFFFFFF, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFF8000, 0xFFFF7FFF,
    0xFFFFFF80,
]  # fmt: skip
_SCALE_FIELDS = [0, 1, 2, 30, 100, 200, 253, 254, 255]


class Operands:
    """Draws the operands of one test."""

    def __init__(self, random: np.random.Generator, lanes: int) -> None:
        self._random = random
        self.lanes = lanes

    def of(self, kind: str) -> Words:
        """Words, (lanes, registers), of a type as the emulator's tables name it, of 'scale', or of 'bf16' or 'f16'
        twice in a word."""
        count, star, kind = kind.rpartition("*")
        if star:
            return np.concatenate([self.of(kind) for _ in range(int(count))], axis=1)
        if kind == "2xf32":
            return np.concatenate([self.of("f32"), self.of("f32")], axis=1)
        kind = kind.rstrip("^+")
        if kind in ("f64", "u64", "i64"):
            return self._wide(kind)
        return getattr(self, f"_{kind.removeprefix('2x')}")().astype(np.uint32)[:, None]

    def mask(self) -> npt.NDArray[np.bool_]:
        return self._random.integers(0, 2, self.lanes).astype(np.bool_)

    def active(self) -> npt.NDArray[np.bool_]:
        """Most lanes, but not all."""
        on = self._random.random(self.lanes) < 0.9
        on[self._random.integers(0, 64)] = False
        return on

    def _mixed(self, corners: list[int], others: npt.NDArray[np.uint64], share: float = 0.5) -> npt.NDArray[np.uint64]:
        picked = self._random.choice(np.array(corners, np.uint64), self.lanes)
        return np.where(self._random.random(self.lanes) < share, picked, others)

    def _bits(self, bits: int) -> npt.NDArray[np.uint64]:
        return self._random.integers(0, 1 << bits, self.lanes, dtype=np.uint64)

    def _f32(self) -> npt.NDArray[np.uint64]:
        ordinary = (self._random.standard_normal(self.lanes) * 8).astype(np.float32).view(np.uint32).astype(np.uint64)
        others = np.where(self._random.random(self.lanes) < 0.4, self._bits(32), ordinary)
        return self._mixed(_F32, others, 0.4)

    def _f16(self) -> npt.NDArray[np.uint64]:
        return self._half(_F16) | self._half(_F16) << np.uint64(16)

    def _bf16(self) -> npt.NDArray[np.uint64]:
        return self._half(_BF16) | self._half(_BF16) << np.uint64(16)

    def _half(self, corners: list[int]) -> npt.NDArray[np.uint64]:
        if corners is _F16:
            ordinary = (self._random.standard_normal(self.lanes) * 4).astype(np.float16).view(np.uint16)
        else:
            ordinary = (self._random.standard_normal(self.lanes) * 4).astype(np.float32).view(np.uint32) >> 16
        others = np.where(self._random.random(self.lanes) < 0.4, self._bits(16), ordinary.astype(np.uint64))
        return self._mixed(corners, others, 0.4)

    def _u32(self) -> npt.NDArray[np.uint64]:
        return self._mixed(_I32, self._bits(32))

    _i32 = _u32

    def _u16(self) -> npt.NDArray[np.uint64]:
        low, high = (self._mixed(_I32, self._bits(16)) & np.uint64(0xFFFF) for _ in range(2))
        return low | high << np.uint64(16)

    _i16 = _u16

    def _scale(self) -> npt.NDArray[np.uint64]:
        near = self._random.integers(122, 133, self.lanes).astype(np.uint64)
        return self._mixed(_SCALE_FIELDS, near, 0.15) << np.uint64(23) | self._bits(23) | self._bits(1) << np.uint64(31)

    def _exponent(self) -> npt.NDArray[np.uint64]:
        """float32 from -160 to 160, or others."""
        near = (self._random.random(self.lanes) * 320 - 160).astype(np.float32).view(np.uint32)
        return self._mixed(_F32, near.astype(np.uint64), 0.2)

    def _selector(self) -> npt.NDArray[np.uint64]:
        """Bytes up to 15."""
        return self._bits(32) & np.uint64(0x0F0F0F0F)

    def _shift(self) -> npt.NDArray[np.uint64]:
        """Small numbers of either sign, mostly."""
        near = self._random.integers(-200, 200, self.lanes).astype(np.int32).view(np.uint32)
        return self._mixed(_I32, near.astype(np.uint64), 0.2)

    def _seed(self) -> npt.NDArray[np.uint64]:
        return self._bits(32)

    def _wide(self, kind: str) -> Words:
        if kind == "f64":
            scale = 2.0 ** self._random.integers(-40, 40, self.lanes)
            ordinary = (self._random.standard_normal(self.lanes) * scale).view(np.uint64)
            others = np.where(self._random.random(self.lanes) < 0.4, self._bits(63) << np.uint64(1), ordinary)
            words = self._mixed(_F64, others, 0.4)
        else:
            high = self._mixed(_I32, self._bits(32)) << np.uint64(32)
            words = self._mixed(_I32, self._bits(32)) | high
        return np.ascontiguousarray(words).view(np.uint32).reshape(self.lanes, 2)
