"""A history as JSON lines: all of it out, all or nothing in."""

import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from mxsub.cli import main
from mxsub.submit.history import History
from mxsub.submit.history.codec import now
from mxsub.submit.history.exporting import PARTS, TABLES
from tests.history_of_size import SERVICE, fill


@pytest.fixture
def full(tmp_path: Path) -> Path:
    folder = tmp_path / "full"
    folder.mkdir()
    fill(folder, versions=20, runs=40, submissions=9)
    return folder


@pytest.fixture
def other(tmp_path: Path) -> Path:
    folder = tmp_path / "other"
    folder.mkdir()
    fill(folder, versions=1, runs=1, submissions=0)
    return folder


def run(folder: Path, *arguments: object, typed: bytes | None = None) -> Result:
    words = ["history", *map(str, arguments), "--project", str(folder)]
    result = CliRunner().invoke(main, words, input=typed, prog_name="mxsub")
    assert result.exit_code in (0, 2, 3), result.output
    return result


def rows(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, without the numbers that each file gives by itself."""
    with sqlite3.connect(folder / ".mxsub" / "history.sqlite3") as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = {}
        for name in names:
            cursor = connection.execute(f"SELECT * FROM {name}")
            columns = [column[0] for column in cursor.description]
            found[name] = sorted(
                str([value for column, value in zip(columns, row, strict=True) if column not in ("id", "submission")])
                for row in cursor
            )
        return found  # type: ignore[return-value]


def exported(folder: Path, file: Path) -> list[dict[str, Any]]:
    assert run(folder, "export", file).exit_code == 0
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_every_table_is_exported(full: Path) -> None:
    known = {table for table, _ in TABLES.values()} | {part for parts in PARTS.values() for part in parts}
    assert set(rows(full)) == known


def test_out_and_in_is_the_same(full: Path, tmp_path: Path) -> None:
    file, empty = tmp_path / "all.jsonl", tmp_path / "empty"
    empty.mkdir()
    (empty / "configs.yaml").write_text("")
    with History.open(full) as history:
        sha256 = history.versions.entries(1)[0].sha256
        with history.file.write() as connection:
            connection.execute(
                "INSERT INTO sweeps VALUES ('s1', '2026-03-01T00:00:00.000000+00:00', 'x', 'y', 'b', 'g', 'v', "
                "'{\"a\":[1,2]}', '{}', '[]', NULL)"
            )
            connection.execute("INSERT INTO trials VALUES ('s1', 0, ?, '{\"4x2880x512\":{}}', 'u1')", (sha256,))
        history.inspections.record(
            sha256, shape="4x2880x512", gpu="g", made=now(), mxsub="1", triton="3.6.0", content={"launches": [1]}
        )
    told = run(full, "export", file, "--json")
    assert {kind: json.loads(told.stdout)[f"{kind}"] for kind in TABLES} == {
        "version": 20, "tag": 20, "lint": 20, "run": 40, "inspection": 1, "submission": 9, "sweep": 1,
    }  # fmt: skip
    first = run(empty, "import", file)
    assert "20 of 20 versions" in first.stdout
    assert exported(empty, tmp_path / "again.jsonl")[1:] == exported(full, file)[1:]
    before = rows(empty)
    assert run(empty, "import", file).stdout == "nothing in it is new here\n"
    assert rows(empty) == before


def test_standard_output_and_input(full: Path, other: Path) -> None:
    lines = run(full, "export").stdout_bytes
    assert json.loads(lines.splitlines()[0])["format"] == "mxsub history"
    assert run(other, "import", "-", typed=lines).exit_code == 0
    assert len(rows(other)["runs"]) == 41


def test_a_tag_that_means_another_version_stays(full: Path, other: Path, tmp_path: Path) -> None:
    """And what both have is joined: v0's text is the same in both."""
    with History.open(other) as history:
        mine = history.versions.record("def custom_kernel(data): ...\n", tag="v7").sha256
    exported(full, tmp_path / "a.jsonl")
    told = run(other, "import", tmp_path / "a.jsonl")
    assert "the tag v7 means another version here" in told.stderr
    with History.open(other) as history:
        assert history.versions.find("v7").sha256 == mine
        assert len(history.versions.entries()) == 21


def test_two_records_of_one_submission_are_joined(full: Path, other: Path, tmp_path: Path) -> None:
    """The one here is under way and has no text; the one there knows the verdict."""
    with History.open(full) as history:
        there = history.submissions.numbered(5)[0]
    with History.open(other) as history:
        history.submissions.add(
            [replace(there, uid="mine", sha256=None, state="accepted", verdict=None, geometric_mean=None, rank=3)]
        )
    exported(full, tmp_path / "a.jsonl")
    run(other, "import", tmp_path / "a.jsonl")
    with History.open(other) as history:
        (joined,) = history.submissions.numbered(5, SERVICE)
        assert (joined.uid, joined.state, joined.verdict) == ("mine", "finished", there.verdict)
        assert (joined.sha256, joined.geometric_mean) == (there.sha256, there.geometric_mean)
        assert [run.mode for run in history.submissions.results("mine")] == ["benchmark"]
        assert len(history.submissions.events("mine")) == 2


def test_a_verdict_here_is_not_undone(full: Path, other: Path, tmp_path: Path) -> None:
    exported(full, tmp_path / "a.jsonl")
    run(other, "import", tmp_path / "a.jsonl")
    with History.open(full) as history:
        uid = history.submissions.numbered(5)[0].uid
        history.submissions.update(uid, state="accepted", verdict=None, status="running")
    exported(full, tmp_path / "a.jsonl")
    run(other, "import", tmp_path / "a.jsonl")
    with History.open(other) as history:
        (record,) = history.submissions.numbered(5)
        assert (record.state, record.verdict, record.status) == ("finished", "passed", "succeeded")


def spoil(lines: list[dict[str, Any]], kind: str, changes: dict[str, Any]) -> int:
    """Changes the first line of a kind; its number."""
    number = next(number for number, line in enumerate(lines, 1) if line["kind"] == kind)
    lines[number - 1] |= changes
    return number


@pytest.mark.parametrize(
    ("kind", "changes", "says"),
    [
        ("version", {"text": "another"}, "the text is not the one of its sha256"),
        ("version", {"sha256": "XYZ"}, "64 lower-case hexadecimal digits"),
        ("version", {"recorded": "yesterday"}, "recorded"),
        ("version", {"origin": "moon"}, "origin"),
        ("version", {"more": 1}, "more"),
        ("tag", {"sha256": "0" * 64}, "the version 000000000000 is neither"),
        ("run", {"geometric_mean": -1.0}, "positive and finite"),
        ("run", {"whole": "yes"}, "whole"),
        ("submission", {"geometric_mean": 0.0}, "positive and finite"),
        ("submission", {"state": "asleep"}, "state"),
        ("submission", {"results": [{"mode": 1}]}, "results"),
        ("submission", {"kind": "pancake"}, "kind"),
        ("header", {"version": 9}, "written by a newer mxsub (format 9"),
    ],
)
def test_a_line_that_is_wrong_changes_nothing(
    full: Path, other: Path, tmp_path: Path, kind: str, changes: dict[str, Any], says: str
) -> None:
    lines = exported(full, tmp_path / "a.jsonl")
    number = spoil(lines, kind, changes)
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    before = rows(other)
    told = run(other, "import", tmp_path / "a.jsonl")
    assert told.exit_code == 2
    assert f"a.jsonl:{number}: " in told.stderr
    assert says in told.stderr
    assert rows(other) == before


def test_a_cut_file_is_noticed(full: Path, other: Path, tmp_path: Path) -> None:
    exported(full, tmp_path / "a.jsonl")
    data = (tmp_path / "a.jsonl").read_bytes()
    lines = data.splitlines(keepends=True)
    before = rows(other)
    spoiled = [
        (b"".join(lines[:30]), "its header says"),
        (data[:30000], "Invalid JSON"),
        (b"", "is empty"),
        (b"".join(lines[1:]), "header"),
        (data + lines[0], "a second header"),
        (b"\xff\xfe", "no exported"),
    ]
    for cut, says in spoiled:
        (tmp_path / "b.jsonl").write_bytes(cut)
        told = run(other, "import", tmp_path / "b.jsonl")
        assert (told.exit_code, says in told.stderr) == (2, True), told.stderr
    assert rows(other) == before


def test_only_its_own_file_is_overwritten(full: Path, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine\n")
    told = run(full, "export", file)
    assert (told.exit_code, file.read_text()) == (2, "mine\n")
    assert "no `mxsub history export` wrote" in told.stderr
    assert run(full, "export", file, "--force").exit_code == 0
    assert run(full, "export", file).exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full", "notes.txt"]
    assert run(full, "export", tmp_path / "notes.txt" / "x").exit_code == 2


def test_no_history_yet(tmp_path: Path) -> None:
    (tmp_path / "configs.yaml").write_text("")
    (header,) = exported(tmp_path, tmp_path / "a.jsonl")
    assert header["counts"] == dict.fromkeys(TABLES, 0)
    assert not (tmp_path / ".mxsub").exists()


def test_what_only_a_stream_showed_stays(full: Path, other: Path, tmp_path: Path) -> None:
    """The file's run of a benchmark has no result, and another start, as the service lists a streamed one."""
    lines = exported(full, tmp_path / "a.jsonl")
    run(other, "import", tmp_path / "a.jsonl")
    (line,) = (line for line in lines if line["kind"] == "submission" and line["remote_id"] == 5)
    kept = line["results"][0]["result"]
    line["results"][0] |= {"started": "2026-03-03T00:00:00+00:00", "result": None}
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    run(other, "import", tmp_path / "a.jsonl")
    with History.open(other) as history:
        (result,) = history.submissions.results(history.submissions.numbered(5)[0].uid)
        assert result.result == kept
