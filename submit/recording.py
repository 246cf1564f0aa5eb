"""Keeps a text as a version of the history, with what is known of where it came from."""

from typing import TYPE_CHECKING

from mxsub.submit.history import History
from mxsub.submit.version import Version

if TYPE_CHECKING:
    # Rendering takes longer to import than lint takes in all.
    from mxsub.submit.render import Submission


def record_text(
    history: History, text: bytes, submission: "Submission | None" = None, tag: str | None = None
) -> Version | None:
    """The version of a text; submission: what was rendered to it. None for what is not UTF-8, which is no text."""
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if submission is None:
        return history.versions.record(decoded, tag=tag)
    made = submission.provenance
    return history.versions.record(
        decoded,
        variant=made.variant,
        gpu=made.gpu,
        config={str(shape): config for shape, config in submission.configs.items()},
        provenance=made.to_dict(),
        origin="build",
        tag=tag,
    )
