"""A season's history: commands stay quick, and many processes may write at once."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mxsub.submit.errors import EnvironmentProblem
from mxsub.submit.history import History
from tests.contestant import MXSUB, no_files
from tests.history_of_size import fill

PROCESSES, ROWS = 8, 25
SECONDS = 0.3

WRITER = """
import sys
from pathlib import Path
from mxsub.submit.history import History
from mxsub.submit.history.codec import now

folder, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with History.open(folder) as history:
    for number in range(count):
        sha256 = history.versions.record(f"# {name} {number}\\n", tag=f"{name}-{number}").sha256
        history.runs.record(
            sha256, started=now(), task="t", mode="test", whole=True, gpu="MI355X", virtual=True, triton="3.6.0",
            outcome="passed", geometric_mean=None, detail={},
        )
        record = history.submissions.begin(
            sha256, service="s", account="a", leaderboard="b", gpu="MI355X", mode="test", file_name="f.py"
        )
        history.submissions.update(record.uid, {"status": "running"}, state="accepted")
        print(number, flush=True)
"""


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1,000 versions, 5,000 runs and 300 submissions."""
    folder = tmp_path_factory.mktemp("season")
    fill(folder)
    return folder


def processor_seconds(command: list[str], **where: Any) -> float:
    """What a process takes of the processor, best of five: the same whatever else runs on the machine."""
    took = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True, **where)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(took)


def writer(folder: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), name, str(count)], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize(
    "line",
    ["log", "log v500", "log --all --json", "log --mode leaderboard --since 2026-03-10", "show v996", "show 299",
     "show 299 --json", "diff v3 v993", "diff 2 299", "diff v3 v993 --json"],
)  # fmt: skip
def test_commands_are_quick(season: Path, tmp_path: Path, line: str) -> None:
    """The whole process; of a user who is not registered, so that no service is asked."""
    environment = os.environ | {"HOME": str(tmp_path)}
    assert processor_seconds([*MXSUB, *line.split()], cwd=season, env=environment) < SECONDS


def test_eight_processes_lose_no_row(tmp_path: Path) -> None:
    writers = [writer(tmp_path, f"w{number}", ROWS) for number in range(PROCESSES)]
    for process in writers:
        process.communicate()
        assert process.returncode == 0
    with History.open(tmp_path) as history:
        assert len(history.versions.entries()) == PROCESSES * ROWS
        assert sum(len(entry.tags) for entry in history.versions.entries()) == PROCESSES * ROWS
        assert len(history.runs.latest()) == PROCESSES * ROWS
        records = history.submissions.latest()
        assert [record.state for record in records] == ["accepted"] * (PROCESSES * ROWS)
        assert all(len(history.submissions.events(record.uid)) == 1 for record in records)


def test_a_killed_writer_leaves_all_that_it_had_finished(tmp_path: Path) -> None:
    process = writer(tmp_path, "w", 10_000)
    assert process.stdout is not None
    seen = [process.stdout.readline() for _ in range(20)]
    process.send_signal(signal.SIGKILL)
    process.wait()
    with History.open(tmp_path) as history:
        assert history.file.rows("PRAGMA integrity_check") == [("ok",)]
        versions = len(history.versions.entries())
        assert versions >= len(seen)
        assert versions - 1 <= len(history.runs.latest()) <= versions


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    fill(tmp_path, versions=3, runs=3, submissions=3)
    before = [entry.sha256 for entry in History.open(tmp_path).versions.entries()]
    done = subprocess.run(
        [*MXSUB, "build", "--tag", "new", "-o", "-", "--project", str(tmp_path)], capture_output=True, text=True,
        preexec_fn=no_files,
    )  # fmt: skip
    assert done.returncode == 3
    assert "the history cannot be used" in done.stderr
    assert "Traceback" not in done.stderr
    with History.open(tmp_path) as history:
        assert [entry.sha256 for entry in history.versions.entries()] == before
        assert history.file.rows("PRAGMA integrity_check") == [("ok",)]


@pytest.mark.parametrize("command", ["log", "show v1", "diff v1 v2", "history export"])
def test_a_damaged_file_is_left_as_it_is(tmp_path: Path, command: str) -> None:
    fill(tmp_path, versions=3, runs=3, submissions=3)
    file = tmp_path / ".mxsub" / "history.sqlite3"
    History.open(tmp_path).close()
    data = bytearray(file.read_bytes())
    data[:100] = b"x" * 100
    file.write_bytes(data)
    for left in ("history.sqlite3-wal", "history.sqlite3-shm"):
        file.with_name(left).unlink(missing_ok=True)
    done = subprocess.run(
        [*MXSUB, *command.split()],
        cwd=tmp_path,
        env=os.environ | {"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 3
    assert "the history is damaged" in done.stderr
    assert file.read_bytes() == data
    with pytest.raises(EnvironmentProblem, match="damaged"):
        History.open(tmp_path).versions.entries()
