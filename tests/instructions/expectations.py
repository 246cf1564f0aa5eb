"""What the pseudo-code leaves open or has wrong, and what is expected instead; and how results are compared."""

import math
from collections.abc import Callable
from fractions import Fraction

from tests.pseudocode import State, Value, reals, run_lane
from tests.pseudocode.functions import TWO_OVER_PI_BITS, stochastically_rounded, two_over_pi
from tests.pseudocode.reals import FORMATS, Real
from tests.pseudocode.values import of_real

F32, F64, F16 = ("f", 32), ("f", 64), ("f", 16)

# The assembler's name -> AMD's.
OTHER_NAMES = {f"v_fma_mix{part}": f"v_mad_mix{part}" for part in ("_f32", "lo_f16", "hi_f16")}

# Of the results of 16 bits, these clear the upper half of their register; the others keep it. From LLVM, "mostly
# derived from experimentation": GCNSubtarget::zeroesHigh16BitsOfDest, where v_mad_f16 and so on are the legacy opcodes.
# v_cvt_norm_* and v_sat_pk_u8_i16 go with the other opcodes of VOP1.
CLEARS_UPPER_HALF = {
    *(f"v_cvt_f16_{t}" for t in ("f32", "u16", "i16")),
    *(f"v_cvt_{t}_f16" for t in ("u16", "i16")),
    *(f"v_cvt_norm_{t}_f16" for t in ("u16", "i16")),
    "v_sat_pk_u8_i16",
    *(
        f"v_{name}_f16"
        for name in ("rcp", "rsq", "sqrt", "log", "exp", "sin", "cos", "floor", "ceil", "trunc", "rndne")
    ),
    *(f"v_{name}_f16" for name in ("fract", "frexp_mant", "ldexp", "add", "sub", "subrev", "mul", "max", "min")),
    "v_frexp_exp_i16_f16",
    *(f"v_{name}" for name in ("lshlrev_b16", "lshrrev_b16", "ashrrev_i16", "mul_lo_u16")),
    *(f"v_{name}_{t}" for name in ("max", "min") for t in ("u16", "i16")),
    *(f"v_{name}_u16" for name in ("add", "sub", "subrev")),
}

# ulp of the result by which an approximation may be off, and where that is said: LLVM's lowering of division and square
# roots, and the notes of AMD's documents of the instruction set ("1ULP accuracy, denormals are flushed").
ACCURACY = {
    **{f"v_{name}_f32": 1 for name in ("rcp", "rcp_iflag", "rsq", "sqrt", "exp", "log")},
    **{f"v_{name}_f16": 1 for name in ("rcp", "rsq", "sqrt", "exp", "log")},
    **{f"v_{name}_f64": 1 for name in ("rcp", "rsq", "sqrt")},
}
# Absolute; the hardware's is not documented, and the emulator's own is this small.
ABSOLUTE_ACCURACY = {"v_sin_f32": 2.0**-24, "v_cos_f32": 2.0**-24, "v_sin_f16": 2.0**-11, "v_cos_f16": 2.0**-11}


def _result(bits: int) -> State:
    return State({"D0": bits})


def _flushed(bits: int) -> int:
    return bits & 0x80000000 if bits & 0x7F800000 == 0 else bits


def _flushing(name: str) -> Callable[..., State]:
    def run(*sources: int, **names: int) -> State:
        state = run_lane(name, _flushed(sources[0]), **names)
        state.names["D0"] = _flushed(state.names["D0"])
        return state

    return run


def _of_turns(function: Callable[[float], float], type_: tuple[str, int]) -> Callable[..., State]:
    """sin or cos of 2 pi times the number; it is reduced exactly."""

    def run(source: int, **names: int) -> State:
        real = reals.decode(source & (1 << type_[1]) - 1, FORMATS[type_])
        old = names.get("D0", 0) & ~((1 << type_[1]) - 1)
        if real.kind != "finite":
            return _result(old | reals.encode(reals.NAN, FORMATS[type_]))
        turns = Fraction(real.mantissa) * Fraction(2) ** real.exponent % 1
        value = function(2 * math.pi * float(-turns if real.negative else turns))
        return _result(old | reals.encode(reals.from_float(value), FORMATS[type_]))

    return run


def _below_one(type_: tuple[str, int]) -> Callable[..., State]:
    """v_fract: x - floor(x), but the largest number below 1 where that rounds to 1."""

    def run(source: int, **names: int) -> State:
        x = Value(type_, source & (1 << type_[1]) - 1)
        result = of_real(type_, reals.add(x.real, -reals.whole(x.real, "floor")))
        one = of_real(type_, reals.from_integer(1))
        bits = one.bits - 1 if reals.compare(result.real, one.real) == 0 else result.bits
        return _result(names.get("D0", 0) & ~((1 << type_[1]) - 1) | bits)

    return run


