"""Two inspections side by side, kept in the history and shown by `mxsub diff`."""

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mxsub.cli import main
from mxsub.submit.history import History
from mxsub.submit.inspect.calls import Call
from mxsub.submit.inspect.side_by_side import side_by_side
from tests.inspect.conftest import Counter

COPY = "global_load_dword v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\nglobal_store_dword v1, v2, s[6:7]"
NOW = datetime(2026, 12, 7, 12, tzinfo=UTC)
SHAPE = "4x2880x512"
CASE = {"m": 4, "n": 2880, "k": 512}


@pytest.fixture
def content(counter: Counter) -> Any:
    """A function: instructions to a call that launches them as one kernel, with or without an estimate."""

    def make(*texts: str, timed: bool = False, kernel: str = "gemm", torch: dict[str, int] | None = None) -> Any:
        launches = []
        for number, text in enumerate(texts):
            notes = counter.run(text, lds_bytes=4096).notes()
            launch = {"kernel": f"{kernel}_{number}", "grid": [1, 1, 1], "counts": notes["counts"], "findings": []}
            launches.append(launch | ({"timing": notes["timing"]} if timed else {}))
        estimate = {"likely": 9.0 + len(texts), "fast": 8.0, "slow": 12.0} if timed else None
        return Call(SHAPE, CASE, launches, torch or {}, estimate).to_dict()

    return make


def figures(old: Any, new: Any) -> dict[tuple[str, str], tuple[Any, Any]]:
    compared = side_by_side({SHAPE: old}, {SHAPE: new})
    return {(change.kernel, change.figure): (change.old, change.new) for change in compared.changes}


def test_nothing_differs(content: Any) -> None:
    compared = side_by_side({SHAPE: content(COPY)}, {SHAPE: content(COPY), "1x1x1": content(COPY)})
    assert (compared.shapes, compared.same, compared.only) == ((SHAPE,), (SHAPE,), ("1x1x1",))
    assert compared.changes == compared.findings == ()


def test_what_differs(content: Any) -> None:
    found = figures(content(COPY), content(f"{COPY}\nds_write_b32 v1, v2\nds_write_b32 v1, v2 offset:256"))
    assert found == {
        ("gemm_0", "executed LDS"): (0, 2),
        ("gemm_0", "LDS written"): (0, 512),
        ("gemm_0", "LDS cycles"): (0, 4),
    }


def test_an_estimate_is_compared_where_both_have_one(content: Any) -> None:
    slower = COPY.replace("\nglobal_store", "\nv_exp_f32_e32 v2, v2" * 50 + "\nglobal_store")
    assert not [key for key in figures(content(COPY, timed=True), content(slower)) if key[1] == "estimated"]
    both = figures(content(COPY, timed=True), content(slower, COPY, timed=True))
    old, new = both["gemm_0", "estimated"]
    assert new - old == pytest.approx(50 * 16 / 2.4e3, rel=1e-3)
    assert both["", "estimated"] == (10.0, 11.0)


def test_kernels_that_came_went_or_were_renamed(content: Any) -> None:
    assert ("gemm_0 -> other_0", "executed vector") in figures(
        content(COPY), content(f"{COPY}\nv_mov_b32_e32 v3, v2", kernel="other")
    )
    gone = figures(content(COPY, COPY), content(COPY))
    assert gone["gemm_1 -> none", "workgroups"] == (1, None)
    assert all(kernel == "gemm_1 -> none" for kernel, _ in gone)


def test_findings_of_one_side(content: Any) -> None:
    off = f"s_mov_b64 exec, 1\n{COPY}"
    compared = side_by_side({SHAPE: content(COPY, torch={"zeros": 1})}, {SHAPE: content(off)})
    sides = {(is_new, sentence.partition(":")[0].partition(" of ")[0]) for _, _, sentence, is_new in compared.findings}
    assert sides == {(False, "calls operations"), (True, "only 2%")}


