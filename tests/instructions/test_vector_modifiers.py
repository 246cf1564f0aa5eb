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

_WIDTHS = {"f16": 16, "f32": 32, "f64": 64}
_WITHOUT_SOURCE_MODIFIERS = re.compile(r"v_div_scale_\w+|v_(fm|m)a(mk|ak|dmk|dak)_\w+")
FLOATING = [
    opcode
    for opcode in OPCODES
    if all(kind in _WIDTHS for kind in explicit_kinds(opcode)) and not _WITHOUT_SOURCE_MODIFIERS.fullmatch(opcode)
]
_SIGNS = {"{}": (False, False), "-{}": (True, False), "|{}|": (False, True), "-|{}|": (True, True)}


def _half(word: int, high: int) -> int:
    return word >> 16 * high & 0xFFFF


def _signed(word: int, width: int, negate: bool, absolute: bool) -> int:
    if absolute:
        word &= ~(1 << width - 1)
    return word ^ 1 << width - 1 if negate else word


@pytest.mark.parametrize("opcode", FLOATING)
def test_neg_and_abs(opcode, random):
    widths = [_WIDTHS[kind] for kind in explicit_kinds(opcode)]
    written = tuple(str(choice) for choice in random.choice(list(_SIGNS)[1:], len(widths)))

    def view(numbers: list[int]) -> list[int]:
        return [_signed(n, w, *_SIGNS[text]) for n, w, text in zip(numbers, widths, written, strict=True)]

    VectorBench(random, 1).check(Run(opcode, written=written, view=view))


CLAMPED_FLOATS = [
    opcode
    for opcode in FLOATING
    if vector.OPERATIONS[opcode].results[0].rstrip("+") in (*_WIDTHS, "2xf32", "2xf16")
    and "pk_f16" not in opcode
    and "div_scale" not in opcode
]


def _between_0_and_1(bits: int, kind: str) -> int:
    """A NaN becomes 0, and so does -0."""
    type_ = ("f", _WIDTHS[kind])
    value = Value(type_, bits & (1 << type_[1]) - 1)
    if value.real.kind == "nan" or value.real.negative:
        return 0
    one = of_real(type_, reals.from_integer(1))
    return min(value.bits, one.bits)  # positive numbers are in the order of their codes


@pytest.mark.parametrize("opcode", CLAMPED_FLOATS)
def test_clamp_of_floats(opcode, random):
    kind = vector.OPERATIONS[opcode].results[0]
    width = _WIDTHS[kind.rstrip("+")]

    def store(bits: int, old: int) -> int:
        clamped = _between_0_and_1(bits, kind.rstrip("+"))
        return old & 0xFFFF0000 | clamped if kind.endswith("+") else clamped

    assert width in (16, 32, 64)
    VectorBench(random, 1).check(Run(opcode, "clamp", store=store))


def _signed_integer(bits: int, width: int) -> int:
    bits &= (1 << width) - 1
    return bits - (1 << width) if bits >> width - 1 else bits


def _fields(word: int, width: int, signed: bool) -> list[int]:
    fields = [word >> at & (1 << width) - 1 for at in range(0, 32, width)]
    return [_signed_integer(field, width) for field in fields] if signed else fields


def _differences(a: int, b: int, width: int) -> list[int]:
    return [abs(x - y) for x, y in zip(_fields(a, width, False), _fields(b, width, False), strict=True)]


def _dot(width: int, signed: bool) -> Callable[..., int]:
    def total(a: int, b: int, c: int) -> int:
        products = (x * y for x, y in zip(_fields(a, width, signed), _fields(b, width, signed), strict=True))
        return sum(products) + (_signed_integer(c, 32) if signed else c)

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
    "v_mad_i32_i24": ("i32", lambda a, b, c: _signed_integer(a, 24) * _signed_integer(b, 24) + _signed_integer(c, 32)),
    "v_mad_u32_u16": ("u32", lambda a, b, c: _half(a, 0) * _half(b, 0) + c),
    "v_mad_i32_i16": ("i32", lambda a, b, c: _signed_integer(a, 16) * _signed_integer(b, 16) + _signed_integer(c, 32)),
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
                return function(*(_signed_integer(w, width) if signed else w & mask for w in words))

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
            numbers = [_half(int(w[lane]), high) for w in words]
            numbers = [_signed_integer(n, 16) if kind[0] == "i" else n for n in numbers]
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


