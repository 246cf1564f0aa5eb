"""A version: one text of a submission, and what is known of where it came from."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Literal, Self

from mxsub.submit.errors import UsageError, read_bytes, shown

Origin = Literal["build", "file", "remote"]
Json = Mapping[str, object]


@dataclass(frozen=True)
class VersionEntry:
    """A version as listings have it, without its text."""

    sha256: str
    recorded: datetime
    variant: str | None
    gpu: str | None
    origin: Origin
    tags: tuple[str, ...]

    @property
    def label(self) -> str:
        """Its first tag, or the start of its hash."""
        return self.tags[0] if self.tags else self.sha256[:12]


@dataclass(frozen=True)
class Version:
    """One text.

    label: what the user called it: a tag, a hash, a file. recorded: when the history first saw it (UTC), or None.
    config: of each shape, as JSON. provenance: what it was rendered from, as JSON. origin: rendered, read from a
    file, or pulled from the service. tags: the names that it has in the history.
    """

    label: str
    text: str = field(repr=False)
    recorded: datetime | None = None
    variant: str | None = None
    gpu: str | None = None
    config: Json | None = field(default=None, repr=False)
    provenance: Json | None = field(default=None, repr=False)
    origin: Origin = "file"
    tags: tuple[str, ...] = ()

    @cached_property
    def sha256(self) -> str:
        """Of the text as UTF-8, in hexadecimal."""
        return sha256_of(self.text)

    @classmethod
    def of_bytes(cls, label: str, data: bytes) -> Self:
        """A version of a file's bytes; UsageError where they are no UTF-8 text."""
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UsageError(
                f"{label}: the byte 0x{data[error.start]:02X} at offset {error.start:,} is not UTF-8 text",
                "Name a submission's source file, or a tag or hash from the history.",
            ) from None
        if "\0" in text:
            raise UsageError(
                f"{label}: a binary file, with NUL at offset {data.index(0):,}",
                "Name a submission's source file, or a tag or hash from the history.",
            )
        return cls(label, text)

    @classmethod
    def of_file(cls, path: Path) -> Self:
        """A version of a file; UsageError where it cannot be read or is no UTF-8 text."""
        return cls.of_bytes(shown(path), read_bytes(path))


def sha256_of(text: str) -> str:
    """The hash that a version is known by."""
    return hashlib.sha256(text.encode()).hexdigest()
