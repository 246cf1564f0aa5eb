"""Runs of the task's evaluator on this machine."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import uuid4

from mxsub.submit.history.codec import json_of, json_text, time_text
from mxsub.submit.history.file import HistoryFile

_COLUMNS = "uid, sha256, started, task, mode, whole, gpu, virtual, triton, outcome, geometric_mean, detail"


@dataclass(frozen=True)
class RunRecord:
    """One run.

    task: the problem's name. whole: it ran every case of its mode, and the task is the project's own.
    gpu: as KernelBot calls it; virtual: on its twin. outcome: see harness.result.Run.
    geometric_mean: of the cases' mean times, in ns, or in wave instructions where virtual; None where not timed.
    detail: Run.to_dict(), empty in listings.
    """

    uid: str
    sha256: str
    started: datetime
    task: str
    mode: str
    whole: bool
    gpu: str
    virtual: bool
    triton: str
    outcome: str
    geometric_mean: float | None
    detail: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"


class Runs:
    def __init__(self, file: HistoryFile) -> None:
        self._file = file

    def record(
        self,
        sha256: str,
        *,
        started: datetime,
        task: str,
        mode: str,
        whole: bool,
        gpu: str,
        virtual: bool,
        triton: str,
        outcome: str,
        geometric_mean: float | None,
        detail: dict[str, Any],
    ) -> RunRecord:
        """Keeps a run of a recorded version."""
        kept = RunRecord(
            uuid4().hex, sha256, started, task, mode, whole, gpu, virtual, triton, outcome, geometric_mean, detail
        )
        values = (
            kept.uid, sha256, time_text(started), task, mode, whole, gpu, virtual, triton, outcome, geometric_mean,
            json_text(detail),
        )  # fmt: skip
        with self._file.write() as connection:
            connection.execute(f"INSERT INTO runs ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
        return kept

    def of(self, sha256: str) -> list[RunRecord]:
        """Of one version, the latest first, with their details."""
        query = f"SELECT {_COLUMNS} FROM runs WHERE sha256 = ? ORDER BY started DESC"
        return [_record(row) for row in self._file.rows(query, (sha256,))]

    def latest(self, limit: int | None = None) -> list[RunRecord]:
        """The latest first, without details."""
        columns = _COLUMNS.replace("detail", "NULL")
        query = f"SELECT {columns} FROM runs ORDER BY started DESC LIMIT ?"
        return [_record(row) for row in self._file.rows(query, (-1 if limit is None else limit,))]

    def outcomes(self, hashes: Sequence[str]) -> dict[str, dict[str, str]]:
        """By version and mode, the outcome of the last run of every case."""
        found: dict[str, dict[str, str]] = {}
        query = (
            f"SELECT sha256, mode, outcome FROM runs WHERE whole AND sha256 IN ({', '.join('?' * len(hashes))}) "
            "ORDER BY started"
        )
        for sha256, mode, outcome in self._file.rows(query, hashes):
            found.setdefault(sha256, {})[mode] = outcome
        return found

    def passed(self, sha256: str, *, task: str, gpu: str) -> set[str]:
        """The modes in which a version passed every case of a task on a GPU or its twin."""
        query = (
            "SELECT DISTINCT mode FROM runs WHERE sha256 = ? AND task = ? AND gpu = ? AND whole AND outcome = 'passed'"
        )
        return {mode for (mode,) in self._file.rows(query, (sha256, task, gpu))}


def _record(row: tuple[Any, ...]) -> RunRecord:
    uid, sha256, started, task, mode, whole, gpu, virtual, triton, outcome, geometric_mean, detail = row
    return RunRecord(
        uid, sha256, datetime.fromisoformat(started), task, mode, bool(whole), gpu, bool(virtual), triton, outcome,
        geometric_mean, json_of(detail) or {},
    )  # fmt: skip
