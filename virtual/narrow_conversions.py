"""Vector conversions from and to formats of 8, 6 and 4 bits.

Those called scalef32 divide by a scale on the way to the narrow format and multiply by it on the way back, of which
they take the exponent field only: an E8M0 number, so 255 in it is a NaN. What no document of AMD's says is as in the
headers that emulate the instructions on the host (hip/amd_detail/amd_hip_ocp_host.hpp): NaN and infinity become the
largest number of a format without them, with their sign.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.assembly import Instruction
from mxsub.virtual.conversions import two_halves
from mxsub.virtual.formats import (
    BF6,
    BF8,
    E2M1_PAIR,
    FP4,
    FP6,
    FP8,
    Narrow,
    bf16_to_f32,
    f32_to_bf16,
    to_e2m1,
    to_narrow,
    to_narrow_stochastically,
)
from mxsub.virtual.mode import overflow_clamped
from mxsub.virtual.operations import Function, Table, made_operation, operation
from mxsub.virtual.vector_integer import next_random

Array = npt.NDArray[Any]
F16, F32, U16, U32 = np.float16, np.float32, np.uint16, np.uint32

_FORMS = {"fp8": FP8, "bf8": BF8, "fp6": FP6, "bf6": BF6, "fp4": FP4}
# What the wide numbers' 16-bit patterns stand for, and the bits of their mantissas.
_FROM_HALF: dict[str, Callable[[Array], Array]] = {
    "f16": lambda bits: bits.view(F16).astype(F32),
    "bf16": bf16_to_f32,
}
_TO_HALF: dict[str, Callable[[Array], Array]] = {"f16": lambda x: x.astype(F16).view(U16), "bf16": f32_to_bf16}
_MANTISSA_BITS = {"f32": 23, "f16": 10, "bf16": 7}

# By a scale's exponent field: what it multiplies by, as float64, and what undoes it, as float32 (exact).
_SCALES = np.ldexp(1.0, np.arange(256) - 127)
_INVERSE_SCALES = np.ldexp(1.0, 127 - np.arange(256)).astype(F32)
_SCALES[255] = _INVERSE_SCALES[255] = np.nan


def _exponent_field(scale: Array) -> Array:
    field: Array = scale.view(U32) >> U32(23) & U32(255)
    return field


def _divided(x: Array, scale: Array) -> Array:
    divided: Array = x * np.take(_INVERSE_SCALES, _exponent_field(scale))
    return divided


def _sign(x: Array, form: Narrow) -> Array:
    shift = form.sign_shift
    sign: Array = x.view(U32) >> shift & U32(0x80000000 >> int(shift))
    return sign


def _narrowed(x: Array, form: Narrow, clamps: Any, scale: Array | None = None) -> Array:
    """float32 to codes, uint32. The sign is that of x, whatever NaN the scale may be."""
    scaled = x if scale is None else _divided(x, scale)
    code: Array = to_narrow(scaled, form, clamps) | _sign(x, form)
    return code


def _randomly(x: Array, seed: Array, source: str, form: Narrow, clamps: Any, scale: Array | None = None) -> Array:
    scaled = x if scale is None else _divided(x, scale)
    code = to_narrow_stochastically(scaled, seed, _MANTISSA_BITS[source], form, clamps)
    signed: Array = code | _sign(x, form)
    return signed


def _widened(code: Array, form: Narrow, scale: Array) -> Array:
    """Codes to float32."""
    number: Array = (np.take(form.values, code) * np.take(_SCALES, _exponent_field(scale))).astype(F32)
    return number


def _floats(word: Array, source: str) -> tuple[Array, Array]:
    """The two numbers of 16 bits in a word, as float32."""
    if source == "bf16":
        return (word << U32(16)).view(F32), (word & U32(0xFFFF0000)).view(F32)
    return _FROM_HALF[source](word.astype(U16)), _FROM_HALF[source]((word >> U32(16)).astype(U16))


def _placed(instruction: Instruction, first: int, bits: int) -> Callable[[Array, Array], Array]:
    """Puts a result of 8 or 16 bits where op_sel, from its number `first` on, says; the rest of the register stays."""
    if bits == 8:
        shift = 8 * (instruction.bit("op_sel", first) + 2 * instruction.bit("op_sel", first + 1))
    else:
        shift = 16 * instruction.bit("op_sel", first)
    kept, left = U32(0xFFFFFFFF ^ (1 << bits) - 1 << shift), U32(shift)

    def place(value: Array, old: Array) -> Array:
        word: Array = value << left | (old & kept)
        return word

    return place


def _field(instruction: Instruction, bits: int) -> Callable[[Array], Array]:
    """The 8 or 16 bits of a source that op_sel picks."""
    if bits == 8:
        shift = U32(8 * (instruction.bit("op_sel", 0) + 2 * instruction.bit("op_sel", 1)))
    else:
        shift = U32(16 * instruction.bit("op_sel", 0))
    ones = U32((1 << bits) - 1)
    return lambda word: word >> shift & ones


# ---- two numbers to or from one register


def _pack_fp4(source: str) -> Callable[[Instruction], Function]:
    """v_cvt_scalef32_pk_fp4_*: in fewer steps than the others, as quantization spends its time here."""

    def make(instruction: Instruction) -> Function:
        place = _placed(instruction, 2, 8)

        def convert(low: Array, high: Array, scale: Array, old: Array) -> Array:
            factor = np.take(_INVERSE_SCALES, _exponent_field(scale))
            first = to_e2m1(low * factor) | low.view(U32) >> U32(28) & U32(8)
            second = to_e2m1(high * factor) << U32(4) | high.view(U32) >> U32(24) & U32(0x80)
            return place(first | second, old)

        if source == "f32":
            return convert
        return lambda word, scale, old: convert(*_floats(word, source), scale, old)

    return make


def _pack(form: Narrow, source: str, scaled: bool = True) -> Callable[[Instruction], Function]:
    """v_cvt_scalef32_pk_fp8_* and v_cvt_pk_fp8_f32."""

    def make(instruction: Instruction) -> Function:
        place = _placed(instruction, 3 if source == "f32" and scaled else 2, 16)

        def convert(low: Array, high: Array, scale: Array | None, old: Array, mode: Array) -> Array:
            clamps = overflow_clamped(mode)
            first, second = (_narrowed(x, form, clamps, scale) for x in (low, high))
            return place(first | second << U32(8), old)

        if not scaled:
            return lambda low, high, old, mode: convert(low, high, None, old, mode)
        if source == "f32":
            return convert
        return lambda word, scale, old, mode: convert(*_floats(word, source), scale, old, mode)

    return make


def _one_randomly(form: Narrow, source: str, scaled: bool = True) -> Callable[[Instruction], Function]:
    """v_cvt_scalef32_sr_fp8_* and v_cvt_sr_fp8_f32."""

    def make(instruction: Instruction) -> Function:
        place = _placed(instruction, 2, 8)

        def convert(x: Array, seed: Array, scale: Array | None, old: Array, mode: Array) -> Array:
            x = x if source == "f32" else _FROM_HALF[source](x)
            return place(_randomly(x, seed, source, form, overflow_clamped(mode), scale), old)

        return convert if scaled else lambda x, seed, old, mode: convert(x, seed, None, old, mode)

    return make


def _pair_randomly(source: str) -> Callable[[Instruction], Function]:
    """v_cvt_scalef32_sr_pk_fp4_*."""

    def make(instruction: Instruction) -> Function:
        place = _placed(instruction, 2, 8)

        def convert(pair: Array, seed: Array, scale: Array, old: Array) -> Array:
            low, high = pair.view(F32) if source == "f32" else _floats(pair, source)
            first = _randomly(low, seed, source, FP4, True, scale)
            second = _randomly(high, next_random(seed), source, FP4, True, scale)
            return place(first | second << U32(4), old)

        return convert

    return make


def _unpack(form: Narrow, target: str) -> Callable[[Instruction], Function]:
    """v_cvt_scalef32_pk_f32_fp8 and the like: a result for each half of the source's field."""
    bits = 4 if form is FP4 else 8
    pairs = E2M1_PAIR if form is FP4 else None

    def make(instruction: Instruction) -> Function:
        field = _field(instruction, 2 * bits)

        def floats(word: Array, scale: Array) -> Array:
            code = field(word)
            if pairs is not None:
                both = np.moveaxis(np.take(pairs, code, axis=0), -1, 0)
            else:
                both = np.stack([np.take(form.values, code & U32(255)), np.take(form.values, code >> U32(8))])
            numbers: Array = (both * np.take(_SCALES, _exponent_field(scale))).astype(F32)
            return numbers

        if target != "bf16":
            return floats

        def bf16(word: Array, scale: Array) -> Array:
            halves = f32_to_bf16(floats(word, scale))
            return two_halves(halves[0], halves[1])

        return bf16

    return make