def test_conversions_are_counted_against_the_activations(content: Any) -> None:
    convert = "v_mov_b32_e32 v2, 0\nv_mov_b32_e32 v3, 0x3f800000"
    few = content(convert + "\nv_cvt_scalef32_pk_fp4_f32 v2, v3, v3, v3" * 16)
    many = content(convert + "\nv_cvt_scalef32_pk_fp4_f32 v2, v3, v3, v3" * 48)
    assert few["findings"] == []  # 2,048 values, once each
    assert [finding["kind"] for finding in many["findings"]] == ["redundant conversions"]
    assert "converts 6,144 values to fp4 where A has m x k = 2,048: each 3.0 times" in many["findings"][0]["sentence"]


def keep(history: History, sha256: str, content: Any, minute: int = 0, shape: str = SHAPE) -> None:
    history.inspections.record(
        sha256, shape=shape, gpu="MI355X", made=NOW + timedelta(minutes=minute), mxsub="0.1.0", triton="3.6.0",
        content=content,
    )  # fmt: skip


def test_the_latest_of_a_shape_is_kept(tmp_path: Path) -> None:
    with History.open(tmp_path) as history:
        sha256 = history.versions.record("a").sha256
        keep(history, sha256, {"launches": [1]})
        keep(history, sha256, {"launches": [2]}, 1, "2x64x64")
        keep(history, sha256, {"launches": [3]}, 2)
        found = history.inspections.of(sha256)
        assert {shape: record.content["launches"] for shape, record in found.items()} == {"2x64x64": [2], SHAPE: [3]}
        assert (found[SHAPE].gpu, found[SHAPE].triton, found[SHAPE].made) == (
            "MI355X", "3.6.0", NOW + timedelta(minutes=2),
        )  # fmt: skip
        assert history.inspections.of("0" * 64) == {}


@pytest.fixture
def project(tmp_path: Path, content: Any) -> Path:
    """Two tagged versions, both inspected."""
    (tmp_path / "configs.yaml").write_text("")
    with History.open(tmp_path) as history:
        for tag, text in (("a", COPY), ("b", f"{COPY}\nds_write_b32 v1, v2")):
            version = history.versions.record(f"# {tag}\n", tag=tag)
            keep(history, version.sha256, content(text))
        history.versions.record("# c\n", tag="c")
    return tmp_path


def test_diff_shows_what_was_inspected(project: Path) -> None:
    told = CliRunner().invoke(main, ["diff", "a", "b", "--project", str(project)])
    assert told.exit_code == 0, told.output
    assert "as `mxsub inspect` last found it" in told.output
    assert [line.split() for line in told.output.splitlines() if "executed LDS" in line] == [
        [SHAPE, "gemm_0", "executed", "LDS", "0", "1"]
    ]
    found = json.loads(CliRunner().invoke(main, ["diff", "a", "b", "--json", "--project", str(project)]).output)
    assert found["inspected"]["shapes"] == [SHAPE]
    assert {entry["figure"] for entry in found["inspected"]["figures"]} == {"executed LDS", "LDS written", "LDS cycles"}


def test_diff_of_versions_that_were_not_both_inspected(project: Path) -> None:
    told = CliRunner().invoke(main, ["diff", "a", "c", "--json", "--project", str(project)])
    assert json.loads(told.output)["inspected"] is None
    assert "inspect" not in CliRunner().invoke(main, ["diff", "a", "c", "--project", str(project)]).output


def test_diff_stays_light(project: Path) -> None:
    """It imports neither what runs kernels nor what reads projects."""
    script = (
        "import sys\nfrom mxsub.cli import main\n"
        f"try: main(['diff', 'a', 'b', '--project', {str(project)!r}])\n"
        "except SystemExit: pass\n"
        "print(sorted({'torch', 'triton', 'numpy', 'pydantic', 'ruamel.yaml', 'requests'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"
    assert "executed LDS" in ran.stdout
