"""Vector floating-point arithmetic: one line per opcode. Denormals are kept and MODE says IEEE, as in Triton's code."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mxsub.virtual.assembly import Instruction
from mxsub.virtual.faults import UnsupportedForm
from mxsub.virtual.fused import fused_multiply_add
from mxsub.virtual.operands import constant
from mxsub.virtual.operations import Function, Table, made_operation, operation

Array = npt.NDArray[Any]
F16, F32, F64, I32 = np.float16, np.float32, np.float64, np.int32


def _is_signalling(x: Array) -> Array:
    bits = x.view(f"u{x.itemsize}")
    signalling: Array = np.isnan(x) & (bits >> bits.dtype.type(np.finfo(x.dtype).nmant - 1) & bits.dtype.type(1) == 0)
    return signalling


def _number_of(extreme: Array, a: Array, b: Array) -> Array:
    """Of two numbers one of which may be a NaN: the other; a signalling NaN wins, as IEEE 754-2008 has it."""
    nan_a, nan_b = np.isnan(a), np.isnan(b)
    result = np.where(nan_a, b, np.where(nan_b, a, extreme))
    return np.where(_is_signalling(a) | _is_signalling(b), a.dtype.type(np.nan), result)


def maximum_number(a: Array, b: Array) -> Array:
    """IEEE maxNum: a quiet NaN gives the other operand; +0 is above -0."""
    result: Array = np.maximum(a, b)
    if not np.abs(result).min() > 0:  # there are zeros or NaNs
        positive = (result == 0) & ~(np.signbit(a) & np.signbit(b))
        result = _number_of(np.where(positive, result.dtype.type(0), result), a, b)
    return result


def minimum_number(a: Array, b: Array) -> Array:
    """IEEE minNum: a quiet NaN gives the other operand; -0 is below +0."""
    result: Array = np.minimum(a, b)
    if not np.abs(result).min() > 0:
        negative = (result == 0) & (np.signbit(a) | np.signbit(b))
        result = _number_of(np.where(negative, -result.dtype.type(0), result), a, b)
    return result


def _median(a: Array, b: Array, c: Array) -> Array:
    """The middle one; with a NaN among them the smallest of the others. Of equal largest ones, a before b before c is
    left out."""
    middle: Array = np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c))
    if not np.abs(middle).min() > 0:
        largest = maximum_number(maximum_number(a, b), c)
        others = [maximum_number(b, c), maximum_number(a, c)]
        middle = np.select([largest == a, largest == b], others, maximum_number(a, b))
        nan = np.isnan(a) | np.isnan(b) | np.isnan(c)
        middle = np.where(nan, minimum_number(minimum_number(a, b), c), middle)
    return middle


def _minus_floor(a: Array) -> Array:
    """v_fract: below 1 even where the subtraction rounds up."""
    below_one = np.nextafter(a.dtype.type(1), a.dtype.type(0))
    fraction: Array = np.minimum(a - np.floor(a), below_one)
    return fraction


def _exact_maximum3(a: Array, b: Array, c: Array) -> Array:
    """IEEE-754 2019 maximum: a NaN wins; +0 is above -0."""
    result = np.maximum(np.maximum(a, b), c)
    if not result.all():
        negative = np.signbit(a) & np.signbit(b) & np.signbit(c)
        result = np.where((result == 0) & ~negative, result.dtype.type(0), result)
    return result


def _exact_minimum3(a: Array, b: Array, c: Array) -> Array:
    result = np.minimum(np.minimum(a, b), c)
    if not result.all():
        negative = np.signbit(a) | np.signbit(b) | np.signbit(c)
        result = np.where((result == 0) & negative, -result.dtype.type(0), result)
    return result


def _flushed(x: Array) -> Array:
    """Denormals as zeros of their sign."""
    size, smallest = np.abs(x), np.finfo(x.dtype).smallest_normal
    if size.min() >= smallest:
        return x
    return np.where(size < smallest, np.copysign(x.dtype.type(0), x), x)


def _in_double(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """numpy's own for float32 is off by up to four units in the last place."""
    return lambda x: np.asarray(function(x.astype(F64)), x.dtype)


