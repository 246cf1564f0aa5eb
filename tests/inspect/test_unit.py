"""One compute unit, simulated: instructions whose cycles can be told by hand."""

from dataclasses import fields

import pytest

from mxsub.virtual.assembly import parse_instruction
from mxsub.virtual.inspection.architecture import LINE_BYTES, PAGE_BYTES
from mxsub.virtual.inspection.lines import Distinct
from mxsub.virtual.inspection.resources import Occupancy, spread_of
from mxsub.virtual.inspection.timing.costs import cost_of
from mxsub.virtual.inspection.timing.estimate import _run, estimate, memory_share
from mxsub.virtual.inspection.timing.figures import ENDS, TABLE, Figures, figures
from mxsub.virtual.inspection.timing.trace import WorkgroupTrace
from mxsub.virtual.inspection.timing.unit import Memory, Simulated, Unit

LIKELY = figures("likely")
# Of the levels behind L2; the tests tell one from the other by them.
COLD, LATER = 1000.0, 300.0
FAST = Memory(cold_rate=1e9, cold_latency=COLD, later_latency=LATER)
WALK = LIKELY.page_walk
ADD = "v_add_f32_e32 v1, v1, v1"
LOAD = "global_load_dword v2, v1, s[4:5]"
STORE = "global_store_dword v1, v2, s[4:5]"
MFMA = "v_mfma_f32_16x16x128_f8f6f4 v[2:5], v[6:9], v[10:13], v[2:5] cbsz:4 blgp:4"
WAIT = "s_waitcnt vmcnt({})"


def unit_of(waves: list[list[str]], lines: dict[int, list[int]] | None = None, memory: Memory = FAST) -> Unit:
    """A workgroup of waves with these instructions; lines: of each load, by the order of loads in all waves."""
    texts = sorted({text for wave in waves for text in wave})
    code = [parse_instruction(text) for text in texts]
    trace = WorkgroupTrace(len(waves))
    loads = 0
    for number, wave in enumerate(waves):
        for text in wave:
            trace.ran(number, texts.index(text))
            if text.startswith("global"):
                trace.reached(number, 256, (lines or {}).get(loads, [2 * loads, 2 * loads + 1]), 0)
                loads += 1
    return Unit(trace, [cost_of(instruction, LIKELY) for instruction in code], LIKELY, memory)


def cycles(waves: list[list[str]], workgroups: int = 1, together: int = 1, memory: Memory = FAST) -> float:
    return unit_of(waves, memory=memory).run(workgroups, together).cycles


def cycles_of_loads(lines: list[list[int]], wait: int | None = None) -> float:
    """One wave that loads these lines, waiting after each for all but `wait` loads, or for all of them at the end."""
    texts = [text for _ in lines for text in ([LOAD] if wait is None else [LOAD, WAIT.format(wait)])]
    return unit_of([[*texts, WAIT.format(0)]], dict(enumerate(lines))).run(1, 1).cycles


def test_every_constant_has_a_range_and_a_source() -> None:
    assert set(TABLE) == {field.name for field in fields(Figures)}
    for name, figure in TABLE.items():
        assert len(figure.source) > 10, name
        low, high = sorted((figure.fast, figure.slow))
        assert low <= figure.likely <= high, name
    assert [figures(end).hbm_bandwidth for end in ENDS] == [6.5, 5.8, 4.8]


def test_a_wave_issues_every_four_cycles() -> None:
    assert cycles([[ADD] * 10]) == 40
    assert cycles([["s_add_u32 s1, s1, s1"] * 10]) == 40


def test_waves_of_a_simd_share_it() -> None:
    """Four waves have four SIMDs; the fifth shares the first one."""
    assert cycles([[ADD] * 10] * 4) == 40
    assert cycles([[ADD] * 10] * 5) == 80
    # A scalar and a vector instruction go side by side.
    assert cycles([[ADD] * 10, [], [], [], ["s_add_u32 s1, s1, s1"] * 10]) == 40


def test_slow_instructions() -> None:
    assert cycles([["v_exp_f32_e32 v1, v1"] * 3]) == 3 * 16
    assert cycles([["v_cvt_f32_i32_e32 v1, v1"] * 3]) == 3 * 16
    assert cycles([["s_nop 7", ADD]]) == 32 + 4


