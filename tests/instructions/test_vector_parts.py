"""Parts of registers as operands: op_sel and its kind, packed halves, SDWA. The pseudo-code does the rest."""

import re

import numpy as np
import pytest

from mxsub.virtual import vector
from mxsub.virtual.faults import UnsupportedInstruction
from tests.instructions.test_vector import OPCODES
from tests.instructions.test_vector_modifiers import SIGNS, WIDTHS, half_of, signed, signed_integer
from tests.instructions.vector_bench import Run, VectorBench, explicit_kinds

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
            return [half_of(number, pick) if "16" in kind else number for number, kind, pick in parts]

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
    run.view = lambda numbers: [half_of(number, pick) for number, pick in zip(numbers, picks, strict=False)]
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
        written = tuple(str(choice) for choice in random.choice(list(SIGNS), 3))

        def view(numbers: list[int], picks=picks, halves=halves, written=written) -> list[int]:
            seen = []
            for number, pick, is_half, text in zip(numbers, picks, halves, written, strict=True):
                if is_half:
                    sign = signed(half_of(number, pick), 16, *SIGNS[text])
                    seen.append(sign << 16 * pick)
                else:
                    seen.append(signed(number, 32, *SIGNS[text]))
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
            run.view = lambda numbers, high=chosen[0]: [half_of(numbers[0], high), *numbers[1:]]
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
    floating = kinds[0] in WIDTHS
    is_mask = vector.OPERATIONS[opcode].results[0] == "mask"
    for _ in range(8):
        chosen = [str(name) for name in random.choice(list(_SELECTIONS), len(kinds) + 1)]
        unused = "" if is_mask else str(random.choice(["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"]))
        extended = [not floating and bool(bit) for bit in random.integers(0, 2, len(kinds))]
        signs = [str(choice) if floating else "{}" for choice in random.choice(list(SIGNS), len(kinds))]

        def view(numbers: list[int], chosen=chosen, extended=extended, signs=signs) -> list[int]:
            seen = []
            for number, name, extend, sign, kind in zip(numbers, chosen, extended, signs, kinds, strict=False):
                first, width = _SELECTIONS[name]
                part = number >> first & (1 << width) - 1
                if extend:
                    part = signed_integer(part, width) & 0xFFFFFFFF
                seen.append(signed(part, WIDTHS[kind], *SIGNS[sign]) if floating else part)
            return seen

        def store(bits: int, old: int, chosen=chosen, unused=unused) -> int:
            first, width = _SELECTIONS[chosen[-1]]
            if vector.OPERATIONS[opcode].results[0].endswith("16"):
                bits &= 0xFFFF
            part = bits & (1 << width) - 1
            if unused == "UNUSED_PRESERVE":
                return old & ~((1 << width) - 1 << first) | part << first
            if unused == "UNUSED_SEXT":
                part = signed_integer(part, width)
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


def test_op_sel_of_whole_registers_is_refused(bench):
    with pytest.raises(UnsupportedInstruction, match=r"\[op_sel of whole registers\]"):
        bench.program("v_alignbit_b32 v20, v10, v11, v12 op_sel:[0,0,1]")