def _unpack_one(form: Narrow) -> Callable[[Instruction], Function]:
    """v_cvt_scalef32_f32_fp8 and the like."""

    def make(instruction: Instruction) -> Function:
        field = _field(instruction, 8)
        return lambda word, scale: _widened(field(word), form, scale)

    return make


# ---- 32 numbers, of 6 bits on one side


def _packed_sixes(codes: list[Array]) -> Array:
    """32 codes of 6 bits, the first one lowest, to 6 words."""
    words = []
    for k in range(6):
        word: Array = np.zeros((1, 1), U32)
        for j, code in enumerate(codes):
            shift = 6 * j - 32 * k
            if -6 < shift < 32:
                word = word | (code << U32(shift) if shift >= 0 else code >> U32(-shift))
        words.append(word)
    return np.stack(np.broadcast_arrays(*words))


def _sixes(words: Array) -> list[Array]:
    """The 32 codes of 6 bits in 6 words."""
    codes = []
    for j in range(32):
        word, shift = divmod(6 * j, 32)
        code = words[word] >> U32(shift)
        if shift > 26:
            code = code | words[word + 1] << U32(32 - shift)
        codes.append(code & U32(63))
    return codes


def _numbers(words: Array, source: str) -> list[Array]:
    if source == "f32":
        return [word.view(F32) for word in words]
    return [number for word in words for number in _floats(word, source)]