def _to_nearest(type_: tuple[str, int]) -> Callable[..., State]:
    """v_rndne: to the nearest integer, ties to even."""

    def run(source: int, **names: int) -> State:
        x = Value(type_, source & (1 << type_[1]) - 1)
        rounded = reals.encode(reals.whole(x.real, reals.NEAREST_EVEN), FORMATS[type_])
        return _result(names.get("D0", 0) & ~((1 << type_[1]) - 1) | rounded)

    return run


def _split(real: Real) -> tuple[Real, int]:
    """As C's frexp: a mantissa from a half to 1, and the exponent."""
    length = real.mantissa.bit_length()
    return Real("finite", real.negative, real.mantissa, -length), real.exponent + length


def _mantissa(type_: tuple[str, int]) -> Callable[..., State]:
    def run(source: int, **names: int) -> State:
        bits = source & (1 << type_[1]) - 1
        real = Value(type_, bits).real
        if real.kind == "finite" and not real.is_zero:
            bits = reals.encode(_split(real)[0], FORMATS[type_])
        return _result(names.get("D0", 0) & ~((1 << type_[1]) - 1) | bits)

    return run


def _exponent(type_: tuple[str, int], width: int) -> Callable[..., State]:
    def run(source: int, **names: int) -> State:
        real = Value(type_, source & (1 << type_[1]) - 1).real
        exponent = 0 if real.kind != "finite" or real.is_zero else _split(real)[1]
        return _result(names.get("D0", 0) & ~((1 << width) - 1) | exponent & (1 << width) - 1)

    return run


def _division_scale(type_: tuple[str, int]) -> Callable[..., State]:
    form = FORMATS[type_]
    far, tiny, step = (96, 24, 64) if type_ == F32 else (768, 53, 128)

    def run(x: int, denominator: int, numerator: int, **names: int) -> State:
        below, above = (v >> form.mantissa_bits & (1 << form.exponent_bits) - 1 for v in (denominator, numerator))
        difference, is_denominator = above - below, x == denominator
        scaled, shift = False, 0
        if difference >= far:
            scaled, shift = True, step if is_denominator else 0
        elif below == 0:
            shift = step
        elif below >= 2 * form.bias - 1:
            scaled = difference <= -far
            shift = 0 if scaled and not is_denominator else -step
        elif difference <= -far:
            scaled, shift = True, 0 if is_denominator else step
        elif above <= tiny:
            shift = step
        zero = any(v & (1 << form.width - 1) - 1 == 0 for v in (denominator, numerator))
        result = form.nan if zero else of_real(type_, Value(type_, x).real.scaled(shift)).bits
        return State({"D0": result, "VCC": int(scaled) << names["laneId"]})

    return run


def _division_fma(type_: tuple[str, int]) -> Callable[..., State]:
    form = FORMATS[type_]
    step = 64 if type_ == F32 else 128

    def run(a: int, b: int, c: int, **names: int) -> State:
        x, y, z = (Value(type_, v).real for v in (a, b, c))
        total = reals.add(reals.multiply(x, y), z)
        if names["VCC"] >> names["laneId"] & 1:
            exponent = c >> form.mantissa_bits & (1 << form.exponent_bits) - 1
            total = total.scaled(step if exponent > form.bias else -step)
        return _result(of_real(type_, total).bits)

    return run


def _division_fixup(name: str, type_: tuple[str, int]) -> Callable[..., State]:
    """A quotient that overflowed on the way is NaN; the result is infinite."""
    form = FORMATS[type_]

    def run(quotient: int, denominator: int, numerator: int, **names: int) -> State:
        size = (1 << form.width - 1) - 1
        is_nan = quotient & size > form.largest + 1
        return run_lane(
            name, quotient & ~size | form.largest + 1 if is_nan else quotient, denominator, numerator, **names
        )

    return run


def _stochastic_byte(type_: tuple[str, int]) -> Callable[..., State]:
    def run(x: int, seed: int, **names: int) -> State:
        bits = stochastically_rounded(Value(F32, x), seed, type_, 0).bits
        shift = 8 * (names.get("OPSEL", 0) >> 2 & 3)
        return _result(names.get("D0", 0) & ~(0xFF << shift) | bits << shift)

    return run


def _mixed(part: str) -> Callable[..., State]:
    """v_fma_mix*: op_sel_hi says which sources are halves; rounded once, to float32, and then to float16."""

    def run(*sources: int, **names: int) -> State:
        numbers = []
        for k, bits in enumerate(sources):
            if names.get("OPSEL_HI", 0) >> k & 1:
                half = bits >> 16 if names.get("OPSEL", 0) >> k & 1 else bits
                numbers.append(Value(F16, half & 0xFFFF).real)
            else:
                numbers.append(Value(F32, bits).real)
        total = of_real(F32, reals.add(reals.multiply(numbers[0], numbers[1]), numbers[2]))
        if part == "f32":
            return _result(total.bits)
        half, old = of_real(F16, total.real).bits, names.get("D0", 0)
        return _result(old & 0xFFFF | half << 16 if part == "hi" else old & 0xFFFF0000 | half)

    return run