# ---- halves


HALVED = [
    *(f"v_{name}_f16" for name in ("mad", "fma", "div_fixup", "min3", "max3", "med3")),
    *(f"v_{name}_{t}" for name in ("mad", "min3", "max3", "med3") for t in ("u16", "i16")),
    "v_mad_u32_u16",
    "v_mad_i32_i16",
    "v_add_i16",
    "v_sub_i16",
    "v_pack_b32_f16",
    "v_cvt_pknorm_i16_f16",
    "v_cvt_pknorm_u16_f16",
]


@pytest.mark.parametrize("opcode", HALVED)
def test_op_sel_of_halves(opcode, random):
    kinds, result = explicit_kinds(opcode), vector.OPERATIONS[opcode].results[0]
    for _ in range(4):
        picks = [int(bit) for bit in random.integers(0, 2, len(kinds) + 1)]
        if not result.endswith("+"):
            picks[-1] = 0

        def view(numbers: list[int], picks=picks) -> list[int]:
            parts = zip(numbers, kinds, picks, strict=False)
            return [_half(number, pick) if "16" in kind else number for number, kind, pick in parts]

        def store(bits: int, old: int, high=picks[-1]) -> int:
            return old & ~(0xFFFF << 16 * high) | (bits & 0xFFFF) << 16 * high

        run = Run(opcode, f"op_sel:{picks}".replace(" ", ""), view=view)
        run.store = store if result.endswith("+") else None
        VectorBench(random, 1).check(run)


@pytest.mark.parametrize("picks", [(1, 0, 1, 1), (0, 1, 0, 0), (1, 1, 1, 0), (0, 0, 0, 1)])
def test_op_sel_of_a_truth_table(picks, random):
    names = {"INST.OMOD": 0x5A >> 6, "INST.ABS": 0x5A >> 3 & 7, "INST.NEG": 0x5A & 7}

    def store(bits: int, old: int) -> int:
        return old & ~(0xFFFF << 16 * picks[3]) | (bits & 0xFFFF) << 16 * picks[3]

    run = Run("v_bitop3_b16", f"bitop3:0x5a op_sel:{list(picks)}".replace(", ", ","), names, store=store)
    run.view = lambda numbers: [_half(number, pick) for number, pick in zip(numbers, picks, strict=False)]
    VectorBench(random, 1).check(run)


PACKED = [
    opcode for opcode in OPCODES if re.match(r"v_pk_", opcode) and opcode not in ("v_pk_mov_b32", "v_pk_fmac_f16")
]
DOTS = ["v_dot2_f32_f16", "v_dot2_f32_bf16"]


@pytest.mark.parametrize("opcode", PACKED + DOTS)
def test_packed_halves(opcode, random):
    """op_sel picks the part for the low result, op_sel_hi that for the high one; neg_lo and neg_hi are their signs."""
    kinds = explicit_kinds(opcode)
    width = 32 if "2xf32" in kinds else 16
    floating = any("f" in kind for kind in kinds)
    for _ in range(4):
        modifiers: dict[str, list[int]] = {}
        for name, default in (("op_sel", 0), ("op_sel_hi", 1), ("neg_lo", 0), ("neg_hi", 0)):
            drawn = [int(bit) for bit in random.integers(0, 2, len(kinds))]
            takes = floating if name.startswith("neg") else opcode not in DOTS
            modifiers[name] = [
                bit if "2x" in kind and takes else default for bit, kind in zip(drawn, kinds, strict=True)
            ]

        def view(numbers: list[int], m=modifiers) -> list[int]:
            seen = []
            for k, (number, kind) in enumerate(zip(numbers, kinds, strict=True)):
                low, high = (number >> width * m[name][k] & (1 << width) - 1 for name in ("op_sel", "op_sel_hi"))
                low, high = low ^ m["neg_lo"][k] << width - 1, high ^ m["neg_hi"][k] << width - 1
                seen.append(low | high << width if "2x" in kind else number)
            return seen

        left_out = ("op_sel", "op_sel_hi") if opcode in DOTS else () if floating else ("neg_lo", "neg_hi")
        written = [name for name in modifiers if name not in left_out]
        text = " ".join(f"{name}:{modifiers[name]}".replace(" ", "") for name in written)
        VectorBench(random, 1).check(Run(opcode, text, view=view))


