"""The boards that the fake serves, as data: the open one of the protocol document, and one that needs an invitation."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

TASK_FOLDER = Path(__file__).parents[2] / "tasks" / "amd-mxfp4-mm"
GPU = "MI355X"

# Sent to everybody in /leaderboards, as the service does. A client must drop it unread; tests look for these digits.
SECRET_SEED = 1618033988

INVITE_CODE = "open-sesame"

Spec = dict[str, int]


def spec(m: int, n: int, k: int, seed: int) -> Spec:
    """A case as the service stores it: JSONB sorts keys by length, then by name."""
    return {"k": k, "m": m, "n": n, "seed": seed}


TESTS = (spec(8, 2112, 7168, 124), spec(16, 3072, 1536, 6635), spec(64, 3072, 1536, 45), spec(256, 2880, 512, 78))

BENCHMARKS = (
    spec(4, 2880, 512, 4565),
    spec(16, 2112, 7168, 15),
    spec(32, 4096, 512, 457),
    spec(32, 2880, 512, 54),
    spec(64, 7168, 2048, 687),
    spec(256, 3072, 1536, 7856),
)

# Published times of aiter for BENCHMARKS, in microseconds.
PUBLISHED_TIMES = (8.198, 20.873, 9.462, 9.173, 12.738, 12.219)


@dataclass(frozen=True)
class Board:
    """One leaderboard. `deadline` is UTC; `invite_code` is None where everybody may submit."""

    id: int
    name: str
    description: str
    deadline: datetime
    gpus: tuple[str, ...] = (GPU,)
    invite_code: str | None = None

    @property
    def closed(self) -> bool:
        """Only for those who have joined with the code."""
        return self.invite_code is not None

    def as_json(self) -> dict[str, object]:
        """An entry of GET /leaderboards, the task's files and the secret seed included."""
        return {
            "id": self.id,
            "name": self.name,
            "deadline": self.deadline.isoformat(),
            "task": task(),
            "gpu_types": list(self.gpus),
            "creator_id": 1,
            "forum_id": 1000 + self.id,
            "description": self.description,
            "secret_seed": SECRET_SEED,
            "visibility": "closed" if self.closed else "public",
        }


def task() -> dict[str, object]:
    """The task as the service tells it, with the text of each of its files."""
    files = {path.name: path.read_text(encoding="utf-8") for path in sorted(TASK_FOLDER.glob("*.py"))}
    return {
        "lang": "py",
        "files": {"submission.py": "@SUBMISSION@"} | files,
        "config": {"main": "eval.py"},
        "libraries": [],
        "tests": [dict(case) for case in TESTS],
        "benchmarks": [dict(case) for case in BENCHMARKS],
        "test_timeout": 420,
        "benchmark_timeout": 420,
        "ranked_timeout": 600,
        "ranking_by": "geom",
        "seed": None,
        "multi_gpu": False,
    }


BOARDS = (
    Board(1, "amd-mxfp4-mm", "MXFP4 matrix multiplication", datetime(2099, 12, 31, tzinfo=UTC)),
    Board(
        2,
        "amd-invited",
        "The same, for those who were invited",
        datetime(2099, 12, 31, tzinfo=UTC),
        (GPU,),
        INVITE_CODE,
    ),
)
