"""Which workgroups a sample has."""

import numpy as np
import pytest

from mxsub.virtual.sampling import sampled_workgroups


def test_all_where_there_are_fewer_than_asked_for():
    assert sampled_workgroups((3, 2, 1), None).tolist() == [0, 1, 2, 3, 4, 5]
    assert sampled_workgroups((3, 2, 1), 6).tolist() == [0, 1, 2, 3, 4, 5]


def test_corners_and_runs():
    chosen = sampled_workgroups((100, 50, 2), 64)
    assert {0, 99, 4900, 4999, 5000, 5099, 9900, 9999} <= set(chosen.tolist())
    assert (np.diff(chosen) > 0).all()
    runs = np.split(chosen, np.flatnonzero(np.diff(chosen) > 1) + 1)
    assert [len(run) for run in runs if len(run) > 1] == [16, 16, 2, 16, 16]
    assert runs[0].tolist() == list(range(16))
    assert runs[-1].tolist() == list(range(9984, 10000))


@pytest.mark.parametrize("sample", [1, 2, 3, 10])
def test_small_samples_have_both_ends(sample):
    chosen = sampled_workgroups((1000, 1, 1), sample)
    assert chosen[0] == 0
    assert chosen[-1] == 999
    assert len(chosen) <= sample + 4
