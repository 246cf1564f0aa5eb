"""Runs one vector opcode in many lanes, on the emulator and by the pseudo-code, and compares."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from mxsub.virtual import vector
from tests.bench import Bench
from tests.instructions.expectations import (
    ABSOLUTE_ACCURACY,
    ACCURACY,
    CLEARS_UPPER_HALF,
    expected,
)
from tests.instructions.operand_values import Operands
from tests.instructions.word_comparison import canonical, distance, ulps_apart

Words = npt.NDArray[np.uint32]

WAVES = 2
LANES = 64 * WAVES
# The first register of the sources and of the results.
SOURCES, RESULTS = 10, 128
IMPLICIT = ("old", "vcc", "mode")

# opcode -> the kinds of operands to draw, where the table's types say too little
_DRAWN = [
    (r"v_cvt_scalef32_(sr_)?(pk_)?(fp8|bf8|fp4)_f32", ["f32", "f32", "scale"]),
    (r"v_cvt_scalef32_(sr_)?(pk_)?(fp8|bf8|fp4)_(f16|bf16)", ["half", "scale"]),
    (r"v_cvt_scalef32_2xpk16_\w+_f32", ["16*f32", "16*f32", "scale"]),
    (r"v_cvt_scalef32_(sr_)?pk32_(fp6|bf6)_f32", ["32*f32", "scale"]),
    (r"v_cvt_scalef32_(sr_)?pk32_(fp6|bf6)_(f16|bf16)", ["16*half", "scale"]),
    (r"v_cvt_scalef32_pk32_\w+_(fp6|bf6)", ["6*seed", "scale"]),
    (r"v_cvt_scalef32_(pk_)?(f32|f16|bf16)_\w+", ["seed", "scale"]),
    (r"v_cvt_sr_\w+", ["f32", "seed"]),
    (r"v_cvt_(pk_)?f32_(fp8|bf8)", ["seed"]),
    (r"v_cvt_f32_bf16", ["bf16"]),
    (r"v_fma_mix\w+", ["f32", "f32", "f32"]),
    (r"v_exp_f32", ["exponent"]),
    (r"v_perm_b32", ["u32", "u32", "selector"]),
    (r"v_ldexp_\w+", ["", "shift"]),
    (r"v_pack_b32_f16", ["f16", "f16"]),
]
# What a result's words hold, where that is not the type: canonical forms of NaNs are compared.
_HELD = [
    (r"v_cvt_(scalef32_)?(pk|sr)_bf16_\w+|v_cvt_scalef32_pk32_bf16_\w+", "bf16"),
    (r"v_cvt_(scalef32_)?(pk|sr)_fp8_\w+", "fp8"),
    (r"v_cvt_(scalef32_)?(pk|sr)_bf8_\w+", "bf8"),
    (r"v_cvt_(scalef32_)?(pk32|pkrtz|sr)_f16_\w+", "f16"),
    (r"v_cvt_scalef32_pk32_f32_\w+", "f32"),
]


@dataclass
class Run:
    """What to run.

    modifiers: behind the operands. names: of the pseudo-code's state, for every lane. encoding: suffix of the opcode.
    constant: the number of the source that is a constant, the same in all lanes, of which constant_bits count.
    uniform: the number of the source that is in scalar registers. written: how each source is written, with {} for its
    registers. view: what the opcode sees of the sources, whose numbers it gets. store: what the destination holds, of
    the opcode's result and of what it held before.
    """

    opcode: str
    modifiers: str = ""
    names: dict[str, int] = field(default_factory=dict)
    encoding: str = ""
    constant: int | None = None
    constant_bits: int = 0xFFFFFFFF
    uniform: int | None = None
    written: tuple[str, ...] = ()
    view: Callable[[list[int]], list[int]] = list
    store: Callable[[int, int], int] | None = None


def explicit_kinds(opcode: str) -> list[str]:
    """The types of the sources that the assembly text names."""
    return [kind for kind in vector.OPERATIONS[opcode].sources if kind not in IMPLICIT]


def registers_of(kind: str) -> int:
    if "*" in kind:
        return int(kind.partition("*")[0])
    return 2 if kind.rstrip("^+") in ("u64", "i64", "f64", "2xf32") else 1


def named(first: int, count: int) -> str:
    return f"v{first}" if count == 1 else f"v[{first}:{first + count - 1}]"


def drawn_kinds(opcode: str) -> list[str]:
    kinds = explicit_kinds(opcode)
    for pattern, drawn in _DRAWN:
        if re.fullmatch(pattern, opcode):
            half = "bf16" if opcode.endswith("_bf16") else "f16"
            drawn = [kind.replace("half", half) for kind in drawn]
            if "_sr_" in opcode and len(drawn) < len(kinds):
                drawn.insert(1, "seed")
            if "_sr_pk_fp4_f32" in opcode:
                drawn = ["2*f32", "seed", "scale"]
            elif re.fullmatch(r"v_cvt_scalef32_sr_(fp8|bf8)_f32", opcode):
                drawn = ["f32", "seed", "scale"]
            return [new or old for new, old in zip(drawn, kinds, strict=True)]
    return kinds


class _Listing:
    """Instructions, and what they are to find in the registers from v10 on. Pairs and more begin at even registers."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.loaded: list[Words] = []
        self._at = SOURCES

    def load(self, words: Words) -> int:
        """The register in which the words will be."""
        if words.shape[1] > 1 and self._at % 2:
            self.load(np.zeros_like(words[:, :1]))
        self.loaded.append(words)
        self._at += words.shape[1]
        return self._at - words.shape[1]

    def uniform(self, count: int, in_vector_registers: bool) -> str:
        """Moves what was loaded last, and is the same in all lanes, to registers that hold it once for the wave."""
        first = self._at - count
        self.lines += [f"v_readfirstlane_b32 s{70 + j}, v{first + j}" for j in range(count)]
        if not in_vector_registers:
            return named(70, count).replace("v", "s")
        self.lines += [f"v_mov_b32_e32 v{first + j}, s{70 + j}" for j in range(count)]
        return named(first, count)


