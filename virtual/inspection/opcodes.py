"""What a mnemonic is: its class, its floating-point operations, the values that it converts."""

import re
from functools import cache

from mxsub.virtual.assembly import Instruction

CLASSES = (
    "matrix",
    "vector",
    "scalar",
    "LDS",
    "global load",
    "global store",
    "global atomic",
    "scalar load",
    "scratch",
    "branch and sync",
)

_BRANCH_AND_SYNC = re.compile(
    r"s_(branch|cbranch|call|setpc|swappc|endpgm|barrier|waitcnt|nop|sleep|setprio|sendmsg|icache|dcache|trap)"
)
_GLOBAL = re.compile(r"(?:global|flat|buffer)_(load|store|atomic)")

# v_mfma_[scale_]RESULT_RxCxK[_Bb][_]FORMAT, e.g. v_mfma_f32_32x32x4_2b_bf16, v_mfma_f32_16x16x16f16; v_smfmac is sparse
_MATRIX = re.compile(r"v_(?:mfma|smfmac)_(?:scale_)?(f32|i32|f64)_(\d+)x(\d+)x(\d+)_?(?:(\d+)b)?_?([a-z][a-z0-9_]*)")
# cbsz of A and blgp of B, in the f8f6f4 instructions
_F8F6F4 = {0: "fp8", 1: "fp8", 2: "fp6", 3: "fp6", 4: "fp4"}
_EIGHT_BITS = ("fp8", "i8")

_FLOAT = re.compile(
    r"v_(pk_)?(add|sub|subrev|mul|mul_legacy|fma|fmac|fmamk|fmaak|mac|mad|mad_mix|fma_mix|fma_mixlo|fma_mixhi|dot2|dot2c)"
    r"_(f16|bf16|f32|f64|f32_f16|f32_bf16)$"
)
_TRANSCENDENTAL = re.compile(
    r"v_(exp|log|rcp|rsq|sqrt|sin|cos|rcp_iflag|exp_legacy|log_legacy|prng)_(f16|bf16|f32|f64)$"
)
_CONVERSION = re.compile(r"v_cvt_(?:scalef32_)?(?:sr_)?(pk32_|2xpk16_|pk8_|pk_)?(fp4|fp6|bf6|fp8|bf8)_")
_UNPACKING = re.compile(r"v_cvt_(?:scalef32_)?(pk32_|pk8_|pk_)?(?:f32|f16|bf16)_(fp4|fp6|bf6|fp8|bf8)")
_VALUES = {"pk32_": 32, "2xpk16_": 32, "pk8_": 8, "pk_": 2, None: 1}


@cache
def class_of(opcode: str) -> str:
    """One of CLASSES."""
    if opcode.startswith(("v_mfma", "v_smfmac")):
        return "matrix"
    if opcode.startswith("v_"):
        return "vector"
    if opcode.startswith("ds_"):
        return "LDS"
    if opcode.startswith(("s_load", "s_buffer_load", "s_scratch_load")):
        return "scalar load"
    if opcode.startswith("scratch_"):
        return "scratch"
    if match := _GLOBAL.match(opcode):
        return f"global {match[1]}"
    if _BRANCH_AND_SYNC.match(opcode) or not opcode.startswith("s_"):
        return "branch and sync"  # buffer_wbl2 and buffer_inv order memory
    return "scalar"


def matrix_format(instruction: Instruction) -> str:
    """What an MFMA multiplies, as the data sheet calls the rate: fp4, fp6, fp8, i8, bf16, f16, f32 or f64. Of mixed
    formats the wider one, which sets the rate."""
    match = _matrix(instruction.opcode)
    form = match[6]
    if form == "f8f6f4":
        sides = [_F8F6F4.get(int(instruction.modifiers.get(name, 0)), "fp8") for name in ("cbsz", "blgp")]
        return next(kind for kind in ("fp8", "fp6", "fp4") if kind in sides)
    if form.startswith(("fp8", "bf8")):
        return "fp8"
    return form.removesuffix("_1k").removesuffix("1k") or match[1]


def matrix_flops(instruction: Instruction) -> int:
    """Of one MFMA: 2 * rows * columns * depth of each of its blocks. It ignores EXEC."""
    match = _matrix(instruction.opcode)
    rows, columns, depth, blocks = (int(match[k] or 1) for k in (2, 3, 4, 5))
    return 2 * rows * columns * depth * blocks


def matrix_passes(instruction: Instruction) -> int:
    """How long an MFMA keeps its SIMD's matrix core, in passes of 4 cycles.

    LLVM's SISchedule.td, SIDPGFX950FullSpeedModel, with the rule of AMD's CDNA 4 ISA document for f8f6f4: twice as
    many where either side has 8 bits. The peak rates of the data sheet follow from them, which tests check.
    """
    match = _matrix(instruction.opcode)
    result, rows, depth, form = match[1], int(match[2]), int(match[4]), match[6]
    if form == "f8f6f4":
        return (4 if rows == 16 else 8) * (2 if matrix_format(instruction) in _EIGHT_BITS else 1)
    if result == "f64":
        return 4 if rows == 4 else 16
    if rows == 4:
        return 2
    if rows == 16:
        return 8 if depth in (1, 4) else 4
    return 16 if depth in (1, 2, 4) else 8


def _matrix(opcode: str) -> re.Match[str]:
    match = _MATRIX.match(opcode)
    if match is None:
        raise ValueError(f"{opcode} is no MFMA")
    return match


@cache
def vector_flops(opcode: str) -> int:
    """Floating-point operations of one lane: an addition or a multiplication each one, a transcendental function one;
    0 for everything else."""
    if match := _FLOAT.match(opcode):
        packed, what, _ = match.groups()
        once = 4 if what.startswith("dot2") else 1 if what.startswith(("add", "sub", "mul")) else 2
        return once * (2 if packed else 1)
    return 1 if _TRANSCENDENTAL.match(opcode) else 0


@cache
def is_transcendental(opcode: str) -> bool:
    return _TRANSCENDENTAL.match(opcode) is not None


@cache
def converted(opcode: str) -> tuple[str, int] | None:
    """The narrow format to which an instruction converts, and how many values of each lane; None for all others."""
    match = _CONVERSION.match(opcode)
    return (match[2], _VALUES[match[1]]) if match else None


@cache
def unpacked(opcode: str) -> tuple[str, int] | None:
    """The narrow format from which an instruction converts, and how many values of each lane; None for all others."""
    match = _UNPACKING.match(opcode)
    return (match[2], _VALUES[match[1]]) if match else None
