"""Makes the report's file."""

from dataclasses import asdict, dataclass
from pathlib import Path

from mxsub.submit.errors import shown
from mxsub.submit.history import History
from mxsub.submit.history.codec import now
from mxsub.submit.html_report.contents import Report
from mxsub.submit.html_report.gathering import gather
from mxsub.submit.html_report.page import MARK, page_of
from mxsub.submit.replacing import check_own, replaced


@dataclass(frozen=True)
class Written:
    """A report and its file."""

    report: Report
    path: Path
    size: int

    @property
    def sentence(self) -> str:
        counts = self.report.counts
        return (
            f"{shown(self.path)}: {counts.versions:,} versions, {counts.runs:,} runs, {counts.submissions:,} "
            f"submissions, {self.size:,} bytes"
        )

    def to_dict(self) -> dict[str, object]:
        report = self.report
        return {
            "file": str(self.path),
            "bytes": self.size,
            "leaderboard": report.place.leaderboard,
            "gpu": report.place.gpu,
            **asdict(report.counts),
            "timed": sum(one.timed for one in report.submissions),
            "failed": sum(one.failed for one in report.submissions),
            "details": len(report.details),
            "left_out": list(report.left_out),
        }


def write_report(
    folder: Path,
    output: Path,
    *,
    leaderboard: str | None = None,
    gpu: str | None = None,
    last: int,
    force: bool = False,
) -> Written:
    """Writes the page of the project around a folder.

    Raises UsageError where `output` is a file that no report wrote, unless `force` is given, or cannot be written;
    EnvironmentProblem where the history cannot be read or the plots cannot be made.
    """
    if not force:
        check_own(output, MARK.encode(), "mxsub report")
    with History.around(folder) as history:
        report = gather(history, history.file.path.parent.parent, leaderboard=leaderboard, gpu=gpu, last=last)
    page = page_of(report, now()).encode()
    with replaced(output, parents=True) as file:
        file.write(page)
    return Written(report, output, len(page))
