"""Every scalar opcode against AMD's pseudo-code. Each wave of a launch has operands of its own."""

import re

import numpy as np
import pytest

from mxsub.virtual import scalar
from mxsub.virtual.control_flow import successors
from mxsub.virtual.faults import IllegalAccess, UnsupportedInstruction
from tests.instructions.operand_values import Operands
from tests.pseudocode import State, run, run_lane

WAVES = 16
ALL = (1 << 64) - 1
# Where the source is a constant of 16 bits in the instruction, several are drawn.
SHORT_CONSTANTS = (0, 1, 5, 0x7FFF, 0x8000, 0xFFFF, 0x1234)

ARITHMETIC = sorted(scalar.OPERATIONS)
BRANCHES = sorted(name for name in scalar.OPCODES if re.fullmatch(r"s_cbranch_\w+|s_branch", name))
EXEC_WRITERS = sorted(name for name in scalar.OPCODES if name.endswith(("_saveexec_b64", "_wrexec_b64")))
NUMBERED = ("s_movrels_b32", "s_movrels_b64", "s_movreld_b32", "s_movreld_b64")
CALLS = ("s_getpc_b64", "s_setpc_b64", "s_swappc_b64", "s_call_b64")
MODE_ACCESS = ("s_getreg_b32", "s_setreg_b32", "s_setreg_imm32_b32")
CLOCKS = ("s_memtime", "s_memrealtime")
ENDS = ("s_endpgm", "s_barrier", "s_trap")
# opcode -> its operands
WITHOUT_EFFECT = {
    "s_nop": "3",
    "s_waitcnt": "vmcnt(0)",
    "s_setprio": "1",
    "s_sleep": "2",
    "s_wakeup": "",
    "s_icache_inv": "",
    "s_dcache_inv": "",
    "s_dcache_inv_vol": "",
    "s_dcache_wb": "",
    "s_dcache_wb_vol": "",
    "s_incperflevel": "1",
    "s_decperflevel": "1",
    "s_ttracedata": "",
    "s_sendmsg": "sendmsg(MSG_INTERRUPT)",
}


class ScalarBench:
    """Runs scalar instructions in sixteen waves."""

    def __init__(self, bench, random: np.random.Generator) -> None:
        self._bench = bench
        self._random = random

    def draw(self, kind: str) -> np.ndarray:
        """Words (waves, registers) of a type."""
        return Operands(self._random, WAVES).of(kind)

    def run(self, text: str, inputs: dict[int, np.ndarray], outputs: list[int]) -> np.ndarray:
        """inputs: scalar register -> words (waves, registers). Gives the registers `outputs`, (waves, len(outputs))."""
        loads, columns, at = [], [], 10
        for register, words in inputs.items():
            for k in range(words.shape[1]):
                loads.append(f"v_readfirstlane_b32 s{register + k}, v{at}")
                columns.append(np.repeat(words[:, k], 64))
                at += 1
        stores = [f"v_mov_b32_e32 v{60 + k}, s{register}" for k, register in enumerate(outputs)]
        whole = "\n".join([*loads, text, *stores])
        data = np.stack(columns, 1) if columns else np.zeros((64 * WAVES, 1), np.uint32)
        got = self._bench.compute(whole, data, results=len(outputs), at=60, waves=WAVES)
        return got[::64]


def _joined(words: np.ndarray) -> list[int]:
    return [sum(int(word) << 32 * k for k, word in enumerate(row)) for row in words]


def _registers(first: int, kind: str) -> str:
    return f"s[{first}:{first + 1}]" if kind in ("u64", "i64") else f"s{first}"


