"""The MODE register: how floating-point arithmetic rounds, what becomes of denormals and of overflows.

LLVM's "User Guide for AMDGPU Backend" has its fields. What Triton compiles rounds to nearest even, keeps denormals,
follows IEEE 754 for signalling NaNs, and clamps NaN to 0; the emulator has no other arithmetic. The one field that a
kernel may change is FP16_OVFL, with which results that overflow a format of 16 or 8 bits become its largest number:
Triton sets it in every kernel that converts to fp8.
"""

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.faults import UnsupportedForm, UnsupportedInstruction

Array = npt.NDArray[Any]

OVERFLOW_CLAMPED = 1 << 23
_KEEPS_DENORMALS, _DX10_CLAMP, _IEEE = 0xF0, 1 << 8, 1 << 9
# The fields that are as the emulator needs them: rounding, denormals, DX10_CLAMP, IEEE.
_FIXED = 0x3FF
_FIXED_VALUE = _KEEPS_DENORMALS | _DX10_CLAMP | _IEEE

_HARDWARE_REGISTER = re.compile(r"hwreg\(\s*(\w+)\s*(?:,\s*(\d+)\s*,\s*(\d+)\s*)?\)")


def initial_mode(directives: dict[str, int]) -> int:
    """MODE when a wave starts, by the settings of the kernel descriptor."""
    return _FIXED_VALUE | (OVERFLOW_CLAMPED if directives.get("fp16_overflow") else 0)


def check_mode(directives: dict[str, int]) -> None:
    """Raises UnsupportedInstruction where the kernel starts in a mode that is not emulated."""
    for size in ("32", "16_64"):
        if directives.get(f"float_denorm_mode_{size}", 3) != 3:
            raise UnsupportedInstruction("was compiled to flush denormals to 0, which is not emulated", ("denormals",))
        if directives.get(f"float_round_mode_{size}", 0) != 0:
            raise UnsupportedInstruction("was compiled for another rounding than to nearest even", ("rounding",))


def mode_field(text: str) -> tuple[int, int]:
    """The first bit and the number of bits of MODE that an instruction's `hwreg(HW_REG_MODE, 23, 1)` means.

    Raises UnsupportedForm for the other hardware registers, whose contents differ from run to run.
    """
    match = _HARDWARE_REGISTER.search(text)
    if not match or match[1] != "HW_REG_MODE":
        raise UnsupportedForm("a hardware register other than MODE")
    return int(match[2] or 0), int(match[3] or 32)


def check_written_field(first: int, bits: int, value: int | None) -> None:
    """May the program set this field of MODE to the value, or, for None, to any? Raises UnsupportedForm."""
    mask = (1 << bits) - 1 << first
    allowed = _FIXED | OVERFLOW_CLAMPED
    if mask & ~allowed:
        raise UnsupportedForm("this field of MODE")
    if mask & _FIXED and (value is None or (value << first ^ _FIXED_VALUE) & mask & _FIXED):
        raise UnsupportedForm("other rounding, denormals or NaNs than Triton compiles for")


_NOWHERE: Array = np.zeros((1, 1), np.uint32)
_last_seen: tuple[Array, bool] = (_NOWHERE, False)


def is_overflow_clamped_anywhere(mode: Array) -> bool:
    """Does MODE clamp overflows in any wave? Nearly always it is the same array as the last time: registers are never
    written in place."""
    global _last_seen
    array, clamped = _last_seen
    if mode is not array:
        clamped = bool((mode & np.uint32(OVERFLOW_CLAMPED)).any())
        _last_seen = mode, clamped
    return clamped


def overflow_clamped(mode: Array) -> Array:
    """For each wave, does its MODE clamp overflows? bool, of the shape of `mode`."""
    clamped: Array = (mode & np.uint32(OVERFLOW_CLAMPED)) != 0
    return clamped
