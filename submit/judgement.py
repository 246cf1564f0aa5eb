"""Judges a file, or a rendered variant, as the service will."""

from dataclasses import dataclass
from pathlib import Path

import click

from mxsub.submit.errors import read_bytes, shown
from mxsub.submit.gpus import gpu_named
from mxsub.submit.lint import accepted, lint
from mxsub.submit.lint.finding import Finding
from mxsub.submit.lint.guard import PendingVerdict


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
    data = read_bytes(file) if file else b""
    # KernelGuard takes longer than all the rest, which includes importing what reads the project.
    verdict = PendingVerdict(data.decode("utf-8", "replace")) if file else None
    from mxsub.submit.source import project_or_none, source_of

    if file is None:
        source = source_of(None, folder, variant, gpu)
        label, data, name, project = source.label, source.text, "submission.py", source.project
    else:
        label, name, project = shown(file), file.name, project_or_none(folder)
    wanted = gpu_named(gpu).name if gpu else project.gpu.name if project else None
    findings = lint(
        data,
        leaderboard=project.leaderboard if project else None,
        gpus=(wanted,) if wanted else (),
        filename=name,
        verdict=verdict,
    )
    return Judged(label, tuple(findings))


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
