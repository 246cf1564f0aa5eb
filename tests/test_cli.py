"""The commands as a user types them: output, exit codes, one sentence for every mistake."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

MXSUB = [sys.executable, "-c", "from mxsub.cli import main; main()"]


def mxsub(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command and checks that no traceback is shown."""
    done = subprocess.run(
        [*MXSUB, *map(str, arguments)], capture_output=True, text=True, cwd=cwd, timeout=120, check=False
    )
    assert "Traceback" not in done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project made by `mxsub init`."""
    folder = tmp_path_factory.mktemp("user") / "project"
    done = mxsub("init", folder, cwd=folder.parent)
    assert done.returncode == 0
    assert sorted(path.name for path in folder.iterdir()) == ["configs.yaml", "kernels", "templates"]
    return folder


def test_init_overwrites_nothing(project: Path) -> None:
    before = (project / "configs.yaml").read_bytes()
    done = mxsub("init", project, cwd=project)
    assert done.returncode == 2
    assert "exists already" in done.stderr
    assert (project / "configs.yaml").read_bytes() == before


def test_build_is_deterministic_and_says_what_it_wrote(project: Path) -> None:
    first = json.loads(mxsub("build", "--json", "--tag", "one", cwd=project).stdout)
    again = json.loads(mxsub("build", "--json", cwd=project).stdout)
    assert (first["changed"], again["changed"]) == (True, False)
    assert first["sha256"] == again["sha256"]
    assert first["provenance"]["variant"] == "constexpr"
    assert (project / "submission.py").read_text() == mxsub("build", "-o", "-", cwd=project).stdout


def test_build_leaves_a_file_that_it_did_not_write(project: Path) -> None:
    own = project / "mine.py"
    own.write_text("print('by hand')\n")
    done = mxsub("build", "-o", own, cwd=project)
    assert done.returncode == 2
    assert "mine.py holds a text that no `mxsub build` wrote, and is left as it is" in done.stderr
    assert own.read_text() == "print('by hand')\n"
    assert mxsub("build", "-o", own, "--force", cwd=project).returncode == 0
    assert "custom_kernel" in own.read_text()


def test_lint_accepts_what_build_writes(project: Path) -> None:
    mxsub("build", "-o", "linted.py", cwd=project)
    done = mxsub("lint", "linted.py", cwd=project)
    assert done.returncode == 0
    assert done.stdout == "linted.py: 0 errors, 0 warnings: the service would accept it\n"


def test_lint_refuses_with_places(project: Path) -> None:
    (project / "bad.py").write_text("#!POPCORN leaderboard amd-mxfp4-mm\n#!POPCORN gpu MI355X\n\nx = 'upstream'\n")
    done = mxsub("lint", "bad.py", cwd=project)
    assert done.returncode == 1
    assert "bad.py:4:8: MX001" in done.stdout
    content = json.loads(mxsub("lint", "--json", "bad.py", cwd=project).stdout)
    assert not content["accepted"]
    assert {finding["rule"] for finding in content["findings"]} >= {"MX001", "MX021"}


def test_explain(project: Path) -> None:
    assert "MX001" in mxsub("explain", cwd=project).stdout
    assert "banned-word" in mxsub("explain", "MX001", cwd=project).stdout
    unknown = mxsub("explain", "MX999", cwd=project)
    assert unknown.returncode == 2
    assert "MX999" in unknown.stderr


def test_diff_of_two_tags(project: Path) -> None:
    mxsub("build", "--tag", "before", cwd=project)
    configs = project / "configs.yaml"
    text = configs.read_text()
    changed = text.replace("{m: 32, n: 4096, k: 512, BLOCK_SIZE_N: 32}", "{m: 32, n: 4096, k: 512, BLOCK_SIZE_N: 64}")
    assert changed != text
    configs.write_text(changed)
    try:
        mxsub("build", "--tag", "after", cwd=project)
    finally:
        configs.write_text(text)
    shown = mxsub("diff", "before", "after", cwd=project)
    assert shown.returncode == 0
    row = next(line.split() for line in shown.stdout.splitlines() if line.startswith("32x4096x512"))
    assert row == ["32x4096x512", "BLOCK_SIZE_N", "32", "64"]
    assert "unchanged lines" in shown.stdout
    content = json.loads(mxsub("diff", "--json", "before", "after", cwd=project).stdout)
    assert [(c["shape"], c["key"], c["old"], c["new"]) for c in content["configs"]] == [
        ("32x4096x512", "BLOCK_SIZE_N", 32, 64)
    ]


def test_diff_of_the_two_variants(project: Path) -> None:
    for variant in ("constexpr", "runtime"):
        mxsub("build", "--variant", variant, "-o", f"{variant}.py", cwd=project)
    content = json.loads(mxsub("diff", "--json", "runtime.py", "constexpr.py", cwd=project).stdout)
    assert [(c["shape"], c["key"], c["old"], c["new"]) for c in content["configs"]] == [
        ("4x2880x512", "BLOCK_SIZE_K", 256, 512)
    ]
    assert content["added"] > 50


def test_diff_of_an_unknown_version(project: Path) -> None:
    mxsub("build", "-o", "known.py", cwd=project)
    done = mxsub("diff", "known.py", "nothing-like-it", cwd=project)
    assert done.returncode == 2
    assert "nothing-like-it" in done.stderr


def test_doctor(project: Path) -> None:
    done = mxsub("doctor", "--json", cwd=project)
    assert done.returncode == 0
    content = json.loads(done.stdout)
    states = {check["name"]: check["state"] for check in content["checks"]}
    assert states["variant constexpr"] == "ok"
    assert states["triton"] == "ok"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("test", "--gpu", "MI9000"), "unknown GPU 'MI9000'"),
        (("test", "--gpu", "A100"), "this machine has no A100"),
        (("test", "--shape", "16,2112"), "'16,2112' is no shape"),
        (("test", "--shape", "16,2100,7168"), "n is 2100, and must be a multiple of 64"),
        (("build", "--variant", "fancy"), "there is no variant 'fancy'"),
        (("test", "nowhere.py"), "nowhere.py"),
        (("test", "--mode", "warp"), "warp"),
        (("build", "-o", "/proc/no/such.py"), "cannot be written"),
    ],
)
def test_mistakes(project: Path, arguments: tuple[str, ...], sentence: str) -> None:
    done = mxsub(*arguments, cwd=project)
    assert done.returncode in (2, 3)
    assert sentence in done.stderr
    assert done.stdout == ""


def test_a_yaml_with_a_tab(tmp_path: Path) -> None:
    (tmp_path / "configs.yaml").write_text("leaderboard: amd-mxfp4-mm\n\tgpu: MI355X\n")
    done = mxsub("build", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "error: configs.yaml:2:1: a tab, which YAML does not allow here\nIndent with blanks.\n"


def test_a_block_that_does_not_divide_k_needs_tail_handling(project: Path, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    mxsub("init", folder, cwd=tmp_path)
    kernel = folder / "kernels" / "gemm_direct_constexpr.py"
    kernel.write_text(kernel.read_text().replace('"k_tail": "masked"', '"k_tail": "dropped"'))
    configs = folder / "configs.yaml"
    configs.write_text(configs.read_text().replace("n: 3072, k: 1536, BLOCK_SIZE_N: 32", "n: 3072, k: 1600"))
    done = mxsub("build", cwd=folder)
    assert done.returncode == 2
    assert "BLOCK_SIZE_K 256 does not divide K 1600" in done.stderr
    assert "the last 64 of K would be dropped for 16x3072x1600" in done.stderr


def test_a_task_folder_with_a_missing_file(project: Path, tmp_path: Path) -> None:
    (tmp_path / "task.yml").write_text(
        "files:\n"
        "  - {name: submission.py, source: '@SUBMISSION@'}\n"
        "  - {name: eval.py, source: eval.py}\n"
        "config: {main: eval.py}\n"
    )
    done = mxsub("test", "--task", tmp_path, cwd=project)
    assert done.returncode == 2
    assert "task.yml:3:5: the file 'eval.py' is not in" in done.stderr
