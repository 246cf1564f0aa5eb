"""A history as a season of work leaves it: real texts, local runs, lint, and submissions with results."""

import json
import math
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from mxsub.submit.history import History
from mxsub.submit.history.codec import time_text
from mxsub.submit.new_project import create_project
from mxsub.submit.project import find_project
from mxsub.submit.render import render
from mxsub.submit.version import sha256_of

BOARD, GPU, SERVICE = "amd-mxfp4-mm", "MI355X", "http://127.0.0.1:9"
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
SHAPES = {
    (4, 2880, 512): 8.198, (16, 2112, 7168): 20.873, (32, 4096, 512): 9.462,
    (32, 2880, 512): 9.173, (64, 7168, 2048): 12.738, (256, 3072, 1536): 12.219,
}  # fmt: skip


def fill(folder: Path, versions: int = 1000, runs: int = 5000, submissions: int = 300) -> list[str]:
    """Makes a project in an empty folder and fills its history; returns the versions' hashes, the oldest first.

    Version i is tagged `vI` (v0, v1, ...); every third submission is a benchmark, the rest alternate between test and
    ranked ones. Submissions have the numbers 1 to `submissions`; their times get better with time.
    """
    create_project(folder)
    project = find_project(folder)
    made = render(project, project.variant(None), project.gpu)
    config = {str(shape): dict(values) for shape, values in made.configs.items()}
    texts = [f"{made.text}\n# version {number}\n" for number in range(versions)]
    hashes = [sha256_of(text) for text in texts]
    with History.open(folder) as history, history.file.write() as connection:
        connection.executemany(
            "INSERT INTO versions (sha256, recorded, variant, gpu, origin, config, provenance, text) "
            "VALUES (?, ?, 'constexpr', ?, 'build', ?, ?, ?)",
            [
                (
                    sha256, _time(number), GPU,
                    json.dumps(config | {"4x2880x512": config["4x2880x512"] | {"num_warps": 1 << number % 4}}),
                    json.dumps(made.provenance.to_dict()), text,
                )
                for number, (sha256, text) in enumerate(zip(hashes, texts, strict=True))
            ],
        )  # fmt: skip
        connection.executemany(
            "INSERT INTO tags (name, sha256, moved) VALUES (?, ?, ?)",
            [(f"v{number}", sha256, _time(number)) for number, sha256 in enumerate(hashes)],
        )
        connection.executemany(
            "INSERT INTO lints (sha256, leaderboard, gpu, checked, mxsub, kernelguard, accepted, findings) "
            "VALUES (?, ?, ?, ?, '0.1.0', '0.3.2', 1, '[]')",
            [(sha256, BOARD, GPU, _time(number)) for number, sha256 in enumerate(hashes)],
        )
        connection.executemany(
            "INSERT INTO runs (uid, sha256, started, task, mode, whole, gpu, virtual, triton, outcome, "
            "geometric_mean, detail) VALUES (?, ?, ?, ?, ?, 1, ?, 1, '3.6.0', 'passed', ?, ?)",
            [
                (
                    uuid4().hex, hashes[number * versions // runs], _time(number * versions // runs, 60 + number % 5),
                    BOARD, mode, GPU, None if mode == "test" else 2.5e5, _detail(mode),
                )
                for number, mode in ((number, ("test", "benchmark")[number % 2]) for number in range(runs))
            ],
        )  # fmt: skip
        for number in range(1, submissions + 1):
            at = (number - 1) * versions // submissions
            _submission(connection, number, hashes[at], _time(at, 600))
    return hashes


def _submission(connection: sqlite3.Connection, number: int, sha256: str, time: str) -> None:
    mode = ("test", "leaderboard", "benchmark")[number % 3]
    times = {shape: us * (1.6 - 0.7 * number / (number + 60)) for shape, us in SHAPES.items()}
    mean = math.exp(sum(map(math.log, times.values())) / len(times))
    (row,) = connection.execute(
        "INSERT INTO submissions (uid, sha256, service, account, leaderboard, gpu, mode, file_name, recorded, state, "
        "sent, newest_before, remote_id, submitted, status, finished, verdict, sentence, score, geometric_mean, rank) "
        "VALUES (?, ?, ?, 'a1b2c3d4e5f60718', ?, ?, ?, 'sub.py', ?, 'finished', ?, ?, ?, ?, 'succeeded', ?, "
        "'passed', 'passed', ?, ?, ?) RETURNING id",
        (
            uuid4().hex, sha256, SERVICE, BOARD, GPU, mode, time, time, number - 1, number, time, time,
            str(mean / 1e6) if mode == "leaderboard" else None, None if mode == "test" else mean,
            7 if mode == "leaderboard" else None,
        ),
    ).fetchone()  # fmt: skip
    for run in ("test", "benchmark", "leaderboard") if mode == "leaderboard" else (mode,):
        connection.execute(
            "INSERT INTO results (submission, mode, started, ended, runner, passed, score, result) "
            "VALUES (?, ?, ?, ?, ?, 1, ?, ?)",
            (
                row, run, time, time, GPU, str(mean / 1e6) if run == "leaderboard" else None,
                None if run == "leaderboard" else json.dumps(_lines(run, times)),
            ),
        )  # fmt: skip
    for facts in ({"status": "running"}, {"status": "succeeded", "done": True}):
        connection.execute(
            "INSERT INTO events (submission, seen, facts) VALUES (?, ?, ?)", (row, time, json.dumps(facts))
        )


def _lines(mode: str, times: dict[tuple[int, int, int], float]) -> dict[str, str]:
    """The evaluator's lines of a run that passed; times in us."""
    prefix = "test" if mode == "test" else "benchmark"
    lines = {f"{prefix}-count": str(len(times)), "check": "pass"}
    for number, ((m, n, k), us) in enumerate(times.items()):
        key = f"{prefix}.{number}"
        lines[f"{key}.spec"] = f"k: {k}; m: {m}; n: {n}; seed: {number + 1}"
        if mode == "test":
            lines |= {f"{key}.status": "pass", f"{key}.message": "Maximum error: 0.0"}
        else:
            figures = {"runs": 100, "mean": us * 1e3, "std": 90.0, "err": 9.0, "best": us * 990, "worst": us * 1100}
            lines |= {f"{key}.{name}": str(value) for name, value in figures.items()}
    return lines


def _detail(mode: str) -> str:
    """As long as a run's detail is."""
    return json.dumps({"mode": mode, "passed": True, "results": _lines(mode, SHAPES), "stdout": "", "cases": []})


def _time(number: int, seconds: int = 0) -> str:
    return str(time_text(START + timedelta(minutes=30 * number, seconds=seconds)))
