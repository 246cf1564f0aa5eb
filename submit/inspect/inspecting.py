"""Inspects a file, a recorded version or a rendered variant: runs one call a shape on the virtual GPU and counts."""

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from mxsub import __version__, virtual
from mxsub.submit.errors import MxsubError
from mxsub.submit.harness.case import Case, case_line
from mxsub.submit.harness.device import twin_of
from mxsub.submit.harness.explain_end import Evidence, explain_end
from mxsub.submit.harness.process import run_process
from mxsub.submit.harness.result import CaseResult, case_results, parse_results
from mxsub.submit.harness.run import Progress, assemble, log_entries, reporter
from mxsub.submit.harness.task import Task
from mxsub.submit.history import History
from mxsub.submit.history.codec import now
from mxsub.submit.inspect.calls import Call
from mxsub.submit.packages import installed
from mxsub.submit.recording import record_text
from mxsub.submit.source import Source, source_of
from mxsub.submit.trial import RunRequest, cases_for, task_for
from mxsub.virtual.inspection.timing.figures import ENDS, TABLE

COUNTED_CALLS = Path(__file__).with_name("counted_calls.py")
# What is kept of a launch's entry in the log.
_LAUNCH_KEYS = ("kernel", "grid", "waves", "counts", "timing", "findings")


@dataclass(frozen=True)
class InspectRequest:
    """named: a file or a recorded version. shapes: M,N,K texts; none: the benchmarks. time: estimate it as well.
    sample: about how many workgroups of each launch run. timeout: seconds, instead of the task's."""

    named: str | None = None
    folder: Path = Path()
    variant: str | None = None
    shapes: tuple[str, ...] = ()
    time: bool = False
    sample: int | None = None
    task_folder: Path | None = None
    timeout: float | None = None


@dataclass(frozen=True)
class Inspection:
    """triton: the version that compiled; runner_triton: the leaderboard's runner's."""

    source: Source = field(repr=False)
    made: datetime
    gpu: str
    triton: str
    runner_triton: str | None
    calls: tuple[Call, ...]

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.source.text).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        return {
            "file": self.source.label,
            "sha256": self.sha256,
            "gpu": self.gpu,
            "triton": self.triton,
            "runner_triton": self.runner_triton,
            "mxsub": __version__,
            "shapes": [call.to_dict() for call in self.calls],
        }


def inspect(request: InspectRequest, on_progress: Progress | None = None) -> Inspection:
    """Counts what one call a shape does.

    Always on the virtual MI355X, whatever the project's GPU is. Raises UsageError where there is no such text, task or
    case, EnvironmentProblem where what emulates is not installed, MxsubError where the submission fails.
    """
    source = source_of(request.named, request.folder, request.variant, virtual.GPU)
    twin = twin_of(source.gpu)
    like = RunRequest(task_folder=request.task_folder, mode="benchmark", shapes=request.shapes)
    task = task_for(like, source.project)
    cases = cases_for(task, like, source.project) or task.benchmarks or task.tests
    made = now()
    calls = _calls(source, task, cases, request, on_progress)
    return Inspection(
        source=source,
        made=made,
        gpu=twin.name,
        triton=installed("triton") or "none",
        runner_triton=source.project.runner.triton if source.project else None,
        calls=tuple(calls),
    )


def record(inspection: Inspection, history: History) -> None:
    """Keeps what was found of each shape, in place of what was found earlier."""
    version = record_text(history, inspection.source.text, inspection.source.submission)
    if version is None:
        return
    for call in inspection.calls:
        history.inspections.record(
            version.sha256,
            shape=call.shape,
            gpu=inspection.gpu,
            made=inspection.made,
            mxsub=__version__,
            triton=inspection.triton,
            content=call.to_dict(),
        )


def _calls(
    source: Source, task: Task, cases: Sequence[Case], request: InspectRequest, on_progress: Progress | None
) -> list[Call]:
    timeout = request.timeout or max(task.timeouts.values())
    with tempfile.TemporaryDirectory(prefix="mxsub-") as scratch:
        folder, log = Path(scratch) / "evaluator", Path(scratch) / "virtual.log"
        assemble(folder, task, source.text)
        listed = Path(scratch) / "cases.json"
        listed.write_text(json.dumps([(case_line(case), case) for case in cases]))
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        environment.update(virtual.environment(log, (), request.sample))
        watcher, module = "timing" if request.time else "counts", Path(task.submission_name).stem
        ended = run_process(
            [str(COUNTED_CALLS), watcher, str(listed), module],
            folder,
            environment,
            timeout,
            Path(scratch) / "notes",
            reporter("inspect", len(cases), on_progress),
        )
        entries = log_entries(log)
    results = parse_results(ended.results)
    found = case_results(results, "test")
    verdict = explain_end(
        Evidence(
            task=task,
            ended=ended,
            cases=found,
            check=results.get("check", ""),
            expected=len(cases),
            timeout=timeout,
            faults=[str(entry["message"]) for entry in entries if entry["event"] == "fault"],
            source=source.text.decode("utf-8", "replace"),
        )
    )
    if verdict.sentence:
        raise MxsubError(f"{source.label}: {verdict.outcome}: {verdict.sentence}")
    launches = _launches_by_call(entries, len(found))
    return [
        _call(case, launches[number], json.loads(results.get(f"test.{number}.torch", "{}")), time=request.time)
        for number, case in enumerate(found)
    ]


def _launches_by_call(entries: list[dict[str, Any]], calls: int) -> list[list[dict[str, Any]]]:
    """The counted launches of each call: those after its own entry in the log."""
    launches: list[list[dict[str, Any]]] = [[] for _ in range(calls)]
    number = 0
    for entry in entries:
        if entry["event"] == "call":
            number = int(entry["number"])
        elif entry["event"] == "launch" and "counts" in entry:
            launches[number].append({key: entry[key] for key in _LAUNCH_KEYS if key in entry})
    return launches


def _call(case: CaseResult, launches: list[dict[str, Any]], torch: Mapping[str, int], *, time: bool) -> Call:
    estimated = _estimated(launches, sum(torch.values())) if time and launches else None
    return Call(case.shape, case.spec, launches, torch, estimated)


def _estimated(launches: list[dict[str, Any]], operations: int) -> dict[str, float]:
    """From the first event to the second: the launches one after the other. Of an operation of torch only that it is a
    launch more is known."""
    more = len(launches) - 1 + operations
    return {
        end: getattr(TABLE["first_launch"], end)
        + more * getattr(TABLE["next_launch"], end)
        + sum(launch["timing"]["estimated_us"][end] for launch in launches)
        for end in ENDS
    }
