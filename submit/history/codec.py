"""How values stand in the history's columns: times as ISO 8601 in UTC, the rest as compact JSON."""

import json
from datetime import UTC, datetime
from typing import Any


def now() -> datetime:
    return datetime.now(UTC)


def time_text(time: datetime | None) -> str | None:
    """In UTC, with the offset: texts sort as the times do."""
    return None if time is None else time.astimezone(UTC).isoformat(timespec="microseconds")


def time_of(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def json_text(content: object) -> str | None:
    return None if content is None else json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def json_of(text: str | None) -> Any:
    return None if text is None else json.loads(text)
