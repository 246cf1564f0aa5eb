"""How many waves fit, and how a grid falls on the compute units."""

import pytest

from mxsub.virtual.inspection.resources import Occupancy, Resources, occupancy_of, spread_of


def needing(vgprs: int = 8, agprs: int = 0, sgprs: int = 16, lds: int = 0) -> Resources:
    return Resources(vgprs, agprs, sgprs, 0, 0, lds, 0)


@pytest.mark.parametrize(
    ("vgprs", "agprs", "waves"),
    [(8, 0, 8), (64, 0, 8), (65, 0, 7), (72, 0, 7), (73, 0, 6), (80, 0, 6), (128, 0, 4), (129, 0, 3), (136, 32, 3),
     (256, 0, 2), (256, 256, 1)],
)  # fmt: skip
def test_registers(vgprs: int, agprs: int, waves: int) -> None:
    """512 of a lane, VGPRs and AGPRs together, handed out by eights."""
    found = occupancy_of(needing(vgprs, agprs), 4)
    assert found.waves_per_simd == waves
    assert found.limited_by == ("waves" if waves == 8 else "registers")


def test_scalar_registers() -> None:
    assert occupancy_of(needing(sgprs=100), 4).waves_per_simd == 8
    assert occupancy_of(needing(sgprs=101), 4) == Occupancy(7, 7, "scalar registers")


@pytest.mark.parametrize(
    ("lds", "workgroups"), [(0, 8), (1280, 8), (40960, 4), (40961, 3), (81920, 2), (81921, 1), (163840, 1)]
)
def test_lds(lds: int, workgroups: int) -> None:
    """160 KiB a unit, handed out by 1,280 bytes."""
    assert occupancy_of(needing(lds=lds), 4).workgroups_per_unit == workgroups


@pytest.mark.parametrize(("waves", "workgroups"), [(1, 32), (2, 16), (3, 10), (4, 8), (8, 4), (16, 2)])
def test_workgroups(waves: int, workgroups: int) -> None:
    """Eight waves on each of four SIMDs; of workgroups with several waves sixteen at most."""
    assert occupancy_of(needing(), waves).workgroups_per_unit == workgroups


@pytest.mark.parametrize(
    ("workgroups", "used", "rounds", "last", "busy"),
    [(1, 1, 1, 1, 1 / 256), (90, 90, 1, 90, 90 / 256), (256, 256, 1, 256, 1.0), (257, 256, 2, 1, 257 / 512),
     (462, 256, 2, 206, 462 / 512), (512, 256, 2, 256, 1.0)],
)  # fmt: skip
def test_rounds(workgroups: int, used: int, rounds: int, last: int, busy: float) -> None:
    found = spread_of(workgroups)
    assert (found.units_used, found.rounds, found.last_round_units) == (used, rounds, last)
    assert found.busy == pytest.approx(busy)
