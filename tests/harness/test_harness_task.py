"""Problem folders: what is read from them, and what is said of broken ones."""

from pathlib import Path

import pytest
from evaluators import TASK_YML, make_task

from mxsub.submit.errors import UsageError
from mxsub.submit.harness.case import case_line, parse_case
from mxsub.submit.harness.task import load_task, shipped_task


def test_the_shipped_task() -> None:
    task = shipped_task("amd-mxfp4-mm")
    assert (task.name, task.main, task.submission_name) == ("amd-mxfp4-mm", "eval.py", "submission.py")
    assert list(task.files) == ["submission.py", "task.py", "utils.py", "reference.py", "eval.py"]
    assert task.timeouts == {"test": 420, "benchmark": 420, "profile": 420, "leaderboard": 600}
    assert task.ranking_by == "geom"
    assert [case_line(case) for case in task.cases("test")] == [
        "m: 8; n: 2112; k: 7168; seed: 124",
        "m: 16; n: 3072; k: 1536; seed: 6635",
        "m: 64; n: 3072; k: 1536; seed: 45",
        "m: 256; n: 2880; k: 512; seed: 78",
    ]
    assert [tuple(case.values()) for case in task.cases("leaderboard")] == [
        (4, 2880, 512, 4565),
        (16, 2112, 7168, 15),
        (32, 4096, 512, 457),
        (32, 2880, 512, 54),
        (64, 7168, 2048, 687),
        (256, 3072, 1536, 7856),
    ]


def test_a_task_that_is_not_shipped() -> None:
    with pytest.raises(UsageError) as caught:
        shipped_task("amd-mla")
    assert (caught.value.message, caught.value.hint) == (
        "mxsub ships no task 'amd-mla'",
        "It ships amd-mxfp4-mm; name a problem folder with --task DIR.",
    )


def test_ranking_by_last_runs_the_last_benchmark_only(tmp_path: Path) -> None:
    task_yml = TASK_YML.replace("geom", "last").replace("benchmarks:\n", "benchmarks:\n  - {m: 9, seed: 1}\n")
    task = make_task(tmp_path / "toy", task_yml=task_yml)
    assert task.cases("benchmark") == ({"m": 3, "n": 64, "k": 32, "seed": 7},)
    assert len(task.cases("test")) == 2


def test_shared_files_lie_in_the_folder_above(tmp_path: Path) -> None:
    make_task(tmp_path / "toy")
    shared = tmp_path / "eval.py"
    (tmp_path / "toy" / "eval.py").rename(shared)
    assert load_task(tmp_path / "toy").files["eval.py"] == shared
    (tmp_path / "toy" / "task.yml").write_text(TASK_YML.replace("source: eval.py", "source: ../eval.py"))
    assert load_task(tmp_path / "toy").files["eval.py"] is not None


def test_keys_that_mxsub_has_no_use_for(tmp_path: Path) -> None:
    task_yml = TASK_YML + "description: |\n  Many\n  lines.\ntemplates: {Python: template.py}\nmulti_gpu: false\n"
    task = make_task(tmp_path / "toy", task_yml=task_yml)
    assert task.timeouts == {"test": 30, "benchmark": 40, "profile": 40, "leaderboard": 50}


BROKEN = {
    "tab": (
        TASK_YML.replace("  - {m: 3", "\t- {m: 3"),
        "task.yml:11:1: a tab, which YAML does not allow here",
    ),
    "missing file": (
        TASK_YML.replace("source: reference.py", "source: gone.py"),
        "task.yml:4:5: the file 'gone.py' is not in toy",
    ),
    "no submission": (
        TASK_YML.replace('"@SUBMISSION@"', "reference.py"),
        "task.yml:3:3: no file has the source @SUBMISSION@",
    ),
    "main": (TASK_YML.replace("main: eval.py", "main: evil.py"), "task.yml:6:16: 'evil.py' is not among the files"),
    "no files": ("lang: py\nconfig: {main: eval.py}\n", "task.yml:1:1: the key 'files' is missing here"),
    "another language": (
        TASK_YML.replace("lang: py", "lang: cu"),
        "task.yml:1:7: lang is 'cu': input should be 'py'",
    ),
    "float in a case": (
        TASK_YML.replace("m: 3", "m: 3.5"),
        "task.yml:11:9: m is 3.5 in a case",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_task_files(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text, message = BROKEN[name]
    with pytest.raises(UsageError) as caught:
        make_task(Path("toy"), task_yml=text)
    assert caught.value.message == f"toy/{message}"


def test_no_task_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "toy").mkdir()
    with pytest.raises(UsageError, match=r"^toy is no problem folder: it has no task\.yml$"):
        load_task(Path("toy"))


def test_case_lines_read_back() -> None:
    case = {"m": 8, "causal": True, "kind": "bf16", "offset": -3}
    assert case_line(case) == "m: 8; causal: true; kind: bf16; offset: -3"
    assert parse_case(case_line(case)) == case
    assert parse_case(" k: 7168; m: 8; ") == {"m": 8, "k": 7168}
