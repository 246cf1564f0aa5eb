"""How quick the commands that look back are, over a season's history: `python -m benchmarks.history`."""

import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.history_of_size import fill

VERSIONS, RUNS, SUBMISSIONS = 1000, 5000, 300
REPEATS = 5
MXSUB = [sys.executable, "-c", "from mxsub.cli import main; main()"]
COMMANDS = (
    "log", "log --all --json", "show 299", "diff 2 299", "log --plot", "report --force", "history export all.jsonl",
)  # fmt: skip


def best_seconds(command: str, folder: Path) -> float:
    """Of the whole process."""
    environment = os.environ | {"HOME": str(folder)}
    took = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        subprocess.run([*MXSUB, *command.split()], cwd=folder, env=environment, check=True, capture_output=True)
        took.append(time.perf_counter() - began)
    return min(took)


def main() -> None:
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}; best of {REPEATS}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fill(folder, VERSIONS, RUNS, SUBMISSIONS)
        print(f"{VERSIONS:,} versions, {RUNS:,} runs, {SUBMISSIONS:,} submissions")
        for command in COMMANDS:
            print(f"mxsub {command}: {best_seconds(command, folder):.2f} s")
        print(f"all.jsonl: {(folder / 'all.jsonl').stat().st_size:,} bytes")
        empty = folder / "empty"
        empty.mkdir()
        (empty / "configs.yaml").write_text("")
        began = time.perf_counter()
        subprocess.run([*MXSUB, "history", "import", "../all.jsonl"], cwd=empty, check=True, capture_output=True)
        print(f"mxsub history import, into an empty history: {time.perf_counter() - began:.2f} s")


if __name__ == "__main__":
    main()
