"""A project's history: every version that was built or recorded, in `.mxsub/history.sqlite3` of its folder.

One SQLite file in WAL mode, so that several mxsub processes can read and write it at once. Its schema's version is
PRAGMA user_version; later versions add tables by appending to MIGRATIONS.
"""

import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mxsub.submit.errors import EnvironmentProblem, UsageError, shown
from mxsub.submit.version import Json, Origin, Version, sha256_of

FOLDER_NAME = ".mxsub"
FILE_NAME = "history.sqlite3"
BUSY_SECONDS = 30.0
SHORTEST_HASH = 4
MOST_CANDIDATES = 8

# "MXSB": tells this file from any other SQLite database.
APPLICATION_ID = 0x4D585342

# One entry a schema version, in order; an entry is never changed once released.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE versions (
            sha256 TEXT PRIMARY KEY,
            text TEXT NOT NULL,
            recorded TEXT NOT NULL,
            variant TEXT,
            gpu TEXT,
            config TEXT,
            provenance TEXT,
            origin TEXT NOT NULL CHECK (origin IN ('build', 'file'))
        )
        """,
        """
        CREATE TABLE tags (
            name TEXT PRIMARY KEY,
            sha256 TEXT NOT NULL REFERENCES versions (sha256),
            moved TEXT NOT NULL
        )
        """,
        "CREATE INDEX tags_by_version ON tags (sha256)",
    ),
)

_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_HEX = re.compile(r"[0-9a-fA-F]+")
_COLUMNS = "sha256, text, recorded, variant, gpu, config, provenance, origin"

_HINTS = {
    "SQLITE_FULL": "Free some space on the disk and try again; what was recorded before is safe.",
    "SQLITE_READONLY": "Make the folder writable, or work in a copy of the project.",
    "SQLITE_CANTOPEN": "Make the folder writable, or work in a copy of the project.",
    "SQLITE_PERM": "Make the folder writable, or work in a copy of the project.",
    "SQLITE_BUSY": "Another mxsub has kept it busy for half a minute: wait for that one, then try again.",
    "SQLITE_LOCKED": "Another mxsub has kept it busy for half a minute: wait for that one, then try again.",
    "SQLITE_IOERR": "The disk is full or failing; what was recorded before is safe. Try again when it works.",
}
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")


class History:
    """The versions of one project; close it, or use it in a `with` statement.

    Every method raises EnvironmentProblem, in one sentence, where the file cannot be read or written.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._connection: sqlite3.Connection | None = None

    @classmethod
    def open(cls, project_folder: Path) -> Self:
        """The history of a project's folder; its file is made when the first version is recorded."""
        return cls(project_folder / FOLDER_NAME / FILE_NAME)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection; the next call makes a new one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def record(
        self,
        text: str,
        *,
        variant: str | None = None,
        gpu: str | None = None,
        config: Json | None = None,
        provenance: Json | None = None,
        origin: Origin = "file",
        tag: str | None = None,
    ) -> Version:
        """Stores a text, once, and what is known of it; moves `tag` to it.

        A text that is there keeps its time; what is new about it is added. Raises UsageError for a bad tag.
        """
        if tag is not None:
            check_tag(tag)
        sha256 = sha256_of(text)
        now = datetime.now(UTC).isoformat()
        with self._transaction() as connection:
            connection.execute(
                f"""
                INSERT INTO versions ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (sha256) DO UPDATE SET
                    variant = coalesce(excluded.variant, variant),
                    gpu = coalesce(excluded.gpu, gpu),
                    config = coalesce(excluded.config, config),
                    provenance = coalesce(excluded.provenance, provenance),
                    origin = CASE WHEN excluded.origin = 'build' THEN 'build' ELSE origin END
                """,
                (sha256, text, now, variant, gpu, _as_json(config), _as_json(provenance), origin),
            )
            if tag is not None:
                connection.execute(
                    "INSERT INTO tags (name, sha256, moved) VALUES (?, ?, ?) "
                    "ON CONFLICT (name) DO UPDATE SET sha256 = excluded.sha256, moved = excluded.moved",
                    (tag, sha256, now),
                )
            return self._versions(connection, "WHERE sha256 = ?", (sha256,), label=tag)[0]

    def has(self, text: str | bytes) -> bool:
        """This very text is recorded; never for what is not UTF-8."""
        if isinstance(text, bytes):
            try:
                text = text.decode("utf-8")
            except UnicodeDecodeError:
                return False
        return bool(self._read("WHERE sha256 = ?", (sha256_of(text),)))

    def find(self, reference: str) -> Version:
        """A version by tag, or by the first four or more digits of its hash.

        Raises UsageError, which lists what there is, where none or more than one fits.
        """
        tagged = self._read("JOIN tags USING (sha256) WHERE tags.name = ?", (reference,), label=reference)
        if tagged:
            return tagged[0]
        if _HEX.fullmatch(reference) and len(reference) >= SHORTEST_HASH:
            start = reference.lower()
            matching = self._read("WHERE substr(sha256, 1, ?) = ?", (len(start), start), label=reference)
            if len(matching) == 1:
                return matching[0]
            if matching:
                raise UsageError(
                    f"'{reference}' fits {len(matching)} versions", f"Give more digits: {_listed(matching)}."
                )
        raise UsageError(f"there is no version '{reference}' in the history", self._what_there_is())

    def versions(self) -> list[Version]:
        """All versions, the last recorded first."""
        return self._read("ORDER BY recorded DESC, versions.rowid DESC")

    def _what_there_is(self) -> str:
        known = self.versions()
        if not known:
            return "The history is empty: `mxsub build --tag NAME` records a version."
        tags = sorted(tag for version in known for tag in version.tags)
        shortest = f"a version goes by a tag or by {SHORTEST_HASH} or more digits of its hash"
        return f"Tags: {', '.join(tags) or 'none'}. Latest: {_listed(known)}; {shortest}."

    def _read(self, clause: str, values: tuple[object, ...] = (), label: str | None = None) -> list[Version]:
        with self._errors():
            connection = self._connected(create=False)
            return self._versions(connection, clause, values, label) if connection else []

    def _versions(
        self, connection: sqlite3.Connection, clause: str, values: tuple[object, ...] = (), label: str | None = None
    ) -> list[Version]:
        columns = ", ".join(f"versions.{column}" for column in _COLUMNS.split(", "))
        rows = connection.execute(f"SELECT {columns} FROM versions {clause}", values).fetchall()
        tags: dict[str, list[str]] = {}
        for name, sha256 in connection.execute("SELECT name, sha256 FROM tags ORDER BY name"):
            tags.setdefault(sha256, []).append(name)
        return [_version(row, tuple(tags.get(row[0], ())), label) for row in rows]

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """A connection within a transaction that takes the write lock at once, so that it never has to be redone."""
        with self._errors():
            connection = self._connected(create=True)
            assert connection is not None
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _connected(self, *, create: bool) -> sqlite3.Connection | None:
        """The connection, with the schema brought up to date; None where there is no file and none is to be made."""
        if self._connection is not None:
            return self._connection
        if not self.file.exists():
            if not create:
                return None
            self._make_folder()
        if create or os.access(self.file.parent, os.W_OK):
            connection = sqlite3.connect(self.file, timeout=BUSY_SECONDS, isolation_level=None)
        else:
            connection = _read_only(self.file)
        try:
            _prepare(connection, self._refuse)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _make_folder(self) -> None:
        try:
            self.file.parent.mkdir(exist_ok=True)
            ignore = self.file.parent / ".gitignore"
            if not ignore.exists():
                ignore.write_text("*\n")
        except OSError as error:
            raise EnvironmentProblem(
                f"{shown(self.file.parent)}: the history's folder cannot be made: {error.strerror}",
                _HINTS["SQLITE_READONLY"],
            ) from None

    def _refuse(self, problem: str, hint: str) -> None:
        raise EnvironmentProblem(f"{shown(self.file)}: {problem}", hint)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turns SQLite's errors into one sentence and what to do."""
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorname", "")
            self.close()
            if code.startswith(_DAMAGED):
                self._refuse(
                    f"the history is damaged ({error}); the file was left as it is",
                    f"Move it away to start a new one, or rescue it with `sqlite3 {shown(self.file)} .recover`.",
                )
            hint = next((hint for start, hint in _HINTS.items() if code.startswith(start)), "")
            self._refuse(f"the history cannot be used: {error}", hint or "Nothing was lost; try again.")