class VectorBench:
    """Draws operands, runs, compares. waves: 64 lanes each."""

    def __init__(self, random: np.random.Generator, waves: int = WAVES) -> None:
        self.operands = Operands(random, 64 * waves)
        self.random = random
        self.waves = waves
        self.lanes = 64 * waves

    def sources(self, opcode: str) -> list[Words]:
        """The sources' words, (lanes, registers) each; some lanes have the same in two of them."""
        drawn = []
        for kind in drawn_kinds(opcode):
            drawn.append(self.operands.mask().astype(np.uint32)[:, None] if kind == "mask" else self.operands.of(kind))
        for k in range(1, len(drawn)):
            if drawn[k].shape == drawn[0].shape and explicit_kinds(opcode)[k] == explicit_kinds(opcode)[0]:
                same = self.random.random(self.lanes) < 0.12
                drawn[k] = np.where(same[:, None], drawn[0], drawn[k])
        if opcode.startswith("v_div_scale"):
            drawn[0] = np.where(self.operands.mask()[:, None], drawn[1], drawn[2])
        return drawn

    def check(self, run: Run, sources: list[Words] | None = None) -> None:
        """Run the opcode and compare the results of every lane with the pseudo-code's."""
        sources = self.sources(run.opcode) if sources is None else sources
        if run.uniform is not None:
            sources[run.uniform] = np.repeat(sources[run.uniform][::64], 64, axis=0)
        if run.constant is not None:
            sources[run.constant] = np.broadcast_to(sources[run.constant][:1], (self.lanes, 1))
        old = self.operands.of("u32") if self._old_words(run) else None
        if old is not None:
            kind = vector.OPERATIONS[run.opcode].results[0]
            old = np.concatenate([self._old(run.opcode, kind) for _ in range(self._old_words(run))], axis=1)
        vcc = self.operands.mask()
        active = self.operands.active()
        got = self._run(run, sources, old, vcc, active)
        self._compare(run, sources, old, vcc, active, got)

    def _old(self, opcode: str, kind: str) -> Words:
        kind = kind.rstrip("^+")
        return self.operands.of(kind if kind in ("f32", "f16", "2xf16", "i32") else "u32")

    def _old_words(self, run: Run) -> int:
        kind = vector.OPERATIONS[run.opcode].results[0]
        return 0 if kind == "mask" else registers_of(kind)

    def _run(
        self,
        run: Run,
        sources: list[Words],
        old: Words | None,
        vcc: npt.NDArray[np.bool_],
        active: npt.NDArray[np.bool_],
    ) -> list[Words]:
        operation = vector.OPERATIONS[run.opcode]
        listing = _Listing()
        lines, load = listing.lines, listing.load
        names = []
        for k, (kind, words) in enumerate(zip(explicit_kinds(run.opcode), sources, strict=True)):
            if kind == "mask":
                lines.append(f"v_cmp_ne_u32_e64 s[40:41], 0, v{load(words)}")
                names.append("s[40:41]")
            elif run.constant == k:
                names.append(f"0x{int(words[0, 0]) & run.constant_bits:x}")
            else:
                place = named(load(words), words.shape[1])
                if run.uniform == k:
                    # As a lane mask is in scalar registers, too, and one may be read, there it goes back to others.
                    place = listing.uniform(words.shape[1], "mask" in operation.sources or "vcc" in operation.sources)
                names.append((run.written[k] if run.written else "{}").format(place))
        lines.append(f"v_cmp_ne_u32_e64 vcc, 0, v{load(vcc.astype(np.uint32)[:, None])}")
        lines.append(f"v_cmp_ne_u32_e64 s[46:47], 0, v{load(active.astype(np.uint32)[:, None])}")
        if old is not None:
            first = load(old)
            lines += [f"v_mov_b32_e32 v{RESULTS + k}, v{first + k}" for k in range(old.shape[1])]
        targets, after, count = [], [], 0
        for kind in operation.results:
            if kind == "mask":
                targets.append(f"s[{60 + 2 * count}:{61 + 2 * count}]")
                after.append(f"v_cndmask_b32_e64 v{RESULTS + count}, 0, 1, {targets[-1]}")
                count += 1
            else:
                targets.append(named(RESULTS + count, registers_of(kind)))
                count += registers_of(kind)
        if run.opcode.startswith("v_cmpx"):
            after.append(f"v_cndmask_b32_e64 v{RESULTS + count}, 0, 1, s[50:51]")
            count += 1
        lines += [
            "s_mov_b64 exec, s[46:47]",
            f"{run.opcode}{run.encoding} {', '.join(targets + names)}{' ' if run.modifiers else ''}{run.modifiers}",
            "s_mov_b64 s[50:51], exec",
            "s_mov_b64 exec, -1",
            *after,
        ]
        out = Bench().compute("\n".join(lines), *listing.loaded, results=count, at=RESULTS, waves=self.waves)
        return [out[:, k : k + 1] for k in range(count)]

    def _compare(
        self,
        run: Run,
        sources: list[Words],
        old: Words | None,
        vcc: npt.NDArray[np.bool_],
        active: npt.NDArray[np.bool_],
        got: list[Words],
    ) -> None:
        operation = vector.OPERATIONS[run.opcode]
        numbers = [_joined(words) for words in sources]
        previous = _joined(old) if old is not None else [0] * self.lanes
        column = 0
        states = {}
        for lane in np.flatnonzero(active):
            seen = run.view([n[lane] for n in numbers])
            states[int(lane)] = self._expected(run, seen, previous[lane], int(lane), vcc)
        for index, kind in enumerate(operation.results):
            count = 1 if kind == "mask" else registers_of(kind)
            words = np.concatenate(got[column : column + count], axis=1)
            column += count
            want = np.zeros((self.lanes, count), np.uint32)
            if kind != "mask" and old is not None:
                want[:] = old
            for lane, state in states.items():
                bits = _mask_bit(run.opcode, state, lane % 64) if kind == "mask" else state.names["D0"]
                if index == 0 and run.store is not None:
                    bits = run.store(bits, previous[lane])
                elif index == 0 and run.opcode in CLEARS_UPPER_HALF:
                    bits &= 0xFFFF
                want[lane] = [bits >> 32 * k & 0xFFFFFFFF for k in range(count)]
            self._assert_same(run, kind, words, want, sources)
        if run.opcode.startswith("v_cmpx"):
            np.testing.assert_array_equal(got[-1], got[0])

    def _expected(self, run: Run, values: list[int], old: int, lane: int, vcc: npt.NDArray[np.bool_]):
        kinds = explicit_kinds(run.opcode)
        names = {"laneId": lane % 64, "D0": old, "VCC": int(vcc[lane]) << lane % 64} | run.names
        arguments = []
        for kind, value in zip(kinds, values, strict=True):
            if kind == "mask":
                names["VCC"] = value << lane % 64
            else:
                arguments.append(value)
        if re.fullmatch(r"v_(fmamk|madmk)_\w+", run.opcode):
            names["SIMM32"] = names["SIMM16"] = arguments.pop(1)
        elif re.fullmatch(r"v_(fmaak|madak)_\w+", run.opcode):
            names["SIMM32"] = names["SIMM16"] = arguments.pop(2)
        return expected(run.opcode, *arguments, **names)

    def _assert_same(self, run: Run, kind: str, got: Words, want: Words, sources: list[Words]) -> None:
        held = kind.rstrip("^+").removeprefix("2x")
        for pattern, name in _HELD:
            if re.fullmatch(pattern, run.opcode):
                held = name
        if run.opcode in ACCURACY:
            wrong = (got != want).any(1) & (ulps_apart(got, want, held) > ACCURACY[run.opcode])
        elif run.opcode in ABSOLUTE_ACCURACY:
            wrong = (got != want).any(1) & (distance(got, want, held) > ABSOLUTE_ACCURACY[run.opcode])
        else:
            wrong = (canonical(got, held) != canonical(want, held)).any(1)
        if wrong.any():
            lane = int(np.flatnonzero(wrong)[0])
            shown = [" ".join(f"{int(word):08x}" for word in words[lane]) for words in sources]
            raise AssertionError(
                f"{run.opcode}{run.encoding} {run.modifiers}: {int(wrong.sum())} of {len(wrong)} lanes differ; "
                f"lane {lane} of {shown}: {' '.join(f'{int(w):08x}' for w in got[lane])}, "
                f"expected {' '.join(f'{int(w):08x}' for w in want[lane])}"
            )


def _joined(words: Words) -> list[int]:
    """(lanes, registers) to a number for each lane."""
    return [sum(int(word) << 32 * k for k, word in enumerate(row)) for row in words]


def _mask_bit(opcode: str, state, lane: int) -> int:
    if opcode.startswith("v_cmp"):
        return state.names["D0"] >> lane & 1
    if opcode.startswith("v_mad_"):
        return state.names["D1"] & 1
    return state.names["VCC"] >> lane & 1
