"""What a sweep's times come to: the best of each shape, chance, and submissions that failed."""

import math
from pathlib import Path

import pytest

from mxsub.submit.new_project import create_project
from mxsub.submit.sweep.outcome import ShapeOutcome
from tests.sweep.measured import A, B, Ended, outcome

BASE = Ended({}, {A: (10.0, 0.01), B: (20.0, 0.01)})
TWO, EIGHT = {"num_warps": 2}, {"num_warps": 8}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    create_project(tmp_path / "project")
    return tmp_path / "project"


def best_of(shape: ShapeOutcome) -> object:
    return shape.best and dict(shape.best.changes)


def test_the_best_of_each_shape_and_what_they_would_make_together(folder: Path) -> None:
    found = outcome(
        folder,
        [
            BASE,
            Ended({A: TWO, B: TWO}, {A: (9.0, 0.01), B: (21.0, 0.01)}),
            Ended({A: EIGHT, B: EIGHT}, {A: (8.0, 0.01), B: (16.0, 0.01)}),
        ],
    )
    a, b = found.shapes
    assert (best_of(a), best_of(b)) == (EIGHT, EIGHT)
    assert [one.change for one in a.candidates] == pytest.approx([-10.0, -20.0])
    assert [one.noise for one in b.candidates] == [False, False]
    assert found.baseline_mean == pytest.approx(math.sqrt(10 * 20))
    assert found.projected_mean == pytest.approx(math.sqrt(8 * 16))
    assert found.projected_change == pytest.approx(-20.0)
    assert (found.state, found.done, found.all_passed) == ("finished", 3, True)


def test_a_candidate_that_is_better_by_chance_alone_does_not_win(folder: Path) -> None:
    """9.8 +- 0.1 against 10 +- 0.01: two standard errors are 0.201."""
    found = outcome(folder, [BASE, Ended({A: TWO}, {A: (9.8, 0.1), B: (20.0, 0.01)})])
    (candidate,) = found.shapes[0].candidates
    assert (candidate.noise, best_of(found.shapes[0])) == (True, None)
    assert found.projected_mean == found.baseline_mean
    sharper = outcome(folder, [BASE, Ended({A: EIGHT}, {A: (9.8, 0.09), B: (20.0, 0.01)})])
    assert best_of(sharper.shapes[0]) == EIGHT


def test_the_fastest_may_be_noise_while_a_slower_one_wins(folder: Path) -> None:
    found = outcome(folder, [BASE, Ended({A: TWO}, {A: (9.0, 0.9)}), Ended({A: EIGHT}, {A: (9.5, 0.01)})])
    assert best_of(found.shapes[0]) == EIGHT


def test_a_submission_that_failed_never_wins_and_says_at_which_shape(folder: Path) -> None:
    failing = Ended({A: TWO, B: TWO}, {A: (1.0, 0.01)}, "failed", {B: "ERROR at (0, 1)\\n1.0 2.0"})
    found = outcome(folder, [BASE, failing])
    a, b = (shape.candidates[0] for shape in found.shapes)
    assert (a.state, a.time, a.why) == ("failed", None, f"not counted: its submission failed at {B}")
    assert (b.state, b.time, b.why) == ("failed", None, "failed: ERROR at (0, 1)")
    assert [best_of(shape) for shape in found.shapes] == [None, None]
    assert not found.all_passed
    assert found.trials[1].failed == {B: "ERROR at (0, 1)"}


def test_a_crash_is_told_of_the_shape_that_it_was_in(folder: Path) -> None:
    found = outcome(folder, [BASE, Ended({A: TWO, B: TWO}, {A: (1.0, 0.01)}, "crashed", raised_at=B)])
    a, b = (shape.candidates[0] for shape in found.shapes)
    assert (a.why, b.why) == (f"not counted: its submission crashed at {B}", "crashed: it raised")
    assert (a.time, b.time) == (None, None)


def test_an_end_without_a_shape_has_the_verdicts_sentence(folder: Path) -> None:
    found = outcome(folder, [BASE, Ended({A: TWO}, verdict="lost")])
    assert found.shapes[0].candidates[0].why == "lost: what the verdict says"
    assert found.repeatable


def test_a_shape_that_the_service_gave_no_time_for(folder: Path) -> None:
    found = outcome(folder, [BASE, Ended({A: TWO}, {B: (20.0, 0.01)})])
    candidate = found.shapes[0].candidates[0]
    assert (candidate.state, candidate.why) == ("measured", "the service gave no time for it")
    assert best_of(found.shapes[0]) is None


def test_without_a_baseline_nothing_wins(folder: Path) -> None:
    found = outcome(folder, [Ended({}, verdict="failed", failed={A: "wrong"}), None])
    assert (found.state, found.baseline_mean, found.projected_mean) == ("failed", None, None)
    assert (found.trials[0].failed, found.repeatable) == ({A: "wrong"}, False)
    assert found.shapes[0].candidates[0].state == "waiting"


def test_one_that_is_not_done(folder: Path) -> None:
    found = outcome(folder, [BASE, Ended({A: EIGHT}, {A: (8.0, 0.01), B: (20.0, 0.01)}), None])
    assert (found.state, found.done) == ("open", 2)
    assert [one.state for one in found.shapes[0].candidates] == ["measured", "waiting"]
    assert best_of(found.shapes[0]) == EIGHT