@pytest.mark.parametrize("opcode", ARITHMETIC)
def test_arithmetic(opcode, bench, random):
    """s20 is the destination, sources are in s8, s10, ...; SCC is drawn, too."""
    operation = scalar.OPERATIONS[opcode]
    scalars = ScalarBench(bench, random)
    explicit = [kind for kind in operation.sources if kind not in ("scc", "old")]
    is_short = any(kind in ("i16", "u16") for kind in explicit)
    for constant in SHORT_CONSTANTS if is_short else (None, None):
        inputs = {30: random.integers(0, 2, (WAVES, 1)).astype(np.uint32), 20: scalars.draw("u64")}
        texts, values = [], []
        for k, kind in enumerate(explicit):
            if kind in ("i16", "u16"):
                texts.append(f"{constant:#x}")
                values.append([constant] * WAVES)
                continue
            words = scalars.draw(kind)
            if k == 1 and words.shape == inputs[8].shape:
                words = np.where(random.random((WAVES, 1)) < 0.2, inputs[8], words)
            inputs[8 + 2 * k] = words
            texts.append(_registers(8 + 2 * k, kind))
            values.append(_joined(words))
        if operation.result:
            texts.insert(0, _registers(20, operation.result))
        text = f"s_cmp_lg_u32 s30, 0\n{opcode} {', '.join(texts)}\ns_cselect_b32 s40, 1, 0"
        got = scalars.run(text, inputs, [20, 21, 40])
        width = 64 if operation.result in ("u64", "i64") else 32 if operation.result else 0
        for wave in range(WAVES):
            old = _joined(inputs[20])[wave]
            kept = old & ~((1 << width) - 1)
            state = run_lane(
                opcode, *[v[wave] for v in values], D0=old & (1 << width) - 1, SCC=int(inputs[30][wave, 0])
            )
            want = kept | state.names["D0"] & (1 << width) - 1
            found = int(got[wave, 0]) | int(got[wave, 1]) << 32
            shown = [hex(v[wave]) for v in values]
            assert (hex(found), int(got[wave, 2])) == (hex(want), state.names["SCC"] & 1), f"{opcode} of {shown}"


@pytest.mark.parametrize("opcode", EXEC_WRITERS)
def test_exec_writers(opcode, bench, random):
    scalars = ScalarBench(bench, random)
    source, old = scalars.draw("u64"), scalars.draw("u64")
    source[0], old[0] = [0, 0], [0, 0]
    text = f"""s_mov_b64 exec, s[10:11]
{opcode} s[20:21], s[8:9]
s_mov_b64 s[22:23], exec
s_cselect_b32 s24, 1, 0
s_mov_b64 exec, -1"""
    got = scalars.run(text, {8: source, 10: old}, [20, 21, 22, 23, 24])
    for wave in range(WAVES):
        state = run_lane(opcode, _joined(source)[wave], EXEC=_joined(old)[wave])
        result, exec_ = (int(got[wave, k]) | int(got[wave, k + 1]) << 32 for k in (0, 2))
        assert (result, exec_, int(got[wave, 4])) == (state.names["D0"], state.names["EXEC"], state.names["SCC"])


@pytest.mark.parametrize("opcode", BRANCHES)
@pytest.mark.parametrize("scc", [0, 1])
@pytest.mark.parametrize("mask", [0, 1, 1 << 40])
def test_branches(opcode, scc, mask, bench, random):
    """mask: in VCC and in EXEC."""
    text = f"""s_mov_b64 vcc, s[8:9]
s_mov_b64 exec, s[8:9]
s_mov_b32 s20, 0
s_cmp_lg_u32 s10, 0
{opcode} .LA
s_mov_b32 s20, 1
.LA:
s_mov_b64 exec, -1"""
    words = np.tile(np.array([[mask & 0xFFFFFFFF, mask >> 32]], np.uint32), (WAVES, 1))
    flag = np.full((WAVES, 1), scc, np.uint32)
    got = ScalarBench(bench, random).run(text, {8: words, 10: flag}, [20])
    state = State({"SCC": scc, "VCCZ": int(mask == 0), "EXECZ": int(mask == 0), "SIMM16": 4, "PC": 1000})
    run(opcode, state)
    assert (got[:, 0] == (state.names["PC"] == 1004)).all()


