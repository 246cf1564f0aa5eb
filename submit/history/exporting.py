"""A history as JSON lines."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from mxsub import __version__
from mxsub.submit.history.codec import json_of, now, time_text
from mxsub.submit.history.exchange_lines import FORMAT, FORMAT_VERSION
from mxsub.submit.history.history import History
from mxsub.submit.replacing import check_own, replaced

# Kind of line -> its table, and the order of its lines.
TABLES = {
    "version": ("versions", "recorded, rowid"),
    "tag": ("tags", "name"),
    "lint": ("lints", "sha256, leaderboard, gpu"),
    "run": ("runs", "id"),
    "inspection": ("inspections", "sha256, shape, gpu"),
    "submission": ("submissions", "id"),
    "sweep": ("sweeps", "begun, uid"),
}
# Kind of line -> the lists in it: their tables, the column that says whose they are, and their order.
PARTS = {
    "submission": {"results": ("submission", "started, mode"), "events": ("submission", "id")},
    "sweep": {"trials": ("sweep", "position")},
}
JSON_COLUMNS = {
    "config", "provenance", "findings", "detail", "content", "result", "facts", "wanted", "baseline", "left_out",
    "candidates",
}  # fmt: skip
FLAGS = {"accepted", "whole", "virtual", "passed"}


def export_file(history: History, output: Path, *, force: bool) -> dict[str, int]:
    """Writes all of a history to a file, whole or not at all; returns how many lines of each kind.

    Raises UsageError where `output` is a file that no export wrote, unless `force` is given, or cannot be written.
    """
    if not force:
        check_own(output, f'"format":"{FORMAT}"'.encode(), "mxsub history export")
    with replaced(output, parents=True) as file:
        return export(history, file)


def export(history: History, file: IO[bytes]) -> dict[str, int]:
    """Writes all of a history as it is at one moment, a line at a time."""
    with history.file.read() as connection:
        if connection is None:
            counts = dict.fromkeys(TABLES, 0)
            _write(file, [_header(counts)])
            return counts
        connection.execute("BEGIN")
        try:
            counts = {
                kind: int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
                for kind, (table, _) in TABLES.items()
            }
            _write(file, _lines(connection, counts))
            return counts
        finally:
            connection.execute("ROLLBACK")


def _write(file: IO[bytes], lines: Iterable[dict[str, Any]]) -> None:
    for line in lines:
        file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")


def _header(counts: dict[str, int]) -> dict[str, Any]:
    return {
        "kind": "header", "format": FORMAT, "version": FORMAT_VERSION, "mxsub": __version__,
        "written": time_text(now()), "counts": counts,
    }  # fmt: skip


def _lines(connection: sqlite3.Connection, counts: dict[str, int]) -> Iterator[dict[str, Any]]:
    yield _header(counts)
    for kind, (table, order) in TABLES.items():
        for row in _rows(connection, f"SELECT * FROM {table} ORDER BY {order}"):
            number = row.pop("id", None)
            owner = row["uid"] if kind == "sweep" else number
            parts = {
                part: [
                    {name: value for name, value in entry.items() if name not in (key, "id")}
                    for entry in _rows(connection, f"SELECT * FROM {part} WHERE {key} = ? ORDER BY {sequence}", owner)
                ]
                for part, (key, sequence) in PARTS.get(kind, {}).items()
            }
            yield {"kind": kind, **row, **parts}


def _rows(connection: sqlite3.Connection, query: str, *values: object) -> Iterator[dict[str, Any]]:
    cursor = connection.execute(query, values)
    names = [column[0] for column in cursor.description]
    for row in cursor:
        yield {name: _plain(name, value) for name, value in zip(names, row, strict=True)}


def _plain(name: str, value: Any) -> Any:
    if name in JSON_COLUMNS:
        return json_of(value)
    return bool(value) if name in FLAGS else value
