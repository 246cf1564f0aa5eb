"""Submissions as the JSON of the service's answers, and the faults that spoil them."""

import random
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal

from .boards import GPU, Board
from .rows import Row, Run

Json = dict[str, object]


def iso(seconds: float | None) -> str | None:
    """Seconds since 1970 as the service writes times: UTC with Z."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def score_text(score: Decimal | None) -> str | None:
    """A score as the user routes have it: text, never in exponent form here."""
    return None if score is None else f"{score:f}"


def queue(gpu: str, queued: int) -> Json:
    """A RunnerQueue; an unknown GPU is no error."""
    known = gpu == GPU
    return {
        "runner": "GitHub",
        "gpu": gpu,
        "queued_jobs": queued if known else None,
        "running_jobs": None,
        "available_runners": None,
        "status": "available" if known else "unavailable",
        "error": None if known else f"No runner queue for GPU {gpu}",
    }


def detail(row: Row, board: Board, queued: int) -> Json:
    """GET /user/submissions/{id}. The order of the runs is not that of their running."""
    state = row.state()
    runs = list(state.runs)
    random.Random(row.id).shuffle(runs)
    return {
        "id": row.id,
        "leaderboard_id": board.id,
        "leaderboard_name": row.leaderboard,
        "file_name": row.file_name,
        "user_id": str(row.user_id),
        "submission_time": iso(row.created.timestamp()),
        "done": state.done,
        "code": row.code,
        "runs": [_run(run, row.gpu) for run in runs],
        "job": {"status": state.status, "error": state.error, "last_heartbeat": iso(state.last_heartbeat)},
        "runner_queue": queue(row.gpu, queued) if runs else None,
    }


def _run(run: Run, gpu: str) -> Json:
    shown: Json = {
        "start_time": iso(run.start),
        "end_time": iso(run.end),
        "mode": run.mode,
        "secret": run.secret,
        "runner": gpu,
        "score": score_text(run.score),
        "passed": run.passed,
    }
    if not run.secret and run.mode in ("test", "benchmark"):
        shown["result"] = dict(run.evaluation.result)
    return shown


def entry(row: Row) -> Json:
    """An entry of GET /user/submissions: runs only where the secret leaderboard run passed."""
    state = row.state()
    runs = [run for run in state.runs if not run.secret and run.passed] if state.ranked else []
    random.Random(row.id).shuffle(runs)
    return {
        "id": row.id,
        "leaderboard_name": row.leaderboard,
        "file_name": row.file_name,
        "submission_time": iso(row.created.timestamp()),
        "done": state.done,
        "runs": [{"gpu_type": row.gpu, "score": score_text(run.score)} for run in runs],
    }


def ranking(rows: Iterable[Row], board: str, gpu: str) -> list[Json]:
    """The best of each user by its public score; equal scores share a rank."""
    best: dict[int, tuple[Decimal, Row]] = {}
    for row in rows:
        if (row.leaderboard, row.gpu) == (board, gpu) and row.state().ranked:
            score = public_score(row)
            if row.user_id not in best or score < best[row.user_id][0]:
                best[row.user_id] = (score, row)
    ordered = sorted(best.values(), key=lambda pair: (pair[0], pair[1].id))
    scores = [score for score, _ in ordered]
    return [
        {
            "submission_id": row.id,
            "rank": scores.index(score) + 1,
            "submission_name": row.file_name,
            "submission_time": iso(row.created.timestamp()),
            "submission_score": float(score),
            "leaderboard_name": row.leaderboard,
            "user_id": row.user_id,
            "user_name": row.user,
            "gpu_type": row.gpu,
        }
        for score, row in ordered
    ]


def public_score(row: Row) -> Decimal:
    """The score of a ranked row's public leaderboard run, in seconds."""
    return min(run.score for run in row.runs if run.score is not None and not run.secret)


def concerns(name: str, value: object) -> bool:
    """Whether a fault of Stage.SHOW would change an answer."""
    return value != faulty(name, value)


def faulty(name: str, value: object) -> object:
    """An answer that shows or lists submissions, as a fault of Stage.SHOW leaves it."""
    if isinstance(value, list):
        return [faulty(name, part) for part in value]
    assert isinstance(value, dict)
    changed = dict(value)
    job = value.get("job")
    if isinstance(job, dict) and name == "unknown-status":
        changed["job"] = job | {"status": "paused"}
    elif isinstance(job, dict) and name == "null-job":
        changed["job"] = dict.fromkeys(job)
    lost = {"missing-run-fields": ("passed", "mode", "score")}.get(name, ())
    empty = {"null-run-fields": ("result", "start_time", "end_time")}.get(name, ())
    runs = value.get("runs")
    if isinstance(runs, list):
        kept = [{key: part for key, part in run.items() if key not in lost} for run in runs]
        changed["runs"] = [run | {key: None for key in empty if key in run} for run in kept]
    return changed


def with_scores(name: str, value: object) -> object:
    """An answer as a fault of Stage.SCORE leaves it: every score in it is another."""
    if isinstance(value, list):
        return [with_scores(name, part) for part in value]
    if not isinstance(value, dict):
        return value
    return {key: _spoiled(name, key, part) for key, part in value.items()}


def _spoiled(name: str, key: str, value: object) -> object:
    if name == "huge-ids":
        return 2**70 if key in ("id", "submission_id") else with_scores(name, value)
    if key not in ("score", "submission_score") or value is None:
        return with_scores(name, value)
    number = Decimal(str(value))
    wrong: dict[str, object] = {
        "score-null": None,
        "score-garbage": "fast",
        "score-nan": "NaN",
        "score-exponent": f"{number:.12E}",
        "score-number": float(number),
        "score-negative": f"-{number:f}",
    }
    return wrong[name]


def has_score(value: object) -> bool:
    """Whether a score that is not null is anywhere in an answer."""
    if isinstance(value, list):
        return any(has_score(part) for part in value)
    if not isinstance(value, dict):
        return False
    return any(
        part is not None if key in ("score", "submission_score") else has_score(part) for key, part in value.items()
    )
