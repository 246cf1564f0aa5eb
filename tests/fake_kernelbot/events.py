"""The server-sent events of a streaming submission, whole or spoiled."""

import base64
import json
import time
from datetime import UTC, datetime

from .rows import Row, Run, timed
from .runner import Outcome
from .wire import Chunks, Cut, Peer

SYSTEM = {
    "gpu": "AMD Instinct MI355X",
    "device_count": 1,
    "cpu": "AMD EPYC 9575F 64-Core Processor",
    "runtime": "ROCm",
    "platform": "Linux-6.8.0-60-generic-x86_64-with-glibc2.39",
    "torch": "2.10.0+rocm7.1",
    "hostname": "",
}
COMMENTS = b': keep-alive\n\nretry: 1500\n\nid: 7\nevent: progress\ndata: {"step": 1}\n\n:\n\n'


def events(row: Row, heartbeat: float, peer: Peer, fault: str | None) -> Chunks:
    """The stream of an accepted submission; marks the row when its client leaves early.

    fault: of Stage.STREAM, or None.
    """
    end = row.timeline.done
    start = row.created.timestamp()
    beat = 0
    try:
        while True:
            yield _framed("status", {"status": "processing", "elapsed_time": round(beat * heartbeat, 3)}, fault)
            if fault == "sse-comments":
                yield COMMENTS
            beat += 1
            until = start + beat * heartbeat
            if fault != "sse-forever":
                until = min(until, end)
            if not peer.wait(max(0.0, until - time.time())):
                row.left_at = time.time()
                raise Cut
            if time.time() >= end and fault != "sse-forever":
                break
        yield from _last(row, fault)
    except GeneratorExit:
        row.left_at = time.time()
        raise


def refusal(text: str, status: int | None = 400, raw: str | None = None) -> Chunks:
    """The stream of a submission that is refused after its form was read."""
    yield _framed("status", {"status": "processing", "elapsed_time": 0.0})
    yield _error(text, status, raw)


def _last(row: Row, fault: str | None) -> Chunks:
    if fault == "sse-end":
        return
    if fault == "sse-error":
        yield _error("An unexpected error occurred: AttributeError", None, "'NoneType' object has no attribute 'trace'")
    elif fault == "sse-cancelled":
        yield _error("Submission cancelled", None)
    elif row.outcome.evaluations or row.outcome.runner_error:
        yield from _result(row, fault)
    else:
        yield _ending(row.outcome)


def _ending(outcome: Outcome) -> bytes:
    """How a submission without any run ends. Raises Cut where the whole server goes."""
    text = outcome.error or ""
    if text.startswith("job interrupted"):
        raise Cut
    if text.startswith("KernelGuard"):
        return _error(text, 503)
    if outcome.status == "hacked":
        return _error(text, 400)
    kind = "TimeoutError" if outcome.status == "timed_out" else "RuntimeError"
    return _error(f"An unexpected error occurred: {kind}", None, text)


def _result(row: Row, fault: str | None) -> Chunks:
    value = result(row)
    if fault == "sse-old-server":
        value = _of_old_server(value)
    elif fault == "sse-bad-archives":
        value = _with_bad_archives(value)
    whole = _framed("result", value, fault)
    if fault == "sse-cut":
        yield whole[: len(whole) // 2]
        raise Cut
    if fault == "sse-malformed":
        yield whole[: len(whole) // 2] + b"\n\n"
    elif fault == "sse-split":
        yield from _split_inside_characters(whole)
    else:
        yield whole


def result(row: Row) -> dict[str, object]:
    """The data of the `result` event: the public run first, then in leaderboard mode the secret one."""
    outcome = row.outcome
    runs = timed(outcome.evaluations, row.timeline)
    groups = [[run for run in runs if not run.secret]]
    if row.mode == "leaderboard":
        groups.append([run for run in runs if run.secret])
    results = [
        {
            "success": not outcome.runner_error,
            "error": outcome.runner_error,
            "system": SYSTEM,
            "runs": {run.mode: _evaluated(run) for run in group},
        }
        for group in groups
    ]
    reports = [_report(row, group, secret) for group, secret in zip(groups, (False, True), strict=False)]
    return {"status": "success", "results": results, "reports": reports}


def _evaluated(run: Run) -> dict[str, object]:
    done = run.evaluation
    wrapped = "rocprofv3 --kernel-trace -- python3 eval.py" if done.trace else "python3 eval.py"
    profile = None
    if done.trace is not None:
        trace = base64.b64encode(done.trace).decode()
        profile = {"profiler": "rocPROF", "trace": trace, "download_url": None}
    return {
        "start": _naive(run.start),
        "end": _naive(run.end),
        "compilation": None,
        "run": {
            "success": done.exit_code in (0, 112),
            "passed": done.passed,
            "command": wrapped,
            "stdout": done.stdout,
            "stderr": done.stderr,
            "exit_code": done.exit_code,
            "duration": done.duration,
            "result": dict(done.result),
        },
        "profile": profile,
    }


def _report(row: Row, group: list[Run], secret: bool) -> str:
    mark = "❌ failure" if row.outcome.runner_error else "✅ success"
    lines = [f"**{row.gpu} on GitHub {mark}**", "> [Workflow](https://example.invalid/run)"]
    lines += [f"> {'✅' if run.passed else '❌'} {run.mode}" for run in group]
    if not secret:
        lines += ["", "Running on:", f"* GPU: `{SYSTEM['gpu']}`", f"* Torch: `{SYSTEM['torch']}`", ""]
        lines += [f"## Program stdout:\n```\n{run.evaluation.stdout}```" for run in group if run.evaluation.stdout]
    return "\n".join(lines)


def _of_old_server(value: dict[str, object]) -> dict[str, object]:
    """Without what older servers do not send: most of the system, the profile, the reports."""
    text = json.dumps(value)
    old: dict[str, object] = json.loads(text)
    del old["reports"]
    results = old["results"]
    assert isinstance(results, list)
    for part in results:
        part["system"] = {"gpu": SYSTEM["gpu"], "cpu": SYSTEM["cpu"]}
        for run in part["runs"].values():
            del run["profile"], run["compilation"]
    return old


def _with_bad_archives(value: dict[str, object]) -> dict[str, object]:
    """A profile whose first archive is no base64, and whose second is cut short."""
    bad: dict[str, object] = json.loads(json.dumps(value))
    results = bad["results"]
    assert isinstance(results, list)
    profiles = [run["profile"] for run in results[0]["runs"].values() if run["profile"]]
    for number, profile in enumerate(profiles[:2]):
        profile["trace"] = profile["trace"][:40] if number else "no base64!"
    return bad


def _split_inside_characters(data: bytes) -> Chunks:
    """Chunks that each end after the first byte of a character of several bytes."""
    start = 0
    for i, byte in enumerate(data):
        if byte >= 0xC0:
            yield data[start : i + 1]
            start = i + 1
            time.sleep(0.002)  # so that the client sees it as a chunk of its own
    yield data[start:]


def _error(text: str, status: int | None, raw: str | None = None) -> bytes:
    value: dict[str, object] = {"status": "error", "detail": text}
    if status is not None:
        value["status_code"] = status
    if raw is not None:
        value["raw_error"] = raw
    return _framed("error", value)


def _framed(name: str, value: dict[str, object], fault: str | None = None) -> bytes:
    data = json.dumps(value, ensure_ascii=fault != "sse-split")
    text = f"event: {name}\ndata: {data}\n\n"
    return (text.replace("\n", "\r\n") if fault == "sse-crlf" else text).encode()


def _naive(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat(timespec="microseconds")
