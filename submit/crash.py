"""What is kept of a fault of mxsub's own, since its user is shown one sentence."""

import tempfile
import traceback
from pathlib import Path

from platformdirs import user_log_path


def keep_traceback(error: BaseException) -> Path:
    """Writes the traceback of an error to a file of the user's log folder and returns its path."""
    text = "".join(traceback.format_exception(error))
    try:
        folder = user_log_path("mxsub", ensure_exists=True)
        path = folder / "crash.txt"
        path.write_text(text, encoding="utf-8")
    except OSError:
        path = Path(tempfile.mkdtemp(prefix="mxsub-")) / "crash.txt"
        path.write_text(text, encoding="utf-8")
    return path
