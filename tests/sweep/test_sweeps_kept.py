"""Sweeps in the history's file."""

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mxsub.submit.errors import UsageError
from mxsub.submit.history import History
from mxsub.submit.history.migrations import APPLICATION_ID, MIGRATIONS
from mxsub.submit.history.sweeps import LeftOut, SweepRecord
from tests.posting_desk import BOARD, GPU
from tests.sweep.measured import SERVICE, A, B

CANDIDATES = {A: {"num_warps": 8, "cache_modifier": ""}, B: {"QUANTIZE": "software"}}
LEFT_OUT = (LeftOut(A, {"NUM_KSPLIT": 4}, "é: does not fit"),)


def begun(history: History) -> SweepRecord:
    hashes = [history.versions.record(text).sha256 for text in ("# a\n", "# b\n")]
    return history.sweeps.begin(
        zip(hashes, ({}, CANDIDATES), strict=True), service=SERVICE, account="a", leaderboard=BOARD, gpu=GPU,
        variant="constexpr", wanted="num_warps=8", baseline={A: {"num_warps": 4}, B: {"num_warps": 4}},
        left_out=LEFT_OUT,
    )  # fmt: skip


def test_a_sweep_is_kept_whole(tmp_path: Path) -> None:
    with History.open(tmp_path) as history:
        sweep = begun(history)
    with History.open(tmp_path) as history:
        assert history.sweeps.latest() == [sweep]
        assert history.sweeps.get(sweep.uid) == sweep
    assert (sweep.left_out, sweep.trials[1].candidates, sweep.stopped) == (LEFT_OUT, CANDIDATES, None)
    assert [trial.position for trial in sweep.trials] == [0, 1]


def test_stopping_and_trying_again(tmp_path: Path) -> None:
    with History.open(tmp_path) as history:
        sweep, other = begun(history), begun(history)
        moment = datetime(2026, 3, 1, 9, tzinfo=UTC)
        history.sweeps.set_stopped(sweep.uid, moment)
        history.sweeps.try_again(sweep.uid, 1)
        after = history.sweeps.get(sweep.uid)
        assert after.stopped == moment
        assert after.trials[0] == sweep.trials[0]
        assert after.trials[1].submission not in {trial.submission for trial in (*sweep.trials, *other.trials)}
        assert history.sweeps.get(other.uid) == other
        history.sweeps.set_stopped(sweep.uid, None)
        assert history.sweeps.get(sweep.uid).stopped is None


def test_finding_one(tmp_path: Path) -> None:
    with History.open(tmp_path) as history:
        with pytest.raises(UsageError, match="there is no sweep in the history"):
            history.sweeps.find(None)
        made = [begun(history) for _ in range(17)]
        assert history.sweeps.find(None) == made[-1]
        assert history.sweeps.find(made[0].uid[:12].upper()) == made[0]
        # Of 17 uids in hexadecimal, two begin with the same digit.
        starts = [sweep.uid[0] for sweep in made]
        digit = next(start for start in starts if starts.count(start) > 1)
        with pytest.raises(UsageError, match=f"'{digit}' fits {starts.count(digit)} sweeps"):
            history.sweeps.find(digit)
        with pytest.raises(UsageError, match="there is no sweep 'x%' in the history") as error:
            history.sweeps.find("x%")
        assert error.value.hint.startswith(f"The latest: {made[-1].label}, {made[-2].label}, ")


def test_a_history_of_the_second_schema_gains_sweeps(tmp_path: Path) -> None:
    (tmp_path / ".mxsub").mkdir()
    connection = sqlite3.connect(tmp_path / ".mxsub/history.sqlite3")
    for statement in (statement for statements in MIGRATIONS[:2] for statement in statements):
        connection.execute(statement)
    connection.execute("INSERT INTO versions (sha256, recorded, origin, text) VALUES ('ab', '2026-03-01', 'file', 'x')")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("PRAGMA user_version = 2")
    connection.commit()
    connection.close()
    with History.open(tmp_path) as history:
        assert history.sweeps.latest() == []
        assert history.versions.get("ab").text == "x"
        sweep = begun(history)
        assert history.sweeps.find(None) == sweep
