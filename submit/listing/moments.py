"""A point in time as a user writes it."""

import re
from datetime import datetime, timedelta

from mxsub.submit.errors import UsageError

_AGO = re.compile(r"(\d{1,6})\s*(m|min|h|d|w)")
_MINUTES = {"m": 1, "min": 1, "h": 60, "d": 60 * 24, "w": 60 * 24 * 7}


def moment_of(text: str, now: datetime) -> datetime:
    """`2026-12-01`, `2026-12-01 18:30` or any ISO 8601 time, in this machine's time zone unless it names one; or so
    long before `now`: `90m`, `12h`, `3d`, `2w`. Raises UsageError for anything else."""
    ago = _AGO.fullmatch(text.strip().lower())
    try:
        if ago:
            return now - timedelta(minutes=int(ago[1]) * _MINUTES[ago[2]])
        return datetime.fromisoformat(text.strip()).astimezone()
    except (ValueError, OverflowError, OSError):
        raise UsageError(
            f"'{text}' is no time",
            "Write a date and time, as in 2026-12-01 or '2026-12-01 18:30', or an age, as in 90m, 12h, 3d or 2w.",
        ) from None