@pytest.mark.parametrize("opcode", NUMBERED)
def test_registers_numbered_by_m0(opcode, bench, random):
    scalars = ScalarBench(bench, random)
    wide, to = opcode.endswith("b64"), "movreld" in opcode
    offset = 4
    inputs = {8: scalars.draw("u64"), 12: scalars.draw("u64"), 24: scalars.draw("u64")}
    target, source = (20, 8) if to else (24, 8)
    pair = (lambda n: f"s[{n}:{n + 1}]") if wide else (lambda n: f"s{n}")
    got = scalars.run(f"s_mov_b32 m0, {offset}\n{opcode} {pair(target)}, {pair(source)}", inputs, [24, 25])
    for wave in range(WAVES):
        numbers = {register: _joined(words)[wave] for register, words in inputs.items()}
        bits = 64 if wide else 32
        state = State({"M0": offset, "SRC0": source, "DST": target, "D0": numbers[24], "S0": numbers[8]})
        state.sgpr = dict(numbers)
        if not wide:
            state.names["S0"] &= 0xFFFFFFFF
        run(opcode, state)
        result = state.sgpr[24] if to else state.names["D0"]
        want = numbers[24] & ~((1 << bits) - 1) | result & (1 << bits) - 1
        assert int(got[wave, 0]) | int(got[wave, 1]) << 32 == want


def test_registers_numbered_differently_in_different_waves(bench, random):
    inputs = {8: np.arange(WAVES, dtype=np.uint32)[:, None]}
    with pytest.raises(IllegalAccess, match="different scalar registers in different waves"):
        ScalarBench(bench, random).run("s_mov_b32 m0, s8\ns_movrels_b32 s20, s10", inputs, [20])


def test_calls(bench, random):
    """Two functions that come behind, one called by its address, which s_getpc and the linker's distances give."""
    text = """s_mov_b32 s20, 1
s_getpc_b64 s[10:11]
s_add_u32 s10, s10, "f(1,)"@rel32@lo+4
s_addc_u32 s11, s11, "f(1,)"@rel32@hi+12
s_swappc_b64 s[30:31], s[10:11]
s_add_u32 s20, s20, 4
s_call_b64 s[30:31], g
s_add_u32 s20, s20, 32
s_branch .LA
"f(1,)":
s_add_u32 s20, s20, 2
s_setpc_b64 s[30:31]
g:
s_lshl_b32 s20, s20, 1
s_setpc_b64 s[30:31]
.LA:"""
    got = ScalarBench(bench, random).run(text, {}, [20])
    assert set(got[:, 0]) == {(1 + 2 + 4) * 2 + 32}


FAR_BRANCHES = """s_mov_b32 s20, 1
s_getpc_b64 s[10:11]
.Lpost_getpc0:
s_add_u32 s10, s10, (.LBB0_2-.Lpost_getpc0)&4294967295
s_addc_u32 s11, s11, (.LBB0_2-.Lpost_getpc0)>>32
s_setpc_b64 s[10:11]
.LBB0_1:
s_add_u32 s20, s20, 4
s_branch .LA
.LBB0_2:
s_add_u32 s20, s20, 2
s_getpc_b64 s[10:11]
.Lpost_getpc1:
s_add_u32 s10, s10, (.LBB0_1-.Lpost_getpc1)&4294967295
s_addc_u32 s11, s11, (.LBB0_1-.Lpost_getpc1)>>32
s_setpc_b64 s[10:11]
.LA:"""


def test_far_branches(bench, random):
    """Ahead and back, over the distances of labels."""
    got = ScalarBench(bench, random).run(FAR_BRANCHES, {}, [20])
    assert set(got[:, 0]) == {1 + 2 + 4}


def test_what_follows_a_far_branch_is_known(bench):
    program = bench.program(FAR_BRANCHES + "\ns_endpgm")
    jumps = [number for number, instruction in enumerate(program.code) if instruction.opcode == "s_setpc_b64"]
    follow = [successors(program.code, program.labels, number) for number in jumps]
    assert follow == [(program.labels[".LBB0_2"],), (program.labels[".LBB0_1"],)]


def test_distance_of_what_is_no_label(bench):
    with pytest.raises(UnsupportedInstruction, match="a distance between what are no labels"):
        bench.program("s_add_u32 s10, s10, (.LBB0_9-.Lpost_getpc0)&4294967295")


