"""Every constant of the time model, with its range and its source. None of them is fitted to a time of a config.

mt4g: caps-tum/mt4g, sample_results/AMD_Instinct_MI350P.json: measured by pointer chasing and streaming on a CDNA 4 GPU
(half of an MI355X: 128 compute units on 4 dies, 2.2 GHz, HBM3E with a 4096-bit bus). Its bandwidths are in GiB/s.
gfx950-gluon-tutorials: ROCm/gfx950-gluon-tutorials, AMD's own measurements on the MI350 series.
gem5: gem5/gem5, configs/common/GPUTLBOptions.py, AMD's parameters of its GPU model.
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
    streamed: float
    under_way: float
    page_walk: float
    wave_start: float
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
    "streamed": Figure(
        1, 2, 1, "x STREAMED",
        "gfx950-gluon-tutorials, kernels/memory_bound/gemm; fast: a unit's 32 KiB under way for HBM's latency: 94 GB/s",
    ),
    "under_way": Figure(
        32 << 10, 44 << 10, 32 << 10, "bytes",
        "of a unit. gfx950-gluon-tutorials, docs/memory_bandwidth_model.md: as much as L1 has; fast: "
        "docs/tcp_bound_tile_model.md, with 12 KiB queued before it",
    ),
    "page_walk": Figure(
        750, 150, 1536, "cycles",
        "gem5: 750 of a walk, 150 of a hit in the last TLB (fast); slow: assumed, two reads from HBM as mt4g has them",
    ),
    "wave_start": Figure(
        1, 0.25, 4, "cycles",
        "of a die. Recalled, no document at hand: a wave a cycle in each shader engine; fast: four of them at once; "
        "slow: assumed, v0 written by 16 lanes a cycle",
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

# Units that stream from HBM, one workgroup each -> GB/s of all of them together, of bytes that only one of them reads.
# gfx950-gluon-tutorials, kernels/memory_bound/gemm/README.md: a GEMM of 32 rows with K = 8192, whose loads fill L1.
STREAMED = {0: 0, 32: 1529, 64: 2864, 96: 4067, 128: 4580, 160: 4828, 192: 5628, 224: 6198, 256: 6442}


def figures(end: End) -> Figures:
    return Figures(**{field.name: getattr(TABLE[field.name], end) for field in fields(Figures)})