def test_the_matrix_core() -> None:
    """16 cycles a product; vector instructions of the same wave go on meanwhile."""
    assert cycles([[MFMA] * 4]) == 3 * 16 + 4
    assert cycles([[MFMA, ADD, ADD, ADD, MFMA]]) == 16 + 4
    assert cycles([[MFMA]] * 5) == 16 + 4
    ran = unit_of([[MFMA] * 4]).run(1, 1)
    assert ran.kept["matrix"] == 64
    assert ran.waits["matrix unit"] == 3 * 12


def test_a_load_is_waited_for_as_the_code_says() -> None:
    alone = cycles([[LOAD, WAIT.format(0)]])
    assert alone == pytest.approx(WALK + COLD + 4, abs=1)
    # The work between costs nothing more.
    assert cycles([[LOAD, *[ADD] * 100, WAIT.format(0)]]) == alone
    # One that nobody waits for holds nobody up; but a wave ends when its loads are there.
    assert cycles([[LOAD, LOAD, WAIT.format(1), *[ADD] * 20]]) == alone + 80
    assert cycles([[LOAD, LOAD, WAIT.format(0), *[ADD] * 20]]) == alone + 80


def test_lines_that_are_there() -> None:
    """The same lines again: from L1, or on their way already."""
    again = unit_of([[LOAD, WAIT.format(0), LOAD, WAIT.format(0)]], {0: [1, 2], 1: [2, 1]}).run(1, 1).cycles
    first = cycles([[LOAD, WAIT.format(0)]])
    assert again - first == pytest.approx(LIKELY.l1_latency + 4 + 4, abs=1)
    together = unit_of([[LOAD, LOAD, WAIT.format(0)]], {0: [1, 2], 1: [2, 1]}).run(1, 1).cycles
    assert together == pytest.approx(first, abs=1)


def test_lines_that_l1_lost() -> None:
    trace = WorkgroupTrace(1)
    for lines in ([0], list(range(1, 257)), [0], [256]):
        trace.ran(0, 0)
        trace.reached(0, 4, lines, 0)
    assert [trace.waves[0].reaches[position].again for position in range(4)] == [0, 0, 1, 0]


def test_bandwidth() -> None:
    """Ten loads of two lines each wait for their bytes: 20 lines at a line every 32 cycles, or every 320."""
    for cycles_a_line, waited in ((32, WALK), (320, 20 * 320)):  # 20 lines come at once with the page's translation
        slow = Memory(cold_rate=128 / cycles_a_line, cold_latency=COLD, later_latency=LATER)
        found = cycles([[LOAD] * 10 + [WAIT.format(0)]], memory=slow)
        assert found == pytest.approx(waited + COLD + 4, abs=4), cycles_a_line


def test_l1_has_room_for_so_much_under_way() -> None:
    """Of 256 lines; the next load is not taken before the first ones have come, and takes as long again."""
    wide = [list(range(64 * load, 64 * load + 64)) for load in range(5)]
    two, four, five = (cycles_of_loads(wide[:count]) for count in (2, 4, 5))
    assert two == four == WALK + COLD + 4
    assert five == pytest.approx(four + COLD, abs=1)
    # A line that is under way already needs no room.
    assert cycles_of_loads([*wide[:4], [0, 255]]) == four


def test_pages_touched_first_are_translated() -> None:
    """Two pages at once take one walk between them; a page touched after another has come takes one more."""
    far = PAGE_BYTES // LINE_BYTES
    assert cycles_of_loads([[1], [far]]) == cycles_of_loads([[1], [2]]) + 4
    assert cycles_of_loads([[1], [far]], wait=0) - cycles_of_loads([[1], [2]], wait=0) == pytest.approx(WALK, abs=1)
    # A unit's later workgroups find the translations there.
    assert cycles([[LOAD, WAIT.format(0)]], workgroups=2, together=1) == pytest.approx(WALK + COLD + LATER + 8, abs=2)


def test_workgroups_start_one_after_another() -> None:
    unit = unit_of([[ADD] * 10])
    delayed = Unit(unit._trace, unit._costs, LIKELY, FAST, dispatch=100.0)
    assert delayed.run(1, 1).cycles == 100 + 40
    assert delayed.run(2, 2).cycles == 200 + 40  # the other units of the die get theirs in between
    assert delayed.run(2, 1).cycles == 100 + 40 + 40


