"""The virtual MI355X in processes of its own: the scripts of virtual_device/, and the boot folder."""

import ast
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from mxsub import virtual

FOLDER = Path(__file__).parent / "virtual_device"
SCRIPTS = ("launching", "same_program", "faults", "argument_bytes", "tensors", "products", "unwritten")
# The scripts that run under a sanitizer.
WATCHERS = {"unwritten": "init"}
# Those that leave in Triton's cache what others cannot use: binaries without their assembly.
OWN_CACHE = {"same_program"}


def checks_of(script: str) -> list[str]:
    tree = ast.parse((FOLDER / f"{script}.py").read_text())
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("check_")]


def python(*arguments: str | Path, log: Path | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **virtual.environment(log), **variables}
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.fixture(scope="module")
def outcome_of(tmp_path_factory):
    """{check: "passed" or its traceback} of a script, which runs once: importing torch and Triton takes seconds."""

    @cache
    def outcome(script: str) -> dict[str, str]:
        scratch = tmp_path_factory.mktemp("virtual")
        variables = {"MXSUB_VIRTUAL_WATCH": WATCHERS.get(script, "")}
        if script in OWN_CACHE:
            variables["TRITON_CACHE_DIR"] = str(scratch / "cache")
        done = python(FOLDER / f"{script}.py", log=scratch / f"{script}.jsonl", **variables)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return outcome


@pytest.mark.slow
@pytest.mark.parametrize(("script", "check"), [(script, check) for script in SCRIPTS for check in checks_of(script)])
def test_on_the_virtual_device(outcome_of, script, check):
    assert outcome_of(script)[check] == "passed", outcome_of(script)[check]


def test_importing_the_package_imports_nothing_heavy():
    done = python("-c", "import sys, mxsub.virtual; print({'torch', 'triton', 'numpy'} & set(sys.modules))")
    assert done.stdout == "set()\n"


def test_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    variables = virtual.environment(tmp_path / "log.jsonl")
    assert variables == {
        "PYTHONPATH": f"{virtual.BOOT_FOLDER}{os.pathsep}/somewhere",
        "MXSUB_VIRTUAL_GPU": "MI355X",
        "MXSUB_VIRTUAL_LOG": str(tmp_path / "log.jsonl"),
    }
    monkeypatch.delenv("PYTHONPATH")
    assert virtual.environment() == {"PYTHONPATH": str(virtual.BOOT_FOLDER), "MXSUB_VIRTUAL_GPU": "MI355X"}
    watched = virtual.environment(watchers=["race", "init"], sample=64)
    assert (watched["MXSUB_VIRTUAL_WATCH"], watched["MXSUB_VIRTUAL_SAMPLE"]) == ("race,init", "64")


def test_a_process_without_torch_is_untouched():
    done = python(
        "-c", "import sys, json; print(sorted(m for m in sys.modules if m.split('.')[0] in ('torch', 'mxsub')))"
    )
    assert done.stdout == "[]\n"
    assert done.stderr == ""


def test_another_sitecustomize_is_still_run(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("print('mine')\n")
    path = os.pathsep.join([str(virtual.BOOT_FOLDER), str(tmp_path)])
    done = python("-c", "import sitecustomize; print(sitecustomize.__file__)", PYTHONPATH=path)
    assert done.stdout == f"mine\n{tmp_path / 'sitecustomize.py'}\n"


def test_without_the_variable_there_is_no_virtual_device():
    done = python("-c", "import sys; print([type(f).__name__ for f in sys.meta_path])", MXSUB_VIRTUAL_GPU="")
    assert "FirstImport" not in done.stdout
    assert done.returncode == 0


@pytest.mark.slow
def test_an_interpreter_that_knows_no_mxsub_has_the_device_too(tmp_path):
    """The boot folder finds the package beside itself; torch and Triton come from where they are."""
    torch_at = Path(subprocess.check_output([sys.executable, "-c", "import torch; print(torch.__file__)"], text=True))
    packages = torch_at.parents[1]
    path = os.pathsep.join([str(virtual.BOOT_FOLDER), str(packages)])
    code = (
        "import sys, importlib.util; importlib.util.find_spec('torch'); import torch; "
        "print(torch.cuda.get_device_name(), sys.modules['mxsub'].__path__, 'triton' in sys.modules)"
    )
    done = subprocess.run(
        [Path(sys.base_prefix) / "bin" / "python3", "-c", code],
        env={**os.environ, **virtual.environment(), "PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    root = Path(virtual.__file__).parents[1]
    assert done.stdout == f"AMD Instinct MI355X (virtual) ['{root}'] False\n", done.stderr


@pytest.mark.slow
def test_spawned_workers_have_the_device_and_their_errors_come_back(tmp_path):
    script = tmp_path / "pool.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(FOLDER)!r})\n"
        "import multiprocessing\n"
        "def work(shift):\n"
        "    import torch, toy_kernels\n"
        "    source, out = torch.ones(64, device='cuda'), torch.zeros(64, device='cuda')\n"
        "    toy_kernels.past_the_end[(1,)](source, out, shift, BLOCK=64)\n"
        "    return out.sum().item()\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(pool.apply(work, (0,)))\n"
        "        try:\n"
        "            pool.apply(work, (1000,))\n"
        "        except RuntimeError as error:\n"
        "            print(error)\n"
    )
    log = tmp_path / "log.jsonl"
    lines = python(script, log=log).stdout.splitlines()
    assert lines[0] == "64.0"
    assert lines[1].startswith("virtual MI355X: kernel past_the_end reads ")
    assert [json.loads(line)["event"] for line in log.read_text().splitlines()] == ["launch", "fault"]
