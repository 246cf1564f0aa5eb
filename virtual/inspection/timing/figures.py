"""Every constant of the time model, with its range and its source. None of them is fitted to a time of a config.

mt4g: caps-tum/mt4g, sample_results/AMD_Instinct_MI350P.json: measured by pointer chasing and streaming on a CDNA 4 GPU
(half of an MI355X: 128 compute units on 4 dies, 2.2 GHz, HBM3E with a 4096-bit bus). Its bandwidths are in GiB/s.
"""

from dataclasses import dataclass, fields
from typing import Literal

End = Literal["fast", "likely", "slow"]
ENDS: tuple[End, ...] = ("fast", "likely", "slow")


@dataclass(frozen=True)
class Figure:
    """fast, slow: the ends of the range that makes an estimate's range."""

    likely: float
    fast: float
    slow: float
    unit: str
    source: str


@dataclass(frozen=True)
class Figures:
    """The constants at one end of their ranges."""

    clock: float
    issue: float
    slow_vector_passes: float
    transcendental_passes: float
    taken_branch: float
    barrier: float
    lds_latency: float
    l1_latency: float
    l2_latency: float
    infinity_latency: float
    hbm_latency: float
    scalar_latency: float
    address_rate: float
    l1_rate: float
    l2_rate: float
    infinity_bandwidth: float
    hbm_bandwidth: float
    first_launch: float
    next_launch: float


TABLE: dict[str, Figure] = {
    "clock": Figure(2.4, 2.4, 2.1, "GHz", "MI355X data sheet, peak engine clock; slow: assumed, under load"),
    "issue": Figure(4, 4, 4, "cycles", "white paper: a wave of 64 on a SIMD of 16 lanes; each wave issues as often"),
    "slow_vector_passes": Figure(
        4, 1, 4, "passes", "LLVM SISchedule.td, WriteFloatCvt and WriteQuarterRate32; fast: were they at the full rate"
    ),
    "transcendental_passes": Figure(
        4, 2, 4, "passes", "LLVM SISchedule.td, WriteTrans32; fast: CDNA 4 white paper, twice the rate of CDNA 3"
    ),
    "taken_branch": Figure(32, 16, 32, "cycles", "LLVM SISchedule.td, WriteBranch: 8 passes; fast: assumed, half"),
    "barrier": Figure(4, 4, 32, "cycles", "assumed: an issue slot after the last wave has come; slow: a branch's"),
    "lds_latency": Figure(48, 48, 64, "cycles", "mt4g: 48; slow: LLVM SISchedule.td, WriteLDS, 'between 2 and 64'"),
    "l1_latency": Figure(112, 112, 116, "cycles", "mt4g: 112; slow: mt4g on an MI300X, 116"),
    "l2_latency": Figure(256, 256, 288, "cycles", "mt4g: 256; slow: mt4g on an MI300X, 288"),
    "infinity_latency": Figure(202, 202, 222, "ns", "mt4g: 444 cycles at 2.2 GHz; slow: its 95th percentile, 488"),
    "hbm_latency": Figure(
        349, 336, 424, "ns", "mt4g: mean 768 cycles at 2.2 GHz; fast: its median, 740; slow: 95th percentile, 932"
    ),
    "scalar_latency": Figure(48, 48, 48, "cycles", "mt4g: a hit in the scalar cache"),
    "address_rate": Figure(16, 16, 16, "lanes/cycle", "white paper: a quarter of a wave a cycle"),
    "l1_rate": Figure(
        104, 128, 64, "bytes/cycle", "of a unit. mt4g: 214 GiB/s; fast: a line of 128; slow: CDNA 2's, 64"
    ),
    "l2_rate": Figure(
        48, 64, 44, "bytes/cycle",
        "of a unit. mt4g: 12,494 GiB/s for 128 units; fast: CDNA 3 white paper, 2,048 a die; slow: mt4g, were it GB/s",
    ),
    "infinity_bandwidth": Figure(
        11.9, 17.2, 5.8, "TB/s", "Chips and Cheese on an MI300X: 11.9, of 17.2; slow: mt4g on an MI300X, 5,400 GiB/s"
    ),
    "hbm_bandwidth": Figure(
        5.8, 6.5, 4.8, "TB/s",
        "of 8.0. FlyDSL's softmax on an MI355X: 5.83; fast: 81 %, as published for MI300X; slow: mt4g, 60 %",
    ),
    "first_launch": Figure(
        5.5, 4.0, 7.0, "us",
        "SuperBench, kernel-launch/event_time: two events around an empty kernel (its example baseline, which names no "
        "GPU); the range is assumed",
    ),
    "next_launch": Figure(
        1.7, 1.5, 2.0, "us",
        "published for an MI355X with ROCm 7.2: 1.54 to 1.84 for a dependent kernel of a HIP graph; slow: 2 saved by "
        "one kernel less",
    ),
}  # fmt: skip


def figures(end: End) -> Figures:
    return Figures(**{field.name: getattr(TABLE[field.name], end) for field in fields(Figures)})
