"""What one call of a version does on the virtual GPU, the latest for each shape."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mxsub.submit.history.codec import json_of, json_text, time_text
from mxsub.submit.history.file import HistoryFile

_COLUMNS = "sha256, shape, gpu, made, mxsub, triton, content"


@dataclass(frozen=True)
class InspectionRecord:
    """mxsub, triton: the versions that counted and compiled. content: as inspect.calls.Call.to_dict() gives it."""

    sha256: str
    shape: str
    gpu: str
    made: datetime
    mxsub: str
    triton: str
    content: dict[str, Any]


class Inspections:
    def __init__(self, file: HistoryFile) -> None:
        self._file = file

    def record(
        self,
        sha256: str,
        *,
        shape: str,
        gpu: str,
        made: datetime,
        mxsub: str,
        triton: str,
        content: dict[str, Any],
    ) -> None:
        """Keeps what was found of a recorded version in place of what was found earlier for the same shape and GPU."""
        values = (sha256, shape, gpu, time_text(made), mxsub, triton, json_text(content))
        with self._file.write() as connection:
            connection.execute(f"INSERT OR REPLACE INTO inspections ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    def of(self, sha256: str) -> dict[str, InspectionRecord]:
        """Of one version, by shape, in the order in which they were made."""
        query = f"SELECT {_COLUMNS} FROM inspections WHERE sha256 = ? ORDER BY made, rowid"
        return {record.shape: record for record in map(_record, self._file.rows(query, (sha256,)))}


def _record(row: tuple[Any, ...]) -> InspectionRecord:
    sha256, shape, gpu, made, mxsub, triton, content = row
    return InspectionRecord(sha256, shape, gpu, datetime.fromisoformat(made), mxsub, triton, json_of(content))
