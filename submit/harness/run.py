"""Runs a task's evaluator over a submission and says how it went."""

import json
import os
import random
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mxsub import virtual
from mxsub.submit.errors import UsageError
from mxsub.submit.harness.case import Case, case_line
from mxsub.submit.harness.device import Device
from mxsub.submit.harness.explain_end import Evidence, ImportProbe, explain_end, read_probe, worker_ended
from mxsub.submit.harness.process import run_process
from mxsub.submit.harness.result import (
    Emulation,
    KernelCounts,
    KernelFinding,
    Run,
    SeedSummary,
    case_results,
    parse_results,
)
from mxsub.submit.harness.task import Task

Progress = Callable[[str, int, int | None], None]
LARGEST_SEED = 2**31 - 1
IMPORT_PROBE = Path(__file__).with_name("import_probe.py")
IMPORT_SECONDS = 120.0
# Takes the place of the task's evaluator where only a sample of each launch runs.
SAMPLED_EVALUATOR = Path(__file__).with_name("sampled_evaluator.py")


@dataclass(frozen=True)
class Watch:
    """What is asked of a virtual device besides running. sanitizers: names of `--sanitize`; sample: about how many
    workgroups of each launch run, None for all."""

    sanitizers: tuple[str, ...] = ()
    sample: int | None = None

    @property
    def watchers(self) -> tuple[str, ...]:
        """A sample has to know what it has not written."""
        names = self.sanitizers if self.sample is None else (*self.sanitizers, "init")
        return tuple(dict.fromkeys(names))


NOT_WATCHED = Watch()


def run(
    submission: bytes,
    task: Task,
    device: Device,
    mode: str,
    *,
    seeds: int = 0,
    cases: Iterable[Case] | None = None,
    timeout: float | None = None,
    on_progress: Progress | None = None,
    watch: Watch = NOT_WATCHED,
) -> Run:
    """Runs the evaluator of a task in a mode: test, benchmark, leaderboard or profile.

    cases: instead of the mode's own. timeout: seconds, instead of the task's. seeds: before that, every case is
    checked on so many fresh seeds; if one fails there, the run is failed and the mode itself is not run.
    on_progress: called with what is being done, how many cases are done, and how many there are; perhaps from another
    thread. watch: of a virtual device, what its sanitizers look for, and how much of each launch runs.
    Raises UsageError where the mode has no cases, or where they have no seed and `seeds` asks for some.
    """
    chosen = tuple(task.cases(mode) if cases is None else cases)
    if not chosen:
        raise UsageError(f"the task '{task.name}' has no cases for the mode {mode}")
    limit = timeout or task.timeouts[mode]
    summary = None
    if seeds:
        if any("seed" not in case for case in chosen):
            raise UsageError(f"the cases of the task '{task.name}' have no seed", "Leave --seeds out.")
        fresh = tuple(random.SystemRandom().randrange(1, LARGEST_SEED) for _ in range(seeds))
        checks = [{**case, "seed": seed} for case in chosen for seed in fresh]
        checked = _evaluate(
            submission, task, device, "test", checks, timeout or task.timeouts["test"] * seeds, on_progress, watch
        )
        summary = _seed_summary(fresh, checked)
        if not checked.passed:
            return replace(checked, seeds=summary)
    ran = _evaluate(submission, task, device, mode, chosen, limit, on_progress, watch)
    return replace(ran, seeds=summary)


def _evaluate(
    submission: bytes,
    task: Task,
    device: Device,
    mode: str,
    cases: Iterable[Case],
    timeout: float,
    on_progress: Progress | None,
    watch: Watch,
) -> Run:
    cases = tuple(cases)
    with tempfile.TemporaryDirectory(prefix="mxsub-") as scratch:
        folder = Path(scratch) / "evaluator"
        assemble(folder, task, submission)
        case_file = Path(scratch) / "cases.txt"
        case_file.write_text("".join(f"{case_line(case)}\n" for case in cases))
        log = Path(scratch) / "virtual.log"
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        if device.virtual:
            environment.update(virtual.environment(log, watch.watchers, watch.sample))
        if watch.sample is not None:
            shutil.copyfile(SAMPLED_EVALUATOR, folder / SAMPLED_EVALUATOR.name)
        ended = run_process(
            [SAMPLED_EVALUATOR.name if watch.sample is not None else task.main, mode, str(case_file)],
            folder,
            environment,
            timeout,
            Path(scratch) / "notes",
            reporter(mode, len(cases), on_progress),
        )
        results = parse_results(ended.results)
        found = case_results(results, mode)
        # One that ended before its first answer may have done so in the submission's import.
        early = worker_ended(ended) and not any(case.status for case in found)
        probe = _probe_import(task, folder, environment) if early else None
        entries = log_entries(log)
    evidence = Evidence(
        task=task,
        ended=ended,
        cases=found,
        check=results.get("check", ""),
        expected=len(cases),
        timeout=timeout,
        faults=[str(entry["message"]) for entry in entries if entry["event"] == "fault"],
        probe=probe,
        source=submission.decode("utf-8", "replace"),
    )
    verdict = explain_end(evidence)
    return Run(
        mode=mode,
        device=device,
        outcome=verdict.outcome,
        error=verdict.sentence,
        cases=found,
        expected=len(cases),
        exit_code=ended.exit_code,
        signal="" if ended.reason == "timeout" else ended.signal,
        duration=ended.seconds,
        stdout=ended.stdout,
        stderr=ended.stderr,
        emulation=_emulation(entries) if device.virtual else None,
        results=results,
    )