@pytest.mark.parametrize("picks", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_moved_halves(picks, random):
    names = {"OPSEL": picks[0] | picks[1] << 1}
    VectorBench(random, 1).check(Run("v_pk_mov_b32", f"op_sel:{list(picks)}".replace(" ", ""), names))


@pytest.mark.parametrize("opcode", ["v_fma_mix_f32", "v_fma_mixlo_f16", "v_fma_mixhi_f16"])
def test_mixed_sources(opcode, random):
    for _ in range(6):
        picks, halves = ([int(bit) for bit in random.integers(0, 2, 3)] for _ in range(2))
        written = tuple(str(choice) for choice in random.choice(list(_SIGNS), 3))

        def view(numbers: list[int], picks=picks, halves=halves, written=written) -> list[int]:
            seen = []
            for number, pick, is_half, text in zip(numbers, picks, halves, written, strict=True):
                if is_half:
                    sign = _signed(_half(number, pick), 16, *_SIGNS[text])
                    seen.append(sign << 16 * pick)
                else:
                    seen.append(_signed(number, 32, *_SIGNS[text]))
            return seen

        names = {
            "OPSEL": sum(bit << k for k, bit in enumerate(picks)),
            "OPSEL_HI": sum(bit << k for k, bit in enumerate(halves)),
        }
        text = f"op_sel:{picks} op_sel_hi:{halves}".replace(", ", ",")
        VectorBench(random, 1).check(Run(opcode, text, names, written=written, view=view))


# ---- parts of a register that conversions read and write


# opcode -> for each number of op_sel in the text, the bit of OPSEL that it is; None is a number that picks nothing
_PARTS: list[tuple[str, list[int | None]]] = [
    (r"v_cvt_scalef32_(sr_)?pk_fp4_\w+|v_cvt_scalef32_sr_(fp8|bf8)_f32|v_cvt_sr_(fp8|bf8)_f32", [None, None, 2, 3]),
    (r"v_cvt_scalef32_sr_(fp8|bf8)_\w+", [0, None, 2, 3]),
    (r"v_cvt_scalef32_pk_(fp8|bf8)_f32", [None, None, None, 3]),
    (r"v_cvt_scalef32_pk_(fp8|bf8)_\w+|v_cvt_pk_(fp8|bf8)_f32|v_cvt_sr_(f16|bf16)_f32", [None, None, 3]),
    (r"v_cvt_scalef32_f16_\w+", [0, 1, 3]),
    (r"v_cvt_scalef32_f32_\w+|v_cvt_scalef32_pk_\w+_fp4", [0, 1]),
    (r"v_cvt_scalef32_pk_\w+_(fp8|bf8)", [0]),
]
PARTED = [opcode for opcode in OPCODES if any(re.fullmatch(pattern, opcode) for pattern, _ in _PARTS)]


@pytest.mark.parametrize("opcode", PARTED)
def test_parts_of_registers(opcode, random):
    bits = next(bits for pattern, bits in _PARTS if re.fullmatch(pattern, opcode))
    free = [bit for bit in bits if bit is not None]
    for number in range(1 << len(free)):
        chosen = {bit: number >> k & 1 for k, bit in enumerate(free)}
        picks = [0 if bit is None else chosen[bit] for bit in bits]
        names = {"OPSEL": sum(on << bit for bit, on in chosen.items())}
        run = Run(opcode, f"op_sel:{picks}".replace(" ", ""), names)
        if re.fullmatch(r"v_cvt_scalef32_sr_(fp8|bf8)_(f16|bf16)", opcode):  # the first picks the source's half
            run.view = lambda numbers, high=chosen[0]: [_half(numbers[0], high), *numbers[1:]]
        VectorBench(random, 1).check(run)


# ---- SDWA


_SELECTIONS = {"DWORD": (0, 32), **{f"BYTE_{k}": (8 * k, 8) for k in range(4)}, "WORD_0": (0, 16), "WORD_1": (16, 16)}
SDWA = [
    "v_add_u32", "v_sub_u16", "v_mul_u32_u24", "v_or_b32", "v_lshlrev_b16", "v_ashrrev_i32", "v_max_i32", "v_mov_b32",
    "v_add_f16", "v_max_f16", "v_mul_f32", "v_cvt_f32_i32", "v_cvt_f16_f32", "v_cmp_lt_i32", "v_cmp_gt_f16",
]  # fmt: skip


def _finite(words: np.ndarray, kind: str) -> np.ndarray:
    """A part of a NaN tells its payload, which nothing fixes, so there are none here."""
    if kind not in ("f16", "f32"):
        return words
    numbers = np.ascontiguousarray(words).view(kind.replace("f", "float"))
    return np.where(np.isfinite(numbers), numbers, numbers.dtype.type(1.5)).view(np.uint32)


@pytest.mark.parametrize("opcode", SDWA)
def test_sdwa(opcode, random):
    kinds = explicit_kinds(opcode)
    floating = kinds[0] in _WIDTHS
    is_mask = vector.OPERATIONS[opcode].results[0] == "mask"
    for _ in range(8):
        chosen = [str(name) for name in random.choice(list(_SELECTIONS), len(kinds) + 1)]
        unused = "" if is_mask else str(random.choice(["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"]))
        extended = [not floating and bool(bit) for bit in random.integers(0, 2, len(kinds))]
        signs = [str(choice) if floating else "{}" for choice in random.choice(list(_SIGNS), len(kinds))]

        def view(numbers: list[int], chosen=chosen, extended=extended, signs=signs) -> list[int]:
            seen = []
            for number, name, extend, sign, kind in zip(numbers, chosen, extended, signs, kinds, strict=False):
                first, width = _SELECTIONS[name]
                part = number >> first & (1 << width) - 1
                if extend:
                    part = _signed_integer(part, width) & 0xFFFFFFFF
                seen.append(_signed(part, _WIDTHS[kind], *_SIGNS[sign]) if floating else part)
            return seen

        def store(bits: int, old: int, chosen=chosen, unused=unused) -> int:
            first, width = _SELECTIONS[chosen[-1]]
            if vector.OPERATIONS[opcode].results[0].endswith("16"):
                bits &= 0xFFFF
            part = bits & (1 << width) - 1
            if unused == "UNUSED_PRESERVE":
                return old & ~((1 << width) - 1 << first) | part << first
            if unused == "UNUSED_SEXT":
                part = _signed_integer(part, width)
            return part << first & 0xFFFFFFFF

        selections = " ".join(f"src{k}_sel:{name}" for k, name in enumerate(chosen[:-1]))
        modifiers = selections if is_mask else f"dst_sel:{chosen[-1]} dst_unused:{unused} {selections}"
        written = tuple("sext({})" if extend else sign for extend, sign in zip(extended, signs, strict=True))
        run = Run(opcode, modifiers, encoding="_sdwa", written=written, view=view)
        run.store = None if is_mask else store
        bench = VectorBench(random, 1)
        bench.check(run, [_finite(words, kinds[0]) for words in bench.sources(opcode)])


@pytest.mark.parametrize("byte", range(4))
@pytest.mark.parametrize("opcode", ["v_cvt_f32_fp8", "v_cvt_f32_bf8"])
def test_sdwa_of_byte_conversions(opcode, byte, random):
    run = Run(opcode, f"src0_sel:BYTE_{byte}", {"SDWA_SRC0_SEL": byte}, "_sdwa")
    VectorBench(random, 1).check(run)


@pytest.mark.parametrize("word", range(2))
@pytest.mark.parametrize("opcode", ["v_cvt_pk_f32_fp8", "v_cvt_pk_f32_bf8"])
def test_sdwa_of_pair_conversions(opcode, word, random):
    run = Run(opcode, f"src0_sel:WORD_{word}", {"SDWA_SRC0_SEL": 4 + word}, "_sdwa")
    VectorBench(random, 1).check(run)


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


def test_op_sel_of_whole_registers_is_refused(bench):
    with pytest.raises(UnsupportedInstruction, match=r"\[op_sel of whole registers\]"):
        bench.program("v_alignbit_b32 v20, v10, v11, v12 op_sel:[0,0,1]")
