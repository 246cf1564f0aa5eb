"""What modifiers make of operands and results: the pseudo-code does the rest."""

import re
from collections.abc import Callable

import numpy as np
import pytest

from mxsub.virtual import vector
from mxsub.virtual.faults import UnsupportedInstruction
from tests.instructions.test_vector import OPCODES
from tests.instructions.vector_bench import Run, VectorBench, explicit_kinds
from tests.pseudocode import Value, reals
from tests.pseudocode.values import of_real

WIDTHS = {"f16": 16, "f32": 32, "f64": 64}
_WITHOUT_SOURCE_MODIFIERS = re.compile(r"v_div_scale_\w+|v_(fm|m)a(mk|ak|dmk|dak)_\w+")
FLOATING = [
    opcode
    for opcode in OPCODES
    if all(kind in WIDTHS for kind in explicit_kinds(opcode)) and not _WITHOUT_SOURCE_MODIFIERS.fullmatch(opcode)
]
SIGNS = {"{}": (False, False), "-{}": (True, False), "|{}|": (False, True), "-|{}|": (True, True)}


def half_of(word: int, high: int) -> int:
    return word >> 16 * high & 0xFFFF


def signed(word: int, width: int, negate: bool, absolute: bool) -> int:
    if absolute:
        word &= ~(1 << width - 1)
    return word ^ 1 << width - 1 if negate else word


@pytest.mark.parametrize("opcode", FLOATING)
def test_neg_and_abs(opcode, random):
    widths = [WIDTHS[kind] for kind in explicit_kinds(opcode)]
    written = tuple(str(choice) for choice in random.choice(list(SIGNS)[1:], len(widths)))

    def view(numbers: list[int]) -> list[int]:
        return [signed(n, w, *SIGNS[text]) for n, w, text in zip(numbers, widths, written, strict=True)]

    VectorBench(random, 1).check(Run(opcode, written=written, view=view))


CLAMPED_FLOATS = [
    opcode
    for opcode in FLOATING
    if vector.OPERATIONS[opcode].results[0].rstrip("+") in (*WIDTHS, "2xf32", "2xf16")
    and "pk_f16" not in opcode
    and "div_scale" not in opcode
]


def _between_0_and_1(bits: int, kind: str) -> int:
    """A NaN becomes 0, and so does -0."""
    type_ = ("f", WIDTHS[kind])
    value = Value(type_, bits & (1 << type_[1]) - 1)
    if value.real.kind == "nan" or value.real.negative:
        return 0
    one = of_real(type_, reals.from_integer(1))
    return min(value.bits, one.bits)  # positive numbers are in the order of their codes


@pytest.mark.parametrize("opcode", CLAMPED_FLOATS)
def test_clamp_of_floats(opcode, random):
    kind = vector.OPERATIONS[opcode].results[0]
    width = WIDTHS[kind.rstrip("+")]

    def store(bits: int, old: int) -> int:
        clamped = _between_0_and_1(bits, kind.rstrip("+"))
        return old & 0xFFFF0000 | clamped if kind.endswith("+") else clamped

    assert width in (16, 32, 64)
    VectorBench(random, 1).check(Run(opcode, "clamp", store=store))


def signed_integer(bits: int, width: int) -> int:
    bits &= (1 << width) - 1
    return bits - (1 << width) if bits >> width - 1 else bits


def _fields(word: int, width: int, signed: bool) -> list[int]:
    fields = [word >> at & (1 << width) - 1 for at in range(0, 32, width)]
    return [signed_integer(field, width) for field in fields] if signed else fields


def _differences(a: int, b: int, width: int) -> list[int]:
    return [abs(x - y) for x, y in zip(_fields(a, width, False), _fields(b, width, False), strict=True)]


def _dot(width: int, signed: bool) -> Callable[..., int]:
    def total(a: int, b: int, c: int) -> int:
        products = (x * y for x, y in zip(_fields(a, width, signed), _fields(b, width, signed), strict=True))
        return sum(products) + (signed_integer(c, 32) if signed else c)

    return total