def _read_only(file: Path) -> sqlite3.Connection:
    """A connection to a file in a folder that cannot be written, where WAL cannot keep its own files: SQLite then
    reads the file as it is, which the last process to close it has left whole."""
    address = f"{file.absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(address, uri=True, isolation_level=None)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError as error:
        connection.close()
        if not error.sqlite_errorname.startswith("SQLITE_CANTOPEN"):
            raise
        connection = sqlite3.connect(f"{address}&immutable=1", uri=True, isolation_level=None)
    return connection


def _prepare(connection: sqlite3.Connection, refuse: Callable[[str, str], None]) -> None:
    """Sets a new connection up: WAL, foreign keys, and the migrations that the file has not had yet."""
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    if (
        _pragma(connection, "user_version") == len(MIGRATIONS)
        and _pragma(connection, "application_id") == APPLICATION_ID
    ):
        return
    # Sets the journal mode under the busy timeout: the change itself fails at once when another process is in it.
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _pragma(connection, "user_version")
        owner = _pragma(connection, "application_id")
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if owner != APPLICATION_ID and (owner or version or tables):
            refuse("this is a database of something else", "Move it away; mxsub makes its own.")
        if version > len(MIGRATIONS):
            refuse(
                f"the history was written by a newer mxsub (schema {version}, this one knows {len(MIGRATIONS)})",
                "Update mxsub: `pip install --upgrade mxsub`.",
            )
        for statements in MIGRATIONS[version:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    _switch_to_wal(connection)


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """WAL stays set in the file, so only the process that made it asks; where it loses a race, the next one will."""
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if not error.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    value: int = connection.execute(f"PRAGMA {name}").fetchone()[0]
    return value


def _version(row: tuple[Any, ...], tags: tuple[str, ...], label: str | None) -> Version:
    sha256, text, recorded, variant, gpu, config, provenance, origin = row
    return Version(
        label=label or (tags[0] if tags else sha256[:12]),
        text=text,
        recorded=datetime.fromisoformat(recorded),
        variant=variant,
        gpu=gpu,
        config=json.loads(config) if config else None,
        provenance=json.loads(provenance) if provenance else None,
        origin=origin,
        tags=tags,
    )


def _as_json(content: Json | None) -> str | None:
    return None if content is None else json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def _listed(versions: list[Version]) -> str:
    """`3f2a91c07d1e (v8), 3f2ab0...`: enough of each to choose by."""
    shown_ones = [
        version.sha256[:12] + (f" ({', '.join(version.tags)})" if version.tags else "")
        for version in versions[:MOST_CANDIDATES]
    ]
    more = len(versions) - len(shown_ones)
    return ", ".join(shown_ones) + (f" and {more} more" if more else "")


def check_tag(name: str) -> None:
    """Raises UsageError for a name that is none, or that could be taken for a hash or a submission's number."""
    if not _TAG.fullmatch(name):
        raise UsageError(
            f"'{name}' is no tag",
            "A tag starts with a letter or digit and has up to 64 letters, digits, '.', '_', '+' and '-'.",
        )
    if name.isdigit() or (_HEX.fullmatch(name) and len(name) >= SHORTEST_HASH):
        kind = "number of a submission" if name.isdigit() else "hash"
        raise UsageError(f"the tag '{name}' could be taken for the {kind}", f"Put a letter before it, e.g. v{name}.")
