"""What the service checks before it takes a submission, in its order, with its words."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from .boards import Board
from .faulty_answers import BANNED_WORD, RATE_LIMIT
from .rows import Row
from .upload import Upload
from .users import User

MODES = ("test", "benchmark", "leaderboard", "profile")
KNOWN_MODES = (*MODES, "private")
MAX_BYTES = 1_000_000
SUFFIXES = (".py", ".cu", ".cuh", ".cpp")
RUDE_WORDS = ("shit", "fuck")

# Put together, so that this file does not hold the word that the service refuses.
BANNED = "stre" + "am"


class Refused(Exception):
    """The service refuses. `early`: found while the form is read, which the two paths report in different ways."""

    def __init__(self, status: int, text: str, early: bool = False) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.early = early


def check_form(upload: Upload, boards: Mapping[str, Board]) -> str:
    """The first table of the protocol document; the file's text. Raises Refused, early."""
    mode = upload.mode.lower()
    if mode not in KNOWN_MODES:
        raise Refused(400, f"Invalid submission mode value: '{upload.mode}'", early=True)
    if mode not in MODES:
        raise Refused(400, f"Submission mode '{upload.mode}' is not supported for this endpoint", early=True)
    board = boards.get(upload.board)
    if board is None:
        text = f"Internal server error while validating leaderboard/GPU: Leaderboard `{upload.board}` does not exist."
        raise Refused(500, text, early=True)
    if upload.gpu not in board.gpus:
        text = (
            f"GPU type '{upload.gpu}' is not supported for leaderboard '{board.name}'. "
            f"Supported GPUs: {', '.join(board.gpus)}"
        )
        raise Refused(400, text, early=True)
    if not upload.content:
        raise Refused(400, "Empty file submitted. Please provide a file with code.", early=True)
    if len(upload.content) > MAX_BYTES:
        raise Refused(413, "Submission file is too large (limit: 1MB).", early=True)
    try:
        code = upload.content.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused(400, "Failed to decode submission file content as UTF-8.", early=True) from None
    if BANNED in code.lower():
        raise Refused(500, BANNED_WORD, early=True)
    return code


@dataclass(frozen=True)
class Circumstances:
    """What the second group of checks looks at besides the submission itself.

    fault: a fault of Stage.CHECK, or None. limits: submissions an hour by category, 0 for none at all;
    hour: how many seconds that is.
    """

    user: User
    rows: list[Row]
    limits: Mapping[str, int]
    hour: float
    fault: str | None


def check_submission(upload: Upload, code: str, board: Board, around: Circumstances) -> None:
    """The second group. Raises Refused, or IndexError where the service crashes on a bare directive."""
    if around.fault == "not-accepting":
        raise Refused(400, "The bot is currently not accepting any new submissions, please try again later.")
    if around.fault == "banned" or around.user.banned:
        raise Refused(400, "You are banned from submitting.")
    if any(word in upload.file_name.lower() for word in RUDE_WORDS):
        raise Refused(400, "Please provide a non-rude filename")
    if not upload.file_name.endswith(SUFFIXES):
        raise Refused(400, "Please provide a Python (.py) or CUDA (.cu / .cuh / .cpp) file")
    check_directives(code, upload.board)
    if board.closed and board.name not in around.user.boards:
        raise Refused(403, f"You do not have access to leaderboard `{board.name}`.")
    check_rate(upload, around)
    deadline = datetime(2026, 4, 7, 7, 59, tzinfo=UTC) if around.fault == "closed" else board.deadline
    now = datetime.now(UTC)
    if now > deadline:
        raise Refused(400, f"The deadline to submit to {board.name} has passed.\nIt was {deadline} and today is {now}.")


def check_directives(code: str, board: str) -> None:
    """The !POPCORN lines of the first comment block. Raises Refused; IndexError for a line without a second word."""
    found: dict[str, str] = {}
    for line in code.splitlines():
        if not line.startswith(("#", "//")):
            break
        words = line.split()
        if words[0] not in ("#!POPCORN", "//!POPCORN"):
            continue
        name = words[1].lower()
        if len(words) == 2:
            raise Refused(400, f"!POPCORN directive missing argument: {line}")
        name = "gpus" if name == "gpu" else name
        if name not in ("gpus", "leaderboard"):
            raise Refused(400, f"Invalid !POPCORN directive: {name}")
        if name in found:
            raise Refused(400, f"Found multiple values for !POPCORN directive {name}")
        found[name] = words[2]
    if found.get("leaderboard", board) != board:
        text = (
            f"Leaderboard name `{board}` specified in the command doesn't match the one in the submission script "
            f"header `{found['leaderboard']}`."
        )
        raise Refused(400, text)


def category(mode: str) -> str:
    """The category of the rate limit that a mode counts for."""
    return "leaderboard" if mode == "leaderboard" else "test"


def check_rate(upload: Upload, around: Circumstances) -> None:
    """The sliding hour of the user's rows on this board. Raises Refused."""
    if around.fault == "rate-limited":
        raise Refused(429, RATE_LIMIT)
    kind = category(upload.mode.lower())
    limit = around.limits.get(kind)
    if limit is None:
        return
    now = time.time()
    ages = [
        now - row.created.timestamp()
        for row in around.rows
        if row.user_id == around.user.number and row.leaderboard == upload.board and category(row.mode) == kind
    ]
    ages = [age for age in ages if age < around.hour]
    if len(ages) >= limit:
        wait = int(around.hour - max(ages, default=0.0))
        used = f"{len(ages)}/{limit} {kind}"
        raise Refused(429, f"Rate limit exceeded: {used} submissions per hour. Try again in {wait}s.")
