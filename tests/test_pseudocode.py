"""The interpreter of AMD's pseudo-code, against numpy's arithmetic and small programs worked out by hand."""

import operator

import numpy as np
import pytest

from tests.pseudocode import DESCRIBED, TEXTS, PseudoCodeError, State, reals, run, run_lane
from tests.pseudocode.frame import Frame
from tests.pseudocode.functions import TWO_OVER_PI_BITS, stochastically_rounded, two_over_pi
from tests.pseudocode.grammar import parse
from tests.pseudocode.reals import FORMATS
from tests.pseudocode.statements import block
from tests.pseudocode.values import Value

TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64}


def after(text: str, **names: int) -> State:
    """The state after a text of ours."""
    state = State(names)
    block(parse(text))(Frame(state, lambda frame, name, values: pytest.fail(name)))
    return state


def number(kind: str, bits: int) -> reals.Real:
    return reals.decode(int(bits), FORMATS["f", int(kind[1:])])


def draw(kind: str, random: np.random.Generator, count: int) -> np.ndarray:
    bits = np.dtype(TYPES[kind]).itemsize * 8
    return random.integers(0, 1 << bits, count, dtype=np.uint64).astype(f"u{bits // 8}").view(TYPES[kind])


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("name", ["add", "multiply", "divide"])
def test_arithmetic_rounds_as_numpy_does(kind, name, random):
    function = {"add": np.add, "multiply": np.multiply, "divide": np.divide}[name]
    a, b = (draw(kind, random, 400) for _ in range(2))
    near = random.random(400) < 0.5
    with np.errstate(all="ignore"):
        b = np.where(near, a * TYPES[kind](-1.25), b)
        want = function(a, b)
    size = f"u{a.itemsize}"
    for x, y, z in zip(a.view(size), b.view(size), want, strict=True):
        got = reals.encode(getattr(reals, name)(number(kind, x), number(kind, y)), FORMATS["f", int(kind[1:])])
        if np.isnan(z):
            assert number(kind, got).kind == "nan"
        else:
            assert got == int(z.view(size))


@pytest.mark.parametrize("kind", TYPES)
def test_square_roots_round_as_numpy_does(kind, random):
    a = np.abs(draw(kind, random, 300))
    a = a[np.isfinite(a)]
    size = f"u{a.itemsize}"
    for x, z in zip(a.view(size), np.sqrt(a).view(size), strict=True):
        assert reals.encode(reals.square_root(number(kind, x)), FORMATS["f", int(kind[1:])]) == int(z)


@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_narrowing_rounds_as_numpy_does(kind, random):
    with np.errstate(all="ignore"):
        near = draw(kind, random, 200).astype(np.float64) * (1 + 2.0**-12)
        wide = np.concatenate([draw("f64", random, 200), near])
        narrow = wide.astype(TYPES[kind])
    for x, z in zip(wide.view(np.uint64), narrow, strict=True):
        got = reals.encode(number("f64", x), FORMATS["f", int(kind[1:])])
        assert number(kind, got).kind == "nan" if np.isnan(z) else got == int(z.view(f"u{z.itemsize}"))


@pytest.mark.parametrize(
    ("format_", "largest", "too_large"),
    [
        (("fp", 8), 448.0, 0x7F),
        (("bf", 8), 57344.0, 0x7C),
        (("fp", 6), 7.5, 0x1F),
        (("bf", 6), 28.0, 0x1F),
        (("fp", 4), 6.0, 7),
    ],
)
def test_the_ends_of_narrow_formats(format_, largest, too_large):
    """By the documents of OCP: OFP8, and Microscaling Formats 1.0."""
    form = FORMATS[format_]
    assert reals.to_float(reals.decode(form.largest, form)) == largest
    assert reals.encode(reals.from_float(largest), form) == form.largest
    assert reals.encode(reals.from_float(largest * 4), form) == too_large


def test_stochastic_rounding_is_fair():
    """Of all seeds that differ in the bits that count, as many round up as the number is on its way to the next one."""
    x = Value(("f", 32), 0x3F900000)  # 1.125, a quarter of the way from 1 to the next number of e2m1, 1.5
    codes = [stochastically_rounded(x, seed << 24, ("fp", 4), 0).bits for seed in range(256)]
    assert codes.count(3) == 64
    assert codes.count(2) == 192


