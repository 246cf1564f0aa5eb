"""A small season's history, for the tests of the report."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from mxsub.submit.history import History
from mxsub.submit.history.submissions import ResultRecord, SubmissionRecord

BOARD, GPU, SERVICE = "amd-mxfp4-mm", "MI355X", "https://kernelbot.test"
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
SLOW, FAST = {"4x2880x512": 12.0, "16x2112x7168": 27.0}, {"4x2880x512": 9.0, "16x2112x7168": 36.0}


def submit(history: History, sha256: str | None, number: int, mode: str = "benchmark", **facts: object) -> None:
    """A submission that passed without times, but for the facts."""
    at = START + timedelta(hours=number)
    record = SubmissionRecord(
        uuid4().hex, sha256, SERVICE, "", BOARD, GPU, mode, "sub.py", at, "finished", sent=at, remote_id=number,
        submitted=at, status="succeeded", finished=at, verdict="passed", sentence="passed",
    )  # fmt: skip
    times = facts.pop("times", None)
    record = replace(record, **facts)  # type: ignore[arg-type]
    history.submissions.add([record])
    if isinstance(times, dict):
        lines = {"benchmark-count": str(len(times)), "check": "pass"}
        for place, (shape, us) in enumerate(times.items()):
            m, n, k = shape.split("x")
            figures = {"runs": 100, "mean": us * 1e3, "std": 90, "err": 9, "best": us * 990, "worst": us * 1100}
            lines[f"benchmark.{place}.spec"] = f"m: {m}; n: {n}; k: {k}; seed: 1"
            lines |= {f"benchmark.{place}.{name}": str(value) for name, value in figures.items()}
        result = ResultRecord("benchmark", at, at + timedelta(seconds=12), GPU, True, None, lines)
        history.submissions.update(record.uid, results=[result])


def season(folder: Path, *, tag: str = "third", sentence: str = "it crashed", code: str = "x = 3") -> None:
    """Four versions: `first` and `second` timed, `third` refused by lint and failed; the last was run in part only."""
    (folder / "configs.yaml").write_text("")
    with History.open(folder) as history:
        table = "CONFIGS = {{(4, 2880, 512): dict(BLOCK_SIZE_M={}, num_warps=4)}}\n" + "pass\n" * 20
        hashes = [
            history.versions.record(table.format(16), tag="first", variant="constexpr").sha256,
            history.versions.record(table.format(32), tag="second", variant="runtime").sha256,
            history.versions.record(f"{table.format(32)}{code}\n").sha256,
            history.versions.record("untagged\n").sha256,
        ]
        with history.file.write() as connection:
            connection.execute("INSERT INTO tags VALUES (?, ?, '')", (tag, hashes[2]))
        finding = {
            "rule": "MX001", "name": "banned-word", "severity": "error", "line": 2, "column": 5,
            "message": f"the word: {sentence}", "fix": "Say it another way.",
        }  # fmt: skip
        for place, sha256 in enumerate(hashes[:3]):
            history.lints.record(
                sha256, leaderboard=BOARD, gpu=GPU, mxsub="0.1.0", kernelguard="0.3.2", accepted=place < 2,
                findings=[finding] * (place == 2),
            )  # fmt: skip
        for mode, whole, outcome, mean in (
            ("test", True, "failed", None), ("test", True, "passed", None), ("benchmark", True, "passed", 250000.0),
            ("leaderboard", False, "crashed", None),
        ):  # fmt: skip
            history.runs.record(
                hashes[3], started=START + timedelta(minutes=len(history.runs.latest())), task=BOARD, mode=mode,
                whole=whole, gpu=GPU, virtual=True, triton="3.6.0", outcome=outcome, geometric_mean=mean,
                detail={"error": f"{mode}: {sentence}", "expected": 2, "cases": [{"status": "pass"}]},
            )  # fmt: skip
        submit(history, hashes[0], 1, geometric_mean=18.0, times=SLOW)
        submit(history, hashes[1], 2, mode="leaderboard", geometric_mean=17.5, rank=7, times=FAST)
        submit(history, hashes[2], 3, verdict="crashed", sentence=sentence)
        submit(history, None, 4, mode=None, geometric_mean=19.0)
        submit(history, hashes[0], 5, leaderboard="another-board", geometric_mean=1.0)
