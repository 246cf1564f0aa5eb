"""Configs tried on a service: what was planned, and the submission of each step."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from sqlite3 import Connection
from typing import Any
from uuid import uuid4

from mxsub.submit.errors import UsageError
from mxsub.submit.history.codec import json_of, json_text, now, time_of, time_text
from mxsub.submit.history.file import HistoryFile

Values = Mapping[str, int | str | bool]
# By shape, as `16x2112x7168`.
Configs = Mapping[str, Values]

_COLUMNS = "uid, begun, service, account, leaderboard, gpu, variant, wanted, baseline, left_out, stopped"
_TRIAL = "position, sha256, candidates, submission"
_ORDER = "ORDER BY begun DESC, rowid DESC"
SHOWN_DIGITS = 8


@dataclass(frozen=True)
class LeftOut:
    """A candidate that is not tried. changes: what it has otherwise than the baseline."""

    shape: str
    changes: Values
    why: str


@dataclass(frozen=True)
class Trial:
    """One submission of a sweep. candidates: by shape, what its config has otherwise than the baseline; none for the
    baseline itself. submission: the uid that its attempt has in the history, once there is one."""

    position: int
    sha256: str
    candidates: Configs
    submission: str


@dataclass(frozen=True)
class SweepRecord:
    """wanted: what was asked for, in words. baseline: the configs when it began. stopped: None where it may go on."""

    uid: str
    begun: datetime
    service: str
    account: str
    leaderboard: str
    gpu: str
    variant: str
    wanted: str
    baseline: Configs
    left_out: tuple[LeftOut, ...]
    stopped: datetime | None
    trials: tuple[Trial, ...]

    @property
    def label(self) -> str:
        """What it goes by: the start of its uid."""
        return self.uid[:SHOWN_DIGITS]


class Sweeps:
    def __init__(self, file: HistoryFile) -> None:
        self._file = file

    def begin(
        self,
        steps: Iterable[tuple[str, Configs]],
        *,
        service: str,
        account: str,
        leaderboard: str,
        gpu: str,
        variant: str,
        wanted: str,
        baseline: Configs,
        left_out: Sequence[LeftOut],
    ) -> SweepRecord:
        """Records a plan before any of it is carried out. steps: the version of each submission, which is recorded,
        and its candidates."""
        trials = tuple(
            Trial(position, sha256, candidates, uuid4().hex) for position, (sha256, candidates) in enumerate(steps)
        )
        sweep = SweepRecord(
            uuid4().hex, now(), service, account, leaderboard, gpu, variant, wanted, baseline, tuple(left_out), None,
            trials,
        )  # fmt: skip
        with self._file.write() as connection:
            connection.execute(
                f"INSERT INTO sweeps ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    sweep.uid, time_text(sweep.begun), service, account, leaderboard, gpu, variant, wanted,
                    json_text(baseline), json_text([[left.shape, left.changes, left.why] for left in left_out]), None,
                ),
            )  # fmt: skip
            connection.executemany(
                f"INSERT INTO trials (sweep, {_TRIAL}) VALUES (?, ?, ?, ?, ?)",
                [
                    (sweep.uid, trial.position, trial.sha256, json_text(trial.candidates), trial.submission)
                    for trial in trials
                ],
            )
        return sweep

    def try_again(self, sweep: str, position: int) -> None:
        """The next attempt of a trial is a new submission."""
        with self._file.write() as connection:
            connection.execute(
                "UPDATE trials SET submission = ? WHERE sweep = ? AND position = ?", (uuid4().hex, sweep, position)
            )

    def set_stopped(self, uid: str, time: datetime | None) -> None:
        """None: it may go on."""
        with self._file.write() as connection:
            connection.execute("UPDATE sweeps SET stopped = ? WHERE uid = ?", (time_text(time), uid))

    def get(self, uid: str) -> SweepRecord:
        """As it is now; KeyError where there is none."""
        for sweep in self._where("uid = ?", (uid,)):
            return sweep
        raise KeyError(uid)

    def latest(self, limit: int | None = None) -> list[SweepRecord]:
        """The latest first."""
        return self._where("1", (), limit)

    def find(self, start: str | None) -> SweepRecord:
        """The one whose uid starts so, or the latest. Raises UsageError, which lists what there is, where none or more
        than one fits."""
        found = self._where("substr(uid, 1, ?) = ?", (len(start), start.lower())) if start else self.latest(1)
        if len(found) == 1:
            return found[0]
        known = self.latest(8)
        if not known:
            raise UsageError("there is no sweep in the history", "`mxsub sweep run KNOB=V1,V2` begins one.")
        problem = f"'{start}' fits {len(found)} sweeps" if found else f"there is no sweep '{start}' in the history"
        raise UsageError(problem, f"The latest: {', '.join(sweep.label for sweep in found[:8] or known)}.")

    def _where(self, clause: str, values: Sequence[object], limit: int | None = None) -> list[SweepRecord]:
        query = f"SELECT {_COLUMNS} FROM sweeps WHERE {clause} {_ORDER} LIMIT ?"
        with self._file.read() as connection:
            if connection is None:
                return []
            rows = connection.execute(query, (*values, -1 if limit is None else limit)).fetchall()
            return [_record(row, _trials(connection, row[0])) for row in rows]


def _trials(connection: Connection, sweep: str) -> tuple[Trial, ...]:
    rows = connection.execute(f"SELECT {_TRIAL} FROM trials WHERE sweep = ? ORDER BY position", (sweep,))
    return tuple(
        Trial(position, sha256, json_of(candidates), submission) for position, sha256, candidates, submission in rows
    )


def _record(row: tuple[Any, ...], trials: tuple[Trial, ...]) -> SweepRecord:
    uid, begun, service, account, leaderboard, gpu, variant, wanted, baseline, left_out, stopped = row
    return SweepRecord(
        uid, datetime.fromisoformat(begun), service, account, leaderboard, gpu, variant, wanted, json_of(baseline),
        tuple(LeftOut(*left) for left in json_of(left_out)), time_of(stopped), trials,
    )  # fmt: skip
