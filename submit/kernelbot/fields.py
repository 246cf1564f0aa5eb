"""The kinds of field that KernelBot's answers are made of."""

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?")

# Nothing that the service times takes longer than half an hour.
LARGEST_SCORE = Decimal(1_000_000)


class Answer(BaseModel):
    """Part of an answer. What is not listed is left unread, as servers differ."""

    model_config = ConfigDict(extra="ignore", frozen=True)


def _utc(moment: datetime) -> datetime:
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("a time is in the years 1 to 9999 in UTC") from None


def _score(value: Any) -> Decimal:
    """A score in seconds: text in the routes about submissions, a number in the ranking."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal):
        raise ValueError("a score is text, a number or null")
    text = str(value)
    if not _NUMBER.fullmatch(text):
        raise ValueError("a score is a decimal number")
    number = Decimal(text)
    if not 0 <= number <= LARGEST_SCORE:
        raise ValueError(f"a score is from 0 to {LARGEST_SCORE} seconds")
    return number


def _text(value: Any) -> Any:
    """Numbers as text: ids and evaluator values are text in some routes and numbers in others."""
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return str(value)
    return value


Utc = Annotated[datetime, AfterValidator(_utc)]
Score = Annotated[Decimal, BeforeValidator(_score)]
Text = Annotated[str, BeforeValidator(_text)]
# As large as SQLite's integers.
Id = Annotated[int, Field(ge=0, lt=2**63)]
