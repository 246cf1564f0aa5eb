"""KernelGuard's verdicts: the same as its own, explained, placed, kept, and never waited for without end."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import kernelguard
import pytest

from mxsub.submit.lint import Finding, accepted, explain, lint
from mxsub.submit.lint.guard import Worker, judge
from mxsub.submit.lint.guard_patterns import PATTERNS

HEADER = "#!POPCORN leaderboard amd-mxfp4-mm\n#!POPCORN gpu MI355X\n"
PLAIN = HEADER + "def custom_kernel(data):\n    return compute(data[0])\n"

VIEW_CACHE = (
    HEADER
    + """\
import torch

_views = {}


def custom_kernel(data):
    # return cache[0] is what this does not do
    a = data[0]
    key = a.data_ptr()
    view_cache = _views
    if key in view_cache:
        return view_cache[key]
    out = torch.empty_like(a)
    view_cache[key] = out
    return out
"""
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "mxsub" / "kernelguard"


@pytest.fixture(scope="module")
def short_worker() -> Iterator[Worker]:
    worker = Worker(seconds=3)
    yield worker
    worker.close()


def of_guard(text: str) -> list[Finding]:
    findings = lint(text.encode())
    return [finding for finding in findings if finding.judge == "kernelguard"]


# One text for each way that KernelGuard answers: (pattern, filters, line of the text it is about, source)
MATCHED = [
    ("OUTPUT_REPLAY_CACHE", True, 14, VIEW_CACHE),
    ("TIMER_MONKEYPATCH", True, 5, PLAIN + "torch.cuda.Event = Quick\n"),
    ("TIMER_MONKEYPATCH", True, 6, PLAIN + "import time\ntime.perf_counter = lambda: 0.0\n"),
    ("FAKE_BENCHMARK_EMIT", True, 5, PLAIN + "builtins.print = say\n"),
    ("EVALUATOR_EXPLOIT", False, 5, PLAIN + "from __main__ import stats\n"),
    ("MODULE_MUTATION", True, 6, PLAIN + "import reference\nreference.check_implementation = None\n"),
    ("TRUSTED_MODULE_IMPORT", False, 6, PLAIN + "# import utils\nfrom utils import make_match_reference\n"),
    ("CODE_REPLACEMENT", True, 5, PLAIN + "check.__code__ = mine.__code__\n"),
    ("THREAD_INJECTION", False, 6, PLAIN + "import threading\nthreading.Thread(target=print).start()\n"),
    ("TORCH_COMPILE_CACHE", False, 6, PLAIN + "# torch.compile(f)\nfast = torch.compile(slow)\n"),
    ("SILENT_FALLBACK", False, 7, PLAIN + "try:\n    go()\nexcept Exception: out = torch.matmul(a, b)\n"),
    ("STDIO_REDIRECT", False, 6, PLAIN + "import sys\nsys.stdout = quiet\n"),
    ("DYNAMIC_EXECUTION", False, 5, PLAIN + "exec(open('x').read())\n"),
    ("RUNTIME_PACKAGE_INSTALL", True, 5, PLAIN + "subprocess.check_call('pip install aiter')\n"),
    ("GLOBALS_ACCESS", False, 5, PLAIN + "names = compute.__globals__\n"),
    ("SYS_MODULES_ACCESS", False, 6, PLAIN + "import sys\nloaded = sys.modules\n"),
    ("CUDA_EVENT_DISABLE_TIMING", False, 5, PLAIN + "cpp = 'cudaEventDisableTiming'\n"),
    ("INPUT_PASSTHROUGH_OUTPUT", True, 2, "def custom_kernel(data):\n    return data.float()\n"),
    ("LAZY_TENSOR", False, 5, PLAIN + "class Later(torch.Tensor):\n    pass\n"),
    ("EVALUATOR_MODE_BRANCH", True, 7, PLAIN + "import sys\n\nif sys.argv[1] == 'leaderboard':\n    fast = True\n"),
    ("TOKEN_PASTE_CUDA_API", True, 7, PLAIN + 'cpp = """\n#define CAT(a, b) a##b\nCAT(cudaEv, entRecord)(e);\n"""\n'),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "filters", "line", "source"), MATCHED)
def test_matches_are_explained_at_their_line(pattern: str, filters: bool, line: int, source: str) -> None:
    about = [finding for finding in of_guard(source) if f"KernelGuard's {pattern} " in finding.message]
    assert [finding.line for finding in about][:1] == [line]
    assert about[0].severity == ("error" if filters else "warning")
    assert about[0].rule == ("MX030" if filters else "MX031")
    assert PATTERNS[pattern].meaning in about[0].message
    assert about[0].fix == PATTERNS[pattern].fix
    consequence = "the service would reject this before benchmark, profile and leaderboard runs, not before test"
    assert about[0].message.endswith(consequence) == filters


HONEST = [
    PLAIN,
    HEADER + "configs = {(16, 2112, 7168): dict(BLOCK_SIZE_M=16)}\ndef custom_kernel(data):\n    return run(data)\n",
    HEADER + "import functools\n\n@functools.cache\ndef runner(m, n, k):\n    return build(m, n, k)\n\n\n"
    "def custom_kernel(data):\n    return runner(*data[0].shape, 1)(data)\n",
    HEADER + "# torch.cuda.Event = Quick\n# builtins.print = say\ndef custom_kernel(data):\n    return go(data)\n",
]  # fmt: skip


