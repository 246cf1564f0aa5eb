"""A place in the ranking, and times that are the same whatever the order of a spec's keys."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mxsub.submit.aiter_times import AITER_TIMES
from mxsub.submit.history.submissions import ResultRecord
from mxsub.submit.kernelbot import RankingEntry
from mxsub.submit.listing.shape_comparison import compare_shapes
from mxsub.submit.posting.placing import place_of
from mxsub.submit.posting.submitting import find_place
from mxsub.submit.scores import mean_of, shape_times
from tests.fake_kernelbot import FakeKernelBot
from tests.posting_desk import BOARD, TEXT, TestDesk

TIME = datetime(2026, 4, 1, tzinfo=UTC)


def entry(rank: int, score: object, user: object, submission: int = 0) -> RankingEntry:
    """As the service sends it; user ids are numbers there, and text where a submission is shown."""
    return RankingEntry.model_validate(
        {
            "rank": rank, "submission_score": score, "user_id": user, "user_name": f"user{user}",
            "submission_id": submission or 100 + rank, "submission_name": "sub.py", "submission_time": TIME,
        }
    )  # fmt: skip


RANKING = [entry(1, 1.0e-05, 1), entry(1, "0.00001", 2), entry(3, "1.25E-5", 3, 9), entry(4, 2e-05, 4)]


def test_the_distance_to_the_next_rank() -> None:
    place = place_of(RANKING, "3")
    assert place is not None
    assert (place.rank, place.of, place.submission, place.user) == (3, 4, 9, "user3")
    assert place.mean == pytest.approx(12.5)
    assert (place.gap, place.gap_percent) == (pytest.approx(2.5), pytest.approx(20.0))
    assert place.ahead is not None
    assert place.ahead.rank == 1
    last = place_of(RANKING, "4")
    assert last is not None
    assert last.ahead is not None
    assert (last.ahead.user_name, last.gap) == ("user3", pytest.approx(7.5))
    assert last.to_dict()["ahead"] == {"rank": 3, "user": "user3", "mean": pytest.approx(12.5)}


def test_nobody_is_ahead_of_those_who_share_the_top() -> None:
    for user in ("1", "2"):
        place = place_of(RANKING, user)
        assert place is not None
        assert (place.rank, place.ahead, place.gap, place.gap_percent) == (1, None, None, None)
        assert place.to_dict()["gap"] is None


def test_who_is_not_ranked_has_no_place() -> None:
    assert place_of(RANKING, "5") is None
    assert place_of([], "1") is None
    assert place_of([*RANKING, entry(5, 3e-05, None)], None) is None


@pytest.fixture
def bot() -> Iterator[FakeKernelBot]:
    with FakeKernelBot(run_seconds=0.05) as fake:
        yield fake


@pytest.fixture
def desk(tmp_path: Path, bot: FakeKernelBot) -> TestDesk:
    return TestDesk(tmp_path, bot)


def test_a_place_among_others(desk: TestDesk, bot: FakeKernelBot) -> None:
    for user in ("grace", "linus", "ken"):
        bot.add_submission(user, f"# {user}\n")
    done = desk.carry_out(desk.begin("leaderboard"))
    scores = {row.user: row.runs[2].score for row in bot.rows}
    better = sorted(float(score) for score in scores.values() if score is not None and score < scores["ada"])
    assert done.place is not None
    assert (done.place.rank, done.place.of, done.record.rank) == (len(better) + 1, 4, len(better) + 1)
    assert done.place.mean == pytest.approx(float(scores["ada"] or 0) * 1e6)
    assert done.place.gap == (pytest.approx(done.place.mean - 1e6 * better[-1]) if better else None)


def test_a_slower_version_leaves_the_place_with_the_faster_one(desk: TestDesk, bot: FakeKernelBot) -> None:
    texts = [f"{TEXT}# {n}\n" for n in range(4)]
    done = [desk.carry_out(desk.begin("leaderboard", text)) for text in texts]
    means = [submitted.record.geometric_mean or 0 for submitted in done]
    best = done[means.index(min(means))].record.remote_id
    assert done[-1].place is not None
    assert (done[-1].place.submission, done[-1].place.mean) == (best, pytest.approx(min(means)))


@pytest.mark.parametrize("fault", ["http-500-detail", "malformed-json", "score-garbage", "http-404"])
def test_a_ranking_that_cannot_be_read_costs_nothing(desk: TestDesk, bot: FakeKernelBot, fault: str) -> None:
    bot.set_fault(fault, None, f"GET /submissions/{BOARD}")
    done = desk.carry_out(desk.begin("leaderboard"))
    assert (done.record.verdict, done.place, done.record.rank) == ("passed", None, None)
    assert any(told.startswith("the ranking cannot be read: ") for told in desk.told)
    bot.clear_faults()
    place = find_place(desk.desk, done.record)
    assert place is not None
    assert place.rank == 1


def test_the_order_of_a_specs_keys_does_not_matter(desk: TestDesk) -> None:
    record = desk.carry_out(desk.begin("benchmark")).record
    results = desk.history.submissions.results(record.uid)
    lines = results[0].result or {}
    assert lines["benchmark.0.spec"] == "k: 512; m: 4; n: 2880; seed: 4565"
    turned = {
        key: "; ".join(reversed(value.split("; "))) if key.endswith(".spec") else value for key, value in lines.items()
    }
    assert turned["benchmark.0.spec"] == "seed: 4565; n: 2880; m: 4; k: 512"
    other = ResultRecord("benchmark", TIME, TIME, "MI355X", True, None, turned)
    assert shape_times([other]) == shape_times(results)
    assert list(shape_times(results)) == list(AITER_TIMES[BOARD])

    earlier = desk.begin("benchmark", f"{TEXT}# earlier\n")
    desk.history.submissions.update(
        earlier.uid, None, [other], state="finished", verdict="passed", submitted=TIME, geometric_mean=11.5
    )
    compared = compare_shapes(desk.history, record)
    assert compared.previous is not None
    assert compared.previous.times == compared.times
    assert compared.aiter_mean == pytest.approx(11.50, abs=0.01)


@pytest.mark.parametrize("name", ["runs", "mean", "best", "worst", "err", "std"])
@pytest.mark.parametrize("value", ["NaN", "inf", "-1", "fast", "", None])
def test_a_case_whose_figures_cannot_be_read_was_not_timed(desk: TestDesk, name: str, value: str | None) -> None:
    record = desk.carry_out(desk.begin("benchmark")).record
    (run,) = desk.history.submissions.results(record.uid)
    key = f"benchmark.1.{name}"
    lines = {other: line for other, line in (run.result or {}).items() if other != key}
    spoiled = replace(run, result=lines if value is None else lines | {key: value})
    times = shape_times([spoiled])
    assert list(times) == [shape for shape in AITER_TIMES[BOARD] if shape != "16x2112x7168"]
    assert times == {shape: time for shape, time in shape_times([run]).items() if shape != "16x2112x7168"}
    # A mean of some of the shapes would look like one of all.
    assert (mean_of([run]), mean_of([spoiled])) == (record.geometric_mean, None)