def _probe_import(task: Task, folder: Path, environment: Mapping[str, str]) -> ImportProbe:
    """Imports the submission by itself, as the runner does first of all."""
    module = Path(task.submission_name).stem
    ended = run_process([str(IMPORT_PROBE), module], folder, environment, IMPORT_SECONDS, folder.parent / "probe_notes")
    return read_probe(parse_results(ended.results), ended.exit_code)


def assemble(folder: Path, task: Task, submission: bytes) -> None:
    """The evaluator's folder: the task's files, and the submission under its name."""
    folder.mkdir()
    for name, source in task.files.items():
        if source is None:
            (folder / name).write_bytes(submission)
        else:
            shutil.copyfile(source, folder / name)


def reporter(mode: str, expected: int, on_progress: Progress | None) -> Callable[[str], None] | None:
    """Turns result lines into progress: a spec says what starts, or in leaderboard mode what has ended."""
    if on_progress is None:
        return None
    on_progress(f"{mode}: starting", 0, expected)
    finished = 0

    def on_result(line: str) -> None:
        nonlocal finished
        key, _, value = line.partition(":")
        if key.endswith(".spec"):
            on_progress(f"{mode}: {value.strip()}", finished, expected)
        elif key.endswith((".status", ".worst", ".report")):
            finished += 1
            on_progress(f"{mode}", finished, expected)

    return on_result


def log_entries(log: Path) -> list[dict[str, Any]]:
    try:
        lines = log.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    return [json.loads(line) for line in lines if line.endswith("}")]


def _emulation(entries: list[dict[str, Any]]) -> Emulation:
    launches = [entry for entry in entries if entry["event"] == "launch"]
    executed: dict[str, Counter[str]] = {}
    for entry in launches:
        executed.setdefault(entry["kernel"], Counter()).update(entry["wave_instructions"])
    times = Counter(entry["kernel"] for entry in launches)
    return Emulation(
        launches=len(launches),
        wave_instructions=sum(sum(counts.values()) for counts in executed.values()),
        seconds=sum(entry["seconds"] for entry in launches),
        findings=_findings(entries),
        kernels=tuple(KernelCounts(kernel, times[kernel], dict(counts)) for kernel, counts in executed.items()),
    )


def _findings(entries: list[dict[str, Any]]) -> tuple[KernelFinding, ...]:
    """Of each kernel's instruction the first finding of a kind, counted over all launches, and what torch has read."""
    found: dict[tuple[str, ...], KernelFinding] = {}
    for entry in entries:
        if entry["event"] == "finding":
            contents = [{key: value for key, value in entry.items() if key not in ("event", "kernel")}]
        else:
            contents = entry.get("findings", [])
        for content in contents:
            finding = KernelFinding(entry["kernel"], **content)
            key = (finding.kernel, finding.sanitizer, finding.source, finding.instruction, _kind(finding.sentence))
            known = found.get(key)
            found[key] = finding if known is None else replace(known, count=known.count + finding.count)
    return tuple(found.values())


def _kind(sentence: str) -> str:
    """A finding's sentence without its numbers, which change from launch to launch."""
    return re.sub(r"\d", "", sentence)


def _seed_summary(seeds: tuple[int, ...], checked: Run) -> SeedSummary:
    margins = [case.margin for case in checked.cases if case.margin is not None]
    return SeedSummary(
        seeds=seeds,
        passed=sum(case.status == "pass" for case in checked.cases),
        total=checked.expected,
        worst_margin=max(margins) if margins else None,
        failed=tuple(case.spec for case in checked.cases if case.status != "pass"),
    )
