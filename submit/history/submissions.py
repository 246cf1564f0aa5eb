"""Submissions to a KernelBot service: each is recorded before it is sent, and gains facts as the service tells them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from sqlite3 import Connection
from typing import Any, Literal, TypedDict, Unpack
from uuid import uuid4

from mxsub.submit.history.codec import json_of, json_text, now, time_of, time_text
from mxsub.submit.history.file import HistoryFile

State = Literal["recorded", "sent", "accepted", "finished", "refused"]
UNFINISHED: tuple[State, ...] = ("recorded", "sent", "accepted")
UNDER_WAY = "under way"


@dataclass(frozen=True)
class SubmissionRecord:
    """One submission.

    uid: its name in this and every other history; the service's number is `remote_id`.
    sha256, mode, gpu: None for one that was made elsewhere and not pulled yet.
    service: the API's address. account: a fingerprint of the account's id, never the id.
    recorded: when mxsub first knew of it. sent: when its request last left.
    state: "recorded": not sent yet; "sent": the request left, the answer is not known; "accepted": the service runs it;
        "finished": the verdict is known; "refused": the service did not take it.
    newest_before: the account's newest submission number just before the request left; 0 for none.
    submitted, status, error, heartbeat: as the service tells them, the times in UTC.
    verdict, sentence: see posting.verdict. score: seconds, as the service writes it. geometric_mean: us.
    rank: in the ranking, when it was last asked for. deleted: when it was deleted from the service.
    """

    uid: str
    sha256: str | None
    service: str
    account: str
    leaderboard: str
    gpu: str | None
    mode: str | None
    file_name: str
    recorded: datetime
    state: State
    sent: datetime | None = None
    newest_before: int | None = None
    remote_id: int | None = None
    submitted: datetime | None = None
    status: str | None = None
    error: str | None = None
    heartbeat: datetime | None = None
    finished: datetime | None = None
    verdict: str | None = None
    sentence: str | None = None
    score: str | None = None
    geometric_mean: float | None = None
    rank: int | None = None
    deleted: datetime | None = None

    @property
    def unfinished(self) -> bool:
        return self.state in UNFINISHED and self.deleted is None

    @property
    def place(self) -> tuple[str, str, str | None]:
        """Its service, leaderboard and GPU: times of one place may be compared."""
        return self.service, self.leaderboard, self.gpu

    @property
    def timed(self) -> bool:
        """It passed, and its geometric mean is one that times have."""
        return self.verdict == "passed" and 0 < (self.geometric_mean or 0) < math.inf

    @property
    def time(self) -> datetime:
        """When the service got it, or else when it was recorded."""
        return self.submitted or self.recorded

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it: times as ISO 8601 in UTC."""
        return {name: _stored(name, getattr(self, name)) for name in _NAMES}


class Changes(TypedDict, total=False):
    """What can change about a submission; see SubmissionRecord."""

    sha256: str | None
    gpu: str | None
    mode: str | None
    state: State
    sent: datetime | None
    newest_before: int | None
    remote_id: int | None
    submitted: datetime | None
    status: str | None
    error: str | None
    heartbeat: datetime | None
    finished: datetime | None
    verdict: str | None
    sentence: str | None
    score: str | None
    geometric_mean: float | None
    rank: int | None
    deleted: datetime | None