# opcode's name without its type -> the sum before it is clipped, of numbers as the type has them
_SUMS: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "subrev": lambda a, b: b - a,
    "mad": lambda a, b, c: a * b + c,
}
# opcode -> (the result's type, the sum of the sources' words)
_SUMS_OF_WORDS: dict[str, tuple[str, Callable[..., int]]] = {
    "v_mad_u32_u24": ("u32", lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF) + c),
    "v_mad_i32_i24": ("i32", lambda a, b, c: signed_integer(a, 24) * signed_integer(b, 24) + signed_integer(c, 32)),
    "v_mad_u32_u16": ("u32", lambda a, b, c: half_of(a, 0) * half_of(b, 0) + c),
    "v_mad_i32_i16": ("i32", lambda a, b, c: signed_integer(a, 16) * signed_integer(b, 16) + signed_integer(c, 32)),
    "v_sad_u8": ("u32", lambda a, b, c: sum(_differences(a, b, 8)) + c),
    "v_sad_hi_u8": ("u32", lambda a, b, c: (sum(_differences(a, b, 8)) << 16) + c),
    "v_sad_u16": ("u32", lambda a, b, c: sum(_differences(a, b, 16)) + c),
    "v_sad_u32": ("u32", lambda a, b, c: abs(a - b) + c),
    **{
        f"v_dot{count}_{'i' if signed else 'u'}32_{'i' if signed else 'u'}{width}": (
            "i32" if signed else "u32",
            _dot(width, signed),
        )
        for count, width in ((2, 16), (4, 8), (8, 4))
        for signed in (True, False)
    },
}
for _name, _function in _SUMS.items():
    for _type in ("u32", "i32", "u16", "i16"):
        if f"v_{_name}_{_type}" in vector.OPERATIONS:
            _width, _is_signed = int(_type[1:]), _type[0] == "i"

            def _of_type(*words: int, width: int = _width, signed: bool = _is_signed, function=_function) -> int:
                mask = (1 << width) - 1
                return function(*(signed_integer(w, width) if signed else w & mask for w in words))

            _SUMS_OF_WORDS[f"v_{_name}_{_type}"] = (_type, _of_type)


def _clipped(total: int, kind: str) -> int:
    width = int(kind[1:])
    low, high = (-1 << width - 1, (1 << width - 1) - 1) if kind[0] == "i" else (0, (1 << width) - 1)
    return min(max(total, low), high) & (1 << width) - 1


@pytest.mark.parametrize("opcode", sorted(_SUMS_OF_WORDS))
def test_clamp_of_integers(opcode, random):
    """The pseudo-code wraps; the sum is one of Python's."""
    kind, function = _SUMS_OF_WORDS[opcode]
    seen: list[list[int]] = []

    def view(numbers: list[int]) -> list[int]:
        seen.append(numbers)
        return numbers

    def store(bits: int, old: int) -> int:
        result = _clipped(function(*seen[len(stored)]), kind)
        stored.append(result)
        if not vector.OPERATIONS[opcode].results[0].endswith("+"):
            return result
        return old & 0xFFFF0000 | result

    stored: list[int] = []
    VectorBench(random, 1).check(Run(opcode, "clamp", view=view, store=store))
    assert len(stored) == len(seen) > 50


@pytest.mark.parametrize("kind", ["u16", "i16"])
@pytest.mark.parametrize("name", ["add", "sub", "mad"])
def test_clamp_of_packed_integers(name, kind, bench, random):
    count = 3 if name == "mad" else 2
    words = [random.integers(0, 2**32, 64, dtype=np.uint32) for _ in range(count)]
    sources = ", ".join(f"v{10 + k}" for k in range(count))
    got = bench.compute(f"v_pk_{name}_{kind} v20, {sources} clamp", *words)[:, 0]
    for lane in range(64):
        halves = []
        for high in (0, 1):
            numbers = [half_of(int(w[lane]), high) for w in words]
            numbers = [signed_integer(n, 16) if kind[0] == "i" else n for n in numbers]
            halves.append(_clipped(_SUMS[name](*numbers), kind))
        assert got[lane] == halves[0] | halves[1] << 16


@pytest.mark.parametrize(
    "text", ["v_xor_b32_e64 v20, v10, v11 clamp", "v_mad_u64_u32 v[20:21], vcc, v10, v11, v[12:13] clamp"]
)
def test_clamp_that_means_nothing_is_refused(text, bench):
    with pytest.raises(UnsupportedInstruction, match=r"\[clamp\]"):
        bench.program(text)


def test_output_factors_are_ignored(random):
    """While denormals are kept, or MODE says IEEE, says AMD's manual."""
    for factor in ("mul:2", "mul:4", "div:2"):
        VectorBench(random, 1).check(Run("v_add_f32", factor, encoding="_e64"))


# ---- MODE.FP16_OVFL