def _angle_piece(x: int, piece: int, **names: int) -> State:
    """v_trig_preop: the 53 bits of the fraction of 2/pi behind so many."""
    exponent = x >> 52 & 0x7FF
    shift = 53 * (piece & 31) + max(exponent - 1077, 0)
    bits = (two_over_pi() << shift >> TWO_OVER_PI_BITS - 53) & (1 << 53) - 1
    return _result(of_real(F64, reals.from_integer(bits).scaled(-53 - shift + 128 * (exponent >= 1968))).bits)


def _half_kept(name: str) -> Callable[..., State]:
    """v_cvt_scalef32_f16_*: the half that op_sel says, the other stays."""

    def run(*sources: int, **names: int) -> State:
        half = run_lane(name, *sources, **names).names["D0"] & 0xFFFF
        shift = 16 * (names.get("OPSEL", 0) >> 3 & 1)
        return _result(names.get("D0", 0) & ~(0xFFFF << shift) | half << shift)

    return run


_FLUSHED = "AMD's documents add: denormals are flushed"
_PIECE = "the text keeps the lowest bits of 1201, where its comment says the whole part"
_WRAPS = "the text lets the mantissa wrap around, which makes 1.99 round to 1; as the scalef32 form"

# opcode -> why the text does not hold, and what is expected
EXCEPTIONS: dict[str, tuple[str, Callable[..., State]]] = {
    **{
        f"v_{name}_f32": (_FLUSHED, _flushing(f"v_{name}_f32"))
        for name in ("rcp", "rcp_iflag", "rsq", "sqrt", "exp", "log")
    },
    **{
        f"v_{name}_{t}{width}": (
            "the text multiplies by 2 pi, rounded; the hardware reduces exactly",
            _of_turns(f, (t, width)),
        )
        for name, f in (("sin", math.sin), ("cos", math.cos))
        for t, width in (F32, F16)
    },
    **{
        f"v_fract_f{width}": ("LLVM takes it for min(x - floor(x), the number below 1)", _below_one(("f", width)))
        for width in (16, 32, 64)
    },
    **{
        f"v_rndne_f{width}": ("the text's sum with a half is itself rounded", _to_nearest(("f", width)))
        for width in (16, 32, 64)
    },
    **{
        f"v_frexp_mant_f{width}": ("LLVM takes it for C's frexp, denormals and 0 too", _mantissa(("f", width)))
        for width in (16, 32, 64)
    },
    **{
        f"v_frexp_exp_i{to}_f{width}": ("LLVM takes it for C's frexp, denormals and 0 too", _exponent(("f", width), to))
        for to, width in ((16, 16), (32, 32), (32, 64))
    },
    **{
        f"v_div_scale_f{width}": (
            "it asks whether a float32's reciprocal is denormal as a float64; rocjitsu's division.h, from hardware",
            _division_scale(("f", width)),
        )
        for width in (32, 64)
    },
    **{
        f"v_div_fmas_f{width}": (
            "one factor cannot undo both scalings, and is half as large; rocjitsu's division.h, from hardware",
            _division_fma(("f", width)),
        )
        for width in (32, 64)
    },
    **{
        f"v_div_fixup_f{width}": (
            "the quotient of a division that overflows is NaN; rocjitsu's division.h, from hardware",
            _division_fixup(f"v_div_fixup_f{width}", ("f", width)),
        )
        for width in (32, 64)
    },
    **{
        f"v_cvt_scalef32_f16_{t}": (
            "its comment says that op_sel picks a half; LLVM's keeps the other",
            _half_kept(name),
        )
        for t in ("fp8", "bf8")
        for name in (f"v_cvt_scalef32_f16_{t}",)
    },
    "v_trig_preop_f64": (_PIECE, _angle_piece),
    "v_fma_mix_f32": ("LLVM takes it for a fused multiply-add", _mixed("f32")),
    "v_fma_mixlo_f16": ("LLVM takes it for a fused multiply-add", _mixed("lo")),
    "v_fma_mixhi_f16": ("LLVM takes it for a fused multiply-add", _mixed("hi")),
    "v_cvt_sr_fp8_f32": (_WRAPS, _stochastic_byte(("fp", 8))),
    "v_cvt_sr_bf8_f32": (_WRAPS, _stochastic_byte(("bf", 8))),
}


def expected(opcode: str, *sources: int, **names: int) -> State:
    """The state after one lane of the opcode."""
    if opcode in EXCEPTIONS:
        return EXCEPTIONS[opcode][1](*sources, **names)
    return run_lane(OTHER_NAMES.get(opcode, opcode), *sources, **names)