@dataclass(frozen=True)
class ResultRecord:
    """One public run of a submission on the service's runner.

    mode: test, benchmark, leaderboard, or profile.N. score: seconds, as the service writes it; result: the evaluator's
    lines as a dictionary; both None where the service does not show them.
    """

    mode: str
    started: datetime
    ended: datetime
    runner: str
    passed: bool
    score: str | None
    result: dict[str, str] | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it: times as ISO 8601 in UTC."""
        return {**asdict(self), "started": time_text(self.started), "ended": time_text(self.ended)}


@dataclass(frozen=True)
class Event:
    """What was new when the service was asked at a time."""

    seen: datetime
    facts: dict[str, Any]


_NAMES = tuple(field.name for field in fields(SubmissionRecord))
_TIMES = {"recorded", "sent", "submitted", "heartbeat", "finished", "deleted"}
_COLUMNS = ", ".join(_NAMES)
_ORDER = "ORDER BY coalesce(submitted, recorded) DESC, submissions.id DESC"


class Submissions:
    def __init__(self, file: HistoryFile) -> None:
        self._file = file

    def begin(
        self, sha256: str, *, service: str, account: str, leaderboard: str, gpu: str, mode: str, file_name: str
    ) -> SubmissionRecord:
        """Records that a version is about to be sent."""
        begun = _begun(sha256, service, account, leaderboard, gpu, mode, file_name)
        self.add([begun])
        return begun

    def begin_unless_under_way(
        self, sha256: str, *, service: str, account: str, leaderboard: str, gpu: str, mode: str, file_name: str
    ) -> tuple[SubmissionRecord, bool]:
        """Records that a version is about to be sent; or, with True, the latest attempt of the same kind that has no
        verdict yet. Of two processes at once, one begins."""
        begun = _begun(sha256, service, account, leaderboard, gpu, mode, file_name)
        clause = "sha256 = ? AND service = ? AND leaderboard = ? AND gpu = ? AND mode = ? AND deleted IS NULL"
        query = f"SELECT {_COLUMNS} FROM submissions WHERE {clause} AND state IN (?, ?, ?) {_ORDER} LIMIT 1"
        with self._file.write() as connection:
            values = (sha256, service, leaderboard, gpu, mode, *UNFINISHED)
            for row in connection.execute(query, values).fetchall():
                return _record(row), True
            _insert(connection, [begun])
        return begun, False

    def add(self, records: Iterable[SubmissionRecord]) -> None:
        """Keeps submissions that are not known yet; one whose number at its service is known is left as it is."""
        with self._file.write() as connection:
            _insert(connection, records)

    def update(
        self,
        uid: str,
        facts: dict[str, Any] | None = None,
        results: Sequence[ResultRecord] = (),
        **changes: Unpack[Changes],
    ) -> SubmissionRecord:
        """Changes what is known of a submission, in one transaction, and returns it.

        facts: what was new, kept as an event. results: runs, each in place of the same one seen earlier; one that comes
        without its result never takes the place of one that has it, as a stream's has.
        """
        assignments = ", ".join(f"{name} = ?" for name in changes)
        values = [_stored(name, value) for name, value in changes.items()]
        with self._file.write() as connection:
            if changes:
                connection.execute(f"UPDATE submissions SET {assignments} WHERE uid = ?", (*values, uid))
            number, *row = connection.execute(
                f"SELECT id, {_COLUMNS} FROM submissions WHERE uid = ?", (uid,)
            ).fetchone()
            for run in results:
                keep_run(connection, number, run)
            if facts:
                connection.execute(
                    "INSERT INTO events (submission, seen, facts) VALUES (?, ?, ?)",
                    (number, time_text(now()), json_text(facts)),
                )
        return _record(row)

    def accept(self, uid: str, remote_id: int, facts: dict[str, Any] | None = None) -> SubmissionRecord:
        """The service has an attempt, under this number. A record of the same submission that was made from the
        service's list in the meantime goes: it is this one, and the service tells its facts again."""
        with self._file.write() as connection:
            twin = connection.execute(
                "SELECT id FROM submissions WHERE remote_id = ? AND uid <> ? AND sent IS NULL "
                "AND service = (SELECT service FROM submissions WHERE uid = ?)",
                (remote_id, uid, uid),
            ).fetchone()
            if twin:
                for table in ("events", "results"):
                    connection.execute(f"DELETE FROM {table} WHERE submission = ?", twin)
                connection.execute("DELETE FROM submissions WHERE id = ?", twin)
        return self.update(uid, {"remote_id": remote_id, **(facts or {})}, remote_id=remote_id, state="accepted")

    def get(self, uid: str) -> SubmissionRecord:
        """As it is now; KeyError where there is none."""
        for record in self._where("uid = ?", (uid,)):
            return record
        raise KeyError(uid)

    def of(self, sha256: str) -> list[SubmissionRecord]:
        """Of one version, the latest first."""
        return self._where("sha256 = ?", (sha256,))

    def numbered(self, remote_id: int, service: str | None = None) -> list[SubmissionRecord]:
        """Those that a service (any, by default) knows by a number."""
        return self._where("remote_id = ? AND (service = ? OR ? IS NULL)", (remote_id, service, service))

    def unfinished(self) -> list[SubmissionRecord]:
        """Those whose verdict is not known yet, the latest first."""
        return self._where(f"state IN ({', '.join('?' * len(UNFINISHED))}) AND deleted IS NULL", UNFINISHED)

    def lost_since(self, time: datetime) -> list[SubmissionRecord]:
        """Those that were put down as lost and have a number, recorded since a time, the latest first."""
        return self._where(
            "verdict = 'lost' AND remote_id IS NOT NULL AND deleted IS NULL AND recorded >= ?", (time_text(time),)
        )

    def latest(self, limit: int | None = None) -> list[SubmissionRecord]:
        """The latest first."""
        return self._where("1", (), limit)

    def timed(self, *, service: str, leaderboard: str, gpu: str) -> list[SubmissionRecord]:
        """Those on a board and GPU of a service that passed and have a geometric mean, the latest first."""
        clause = "service = ? AND leaderboard = ? AND gpu = ? AND verdict = 'passed'"
        return [record for record in self._where(clause, (service, leaderboard, gpu)) if record.timed]

    def results(self, uid: str) -> list[ResultRecord]:
        """The public runs of a submission, in the order they were run."""
        rows = self._file.rows(
            "SELECT results.mode, started, ended, runner, passed, results.score, result FROM results "
            "JOIN submissions ON submissions.id = results.submission WHERE uid = ? ORDER BY started, results.mode",
            (uid,),
        )
        return [
            ResultRecord(
                mode, datetime.fromisoformat(started), datetime.fromisoformat(ended), runner, bool(passed), score,
                json_of(result),
            )
            for mode, started, ended, runner, passed, score, result in rows
        ]  # fmt: skip

    def events(self, uid: str) -> list[Event]:
        """What the service told about a submission, first to last."""
        rows = self._file.rows(
            "SELECT seen, facts FROM events JOIN submissions ON submissions.id = events.submission "
            "WHERE uid = ? ORDER BY events.id",
            (uid,),
        )
        return [Event(datetime.fromisoformat(seen), json_of(facts)) for seen, facts in rows]

    def _where(self, clause: str, values: Sequence[object], limit: int | None = None) -> list[SubmissionRecord]:
        query = f"SELECT {_COLUMNS} FROM submissions WHERE {clause} {_ORDER} LIMIT ?"
        return [_record(row) for row in self._file.rows(query, (*values, -1 if limit is None else limit))]


