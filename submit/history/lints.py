"""What lint said of each version, the latest for a board and GPU."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mxsub.submit.history.codec import json_of, json_text, now, time_text
from mxsub.submit.history.file import HistoryFile

_COLUMNS = "sha256, leaderboard, gpu, checked, mxsub, kernelguard, accepted, findings"


@dataclass(frozen=True)
class LintRecord:
    """leaderboard, gpu: what it was judged for; "" where there was none to judge by. mxsub, kernelguard: the versions
    that judged. findings: as Finding.to_dict() gives them."""

    sha256: str
    leaderboard: str
    gpu: str
    checked: datetime
    mxsub: str
    kernelguard: str
    accepted: bool
    findings: tuple[dict[str, Any], ...]


class Lints:
    def __init__(self, file: HistoryFile) -> None:
        self._file = file

    def record(
        self,
        sha256: str,
        *,
        leaderboard: str,
        gpu: str,
        mxsub: str,
        kernelguard: str,
        accepted: bool,
        findings: list[dict[str, Any]],
    ) -> None:
        """Keeps a judgement of a recorded version in place of an earlier one for the same board and GPU."""
        values = (
            sha256, leaderboard, gpu, time_text(now()), mxsub, kernelguard, accepted, json_text(findings),
        )  # fmt: skip
        with self._file.write() as connection:
            connection.execute(f"INSERT OR REPLACE INTO lints ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)

    def of(self, sha256: str) -> list[LintRecord]:
        """Of one version, the latest first."""
        query = f"SELECT {_COLUMNS} FROM lints WHERE sha256 = ? ORDER BY checked DESC"
        return [_record(row) for row in self._file.rows(query, (sha256,))]


def _record(row: tuple[Any, ...]) -> LintRecord:
    sha256, leaderboard, gpu, checked, mxsub, kernelguard, accepted, findings = row
    return LintRecord(
        sha256, leaderboard, gpu, datetime.fromisoformat(checked), mxsub, kernelguard, bool(accepted),
        tuple(json_of(findings)),
    )  # fmt: skip
