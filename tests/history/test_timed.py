"""What times are compared with: those of one service, that can be times."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mxsub.submit.history import History
from mxsub.submit.history.submissions import ResultRecord, SubmissionRecord
from mxsub.submit.listing.shape_comparison import compare_shapes
from mxsub.submit.listing.trend import trend_of

START = datetime(2026, 4, 1, tzinfo=UTC)
BOARD, GPU = "amd-mxfp4-mm", "MI355X"
HERE, THERE = "https://here.example", "https://there.example"
LINES = {
    "benchmark-count": "1", "benchmark.0.spec": "m: 4; n: 2880; k: 512; seed: 1", "benchmark.0.runs": "9",
    "benchmark.0.mean": "9000.0", "benchmark.0.std": "3.0", "benchmark.0.err": "1.0", "benchmark.0.best": "8990.0",
    "benchmark.0.worst": "9010.0", "check": "pass",
}  # fmt: skip
# What a history may hold that was written by an older mxsub, or imported.
NO_MEANS = [0.0, -3.0, float("inf"), float("-inf"), float("nan"), None]


@pytest.fixture
def history(tmp_path: Path) -> Iterator[History]:
    with History.open(tmp_path) as opened:
        yield opened


def submitted(history: History, minute: int, mean: float | None, service: str = HERE, gpu: str = GPU) -> str:
    """The uid of a benchmark that passed."""
    version = history.versions.record(f"# of minute {minute}\n")
    record = history.submissions.begin(
        version.sha256, service=service, account="", leaderboard=BOARD, gpu=gpu, mode="benchmark", file_name="sub.py"
    )
    time = START + timedelta(minutes=minute)
    run = ResultRecord("benchmark", time, time, gpu, True, None, LINES)
    history.submissions.update(
        record.uid, None, [run], state="finished", verdict="passed", submitted=time, remote_id=minute,
        geometric_mean=mean,
    )  # fmt: skip
    return record.uid


def numbers(records: list[SubmissionRecord]) -> list[int | None]:
    return [record.remote_id for record in records]


def test_of_one_service(history: History) -> None:
    for minute, (mean, service, gpu) in enumerate(
        [(12.0, HERE, GPU), (1.0, THERE, GPU), (11.0, HERE, GPU), (2.0, HERE, "H100"), (13.0, HERE, GPU)], 1
    ):
        last = submitted(history, minute, mean, service, gpu)
    submissions = history.submissions
    assert numbers(submissions.timed(service=HERE, leaderboard=BOARD, gpu=GPU)) == [5, 3, 1]
    assert numbers(submissions.timed(service=THERE, leaderboard=BOARD, gpu=GPU)) == [2]
    trend = trend_of(history, submissions.latest())
    assert trend is not None
    assert [(point.remote_id, point.mean) for point in trend.points] == [(1, 12.0), (3, 11.0), (5, 13.0)]
    assert trend.best == (12.0, 11.0, 11.0)
    compared = compare_shapes(history, submissions.get(last))
    assert compared.previous is not None
    assert compared.best is not None
    assert (compared.previous.remote_id, compared.best.remote_id, compared.best.mean) == (3, 3, 11.0)


@pytest.mark.parametrize("mean", NO_MEANS)
def test_without_means_that_are_none(history: History, mean: float | None) -> None:
    submitted(history, 1, 12.0)
    submitted(history, 2, mean)
    last = submitted(history, 3, 11.0)
    assert numbers(history.submissions.timed(service=HERE, leaderboard=BOARD, gpu=GPU)) == [3, 1]
    trend = trend_of(history, history.submissions.latest())
    assert trend is not None
    assert [point.remote_id for point in trend.points] == [1, 3]
    compared = compare_shapes(history, history.submissions.get(last))
    assert compared.previous is not None
    assert compared.best is not None
    assert (compared.previous.remote_id, compared.best.remote_id) == (1, 1)


@pytest.mark.parametrize("mean", NO_MEANS)
def test_no_trend_of_one_without_a_mean(history: History, mean: float | None) -> None:
    """As the latest it does not decide on the service either."""
    submitted(history, 2, mean, THERE)
    assert trend_of(history, history.submissions.latest()) is None
    submitted(history, 1, 12.0)
    trend = trend_of(history, history.submissions.latest())
    assert trend is not None
    assert [point.remote_id for point in trend.points] == [1]
