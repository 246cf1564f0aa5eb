"""Renders a variant into a file and records the version."""

from dataclasses import dataclass
from pathlib import Path

from mxsub.submit.gpus import gpu_named
from mxsub.submit.history import History
from mxsub.submit.project import find_project
from mxsub.submit.recording import record_text
from mxsub.submit.render import Submission, render
from mxsub.submit.text_file import check_replaceable, write_text

STANDARD_OUTPUT = Path("-")


@dataclass(frozen=True)
class Built:
    """A rendered submission, where it was written, and the tag it was recorded under."""

    submission: Submission
    output: Path
    tag: str | None
    changed: bool

    @property
    def sentence(self) -> str:
        made = self.submission.provenance
        return (
            f"{self.output}: {'written' if self.changed else 'unchanged'}, variant {made.variant} for {made.gpu}, "
            f"{len(self.submission.text.encode()):,} bytes, sha256 {self.submission.sha256[:12]}"
            + (f", tag {self.tag}" if self.tag else "")
        )

    def to_dict(self) -> dict[str, object]:
        return {
            "file": str(self.output),
            "changed": self.changed,
            "sha256": self.submission.sha256,
            "bytes": len(self.submission.text.encode()),
            "tag": self.tag,
            "provenance": self.submission.provenance.to_dict(),
            "configs": [
                {"m": shape.m, "n": shape.n, "k": shape.k, **config}
                for shape, config in self.submission.configs.items()
            ],
        }


def build(
    folder: Path, variant: str | None, gpu: str | None, output: Path, tag: str | None = None, force: bool = False
) -> Built:
    """Renders a variant, records it in the project's history and writes it to `output` ("-": writes no file).

    Raises UsageError where `output` holds a text that no build wrote, unless `force` is given.
    """
    project = find_project(folder)
    submission = render(project, project.variant(variant), gpu_named(gpu) if gpu else None)
    history = History.open(project.folder)
    to_file = output != STANDARD_OUTPUT
    changed = not to_file or check_replaceable(output, submission.text, history, force=force)
    record_text(history, submission.text.encode(), submission, tag)
    if to_file and changed:
        write_text(output, submission.text)
    return Built(submission, output, tag, changed)