def _flushing(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Of float32, the approximated functions take denormals as zeros and give none, whatever MODE says."""

    def compute(x: Array) -> Array:
        if x.dtype != F32:
            return function(x)
        return _flushed(function(_flushed(x)))

    return compute


def _of_turns(function: Callable[[Array], Array], step: float) -> Callable[[Array], Array]:
    """v_sin, v_cos: of an angle in turns, reduced exactly to a quarter of one. step: the turn by which the function's
    zeros are away from those of the sine."""

    def compute(x: Array) -> Array:
        turns = x.astype(F64)
        halves = np.rint(2 * turns)
        rest = turns - halves / 2
        odd = halves - 2 * np.floor(halves / 2) == 1
        value = function(2 * np.pi * rest)
        value = np.where(odd, -value, value)
        return np.where(np.abs(rest) == step, np.float64(0), value)

    return compute


def _constant_half(instruction: Instruction, number: int) -> Array | None:
    """A source of v_fma_mix that is a float16 constant, which LLVM puts into the lower half; None for other sources."""
    operand = instruction.operands[1 + number]
    if not (operand.is_constant and instruction.bit("op_sel_hi", number)):
        return None
    if instruction.bit("op_sel", number):
        raise UnsupportedForm("the upper half of a constant as float16")
    return constant(operand, np.dtype(F16))


def _mixed(part: str) -> Callable[[Instruction], Function]:
    """v_fma_mix: op_sel_hi says which sources are float16, and op_sel which half of the register those are in."""

    def make(instruction: Instruction) -> Function:
        operands = instruction.operands[1:]
        halves = [instruction.bit("op_sel_hi", k) for k in range(3)]
        constants = [_constant_half(instruction, k) for k in range(3)]
        upper = [np.uint32(16 * instruction.bit("op_sel", k)) for k in range(3)]
        signs = [np.uint32(operand.negate << 31) for operand in operands]
        kept = [np.uint32(0x7FFFFFFF if operand.absolute else 0xFFFFFFFF) for operand in operands]

        def number(word: Array, k: int) -> Array:
            if halves[k]:
                fixed = constants[k]
                half = fixed if fixed is not None else (word >> upper[k]).astype(np.uint16).view(F16)
                word = half.astype(F32).view(np.uint32)
            return (word & kept[k] ^ signs[k]).view(F32)

        def compute(*words: Array) -> Array:
            total = fused_multiply_add(*[number(word, k) for k, word in enumerate(words)])
            return total if part == "" else total.astype(F32).astype(F16)

        return compute

    return make


def _cube(select: Callable[[Array, Array, Array, Array, Array], Array]) -> Function:
    """v_cube*: which axis of (x, y, z) is the longest; z goes before y before x."""

    def compute(x: Array, y: Array, z: Array) -> Array:
        along_z = (np.abs(z) >= np.abs(x)) & (np.abs(z) >= np.abs(y))
        along_y = ~along_z & (np.abs(y) >= np.abs(x))
        return select(x, y, z, along_z, along_y)

    return compute


def _legacy_product(a: Array, b: Array) -> Array:
    """0 times anything is 0."""
    return np.where((a == 0) | (b == 0), F32(0), a * b)


def _table() -> Table:
    table: Table = {}

    def add(name: str, signature: str, function: Callable[..., Any]) -> None:
        table[name] = operation(signature, function)

    for t in ("f32", "f64", "f16"):
        one, two, three = f"{t}={t}", f"{t}={t} {t}", f"{t}={t} {t} {t}"
        add(f"v_add_{t}", two, np.add)
        add(f"v_mul_{t}", two, np.multiply)
        add(f"v_max_{t}", two, maximum_number)
        add(f"v_min_{t}", two, minimum_number)
        # Those of float16 with op_sel keep the other half of their register.
        add(f"v_fma_{t}", f"f16+={t} {t} {t}" if t == "f16" else three, fused_multiply_add)
        add(f"v_rcp_{t}", one, _flushing(np.reciprocal))
        add(f"v_rsq_{t}", one, _flushing(lambda a: 1 / np.sqrt(a)))
        add(f"v_sqrt_{t}", one, _flushing(np.sqrt))
        add(f"v_rndne_{t}", one, np.rint)
        add(f"v_trunc_{t}", one, np.trunc)
        add(f"v_floor_{t}", one, np.floor)
        add(f"v_ceil_{t}", one, np.ceil)
        add(f"v_fract_{t}", one, _minus_floor)
        add(f"v_frexp_mant_{t}", one, lambda a: np.where(np.isfinite(a), np.frexp(a)[0], a))
        add(f"v_ldexp_{t}", f"{t}={t} {'i16' if t == 'f16' else 'i32'}", lambda a, e: np.ldexp(a, e.astype(I32)))
    for t in ("f32", "f16"):
        one, two, three = f"{t}={t}", f"{t}={t} {t}", f"{t}{'+' if t == 'f16' else ''}={t} {t} {t}"
        add(f"v_sub_{t}", two, np.subtract)
        add(f"v_subrev_{t}", two, lambda a, b: b - a)
        add(f"v_max3_{t}", three, lambda a, b, c: maximum_number(maximum_number(a, b), c))
        add(f"v_min3_{t}", three, lambda a, b, c: minimum_number(minimum_number(a, b), c))
        add(f"v_med3_{t}", three, _median)
        add(f"v_exp_{t}", one, _flushing(_in_double(np.exp2)))
        add(f"v_log_{t}", one, _flushing(_in_double(np.log2)))
        add(f"v_sin_{t}", one, _of_turns(np.sin, 0.0))
        add(f"v_cos_{t}", one, _of_turns(np.cos, 0.25))
        add(f"v_pk_add_{t}", f"2x{t}=2x{t} 2x{t}", np.add)
        add(f"v_pk_mul_{t}", f"2x{t}=2x{t} 2x{t}", np.multiply)
        add(f"v_pk_fma_{t}", f"2x{t}=2x{t} 2x{t} 2x{t}", fused_multiply_add)
    for t in ("f32", "f64"):
        add(f"v_fmac_{t}", f"{t}={t} {t} old", fused_multiply_add)
        add(f"v_frexp_exp_i32_{t}", f"i32={t}", lambda a: np.where(np.isfinite(a), np.frexp(a)[1], 0))
    add("v_frexp_exp_i16_f16", "i16=f16", lambda a: np.where(np.isfinite(a), np.frexp(a)[1], 0))
    add("v_rcp_iflag_f32", "f32=f32", _flushing(np.reciprocal))
    add("v_mul_legacy_f32", "f32=f32 f32", _legacy_product)
    add("v_fmamk_f32", "f32=f32 f32 f32", fused_multiply_add)
    add("v_fmaak_f32", "f32=f32 f32 f32", fused_multiply_add)
    for name in ("v_madmk_f16", "v_madak_f16", "v_mad_legacy_f16"):
        add(name, "f16=f16 f16 f16", lambda a, b, c: a * b + c)
    add("v_mad_f16", "f16+=f16 f16 f16", lambda a, b, c: a * b + c)
    add("v_mac_f16", "f16=f16 f16 old", lambda a, b, c: a * b + c)
    add("v_fma_legacy_f16", "f16=f16 f16 f16", fused_multiply_add)
    add("v_pk_fmac_f16", "2xf16=2xf16 2xf16 old", fused_multiply_add)
    add("v_maximum3_f32", "f32=f32 f32 f32", _exact_maximum3)
    add("v_minimum3_f32", "f32=f32 f32 f32", _exact_minimum3)
    add("v_pk_maximum3_f16", "2xf16=2xf16 2xf16 2xf16", _exact_maximum3)
    add("v_pk_minimum3_f16", "2xf16=2xf16 2xf16 2xf16", _exact_minimum3)
    add("v_pk_max_f16", "2xf16=2xf16 2xf16", maximum_number)
    add("v_pk_min_f16", "2xf16=2xf16 2xf16", minimum_number)
    add("v_pk_mov_b32", "2xf32=2xf32 2xf32", lambda a, b: np.stack(np.broadcast_arrays(a[0], b[0])))
    table["v_fma_mix_f32"] = made_operation("f32=word word word", _mixed(""))
    table["v_fma_mixlo_f16"] = made_operation("f16+=word word word", _mixed("lo"))
    table["v_fma_mixhi_f16"] = made_operation("f16^+=word word word", _mixed("hi"))
    add("v_cubeid_f32", "f32=f32 f32 f32", _cube(_cube_face))
    add("v_cubesc_f32", "f32=f32 f32 f32", _cube(_cube_s))
    add("v_cubetc_f32", "f32=f32 f32 f32", _cube(_cube_t))
    add("v_cubema_f32", "f32=f32 f32 f32", _cube(_cube_axis))
    return table


def _cube_face(x: Array, y: Array, z: Array, along_z: Array, along_y: Array) -> Array:
    face = np.where(along_z, np.where(z < 0, 5, 4), np.where(along_y, np.where(y < 0, 3, 2), np.where(x < 0, 1, 0)))
    return face.astype(F32)


def _cube_s(x: Array, y: Array, z: Array, along_z: Array, along_y: Array) -> Array:
    return np.where(along_z, np.where(z < 0, -x, x), np.where(along_y, x, np.where(x < 0, z, -z)))


def _cube_t(x: Array, y: Array, z: Array, along_z: Array, along_y: Array) -> Array:
    return np.where(~along_z & along_y, np.where(y < 0, -z, z), -y)


def _cube_axis(x: Array, y: Array, z: Array, along_z: Array, along_y: Array) -> Array:
    return np.where(along_z, z, np.where(along_y, y, x)) * F32(2)


OPERATIONS = _table()