def test_jump_to_nowhere(bench):
    with pytest.raises(IllegalAccess, match="jumps out of the kernel's code"):
        bench.run("s_mov_b64 s[8:9], 0\ns_setpc_b64 s[8:9]")


def test_trap(bench):
    with pytest.raises(
        IllegalAccess, match=r"stops at a trap, as a failed assertion does at .*: s_trap 2 \(workgroup 0"
    ):
        bench.run("s_trap 2")


def test_mode(bench, random):
    """Its fields are read, and FP16_OVFL is set from a constant and from a register, as the pseudo-code has it."""
    text = """s_getreg_b32 s20, hwreg(HW_REG_MODE)
s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1
s_getreg_b32 s21, hwreg(HW_REG_MODE, 20, 8)
s_setreg_b32 hwreg(HW_REG_MODE, 23, 1), s8
s_getreg_b32 s22, hwreg(HW_REG_MODE)
s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 0xf
s_getreg_b32 s23, hwreg(HW_REG_MODE, 4, 4)"""
    words = random.integers(0, 2**32, (WAVES, 1), dtype=np.uint32)
    got = ScalarBench(bench, random).run(text, {8: words}, [20, 21, 22, 23])
    for wave in range(WAVES):
        state = State({"HW_REGISTERS[1]": 0x3F0})

        def step(opcode: str, first: int, bits: int, state=state, **names: int) -> int:
            state.names |= {"SIMM16": bits - 1 << 11 | first << 6 | 1, "D0": 0} | names
            run(opcode, state)
            return state.names["D0"]

        want = [step("s_getreg_b32", 0, 32)]
        step("s_setreg_imm32_b32", 23, 1, SIMM32=1)
        want.append(step("s_getreg_b32", 20, 8))
        step("s_setreg_b32", 23, 1, S0=int(words[wave, 0]))
        want.append(step("s_getreg_b32", 0, 32))
        step("s_setreg_imm32_b32", 4, 4, SIMM32=0xF)
        want.append(step("s_getreg_b32", 4, 4))
        assert got[wave].tolist() == want


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0",
            "other rounding, denormals or NaNs than Triton compiles for",
        ),
        (
            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 3",
            "other rounding, denormals or NaNs than Triton compiles for",
        ),
        ("s_setreg_b32 hwreg(HW_REG_MODE, 4, 4), s8", "other rounding, denormals or NaNs than Triton compiles for"),
        ("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), 1", "this field of MODE"),
        ("s_getreg_b32 s8, hwreg(HW_REG_HW_ID)", "a hardware register other than MODE"),
    ],
)
def test_modes_that_are_not_emulated(text, why, bench):
    with pytest.raises(UnsupportedInstruction) as refusal:
        bench.program(text)
    assert f"{text} [{why}] (1x)" in str(refusal.value)


@pytest.mark.parametrize("opcode", CLOCKS)
def test_clocks_advance(opcode, bench, random):
    text = f"{opcode} s[20:21]\n{opcode} s[22:23]\n{opcode} s[24:25]"
    got = ScalarBench(bench, random).run(text, {}, [20, 21, 22, 23, 24, 25]).astype(np.uint64)
    first, second, third = (got[:, k] | got[:, k + 1] << np.uint64(32) for k in (0, 2, 4))
    assert (first < second).all()
    assert (second < third).all()


def test_without_effect(bench, random):
    """Registers, SCC, VCC and EXEC are as before."""
    words = {8: Operands(random, WAVES).of("u64"), 10: Operands(random, WAVES).of("u64")}
    idle = "\n".join(f"{opcode} {operands}" for opcode, operands in WITHOUT_EFFECT.items())
    text = f"""s_mov_b64 vcc, s[8:9]
s_mov_b64 exec, s[10:11]
s_mov_b32 s20, 7
s_cmp_eq_u32 s20, 7
{idle}
s_mov_b64 s[22:23], exec
s_mov_b64 exec, -1
s_cselect_b32 s21, 1, 0"""
    got = ScalarBench(bench, random).run(text, words, [20, 21, 22, 23])
    assert set(got[:, 0]) == {7}
    assert set(got[:, 1]) == {1}
    np.testing.assert_array_equal(got[:, 2:4], words[10])