@pytest.mark.parametrize(
    ("text", "registers", "finite", "clamped"),
    [
        ("v_cvt_f16_f32_e32 v20, v10", [1e6], 0x7C00, 0x7BFF),
        ("v_cvt_f16_f32_e32 v20, v10", [-1e6], 0xFC00, 0xFBFF),
        ("v_cvt_f16_f32_e32 v20, v10", [np.inf], 0x7C00, 0x7C00),
        ("v_cvt_f16_f32_e32 v20, v10", [3.0], 0x4200, 0x4200),
        ("v_cvt_pk_bf16_f32 v20, v10, v11", [3.4e38, -3.4e38], 0xFF807F80, 0xFF7F7F7F),
        ("v_cvt_scalef32_pk_fp8_f32 v20, v10, v11, 1.0", [1e3, -np.inf], 0xFF7F, 0xFE7E),
        ("v_cvt_scalef32_pk_bf8_f32 v20, v10, v11, 1.0", [1e6, -np.inf], 0xFC7C, 0xFB7B),
        ("v_cvt_pk_fp8_f32 v20, v10, v11", [465.0, 448.0], 0x7E7F, 0x7E7E),
        ("v_cvt_sr_fp8_f32 v20, v10, -1", [1e3], 0x7F, 0x7E),
        ("v_cvt_sr_f16_f32 v20, v10, -1", [65519.0], 0x7C00, 0x7BFF),
    ],
)
def test_overflow_clamped_by_mode(text, registers, finite, clamped, bench):
    sources = [np.full(64, x, np.float32) for x in registers]
    plain = bench.compute(f"v_mov_b32_e32 v20, 0\n{text}", *sources)
    assert set(plain[:, 0]) == {finite}
    setting = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\nv_mov_b32_e32 v20, 0\n"
    assert set(bench.compute(setting + text, *sources)[:, 0]) == {clamped}


def test_overflow_of_half_arithmetic_is_clamped_by_mode(bench):
    big, infinite = np.full(64, 0x7BFF, np.uint32), np.full(64, 0x7C00, np.uint32)
    text = """s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1
v_add_f16_e32 v20, v10, v10
v_add_f16_e32 v21, v10, v11
v_pk_mul_f16 v22, v10, v10
s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 0
v_add_f16_e32 v23, v10, v10"""
    got = bench.compute(text, big, infinite, results=4)
    assert got[0].tolist() == [0x7BFF, 0x7C00, 0x7BFF, 0x7C00]


# ---- constants


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("v_mov_b32_e32 v20, 0.5", 0x3F000000),
        ("v_mov_b32_e32 v20, -16", 0xFFFFFFF0),
        ("v_mov_b32_e32 v20, 0x12345678", 0x12345678),
        ("v_add_f32_e32 v20, 0.15915494, v12", 0x3E22F983),
        ("v_add_f32_e32 v20, 64, v12", 0x00000040),
        ("v_add_f16_e32 v20, 1.0, v12", 0x3C00),
        ("v_add_f16_e32 v20, 1, v12", 0x0001),
        ("v_add_f16_e32 v20, -4.0, v12", 0xC400),
        ("v_pk_add_f16 v20, 1.0, v12", 0x00003C00),
        ("v_pk_add_f16 v20, 1.0, v12 op_sel_hi:[0,1]", 0x3C003C00),
        ("v_pk_add_u16 v20, -1, v12", 0xFFFFFFFF),
        ("v_pk_add_u16 v20, 1, v12", 0x00000001),
        ("v_add_u16_e32 v20, -2, v12", 0xFFFE),
    ],
)
def test_constants(text, bits, bench):
    zero = np.zeros(64, np.uint32)
    assert set(bench.compute(text, zero, zero, zero)[:, 0]) == {bits}


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("v_add_f64 v[20:21], 1.0, v[12:13]", 0x3FF0000000000000),
        ("v_ceil_f64_e32 v[20:21], 0x40080000", 0x4008000000000000),
        ("v_lshl_add_u64 v[20:21], -1, 0, v[12:13]", 0xFFFFFFFFFFFFFFFF),
        ("v_mov_b64_e32 v[20:21], -3", 0xFFFFFFFFFFFFFFFD),
        ("v_pk_add_f32 v[20:21], 1.0, v[12:13]", 0x3F8000003F800000),
    ],
)
def test_wide_constants(text, bits, bench):
    zero = np.zeros(64, np.uint32)
    got = bench.compute(text, zero, zero, zero, zero, results=2).view(np.uint64)
    assert set(got[:, 0]) == {bits}
