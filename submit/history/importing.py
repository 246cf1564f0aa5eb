"""Takes an exported history into this one: all of it, or nothing where a line is not what it should be.

What is here stays: a version gains what it lacked, a tag that means another version here is kept as it is, and of two
records of one submission the one that knows its verdict counts.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from mxsub.submit.errors import UsageError
from mxsub.submit.history.codec import json_text
from mxsub.submit.history.exchange_lines import (
    FORMAT_VERSION,
    LINES,
    AnyLine,
    HeaderLine,
    InspectionLine,
    LintLine,
    RunLine,
    SubmissionLine,
    SweepLine,
    TagLine,
    VersionLine,
)
from mxsub.submit.history.exporting import JSON_COLUMNS
from mxsub.submit.history.history import History
from mxsub.submit.history.submissions import UNFINISHED, keep_run
from mxsub.submit.plain_text import one_line

_WHOLE = "Export it again; nothing was imported."


@dataclass
class Imported:
    """read: lines of each kind. new: of these, what was not here. kept_tags: that mean another version here."""

    read: Counter[str] = field(default_factory=Counter)
    new: Counter[str] = field(default_factory=Counter)
    kept_tags: list[str] = field(default_factory=list)

    @property
    def sentence(self) -> str:
        kinds = [f"{self.new[kind]:,} of {count:,} {kind}s" for kind, count in self.read.items() if count]
        return f"new here: {', '.join(kinds)}" if self.new.total() else "nothing in it is new here"

    def to_dict(self) -> dict[str, object]:
        return {"read": dict(self.read), "new": dict(self.new), "kept_tags": self.kept_tags}


def import_lines(history: History, lines: Iterable[bytes], name: str) -> Imported:
    """Reads exported lines in one transaction. name: the file's, for messages.

    Raises UsageError with `FILE:LINE:` for a line that is not as exported, and then changes nothing.
    """
    with history.file.write() as connection:
        return _Import(connection, name).run(lines)


class _Import:
    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self.connection = connection
        self.name = name
        self.number = 0
        self.done = Imported()
        # uid there -> uid here, of submissions that both knew under one number of the service.
        self.twins: dict[str, str] = {}

    def run(self, lines: Iterable[bytes]) -> Imported:
        header: HeaderLine | None = None
        for self.number, data in enumerate(lines, 1):
            line = self._parsed(data, first=header is None)
            if isinstance(line, HeaderLine):
                header = line
                continue
            self.done.read[line.kind] += 1
            self._take(line)
        if header is None:
            raise UsageError(f"{self.name}: is empty", "Name a file that `mxsub history export` wrote.")
        for kind, count in header.counts.items():
            if self.done.read[kind] != count:
                what = f"the file has {self.done.read[kind]:,} {kind}s, and its header says {count:,}"
                raise self._error(f"{what}: it is not whole", _WHOLE)
        return self.done

    def _parsed(self, data: bytes, *, first: bool) -> AnyLine:
        try:
            line = LINES.validate_json(data)
        except ValidationError as error:
            if first:
                raise self._error(
                    "this is no exported history", "Name a file that `mxsub history export` wrote."
                ) from None
            found = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in found["loc"][1:])
            raise self._error(f"{place + ': ' if place else ''}{one_line(found['msg'])}", _WHOLE) from None
        if isinstance(line, HeaderLine) != first:
            what = "a header is missing here" if first else "a second header: two exports in one file"
            raise self._error(what, _WHOLE)
        if isinstance(line, HeaderLine) and line.version > FORMAT_VERSION:
            raise self._error(
                f"written by a newer mxsub (format {line.version}, this one knows {FORMAT_VERSION})", "Update mxsub."
            )
        return line

    def _take(self, line: AnyLine) -> None:
        match line:
            case VersionLine():
                new = self._version(line)
            case TagLine():
                new = self._tag(line)
            case LintLine():
                new = self._lint(line)
            case RunLine():
                self._check_version(line.sha256)
                new = self._insert("runs", _columns(line))
            case InspectionLine():
                new = self._inspection(line)
            case SubmissionLine():
                new = self._submission(line)
            case SweepLine():
                new = self._sweep(line)
            case _:
                raise AssertionError(line.kind)
        self.done.new[line.kind] += new

    def _version(self, line: VersionLine) -> bool:
        new = self._insert("versions", _columns(line))
        if not new:
            self.connection.execute(
                "UPDATE versions SET recorded = min(recorded, ?), variant = coalesce(variant, ?), "
                "gpu = coalesce(gpu, ?), config = coalesce(config, ?), provenance = coalesce(provenance, ?) "
                "WHERE sha256 = ?",
                (
                    line.recorded, line.variant, line.gpu, json_text(line.config), json_text(line.provenance),
                    line.sha256,
                ),
            )  # fmt: skip
        return new

    def _tag(self, line: TagLine) -> bool:
        self._check_version(line.sha256)
        new = self._insert("tags", _columns(line))
        (here,) = self.connection.execute("SELECT sha256 FROM tags WHERE name = ?", (line.name,)).fetchone()
        if here != line.sha256:
            self.done.kept_tags.append(line.name)
        return new

    def _lint(self, line: LintLine) -> bool:
        self._check_version(line.sha256)
        self.connection.execute(
            "DELETE FROM lints WHERE sha256 = ? AND leaderboard = ? AND gpu = ? AND checked < ?",
            (line.sha256, line.leaderboard, line.gpu, line.checked),
        )
        return self._insert("lints", _columns(line))

    def _inspection(self, line: InspectionLine) -> bool:
        self._check_version(line.sha256)
        self.connection.execute(
            "DELETE FROM inspections WHERE sha256 = ? AND shape = ? AND gpu = ? AND made < ?",
            (line.sha256, line.shape, line.gpu, line.made),
        )
        return self._insert("inspections", _columns(line))

    def _submission(self, line: SubmissionLine) -> bool:
        if line.sha256 is not None:
            self._check_version(line.sha256)
        values = _columns(line)
        known = self.connection.execute(
            "SELECT id, uid, state FROM submissions WHERE uid = ? OR (service = ? AND remote_id = ?) "
            "ORDER BY remote_id IS NOT ? LIMIT 1",
            (line.uid, line.service, line.remote_id, line.remote_id),
        ).fetchone()
        if known is None:
            self._insert("submissions", values)
            number = self.connection.execute("SELECT last_insert_rowid()").fetchone()[0]
        else:
            number, uid, state = known
            self.twins[line.uid] = uid
            better = state in UNFINISHED and line.state not in UNFINISHED
            del values["uid"]
            order = "coalesce(?, {0})" if better else "coalesce({0}, ?)"
            changes = ", ".join(f"{name} = {order.format(name)}" for name in values)
            self.connection.execute(f"UPDATE submissions SET {changes} WHERE id = ?", (*values.values(), number))
        for run in line.results:
            keep_run(self.connection, number, run.record())
        for event in line.events:
            facts = json_text(event.facts)
            self.connection.execute(
                "INSERT INTO events (submission, seen, facts) SELECT ?, ?, ? WHERE NOT EXISTS "
                "(SELECT 1 FROM events WHERE submission = ? AND seen = ? AND facts = ?)",
                (number, event.seen, facts, number, event.seen, facts),
            )
        return known is None

    def _sweep(self, line: SweepLine) -> bool:
        new = self._insert("sweeps", _columns(line))
        for trial in line.trials:
            self._check_version(trial.sha256)
            values = _columns(trial)
            values["submission"] = self.twins.get(trial.submission, trial.submission)
            self._insert("trials", {"sweep": line.uid, **values})
        return new

    def _insert(self, table: str, values: dict[str, Any]) -> bool:
        """Whether it was not there yet."""
        names, places = ", ".join(values), ", ".join("?" * len(values))
        query = f"INSERT INTO {table} ({names}) VALUES ({places}) ON CONFLICT DO NOTHING"
        return self.connection.execute(query, tuple(values.values())).rowcount == 1

    def _check_version(self, sha256: str) -> None:
        if not self.connection.execute("SELECT 1 FROM versions WHERE sha256 = ?", (sha256,)).fetchone():
            raise self._error(f"the version {sha256[:12]} is neither in the file before it nor here", _WHOLE)

    def _error(self, problem: str, hint: str) -> UsageError:
        return UsageError(f"{self.name}:{self.number}: {problem}", hint)


def _columns(line: Any) -> dict[str, Any]:
    """A line's values as its table has them."""
    return {
        name: json_text(value) if name in JSON_COLUMNS else value
        for name, value in line.model_dump(exclude={"kind", "results", "events", "trials"}).items()
    }
