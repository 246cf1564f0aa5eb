"""The log of a virtual device: JSON lines, appended by every process that uses it.

{"event": "launch", "kernel": name, "grid": [x, y, z], "waves": n, "wave_instructions": {class: n},
 "seconds": host seconds of emulation, "findings": [findings.Finding.to_dict()],
 and what watchers have to say (Watcher.notes)}
{"event": "fault", "kernel": name, "message": the sentence that the process got as a RuntimeError}
"""

import json
import os
from collections.abc import Mapping
from typing import Any

from mxsub.virtual import LOG_VARIABLE


def record(entry: Mapping[str, Any]) -> None:
    """Append one line to the file that MXSUB_VIRTUAL_LOG names, if it names one.

    The line is written by a single call on a descriptor in append mode, so that lines of several processes never mix.
    """
    path = os.environ.get(LOG_VARIABLE)
    if not path:
        return
    line = (json.dumps(entry, separators=(",", ":")) + "\n").encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)