def _begun(
    sha256: str, service: str, account: str, leaderboard: str, gpu: str, mode: str, file_name: str
) -> SubmissionRecord:
    return SubmissionRecord(uuid4().hex, sha256, service, account, leaderboard, gpu, mode, file_name, now(), "recorded")


def _insert(connection: Connection, records: Iterable[SubmissionRecord]) -> None:
    connection.executemany(
        f"INSERT INTO submissions ({_COLUMNS}) VALUES ({', '.join('?' * len(_NAMES))}) ON CONFLICT DO NOTHING",
        [[_stored(name, getattr(record, name)) for name in _NAMES] for record in records],
    )


def keep_run(connection: Connection, submission: int, run: ResultRecord) -> None:
    """Within a transaction: see `Submissions.update` about `results`. submission: its row's id."""
    same = "submission = ? AND mode = ? AND result IS"
    if run.result is not None:
        connection.execute(f"DELETE FROM results WHERE {same} NULL", (submission, run.mode))
    elif connection.execute(f"SELECT 1 FROM results WHERE {same} NOT NULL", (submission, run.mode)).fetchone():
        return
    values = (
        submission, run.mode, time_text(run.started), time_text(run.ended), run.runner, run.passed, run.score,
        json_text(run.result),
    )  # fmt: skip
    connection.execute(
        "INSERT OR REPLACE INTO results (submission, mode, started, ended, runner, passed, score, result) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        values,
    )


def _stored(name: str, value: Any) -> Any:
    return time_text(value) if name in _TIMES else value


def _record(row: Sequence[Any]) -> SubmissionRecord:
    values = dict(zip(_NAMES, row, strict=True))
    return SubmissionRecord(**{**values, **{name: time_of(values[name]) for name in _TIMES}})