@pytest.mark.parametrize("source", [source for *_, source in MATCHED] + HONEST)
def test_verdicts_are_kernelguards_own(source: str) -> None:
    expected = kernelguard.analyze_code(source)
    verdict = judge(source)
    assert (verdict.should_filter, verdict.classification) == (expected["should_filter"], expected["classification"])
    assert verdict.reason == (expected["filter_reason"] or "")
    assert [(match.pattern, match.severity, match.evidence) for match in verdict.matches] == [
        (match["pattern"], match["severity"], match["evidence"]) for match in expected["matched_patterns"]
    ]
    rejected = any(finding.rule == "MX030" for finding in of_guard(source))
    assert rejected == expected["should_filter"]
    assert len(of_guard(source)) == len(expected["matched_patterns"])


@pytest.mark.parametrize("source", HONEST)
def test_honest_code_has_no_match(source: str) -> None:
    assert of_guard(source) == []


def test_a_rejected_submission_is_not_accepted() -> None:
    assert not accepted(lint(VIEW_CACHE.encode()))
    assert accepted(lint(PLAIN.encode()))


def test_line_ends_are_translated_as_the_service_does() -> None:
    source = VIEW_CACHE.replace("\n", "\r\n")
    assert judge(source) == judge(VIEW_CACHE)
    (finding,) = [finding for finding in of_guard(source) if "OUTPUT_REPLAY_CACHE" in finding.message][:1]
    assert finding.line == 14


def test_every_code_pattern_of_kernelguard_has_words() -> None:
    registry = {
        name
        for name in kernelguard.RULE_REGISTRY
        if not name.startswith("SCORE_") and name not in kernelguard.ADMIN_PATTERNS
    }
    assert registry - set(PATTERNS) == set()
    for name, pattern in PATTERNS.items():
        assert name in explain("MX030")
        assert pattern.meaning
        assert pattern.fix.endswith(".")


def kept(cache: Path) -> list[Path]:
    return sorted(cache.rglob("*.json"))


def test_verdicts_are_kept_by_text_and_kernelguard(cache: Path) -> None:
    first = judge(VIEW_CACHE)
    (file,) = kept(cache)
    assert judge(VIEW_CACHE) == first
    changed = json.loads(file.read_text())
    changed["verdict"]["classification"] = "valid"
    file.write_text(json.dumps(changed))
    assert judge(VIEW_CACHE) == first, "an entry whose checksum is wrong is not believed"
    assert json.loads(file.read_text())["verdict"]["classification"] == first.classification
    judge(PLAIN)
    assert len(kept(cache)) == 2
    assert not list(cache.rglob("*.part"))


SPOILT = [b"", b"{", b"\xff\xfe", b"[]", b"null", b'{"text": 1}', b"[" * 100_000]


@pytest.mark.parametrize("content", SPOILT)
def test_a_spoilt_entry_costs_only_its_time(cache: Path, content: bytes) -> None:
    expected = judge(VIEW_CACHE)
    (file,) = kept(cache)
    file.write_bytes(content)
    assert judge(VIEW_CACHE) == expected
    assert json.loads(file.read_bytes())["verdict"]["should_filter"] is True


def test_an_entry_of_another_text_is_not_believed(cache: Path) -> None:
    judge(PLAIN)
    (plain,) = kept(cache)
    expected = judge(VIEW_CACHE)
    (other,) = [file for file in kept(cache) if file != plain]
    other.write_bytes(plain.read_bytes())
    assert judge(VIEW_CACHE) == expected


def test_a_cache_that_cannot_be_written_is_done_without(cache: Path) -> None:
    cache.parent.parent.mkdir()
    cache.parent.write_text("a file where the folder should be")
    assert judge(VIEW_CACHE).should_filter


@pytest.mark.slow
def test_a_text_that_takes_kernelguard_for_ever(short_worker: Worker) -> None:
    started = time.monotonic()
    verdict = short_worker.judge("a" * 60_000)
    assert 2.5 < time.monotonic() - started < 15
    assert verdict.failure == "KernelGuard does not finish within 3 seconds"
    assert verdict.about_text
    assert short_worker.judge(VIEW_CACHE).should_filter, "the next text gets a new process"


def test_a_text_on_which_kernelguard_fails(short_worker: Worker) -> None:
    deep = "x = " + "-" * 5_000 + "1\n"
    try:
        kernelguard.analyze_code(deep)
    except (RecursionError, MemoryError) as error:
        expected = f"KernelGuard itself fails with {type(error).__name__}"
        assert short_worker.judge(deep).failure == expected
        findings = of_guard(HEADER + deep)
        assert [(finding.rule, finding.severity) for finding in findings] == [("MX032", "error")]
        assert "the service then refuses all modes but test" in findings[0].message
    else:
        assert short_worker.judge(deep).failure == ""


def test_a_process_that_was_killed_is_replaced(short_worker: Worker) -> None:
    short_worker.judge(PLAIN)
    process = short_worker._process
    assert process is not None
    process.kill()
    process.wait()
    assert short_worker.judge(VIEW_CACHE).should_filter


def test_failures_are_not_kept(cache: Path) -> None:
    judge("x = " + "-" * 5_000 + "1\n")
    assert all("fails" not in file.read_text() for file in kept(cache))


@pytest.mark.slow
def test_the_process_ends_with_its_parent(cache: Path) -> None:
    code = (
        "from mxsub.submit.lint import guard\n"
        "guard.judge('x = 1')\n"
        "print(guard._worker._process.pid, flush=True)\n"
        "import os\n"
        "os._exit(9)\n"
    )
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    parent = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    pid = int(parent.stdout)
    until = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()
