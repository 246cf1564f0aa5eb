"""What a client sends to submit."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Upload:
    """A submission's POST: the parts of its path, and the file."""

    board: str
    gpu: str
    mode: str
    file_name: str
    content: bytes