def test_two_over_pi():
    assert two_over_pi() / 2**TWO_OVER_PI_BITS == 2 / np.pi
    # The first words of the table of Payne and Hanek's reduction, as in every C library.
    assert two_over_pi() >> TWO_OVER_PI_BITS - 128 == 0xA2F9836E_4E441529_FC2757D1_F534DDC0


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("D0.u32 = 3U - 5U", 0xFFFFFFFE),
        ("D0.i32 = 32'I(signext(S0.i16))", 0xFFFF8001),
        ("D0 = { S0[15 : 0], 16'7U }", 0x80010007),
        ("D0.u32[31 : 0] = S0.u32[0 : 31]", 0x80010000),
        ("D0.u32 = S0.u32 > 5U ? 1U : 2U", 1),
        ("tmp = 0; for i in 0 : 7 do tmp += 32'I(S0.u32[i]); if i == 3 then break endif endfor; D0.i32 = tmp", 1),
        ("TWICE = lambda(n) ( n + n ); D0.u32 = TWICE(S0.u32[3 : 0])", 2),
        ("D0.u32 = (1U << 32U) - 1U", 0xFFFFFFFF),
        ("D0[7 : 0].u8 = 8'200U; D0[15 : 8].i8 = 8'I(-1)", 0xFFC8),
        ("{ D1.u1, D0.u32 } = 33'B(64'U(0xffffffffLL) + 64'U(1U))", 0),
        ("D0.f32 = 1.5F * 2.0F ** 3", 0x41400000),
        ("D0.u32 = 2 + 3 * 4 == 14 ? 7U : 8U", 7),
        ("D0.u32 = 32'U(S0.i16 < 0)", 1),
    ],
)
def test_small_programs(text, result):
    assert after(text.replace("signext(S0.i16)", "S0.i16"), S0=0x8001, D0=0).names["D0"] == result


@pytest.mark.parametrize(
    "text", ["D0 = ", "if S0 then D0 = 1", "D0.u32 = 1 2", "D0.u32 = nowhere", "vmcount (lower bits) [3:0],"]
)
def test_what_is_no_pseudo_code(text):
    with pytest.raises(PseudoCodeError):
        after(text, S0=0)


def test_prose_is_not_described():
    prose = {name for name in TEXTS if name not in DESCRIBED}
    assert {"s_waitcnt", "s_sleep", "ds_swizzle_b32"} <= prose
    assert all(name.startswith(("v_mfma", "v_smfmac")) for name in prose - {"s_waitcnt", "s_sleep", "ds_swizzle_b32"})


def test_memory_and_lanes():
    state = State({"ADDR": 16, "DATA": 7, "OFFSET0": 4}, functions={"CalcDsAddr": lambda a, low, high: a_plus(a, low)})
    state.memory.write(20, 4, 0xFFFFFFFE)
    run("ds_add_rtn_u32", state)
    assert (state.names["RETURN_DATA"], state.memory.read(20, 4)) == (0xFFFFFFFE, 5)
    state = State({"SRC0": 3, "EXEC": 0xF0}, vgpr={(lane, 3): 10 * lane for lane in range(64)})
    run("v_readfirstlane_b32", state)
    assert state.names["D0"] == 40


def a_plus(a: Value, b: Value) -> Value:
    return Value(("u", 32), operator.add(a.bits, b.bits) & 0xFFFFFFFF)


def test_one_lane():
    assert run_lane("v_add_f32", 0x3F800000, 0x40000000).names["D0"] == 0x40400000
    state = run_lane("v_mad_u64_u32", 0xFFFFFFFF, 0xFFFFFFFF, (1 << 64) - 1)
    assert (state.names["D0"], state.names["D1"]) == (0xFFFFFFFE00000000, 1)
    state = run_lane("v_cvt_scalef32_pk_fp4_f32", 0x3F800000, 0xC0800000, 0x40000000, OPSEL=8, D0=0x11223344)
    assert state.names["D0"] == 0x11C13344
