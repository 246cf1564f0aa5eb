"""One sentence for a run that did not pass: what happened, and on which line of the submission."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mxsub.submit.harness.process import Ended, signal_name
from mxsub.submit.harness.result import CaseResult, Outcome
from mxsub.submit.harness.task import Task

_TRACEBACK = "Traceback (most recent call last):\n"
# The last lines of a traceback: a type's name in column 0, then perhaps its message, which may go on for some lines.
_RAISED = re.compile(r"^(?P<type>[A-Za-z_][\w.]*)(?:: (?P<said>.*?))?\s*\Z", re.MULTILINE | re.DOTALL)
_NO_MODULE = re.compile(r"No module named '([\w.]+)'")
_NO_ENTRY = re.compile(r"cannot import name 'custom_kernel'|has no attribute 'custom_kernel'")
_ARITY = re.compile(r"custom_kernel\(\) (?:takes|missing)")
BROKEN_POOL = "BrokenProcessPool"
BAD_CASES = 113


@dataclass(frozen=True)
class ImportProbe:
    """What an import of the submission by itself did. ended: it called sys.exit, or ended the process, with `code`."""

    ended: bool
    code: str = ""
    line: int | None = None


@dataclass(frozen=True)
class Evidence:
    """What is known of a run's end.

    cases: as far as the evaluator got, of `expected`. check: its own verdict, "pass", "fail" or "". timeout: seconds.
    faults: what a virtual GPU stopped for. probe: only where a worker ended before its first answer.
    """

    task: Task
    ended: Ended
    cases: tuple[CaseResult, ...]
    check: str
    expected: int
    timeout: float
    faults: Sequence[str] = ()
    probe: ImportProbe | None = None
    source: str = ""

    @property
    def where(self) -> str:
        """`in case 2 of 4 (16x3072x1536, seed 6635)`."""
        undecided = [case for case in self.cases if not case.status]
        if undecided:
            return f"in case {len(self.cases)} of {self.expected} ({undecided[-1].label})"
        if self.cases:
            return f"after {len(self.cases)} of {self.expected} cases"
        return "before the first case"

    def line(self, text: str, *, innermost_first: bool = False) -> str:
        """` at submission.py:LINE` of the innermost frame in the submission; empty where there is none."""
        name = re.escape(self.task.submission_name)
        found = re.findall(rf'File "(?:[^"]*/)?{name}", line (\d+)', text)
        return f" at {self.task.submission_name}:{found[0 if innermost_first else -1]}" if found else ""


@dataclass(frozen=True)
class Verdict:
    outcome: Outcome
    sentence: str


def explain_end(evidence: Evidence) -> Verdict:
    """The outcome of a run and, unless it passed, its one sentence."""
    ended = evidence.ended
    if evidence.faults:
        return Verdict("crashed", f"{evidence.faults[0]}; {evidence.where}")
    if ended.reason == "timeout":
        at = evidence.line(ended.stderr.rpartition("Fatal Python error")[2], innermost_first=True) or evidence.line(
            ended.stderr, innermost_first=True
        )
        return Verdict("timed out", f"did not finish within {evidence.timeout:g} s; it stood {evidence.where}{at}")
    if ended.reason == "answer unread":
        return Verdict(
            "crashed",
            f"custom_kernel raised an error of a type that the evaluator cannot read back ({ended.unread}) "
            f"and would wait for ever, {evidence.where}",
        )
    failed = [case for case in evidence.cases if case.status == "fail"]
    if failed and ended.reason == "own end" and ended.exit_code != 1:
        first = failed[0].error.strip().partition("\n")[0] or "the check gave no reason"
        count = f"{len(failed)} of {evidence.expected} cases failed"
        lead = (
            f"{count}; the first, {failed[0].label}" if evidence.expected > 1 else f"the case {failed[0].label} failed"
        )
        return Verdict("failed", f"{lead}: {first}")
    complete = len(evidence.cases) == evidence.expected and all(case.status == "pass" for case in evidence.cases)
    if ended.exit_code == 0 and evidence.check == "pass" and complete:
        return Verdict("passed", "")
    return _without_verdict(evidence)


def _without_verdict(evidence: Evidence) -> Verdict:
    """The evaluator ended, or was ended, before it had checked every case."""
    ended, task = evidence.ended, evidence.task
    said = _last_error(ended.stderr)
    dead = ended.worker_exit_code
    if dead is None and said is not None and said[0].endswith(BROKEN_POOL):
        dead = 0  # an executor says so of any end, and only those with an error are noted
    if dead is not None and dead < 0:
        at = evidence.line(ended.stderr.partition("Fatal Python error")[2], innermost_first=True)
        hint = " (out of memory?)" if -dead == 9 else ""
        return Verdict("crashed", f"died of {signal_name(-dead)}{hint}{at}, {evidence.where}")
    if evidence.probe is not None and evidence.probe.ended:
        at = f" at {task.submission_name}:{evidence.probe.line}" if evidence.probe.line else ""
        return Verdict(
            "exited", f"{task.submission_name} ends the process in its import{at}, with exit code {evidence.probe.code}"
        )
    if dead is not None and (said is None or said[0].endswith(BROKEN_POOL)):
        return Verdict(
            "exited", f"ended the worker process with exit code {dead} (sys.exit or os._exit), {evidence.where}"
        )
    if ended.exit_code is not None and ended.exit_code < 0:
        return Verdict("crashed", f"the evaluator's process died of {signal_name(-ended.exit_code)}, {evidence.where}")
    if ended.exit_code == BAD_CASES:
        return Verdict("exited", f"the evaluator cannot read its cases: {_last_line(ended.stderr)}")
    if said is not None and ended.exit_code != 0:
        return _exception(evidence, *said)
    return Verdict(
        "exited", f"the evaluator ended with exit code {ended.exit_code} and without a verdict, {evidence.where}"
    )


def _exception(evidence: Evidence, kind: str, message: str) -> Verdict:
    task, stderr = evidence.task, evidence.ended.stderr
    name = task.submission_name
    plain = kind.rpartition(".")[2]
    missing = _NO_MODULE.search(message)
    if plain == "ModuleNotFoundError" and missing:
        return Verdict("crashed", f"{_importer(task, stderr)} imports {missing[1]}, which is not installed here")
    if _NO_ENTRY.search(message) and name.removesuffix(".py") in message:
        return Verdict("crashed", f"{name} defines no custom_kernel")
    at = evidence.line(stderr)
    if not at and _ARITY.search(message):
        defined = re.search(r"^def custom_kernel\b", evidence.source, re.MULTILINE)
        at = f" at {name}:{evidence.source.count(chr(10), 0, defined.start()) + 1}" if defined else ""
    said = _one_sentence(plain, message)
    # The shipped evaluator's own words about the file need no type in front.
    subject = said if said.startswith(name) else f"{plain}: {said}"
    return Verdict("crashed", f"{subject}{at}, {evidence.where}")


def _one_sentence(kind: str, message: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    if not lines:
        return "no message"
    # Triton's compiler puts the source in the middle and the reason at the end.
    return f"{lines[0]} {lines[-1]}" if kind == "CompilationError" and len(lines) > 1 else lines[0]


def _last_error(stderr: str) -> tuple[str, str] | None:
    """Type and message of the last exception that a traceback in `stderr` ends with; ignored ones left out."""
    before, *blocks = stderr.split(_TRACEBACK)
    found = None
    for block in blocks:
        ignored = before.rstrip().rpartition("\n")[2].startswith("Exception ignored")
        before = block
        # A traceback quoted in another ends with a line of three quotes.
        body = block.partition('\n"""\n')[0].partition("\n\nThe above exception")[0].partition("\n\nDuring handling")[0]
        raised: list[str] = []
        for line in body.splitlines():
            if raised or not line.startswith(" "):
                raised.append(line)
        match = _RAISED.search("\n".join(raised).strip())
        if match and not ignored:
            found = match["type"], (match["said"] or "").strip()
    return found


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it does not say why"


def _importer(task: Task, stderr: str) -> str:
    """Which of the evaluator's files has the import that failed: the innermost of the first traceback about it."""
    before = stderr.partition("ModuleNotFoundError: No module named")[0]
    frames = [path.rpartition("/")[2] for path in re.findall(r'File "([^"]+)", line \d+', before)]
    own = [name for name in frames if name in task.files]
    if not own:
        return "the evaluator"
    return own[-1] if own[-1] == task.submission_name else f"the task's {own[-1]}"


def worker_ended(ended: Ended) -> bool:
    """Whether a worker process ended by itself, by an exit and not of a signal."""
    if ended.worker_exit_code is None:
        return BROKEN_POOL in ended.stderr
    return ended.worker_exit_code >= 0


def read_probe(results: Mapping[str, str], exit_code: int | None) -> ImportProbe:
    """What import_probe.py said; nothing at all means that the import ended the process."""
    if "exit" in results:
        line = results.get("line", "")
        return ImportProbe(True, results["exit"], int(line) if line.isdecimal() else None)
    return ImportProbe("imported" not in results and exit_code is not None and exit_code != 1, str(exit_code))
