"""Judges a file, or a rendered variant, as the service will."""

from dataclasses import dataclass
from pathlib import Path

from mxsub.submit.errors import shown
from mxsub.submit.gpus import gpu_named
from mxsub.submit.lint import accepted
from mxsub.submit.lint import lint as lint_text
from mxsub.submit.lint.finding import Finding
from mxsub.submit.source import project_or_none, read_bytes, source_of


@dataclass(frozen=True)
class Judged:
    """The findings about a submission; accepted where none is an error."""

    label: str
    findings: tuple[Finding, ...]

    @property
    def accepted(self) -> bool:
        return accepted(list(self.findings))

    def to_dict(self) -> dict[str, object]:
        return {
            "file": self.label,
            "accepted": self.accepted,
            "findings": [finding.to_dict() for finding in self.findings],
        }


def judge(file: Path | None, folder: Path, variant: str | None = None, gpu: str | None = None) -> Judged:
    """Judges a file, or a rendered variant, as the service will, by the project's board and GPU where there is one."""
    if file is None:
        source = source_of(None, folder, variant, gpu)
        label, text, name, project = source.label, source.text, "submission.py", source.project
    else:
        label, text, name, project = shown(file), read_bytes(file), file.name, project_or_none(folder)
    wanted = gpu_named(gpu).name if gpu else project.gpu.name if project else None
    findings = lint_text(
        text,
        leaderboard=project.leaderboard if project else None,
        gpus=(wanted,) if wanted else (),
        filename=name,
    )
    return Judged(label, tuple(findings))
