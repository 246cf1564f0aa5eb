"""A project's history: every version that was built or recorded, in `.mxsub/history.sqlite3` of its folder.

One SQLite file in WAL mode (history_file.py), so that several mxsub processes can read and write it at once.
"""

import json
import re
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from mxsub.submit.errors import UsageError
from mxsub.submit.history_file import HistoryFile
from mxsub.submit.version import Json, Origin, Version, sha256_of

FOLDER_NAME = ".mxsub"
FILE_NAME = "history.sqlite3"
SHORTEST_HASH = 4
MOST_CANDIDATES = 8

_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_HEX = re.compile(r"[0-9a-fA-F]+")
_COLUMNS = "sha256, text, recorded, variant, gpu, config, provenance, origin"


class History:
    """The versions of one project; close it, or use it in a `with` statement.

    Every method raises EnvironmentProblem, in one sentence, where the file cannot be read or written.
    """

    def __init__(self, file: HistoryFile) -> None:
        self._file = file

    @classmethod
    def open(cls, project_folder: Path) -> Self:
        """The history of a project's folder; its file is made when the first version is recorded."""
        return cls(HistoryFile(project_folder / FOLDER_NAME / FILE_NAME))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets the file go; the next call opens it again."""
        self._file.close()

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
        with self._file.write() as connection:
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
        with self._file.read() as connection:
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
