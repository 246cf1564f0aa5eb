"""One sentence for a run that did not pass: what happened, and on which line of the submission."""

import re
from dataclasses import dataclass

from mxsub.submit.harness.process import Ended
from mxsub.submit.harness.result import CaseResult, Outcome
from mxsub.submit.harness.task import Task

_ERROR = re.compile(r"^(?P<type>[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Iteration|Warning)?): (?P<said>.*)$")
_MISSING = re.compile(r"No module named '([\w.]+)'")
CHECK_FAILED = 112


@dataclass(frozen=True)
class Verdict:
    outcome: Outcome
    sentence: str


def explain_end(
    task: Task, mode: str, ended: Ended, cases: tuple[CaseResult, ...], check: str, expected: int, timeout: float,
    faults: list[str],
) -> Verdict:  # fmt: skip
    """The outcome of a run and, unless it passed, its one sentence.

    faults: what the virtual GPU stopped for. check: the evaluator's own "pass", "fail" or "".
    """
    where = f"in case {len(cases)} of {expected}" if cases else "before the first case"
    if faults:
        return Verdict("crashed", faults[0])
    if ended.reason == "timeout":
        return Verdict("timed out", f"did not finish within {timeout:g} s; it stood {where}")
    if ended.reason == "answer unread":
        return Verdict("crashed", f"the evaluator could not read its worker's answer {where}: {ended.unread}")
    if ended.reason == "worker lost":
        by = f"died of {ended.signal}" if ended.signal else f"ended with exit code {ended.worker_exit_code}"
        return Verdict("crashed", f"the evaluator's worker process {by} {where}{_line(task, ended.stderr)}")
    failed = [case for case in cases if case.status == "fail"]
    if failed:
        first = failed[0].error.partition("\n")[0]
        return Verdict("failed", f"{len(failed)} of {expected} cases failed; the first, {failed[0].shape}: {first}")
    if ended.exit_code == 0 and check == "pass" and len(cases) == expected:
        return Verdict("passed", "")
    if ended.signal:
        return Verdict("crashed", f"a process died of {ended.signal} {where}{_line(task, ended.stderr)}")
    return _exception(task, ended, where)


def _exception(task: Task, ended: Ended, where: str) -> Verdict:
    said = _last_error(ended.stderr)
    if said is None:
        return Verdict("exited", f"the evaluator ended with exit code {ended.exit_code} {where} and without a verdict")
    kind, message = said
    missing = _MISSING.search(message)
    if missing and kind.endswith("ModuleNotFoundError"):
        by = _importer(task, ended.stderr)
        return Verdict("crashed", f"{by} imports {missing[1]}, which is not installed here")
    if kind.endswith("BrokenProcessPool"):
        return Verdict(
            "crashed", f"the evaluator's worker process ended without an answer (killed, or os._exit) {where}"
        )
    plain = kind.rpartition(".")[2]
    return Verdict("crashed", f"{plain}: {message}{_line(task, ended.stderr)} ({where})")


def _last_error(stderr: str) -> tuple[str, str] | None:
    """Type and message of the last traceback's last line."""
    if "Traceback (most recent call last)" not in stderr:
        return None
    block = stderr.rpartition("Traceback (most recent call last)")[2]
    for line in block.splitlines()[1:]:
        match = _ERROR.match(line)
        if match:
            return match["type"], match["said"].strip()
    bare = [line for line in block.splitlines() if re.match(r"^[A-Za-z_][\w.]*$", line)]
    return (bare[-1], "") if bare else None


def _line(task: Task, stderr: str) -> str:
    """` at submission.py:LINE`, of the innermost frame in the submission; empty where there is none."""
    name = re.escape(task.submission_name)
    found = re.findall(rf'File "[^"]*{name}", line (\d+)', stderr)
    # faulthandler prints the innermost frame first, tracebacks last.
    if not found:
        return ""
    number = found[0] if "Fatal Python error" in stderr else found[-1]
    return f" at {task.submission_name}:{number}"


def _importer(task: Task, stderr: str) -> str:
    frames = re.findall(r'File "([^"]+)", line \d+', stderr)
    own = [frame.rpartition("/")[2] for frame in frames if frame.rpartition("/")[2] in task.files]
    name = own[-1] if own else "the evaluator"
    return name if name == task.submission_name or not own else f"the task's {name}"
