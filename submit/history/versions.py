"""Every text that was built, read or pulled, and the tags of each."""

import re
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from mxsub.submit.errors import UsageError
from mxsub.submit.history.codec import json_of, json_text, now, time_text
from mxsub.submit.history.file import HistoryFile
from mxsub.submit.version import Json, Origin, Version, VersionEntry, sha256_of

SHORTEST_HASH = 4
MOST_CANDIDATES = 8
# Of a submission's number, in digits: the largest that SQLite keeps as an integer.
LONGEST_NUMBER = 18

_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_HEX = re.compile(r"[0-9a-fA-F]+")
_ENTRY = "versions.sha256, recorded, variant, gpu, origin"
_COLUMNS = f"{_ENTRY}, config, provenance, text"


class Versions:
    def __init__(self, file: HistoryFile) -> None:
        self._file = file

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
        with self._file.write() as connection:
            connection.execute(
                """
                INSERT INTO versions (sha256, recorded, variant, gpu, origin, config, provenance, text)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (sha256) DO UPDATE SET
                    variant = coalesce(excluded.variant, variant),
                    gpu = coalesce(excluded.gpu, gpu),
                    config = coalesce(excluded.config, config),
                    provenance = coalesce(excluded.provenance, provenance),
                    origin = CASE WHEN excluded.origin = 'build' THEN 'build' ELSE origin END
                """,
                (
                    sha256, time_text(now()), variant, gpu, origin, json_text(config), json_text(provenance), text,
                ),
            )  # fmt: skip
            if tag is not None:
                move_tag(connection, tag, sha256)
            rows = connection.execute(f"SELECT {_COLUMNS} FROM versions WHERE sha256 = ?", (sha256,)).fetchall()
            return _versions(rows, _tags(connection, [sha256]), tag)[0]

    def has(self, text: str | bytes) -> bool:
        """This very text is recorded; never for what is not UTF-8."""
        if isinstance(text, bytes):
            try:
                text = text.decode("utf-8")
            except UnicodeDecodeError:
                return False
        return bool(self._file.rows("SELECT 1 FROM versions WHERE sha256 = ?", (sha256_of(text),)))

    def get(self, sha256: str, label: str | None = None) -> Version:
        """The version of a whole hash; KeyError where there is none."""
        for version in self._read("WHERE sha256 = ?", (sha256,), label):
            return version
        raise KeyError(sha256)

    def label(self, sha256: str) -> str:
        """The first tag of a version, or the start of its hash."""
        tags = self._file.rows("SELECT name FROM tags WHERE sha256 = ? ORDER BY name LIMIT 1", (sha256,))
        return str(tags[0][0]) if tags else sha256[:12]

    def find(self, reference: str) -> Version:
        """A version by tag, by the number of a submission of it (`#123` or `123`), or by four or more digits of its
        hash.

        Raises UsageError, which lists what there is, where none or more than one fits.
        """
        tagged = self._read("JOIN tags USING (sha256) WHERE tags.name = ?", (reference,), reference)
        if tagged:
            return tagged[0]
        number = reference.removeprefix("#")
        if number.isdecimal() and number.isascii() and len(number) <= LONGEST_NUMBER:
            submitted = self._read(
                "WHERE sha256 IN (SELECT sha256 FROM submissions WHERE remote_id = ?)", (int(number),), f"#{number}"
            )
            if len(submitted) > 1:
                raise UsageError(f"#{number} is a submission of {len(submitted)} services", _choose(submitted))
            if submitted:
                return submitted[0]
            if self._file.rows("SELECT 1 FROM submissions WHERE remote_id = ?", (int(number),)):
                raise UsageError(f"the text of #{number} is not here", f"`mxsub pull {number}` fetches it.")
        if _HEX.fullmatch(reference) and len(reference) >= SHORTEST_HASH:
            start = reference.lower()
            matching = self._read("WHERE substr(sha256, 1, ?) = ?", (len(start), start), reference)
            if len(matching) == 1:
                return matching[0]
            if matching:
                raise UsageError(f"'{reference}' fits {len(matching)} versions", _choose(matching))
        raise UsageError(f"there is no version '{reference}' in the history", self._what_there_is())

    def entries(self, limit: int | None = None) -> list[VersionEntry]:
        """The versions without their texts, the last recorded first."""
        query = f"SELECT {_ENTRY} FROM versions ORDER BY recorded DESC, rowid DESC LIMIT ?"
        with self._file.read() as connection:
            if connection is None:
                return []
            rows = connection.execute(query, (-1 if limit is None else limit,)).fetchall()
            tags = _tags(connection, [row[0] for row in rows] if limit is not None else None)
        return [
            VersionEntry(sha256, datetime.fromisoformat(recorded), variant, gpu, origin, tuple(tags.get(sha256, ())))
            for sha256, recorded, variant, gpu, origin in rows
        ]

    def _what_there_is(self) -> str:
        known = self.entries(MOST_CANDIDATES + 1)
        if not known:
            return "The history is empty: `mxsub build --tag NAME` records a version."
        tags = [name for (name,) in self._file.rows("SELECT name FROM tags ORDER BY name")]
        how = f"a version goes by a tag, a submission's number or {SHORTEST_HASH} or more digits of its hash"
        return f"Tags: {', '.join(tags) or 'none'}. Latest: {_listed(known)}; {how}."

    def _read(self, clause: str, values: Sequence[object], label: str | None) -> list[Version]:
        with self._file.read() as connection:
            if connection is None:
                return []
            rows = connection.execute(f"SELECT {_COLUMNS} FROM versions {clause}", values).fetchall()
            return _versions(rows, _tags(connection, [row[0] for row in rows]), label)


