"""Judges a file, a recorded version or a rendered variant as the service will."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mxsub import __version__
from mxsub.submit.gpus import gpu_named
from mxsub.submit.history import History
from mxsub.submit.lint import accepted, lint
from mxsub.submit.lint.finding import Finding
from mxsub.submit.lint.guard import PendingVerdict
from mxsub.submit.packages import installed
from mxsub.submit.recording import record_text
from mxsub.submit.reference import Named, text_of

if TYPE_CHECKING:
    # Reading a project takes longer to import than all of lint.
    from mxsub.submit.render import Submission
    from mxsub.submit.source import Source


@dataclass(frozen=True)
class Judged:
    """The findings about a submission; accepted where none is an error. leaderboard, gpu: what it was judged for; ""
    where there was none to judge by."""

    label: str
    text: bytes = field(repr=False)
    leaderboard: str
    gpu: str
    findings: tuple[Finding, ...]
    submission: "Submission | None" = field(default=None, repr=False)

    @property
    def accepted(self) -> bool:
        return accepted(list(self.findings))

    def to_dict(self) -> dict[str, object]:
        return {
            "file": self.label,
            "accepted": self.accepted,
            "findings": [finding.to_dict() for finding in self.findings],
        }


def judge(named: str | None, folder: Path, variant: str | None = None, gpu: str | None = None) -> Judged:
    """Judges a file, a recorded version or a rendered variant as the service will, by the project's board and GPU
    where there is one."""
    text = text_of(named, folder) if named is not None else None
    # KernelGuard takes longer than all the rest, which includes importing what reads the project.
    verdict = PendingVerdict(text.data.decode("utf-8", "replace")) if text else None
    from mxsub.submit.source import project_or_none, source_of

    if text is None:
        return judge_source(source_of(None, folder, variant, gpu))
    project = project_or_none(folder)
    wanted = gpu_named(gpu).name if gpu else project.gpu.name if project else ""
    return _judged(text, project.leaderboard if project else "", wanted, verdict)


def judge_source(source: "Source") -> Judged:
    """Judges what a command works on."""
    text = Named(source.label, source.file_name, source.text)
    found = _judged(text, source.project.leaderboard if source.project else "", source.gpu.name)
    return replace(found, submission=source.submission)


def _judged(text: Named, leaderboard: str, gpu: str, verdict: PendingVerdict | None = None) -> Judged:
    """An empty board or GPU leaves what depends on it unchecked."""
    findings = lint(
        text.data,
        leaderboard=leaderboard or None,
        gpus=(gpu,) if gpu else (),
        filename=text.file_name,
        verdict=verdict,
    )
    return Judged(text.label, text.data, leaderboard, gpu, tuple(findings))


def record(found: Judged, history: History) -> None:
    """Keeps the findings; of a text that is not UTF-8 there is no version to keep them for."""
    version = record_text(history, found.text, found.submission)
    if version is None:
        return
    history.lints.record(
        version.sha256,
        leaderboard=found.leaderboard,
        gpu=found.gpu,
        mxsub=__version__,
        kernelguard=installed("kernelguard") or "none",
        accepted=found.accepted,
        findings=[finding.to_dict() for finding in found.findings],
    )


def show(judged: Judged) -> None:
    """One line a finding and what to do about it, then the verdict. Without rich, whose import would be felt."""
    for finding in judged.findings:
        click.echo(f"{judged.label}:{finding.line}:{finding.column}: ", nl=False)
        click.secho(f"{finding.rule} {finding.name}", fg="red" if finding.severity == "error" else "yellow", nl=False)
        click.echo(f": {finding.message}")
        click.secho(f"    {finding.fix}", dim=True)
    errors = sum(finding.severity == "error" for finding in judged.findings)
    warnings = len(judged.findings) - errors
    would = "accept" if judged.accepted else "refuse"
    click.secho(
        f"{judged.label}: {errors} errors, {warnings} warnings: the service would {would} it",
        fg="green" if judged.accepted else "red",
    )
