"""The history's file: its transactions, and what to tell when SQLite or the disk fails."""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote

from mxsub.submit.errors import EnvironmentProblem, shown
from mxsub.submit.history.migrations import APPLICATION_ID, MIGRATIONS

BUSY_SECONDS = 30.0

_WRITABLE = "Make the folder writable, or work in a copy of the project."
_BUSY = "Another mxsub has kept it busy for half a minute: wait for that one, then try again."
_HINTS = {
    "SQLITE_FULL": "Free some space on the disk and try again; what was recorded before is safe.",
    "SQLITE_READONLY": _WRITABLE,
    "SQLITE_CANTOPEN": _WRITABLE,
    "SQLITE_PERM": _WRITABLE,
    "SQLITE_BUSY": _BUSY,
    "SQLITE_LOCKED": _BUSY,
    "SQLITE_IOERR": "The disk is full or failing; what was recorded before is safe. Try again when it works.",
}
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")


class HistoryFile:
    """An SQLite file that is made when first written, and brought up to date when first opened.

    Every failure is an EnvironmentProblem of one sentence; a file that is damaged, newer or something else's is left
    as it is.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None

    def close(self) -> None:
        """Ends the connection; the next use makes a new one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection | None]:
        """A connection to read from; None where there is no file yet."""
        with self._errors():
            yield self._connected() if self._connection or self.path.exists() else None

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query; none where there is no file yet."""
        with self.read() as connection:
            return connection.execute(query, values).fetchall() if connection else []

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A connection within a transaction that takes the write lock at once, so that it never has to be redone."""
        with self._errors():
            self._make_folder()
            connection = self._connected(to_write=True)
            with _transaction(connection):
                yield connection

    def _connected(self, *, to_write: bool = False) -> sqlite3.Connection:
        if self._connection is None:
            writable = to_write or (os.access(self.path.parent, os.W_OK) and os.access(self.path, os.W_OK))
            connection = _for_writing(self.path) if writable else _for_reading(self.path)
            try:
                self._prepare(connection, writable)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _prepare(self, connection: sqlite3.Connection, writable: bool) -> None:
        """Brings the schema up to date, and sets WAL, which stays set in the file."""
        connection.execute("PRAGMA synchronous = FULL")
        current = (_pragma(connection, "application_id"), _pragma(connection, "user_version"))
        if current != (APPLICATION_ID, len(MIGRATIONS)):
            with _transaction(connection):
                self._migrate(connection)
        # After the migrations, which make tables anew that others refer to.
        connection.execute("PRAGMA foreign_keys = ON")
        if writable and _pragma(connection, "journal_mode") != "wal":
            _switch_to_wal(connection)

    def _migrate(self, connection: sqlite3.Connection) -> None:
        version = int(_pragma(connection, "user_version"))
        owner = _pragma(connection, "application_id")
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if owner != APPLICATION_ID and (owner or version or tables):
            self._refuse("this is a database of something else", "Move it away; mxsub makes its own.")
        if version > len(MIGRATIONS):
            self._refuse(
                f"the history was written by a newer mxsub (schema {version}, this one knows {len(MIGRATIONS)})",
                "Update mxsub: `pip install --upgrade mxsub`.",
            )
        for statements in MIGRATIONS[version:]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    def _make_folder(self) -> None:
        """The folder, and in it a .gitignore of all its files; not the project's folder around it."""
        folder = self.path.parent
        if folder.is_dir():
            return
        try:
            folder.mkdir(exist_ok=True)
            (folder / ".gitignore").write_text("*\n")
        except OSError as error:
            raise EnvironmentProblem(
                f"{shown(folder)}: the history's folder cannot be made: {error.strerror}", _WRITABLE
            ) from None

    def _refuse(self, problem: str, hint: str) -> NoReturn:
        raise EnvironmentProblem(f"{shown(self.path)}: {problem}", hint)

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
                    f"Move it away to start a new one, or rescue it with `sqlite3 {shown(self.path)} .recover`.",
                )
            hint = next((hint for start, hint in _HINTS.items() if code.startswith(start)), "")
            self._refuse(f"the history cannot be used: {error}", hint or "Nothing was lost; try again.")


def _for_writing(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)


def _for_reading(path: Path) -> sqlite3.Connection:
    """A connection to a file that cannot be written, or whose folder cannot, where WAL cannot keep its own files:
    SQLite then reads the file as it is, which the last process to close it has left whole."""
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    connection = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError as error:
        connection.close()
        if not error.sqlite_errorname.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
            raise
        connection = sqlite3.connect(f"{address}&immutable=1", uri=True, isolation_level=None)
    return connection


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """Fails at once, busy timeout or not, while another process is at it; then a later connection will."""
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if not error.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise


def _pragma(connection: sqlite3.Connection, name: str) -> int | str:
    value: int | str = connection.execute(f"PRAGMA {name}").fetchone()[0]
    return value