def move_tag(connection: sqlite3.Connection, name: str, sha256: str) -> None:
    """Within a transaction: the tag now means that version."""
    connection.execute(
        "INSERT INTO tags (name, sha256, moved) VALUES (?, ?, ?) "
        "ON CONFLICT (name) DO UPDATE SET sha256 = excluded.sha256, moved = excluded.moved",
        (name, sha256, time_text(now())),
    )


def _tags(connection: sqlite3.Connection, hashes: Sequence[str] | None) -> dict[str, list[str]]:
    """The tags of some versions, or of all."""
    clause = "" if hashes is None else f"WHERE sha256 IN ({', '.join('?' * len(hashes))})"
    tags: dict[str, list[str]] = {}
    for name, sha256 in connection.execute(f"SELECT name, sha256 FROM tags {clause} ORDER BY name", hashes or ()):
        tags.setdefault(sha256, []).append(name)
    return tags


def _versions(rows: Iterable[tuple[Any, ...]], tags: dict[str, list[str]], label: str | None) -> list[Version]:
    return [
        Version(
            label=label or (tags[sha256][0] if sha256 in tags else sha256[:12]),
            text=text,
            recorded=datetime.fromisoformat(recorded),
            variant=variant,
            gpu=gpu,
            config=json_of(config),
            provenance=json_of(provenance),
            origin=origin,
            tags=tuple(tags.get(sha256, ())),
        )
        for sha256, recorded, variant, gpu, origin, config, provenance, text in rows
    ]


def _choose(versions: Sequence[Version]) -> str:
    return f"Give more digits of its hash, or a tag: {_listed(versions)}."


def _listed(versions: Sequence[Version | VersionEntry]) -> str:
    """`3f2a91c07d1e (v8), 3f2ab0...`: enough of each to choose by."""
    shown_ones = [
        version.sha256[:12] + (f" ({', '.join(version.tags)})" if version.tags else "")
        for version in versions[:MOST_CANDIDATES]
    ]
    more = len(versions) - len(shown_ones)
    return ", ".join(shown_ones) + (" and more" if more else "")


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