def _interleaved(form: Narrow) -> Function:
    """v_cvt_scalef32_2xpk16: numbers of both sources in turn."""

    def convert(a: Array, b: Array, scale: Array) -> Array:
        codes = [_narrowed(x.view(F32), form, True, scale) for pair in zip(a, b, strict=True) for x in pair]
        return _packed_sixes(codes)

    return convert


def _to_sixes(form: Narrow, source: str) -> Function:
    return lambda words, scale: _packed_sixes([_narrowed(x, form, True, scale) for x in _numbers(words, source)])


def _randomly_to_sixes(form: Narrow, source: str) -> Function:
    def convert(words: Array, seed: Array, scale: Array) -> Array:
        codes = []
        for x in _numbers(words, source):
            codes.append(_randomly(x, seed, source, form, True, scale))
            seed = next_random(seed)
        return _packed_sixes(codes)

    return convert


def _from_sixes(form: Narrow, target: str) -> Function:
    def convert(words: Array, scale: Array) -> Any:
        numbers = [_widened(code, form, scale) for code in _sixes(words)]
        if target == "f32":
            return [number.view(U32) for number in numbers]
        halves = [_TO_HALF[target](number) for number in numbers]
        return [two_halves(*halves[k : k + 2]) for k in range(0, 32, 2)]

    return convert


def _table() -> Table:
    table: Table = {}
    for name in ("fp8", "bf8"):
        form = _FORMS[name]
        table[f"v_cvt_f32_{name}"] = operation("f32=u32", lambda a, f=form: np.take(f.values, a & U32(255)))
        pair = lambda a, f=form: np.stack([np.take(f.values, a >> U32(s) & U32(255)) for s in (0, 8)])  # noqa: E731
        table[f"v_cvt_pk_f32_{name}"] = operation("2xf32=u32", pair)
        table[f"v_cvt_pk_{name}_f32"] = made_operation("u32=f32 f32 old mode", _pack(form, "f32", False))
        table[f"v_cvt_sr_{name}_f32"] = made_operation("u32=f32 u32 old mode", _one_randomly(form, "f32", False))
        for wide, result in (("f32", "f32"), ("f16", "f16+")):
            table[f"v_cvt_scalef32_{wide}_{name}"] = made_operation(f"{result}=u32 f32", _unpack_one(form))
        for wide in _MANTISSA_BITS:
            pair_sources, one = ("f32 f32", "f32") if wide == "f32" else ("u32", "u16")
            table[f"v_cvt_scalef32_pk_{name}_{wide}"] = made_operation(
                f"u32={pair_sources} f32 old mode", _pack(form, wide)
            )
            table[f"v_cvt_scalef32_sr_{name}_{wide}"] = made_operation(
                f"u32={one} u32 f32 old mode", _one_randomly(form, wide)
            )
    for name in ("fp8", "bf8", "fp4"):
        for wide, result in (("f32", "2xf32"), ("f16", "2xf16"), ("bf16", "u32")):
            table[f"v_cvt_scalef32_pk_{wide}_{name}"] = made_operation(f"{result}=u32 f32", _unpack(_FORMS[name], wide))
    for wide in _MANTISSA_BITS:
        sources, pair_kind = ("f32 f32", "2*u32") if wide == "f32" else ("u32", "u32")
        table[f"v_cvt_scalef32_pk_fp4_{wide}"] = made_operation(f"u32={sources} f32 old", _pack_fp4(wide))
        table[f"v_cvt_scalef32_sr_pk_fp4_{wide}"] = made_operation(f"u32={pair_kind} u32 f32 old", _pair_randomly(wide))
    for name in ("fp6", "bf6"):
        form = _FORMS[name]
        table[f"v_cvt_scalef32_2xpk16_{name}_f32"] = operation("6*u32=16*u32 16*u32 f32", _interleaved(form))
        for wide in _MANTISSA_BITS:
            words = 32 if wide == "f32" else 16
            if wide != "f32":
                table[f"v_cvt_scalef32_pk32_{name}_{wide}"] = operation(f"6*u32={words}*u32 f32", _to_sixes(form, wide))
            table[f"v_cvt_scalef32_sr_pk32_{name}_{wide}"] = operation(
                f"6*u32={words}*u32 u32 f32", _randomly_to_sixes(form, wide)
            )
            table[f"v_cvt_scalef32_pk32_{wide}_{name}"] = operation(f"{words}*u32=6*u32 f32", _from_sixes(form, wide))
    return table


OPERATIONS = _table()
