"""What is unusual about a launch, in sentences that say how much of it there is."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from mxsub.virtual.assembly import Instruction
from mxsub.virtual.inspection.architecture import COMPUTE_UNITS, LINE_BYTES, SIMDS
from mxsub.virtual.inspection.instructions import Work
from mxsub.virtual.inspection.opcodes import class_of
from mxsub.virtual.inspection.resources import Occupancy, Resources, Spread
from mxsub.virtual.inspection.traffic import Traffic
from mxsub.virtual.inspection.usage import InstructionUse

# From where on a figure is worth a sentence.
_IDLE_UNITS = 0.1
_TAIL_UNITS = 0.25
_FEW_WAVES = 2.0
_WASTED_LINES = 2.0
_LARGE_SHARE = 0.05
_LANES_ON = 0.75
_CONFLICT_SHARE = 0.2


@dataclass(frozen=True)
class Launch:
    """All that is known of a launch."""

    code: list[Instruction]
    uses: list[InstructionUse]
    waves_per_workgroup: int
    resources: Resources
    occupancy: Occupancy
    spread: Spread
    work: Work
    traffic: Traffic


def findings_of(launch: Launch) -> list[dict[str, str]]:
    """Each with a kind, which is stable, and its sentence."""
    sources = (_spills, _units, _waves, _lines, _lanes, _conflicts, _unpacking)
    return [{"kind": kind, "sentence": sentence} for source in sources for kind, sentence in source(launch)]


Found = Iterator[tuple[str, str]]


def _spills(launch: Launch) -> Found:
    resources, scratch = launch.resources, launch.traffic.scratch
    moved = f"{scratch.read + scratch.written:,} bytes to and from scratch"
    if resources.vgpr_spills:
        yield "spills", f"spills {resources.vgpr_spills} VGPRs: {moved}, which is memory, in the middle of the work"
    elif scratch.read + scratch.written:
        yield "scratch", f"keeps {resources.scratch_bytes} bytes a lane in scratch: {moved}"
    if resources.sgpr_spills:
        yield "scalar spills", f"spills {resources.sgpr_spills} SGPRs into lanes of VGPRs"


def _units(launch: Launch) -> Found:
    spread = launch.spread
    idle = COMPUTE_UNITS - spread.units_used
    if idle >= COMPUTE_UNITS * _IDLE_UNITS:
        yield (
            "idle units",
            f"{spread.workgroups} workgroups for {COMPUTE_UNITS} CUs: {idle} of them ({idle / COMPUTE_UNITS:.0%}) "
            "get none",
        )
    if spread.rounds > 1 and spread.last_round_units <= COMPUTE_UNITS * _TAIL_UNITS:
        yield (
            "tail",
            f"{spread.workgroups:,} workgroups on {COMPUTE_UNITS} CUs: {spread.last_round_units} of the CUs get "
            f"{spread.rounds}, the others {spread.rounds - 1}; the units are busy for {spread.busy:.0%} of the time",
        )


def _waves(launch: Launch) -> Found:
    possible = launch.occupancy.waves_per_simd
    given = launch.spread.rounds * launch.waves_per_workgroup / SIMDS
    there = min(possible, given)
    if there >= _FEW_WAVES:
        return
    why = "the grid has no more" if given <= possible else f"{launch.occupancy.limited_by} allow no more"
    waves = "1 wave" if there == 1 else f"{there:g} waves"
    yield "few waves", f"{waves} a SIMD at a time ({why}): little hides the latency of memory"


def _lines(launch: Launch) -> Found:
    """By the line of the source, since one load is often several instructions."""
    places: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    everything = 0
    for instruction, use in zip(launch.code, launch.uses, strict=True):
        kind = class_of(instruction.opcode)
        if kind.startswith("global") and use.lines:
            sums = places[instruction.source, kind]
            for k, number in enumerate((use.bytes, use.lines, use.accesses)):
                sums[k] += number
            everything += use.lines
    for (source, kind), (asked, lines, accesses) in places.items():
        wasted = lines / (accesses * -(-asked // (accesses * LINE_BYTES)))
        if wasted >= _WASTED_LINES and lines >= _LARGE_SHARE * everything:
            yield (
                "uncoalesced",
                f"a {kind} touches {wasted:.1f} times the cache lines that its bytes fill "
                f"({lines / accesses:.1f} lines for {asked / accesses:.0f} bytes a wave): {source or 'unknown line'}",
            )


def _lanes(launch: Launch) -> Found:
    for what, share in (("memory", launch.traffic.lanes_on), ("vector", launch.work.lanes_on)):
        if share < _LANES_ON:
            yield "lanes off", f"only {share:.0%} of the lanes of {what} instructions do anything"


def _conflicts(launch: Launch) -> Found:
    lds = launch.traffic.lds
    if lds.cycles and lds.conflicts / lds.cycles >= _CONFLICT_SHARE:
        share = f"{lds.conflicts / lds.cycles:.0%} of the LDS cycles ({lds.conflicts:,} of {lds.cycles:,})"
        yield "bank conflicts", f"{share} are there because lanes meet in a bank"


def _unpacking(launch: Launch) -> Found:
    """A product of narrow values in a wide format."""
    for narrow, values in launch.work.unpacked.items():
        for wide in ("bf16", "f16", "f32"):
            if launch.work.matrix_flops.get(wide):
                yield (
                    "unpacked",
                    f"unpacks {values:,} {narrow} values and multiplies in {wide}, at a fraction of {narrow}'s rate",
                )