def test_a_die_starts_its_units_one_after_another() -> None:
    """256 units: 32 of a die, so that the last workgroup of four waves starts 31 x 4 waves later than with 8 units."""
    unit = unit_of([[ADD] * 10] * 4)
    code, fits = [parse_instruction(ADD)], Occupancy(8, 8, "waves")
    few, many = (estimate(code, unit._trace, spread_of(units), fits, Distinct()) for units in (8, 256))
    assert (many.likely - few.likely) * 2400 == pytest.approx(31 * 4 * LIKELY.wave_start)
    assert few.likely * 2400 == pytest.approx(40 + 4 * LIKELY.wave_start)
    assert many.fast < many.likely < many.slow


def test_stores_land_before_the_end() -> None:
    assert cycles([[STORE]]) == pytest.approx(WALK + LIKELY.l2_latency, abs=1)


def test_a_barrier_waits_for_the_last() -> None:
    waves = [[*[ADD] * count, "s_barrier", ADD] for count in (1, 50)]
    ran = unit_of(waves).run(1, 1)
    assert ran.cycles == 50 * 4 + 4 + LIKELY.barrier + 4
    assert ran.waits["barrier"] == 49 * 4 + 2 * LIKELY.barrier


def test_a_barrier_does_not_wait_for_waves_that_have_ended() -> None:
    assert cycles([[ADD], [*[ADD] * 9, "s_barrier", ADD]]) == 36 + 4 + LIKELY.barrier + 4
    assert cycles([["s_barrier", ADD], [ADD] * 9]) == 36 + LIKELY.barrier + 4


def test_workgroups_take_turns() -> None:
    """Later ones find lines in nearer levels, and those that are there together hide one another's waiting."""
    wave = [[LOAD, WAIT.format(0)]]
    one = cycles(wave)
    assert cycles(wave, workgroups=2, together=2) == pytest.approx(one, abs=5)
    assert cycles(wave, workgroups=2, together=1) == pytest.approx(one + LATER + 4, abs=2)


def test_many_rounds_are_extrapolated(monkeypatch: pytest.MonkeyPatch) -> None:
    unit = unit_of([[ADD] * 10 + [LOAD, WAIT.format(0)]] * 4)
    trace = unit._trace
    exact = _run(unit, trace, 40, 2)
    monkeypatch.setattr("mxsub.virtual.inspection.timing.estimate._MOST_INSTRUCTIONS", 300)
    guessed = _run(unit, trace, 40, 2)
    assert isinstance(guessed, Simulated)
    assert guessed.cycles == pytest.approx(exact.cycles, rel=0.05)
    assert guessed.kept["vector"] == pytest.approx(exact.kept["vector"], rel=0.02)


def test_what_a_unit_gets_of_the_memory() -> None:
    # Lines that thousands of workgroups share: not more than its path takes.
    assert memory_share(LIKELY, spread_of(8), Distinct(1, 8, 10_000)).cold_rate == LIKELY.l2_rate
    everyone = memory_share(LIKELY, spread_of(256), Distinct(1000, 1000, 1000))
    assert everyone.cold_rate == pytest.approx(LIKELY.hbm_bandwidth * 1e12 / (LIKELY.clock * 1e9) / 256)
    # Two workgroups on one die read each line: HBM gives it once.
    shared = memory_share(LIKELY, spread_of(256), Distinct(1000, 1000, 2000))
    assert shared.cold_rate == pytest.approx(2 * everyone.cold_rate)
    # Two on two dies: the Infinity Cache gives it twice, and is the tighter one where it is given to all eight.
    assert memory_share(LIKELY, spread_of(256), Distinct(1000, 8000, 8000)).cold_rate == pytest.approx(
        LIKELY.infinity_bandwidth * 1e12 / (LIKELY.clock * 1e9) / 256
    )
    # Fewer units do not get more each than AMD measured of so many: 1,529 GB/s of 32, 4,580 of 128.
    for units, reached in ((32, 1529), (16, 1529 / 2), (128, 4580)):
        few = memory_share(LIKELY, spread_of(units), Distinct(1000, 1000, 1000))
        assert few.cold_rate == pytest.approx(reached / units / LIKELY.clock), units
    assert everyone.cold_latency == pytest.approx(349 * 2.4)
    assert everyone.later_latency == everyone.cold_latency  # nobody has brought them
    assert shared.later_latency == pytest.approx((349 * 2.4 + LIKELY.l2_latency) / 2)
