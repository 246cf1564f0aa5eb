"""How long a launch takes: the busiest compute unit simulated with what the whole launch leaves it of the memory."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mxsub.virtual.assembly import Instruction
from mxsub.virtual.inspection import architecture as gpu
from mxsub.virtual.inspection.lines import Distinct
from mxsub.virtual.inspection.resources import Occupancy, Spread
from mxsub.virtual.inspection.timing.costs import cost_of
from mxsub.virtual.inspection.timing.figures import ENDS, STREAMED, Figures, figures
from mxsub.virtual.inspection.timing.trace import WorkgroupTrace
from mxsub.virtual.inspection.timing.unit import Memory, Simulated, Unit

# Instructions that are simulated of one unit at most; more rounds than that are extrapolated from the last one.
_MOST_INSTRUCTIONS = 300_000


@dataclass(frozen=True)
class Estimate:
    """Of a launch's own duration in us, without launching it: likely, and at either end of the figures' ranges.

    waits: what the waves wait for -> share of their time, likely. kept: unit -> share of the time that it is kept.
    """

    likely: float
    fast: float
    slow: float
    waits: dict[str, float]
    kept: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        return {
            "estimated_us": {"likely": self.likely, "fast": self.fast, "slow": self.slow},
            "waits_share": self.waits,
            "units_kept_share": self.kept,
        }


def estimate(
    code: list[Instruction], trace: WorkgroupTrace, spread: Spread, occupancy: Occupancy, read: Distinct
) -> Estimate:
    """trace: of a workgroup in the middle of the grid, which stands for all. read: the lines that the launch reads."""
    times, likely = {}, Simulated()
    for end in ENDS:
        values = figures(end)
        costs = [cost_of(instruction, values) for instruction in code]
        dispatch = values.wave_start * len(trace.waves) * math.ceil(spread.units_used / gpu.DIES)
        unit = Unit(trace, costs, values, memory_share(values, spread, read), dispatch)
        ran = _run(unit, trace, spread.rounds, occupancy.workgroups_per_unit)
        times[end] = ran.cycles / values.clock / 1e3
        if end == "likely":
            likely = ran
    return Estimate(
        likely=times["likely"],
        fast=times["fast"],
        slow=times["slow"],
        waits=_shares(likely.waits, likely.lived or 1.0),
        kept={
            unit: round(cycles / likely.cycles / (1 if unit in ("LDS", "memory") else gpu.SIMDS), 4)
            for unit, cycles in likely.kept.items()
            if likely.cycles
        },
    )


def memory_share(values: Figures, spread: Spread, read: Distinct) -> Memory:
    """Of HBM and the Infinity Cache for one of the units that are used, all of which want their lines at once.

    A line that many workgroups read comes from HBM once, and from the Infinity Cache once a die; so a workgroup's line
    costs those levels what the launch's lines are to the sum of the workgroups' lines. Few units do not reach what HBM
    has, each being limited in what it has under way.
    """
    per_cycle = 1e12 / (values.clock * 1e9) / spread.units_used
    wanted = max(read.workgroups, 1)
    reached = values.streamed * float(np.interp(spread.units_used, [*STREAMED], [*STREAMED.values()])) / 1e3
    cycles_a_byte = max(
        read.launch / wanted / (min(values.hbm_bandwidth, reached) * per_cycle),
        read.dies / wanted / (values.infinity_bandwidth * per_cycle),
        1 / values.l2_rate,
    )
    cold = values.hbm_latency * values.clock
    # In later rounds the lines that others have brought before are in L2, or at least in the Infinity Cache.
    fresh, elsewhere = read.launch / wanted, (read.dies - read.launch) / wanted
    later = (
        fresh * cold
        + elsewhere * values.infinity_latency * values.clock
        + max(1 - fresh - elsewhere, 0.0) * values.l2_latency
    )
    return Memory(cold_rate=1 / cycles_a_byte, cold_latency=cold, later_latency=later)


def _run(unit: Unit, trace: WorkgroupTrace, rounds: int, together: int) -> Simulated:
    """All the workgroups of the busiest unit; of very many the last ones are extrapolated."""
    each = max(sum(len(wave.pcs) for wave in trace.waves), 1)
    most = max(_MOST_INSTRUCTIONS // each, 2 * together, 1)
    if rounds <= most:
        return unit.run(rounds, together)
    before, ran = unit.run(most - together, together), unit.run(most, together)
    ran.cycles += (ran.cycles - before.cycles) / together * (rounds - most)
    ran.lived *= rounds / most
    for counter in (ran.kept, ran.waits):
        for what in counter:
            counter[what] *= rounds / most
    return ran


def _shares(cycles: dict[str, float], total: float) -> dict[str, float]:
    """The largest first."""
    return {
        what: round(cycles[what] / total, 4) for what in sorted(cycles, key=lambda what: -cycles[what]) if cycles[what]
    }
