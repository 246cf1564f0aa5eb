"""The figures of a launch: what each is called, its unit, and where it stands in the launch's entry."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Launch = Mapping[str, Any]
Number = int | float


@dataclass(frozen=True)
class Figure:
    """unit: "" for plain numbers. of: gives it, or None where the launch has none."""

    name: str
    unit: str
    of: Callable[[Launch], Number | None]


def _at(path: str) -> Callable[[Launch], Number | None]:
    def find(launch: Launch) -> Number | None:
        value: Any = launch
        for key in path.split("."):
            if not isinstance(value, Mapping) or key not in value:
                return None
            value = value[key]
        return value if isinstance(value, int | float) else None

    return find


def _sum(path: str) -> Callable[[Launch], Number | None]:
    """Of the values of a table."""

    def find(launch: Launch) -> Number | None:
        value: Any = launch
        for key in path.split("."):
            value = value.get(key, {})
        total: Number = sum(value.values())
        return total

    return find


def _of_class(part: str, name: str) -> Callable[[Launch], Number]:
    """Instructions of a class, executed or static."""
    return lambda launch: int(launch["counts"]["work"][part].get(name, 0))


CLASSES = (
    "matrix", "vector", "scalar", "LDS", "global load", "global store", "global atomic", "scalar load", "scratch",
    "branch and sync",
)  # fmt: skip

RESOURCES = (
    Figure("VGPRs", "", _at("counts.resources.vgprs")),
    Figure("AGPRs", "", _at("counts.resources.agprs")),
    Figure("SGPRs", "", _at("counts.resources.sgprs")),
    Figure("VGPR spills", "", _at("counts.resources.vgpr_spills")),
    Figure("SGPR spills", "", _at("counts.resources.sgpr_spills")),
    Figure("LDS", "bytes", _at("counts.resources.lds_bytes")),
    Figure("scratch", "bytes", _at("counts.resources.scratch_bytes")),
    Figure("waves/SIMD", "", _at("counts.occupancy.waves_per_simd")),
)
GRID = (
    Figure("workgroups", "", _at("counts.workgroups")),
    Figure("waves each", "", _at("counts.waves_per_workgroup")),
    Figure("CUs used", "", _at("counts.spread.units_used")),
    Figure("rounds", "", _at("counts.spread.rounds")),
    Figure("CUs in the last", "", _at("counts.spread.last_round_units")),
)
EXECUTED = tuple(Figure(name, "", _of_class("executed", name)) for name in CLASSES)
STATIC = tuple(Figure(name, "", _of_class("static", name)) for name in CLASSES)
WORK = (
    Figure("MFMA", "flops", _sum("counts.work.matrix_flops")),
    Figure("vector", "flops", _at("counts.work.vector_flops")),
    Figure("conversions", "values", _sum("counts.work.converted_values")),
    Figure("flops/byte", "", _at("counts.roofline.flops_per_distinct_byte")),
    Figure("memory floor", "us", _at("counts.roofline.memory_us")),
    Figure("matrix floor", "us", _at("counts.roofline.matrix_us")),
    Figure("floor", "us", _at("counts.roofline.floor_us")),
)
BYTES = (
    Figure("read, asked", "bytes", _at("counts.traffic.read_asked_bytes")),
    Figure("read, distinct", "bytes", _at("counts.traffic.read_distinct_bytes")),
    Figure("written, asked", "bytes", _at("counts.traffic.written_asked_bytes")),
    Figure("written, distinct", "bytes", _at("counts.traffic.written_distinct_bytes")),
    Figure("LDS read", "bytes", _at("counts.traffic.lds.read_bytes")),
    Figure("LDS written", "bytes", _at("counts.traffic.lds.written_bytes")),
    Figure("LDS cycles", "", _at("counts.traffic.lds.cycles")),
    Figure("bank conflicts", "cycles", _at("counts.traffic.lds.conflicts")),
    Figure("scratch read", "bytes", _at("counts.traffic.scratch.read_bytes")),
    Figure("scratch written", "bytes", _at("counts.traffic.scratch.written_bytes")),
)
ESTIMATED = Figure("estimated", "us", _at("timing.estimated_us.likely"))


def compared() -> Iterator[Figure]:
    """Those that two versions are compared by."""
    yield from (*RESOURCES, *GRID)
    for figure in EXECUTED:
        yield Figure(f"executed {figure.name}", "instructions", figure.of)
    yield from (*WORK, *BYTES, ESTIMATED)


def figure_text(value: Number | None, unit: str) -> str:
    """As tables have it: bytes and operations with a prefix, microseconds with two digits."""
    if value is None:
        return "-"
    if unit == "us":
        return f"{value:.2f}"
    if unit in ("bytes", "flops") and value >= 10_000:
        for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
            if value >= factor:
                return f"{value / factor:.3g} {prefix}"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
