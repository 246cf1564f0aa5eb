"""The history: versions and tags, found again, and safe from other processes and from what a disk can do."""

import os
import re
import sqlite3
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mxsub.submit.errors import EnvironmentProblem, MxsubError, UsageError
from mxsub.submit.history import History
from mxsub.submit.history.migrations import APPLICATION_ID, MIGRATIONS
from mxsub.submit.version import sha256_of


def file_of(folder: Path) -> Path:
    return folder / ".mxsub" / "history.sqlite3"


def test_a_version_is_recorded_and_found(tmp_path: Path) -> None:
    before = datetime.now(UTC)
    with History.open(tmp_path) as history:
        recorded = history.versions.record(
            "text é\r\n",
            variant="constexpr",
            gpu="MI355X",
            config={"4x2880x512": {"num_warps": 4, "cache_modifier": ".cg"}},
            provenance={"mxsub": "0.1.0", "fragments": {"gemm": "ab12"}},
            origin="build",
            tag="v1",
        )
    with History.open(tmp_path) as history:
        for reference in ("v1", recorded.sha256, recorded.sha256[:4], recorded.sha256[:12].upper()):
            version = history.versions.find(reference)
            assert version.text == "text é\r\n"
            assert version.label == reference
            assert (version.variant, version.gpu, version.origin) == ("constexpr", "MI355X", "build")
            assert version.config == {"4x2880x512": {"num_warps": 4, "cache_modifier": ".cg"}}
            assert version.provenance == {"mxsub": "0.1.0", "fragments": {"gemm": "ab12"}}
            assert version.tags == ("v1",)
            assert version.recorded is not None
            assert before - timedelta(seconds=1) <= version.recorded <= datetime.now(UTC)


def test_a_text_is_stored_once(tmp_path: Path) -> None:
    with History.open(tmp_path) as history:
        first = history.versions.record("a", origin="file")
        again = history.versions.record("a", origin="build", variant="runtime", tag="named")
        third = history.versions.record("a")
        assert len(history.versions.entries()) == 1
        assert first.recorded == again.recorded == third.recorded
        assert (third.variant, third.origin, third.tags) == ("runtime", "build", ("named",))
        assert history.versions.has("a")
        assert history.versions.has(b"a")
        assert not history.versions.has("b")
        assert not history.versions.has(b"\xff")


def test_versions_come_last_first(tmp_path: Path) -> None:
    with History.open(tmp_path) as history:
        for text in "abc":
            history.versions.record(text)
        assert [version.sha256 for version in history.versions.entries()] == [sha256_of(text) for text in "cba"]
        assert [version.sha256 for version in history.versions.entries(limit=2)] == [sha256_of("c"), sha256_of("b")]
        assert history.versions.entries()[0].label == history.versions.entries()[0].sha256[:12]


def test_a_tag_moves(tmp_path: Path) -> None:
    with History.open(tmp_path) as history:
        history.versions.record("a", tag="best")
        history.versions.record("b", tag="best")
        history.versions.record("b", tag="again")
        assert history.versions.find("best").text == "b"
        assert history.versions.find("best").tags == ("again", "best")
        assert [version.tags for version in history.versions.entries()] == [("again", "best"), ()]


@pytest.mark.parametrize("tag", ["v8", "a", "best-so-far", "0.1.0", "k_split+7", "abc", "fast", "v" * 64])
def test_tags(tmp_path: Path, tag: str) -> None:
    with History.open(tmp_path) as history:
        history.versions.record("a", tag=tag)
        assert history.versions.find(tag).text == "a"


@pytest.mark.parametrize("tag", ["", " ", "a b", "-x", ".x", "a/b", "é", "v" * 65, "a\n", "../x", "'; DROP TABLE tags"])
def test_what_is_no_tag(tmp_path: Path, tag: str) -> None:
    with History.open(tmp_path) as history:
        with pytest.raises(UsageError, match="is no tag"):
            history.versions.record("a", tag=tag)
        assert history.versions.entries() == []


@pytest.mark.parametrize(
    ("tag", "kind"), [("8", "number of a submission"), ("610679", "number"), ("cafe", "hash"), ("BEEF12", "hash")]
)
def test_tags_that_could_be_something_else(tmp_path: Path, tag: str, kind: str) -> None:
    with pytest.raises(UsageError, match=f"the tag '{tag}' could be taken for the {kind}") as caught:
        History.open(tmp_path).versions.record("a", tag=tag)
    assert caught.value.hint.endswith(f"v{tag}.")


def test_a_hash_that_fits_several_versions_lists_them(tmp_path: Path) -> None:
    with History.open(tmp_path) as history:
        by_start: dict[str, list[str]] = {}
        number = 0
        while not any(len(texts) > 1 for texts in by_start.values()):
            version = history.versions.record(f"text {number}", tag=f"t{number}")
            by_start.setdefault(version.sha256[:4], []).append(version.sha256)
            number += 1
        start, twins = next((start, texts) for start, texts in by_start.items() if len(texts) > 1)
        with pytest.raises(UsageError, match=f"'{start}' fits 2 versions") as caught:
            history.versions.find(start)
        assert all(sha256[:12] in caught.value.hint for sha256 in twins)
        assert re.search(r"\(t\d+\)", caught.value.hint)
        assert history.versions.find(twins[0][:12]).sha256 == twins[0]


def test_what_is_not_there_lists_what_is(tmp_path: Path) -> None:
    history = History.open(tmp_path)
    with pytest.raises(UsageError, match="there is no version 'v1' in the history") as caught:
        history.versions.find("v1")
    assert "The history is empty" in caught.value.hint
    version = history.versions.record("a", tag="v2")
    for reference in ("v1", "0000", "abc", "%", "v_", "", version.sha256[:3], version.sha256 + "0"):
        with pytest.raises(UsageError, match="there is no version") as caught:
            history.versions.find(reference)
        assert "Tags: v2." in caught.value.hint
        assert version.sha256[:12] in caught.value.hint
    history.close()


def test_looking_makes_no_file(tmp_path: Path) -> None:
    with History.open(tmp_path) as history:
        assert history.versions.entries() == []
        assert not history.versions.has("a")
    assert list(tmp_path.iterdir()) == []


def test_the_file(tmp_path: Path) -> None:
    with History.open(tmp_path) as history:
        history.versions.record("a")
    assert (tmp_path / ".mxsub" / ".gitignore").read_text() == "*\n"
    connection = sqlite3.connect(file_of(tmp_path))
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    connection.close()


def older(folder: Path, schema: int) -> sqlite3.Connection:
    """A file as the mxsub of an earlier schema left it."""
    file_of(folder).parent.mkdir()
    connection = sqlite3.connect(file_of(folder))
    for statements in MIGRATIONS[:schema]:
        for statement in statements:
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {schema}")
    return connection


def test_a_file_without_a_table_is_migrated(tmp_path: Path) -> None:
    older(tmp_path, 0).close()
    with History.open(tmp_path) as history:
        assert history.versions.entries() == []
        assert history.versions.record("a", tag="v1").tags == ("v1",)


def test_versions_of_the_first_schema_stay(tmp_path: Path) -> None:
    """The second makes their table anew, to which tags refer."""
    connection = older(tmp_path, 1)
    for text, variant in (("a", None), ("b", "runtime")):
        connection.execute(
            "INSERT INTO versions (sha256, text, recorded, variant, gpu, config, provenance, origin) "
            "VALUES (?, ?, '2026-11-01T10:00:00.000000+00:00', ?, 'MI355X', ?, NULL, 'build')",
            (sha256_of(text), text, variant, '{"4x2880x512":{"num_warps":4}}'),
        )
    connection.execute("INSERT INTO tags VALUES ('v1', ?, '2026-11-01T10:00:00.000000+00:00')", (sha256_of("a"),))
    connection.commit()
    connection.close()
    with History.open(tmp_path) as history:
        assert [entry.sha256 for entry in history.versions.entries()] == [sha256_of("b"), sha256_of("a")]
        version = history.versions.find("v1")
        assert (version.text, version.variant, version.gpu, version.origin) == ("a", None, "MI355X", "build")
        assert version.config == {"4x2880x512": {"num_warps": 4}}
        assert version.recorded == datetime(2026, 11, 1, 10, tzinfo=UTC)
        assert history.versions.record("c", origin="remote", tag="v2").origin == "remote"
        with history.file.read() as connection:
            assert connection is not None
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
            assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)


def test_a_newer_schema_is_left_alone(tmp_path: Path) -> None:
    with History.open(tmp_path) as history:
        history.versions.record("a")
    connection = sqlite3.connect(file_of(tmp_path))
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = file_of(tmp_path).read_bytes()
    with pytest.raises(EnvironmentProblem, match="written by a newer mxsub") as caught:
        History.open(tmp_path).versions.record("b")
    assert "Update mxsub" in caught.value.hint
    assert file_of(tmp_path).read_bytes() == before


def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    file_of(tmp_path).parent.mkdir()
    connection = sqlite3.connect(file_of(tmp_path))
    connection.execute("CREATE TABLE versions (mine TEXT)")
    connection.commit()
    connection.close()
    with pytest.raises(EnvironmentProblem, match="a database of something else"):
        History.open(tmp_path).versions.record("a")
    connection = sqlite3.connect(file_of(tmp_path))
    assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("versions",)]
    connection.close()


@pytest.mark.parametrize(
    "content", [b"not a database at all, but a text\n" * 50, b"\0" * 5_000, b"SQLite format 3\0" + b"\xff" * 5_000]
)
def test_a_damaged_file_is_never_overwritten(tmp_path: Path, content: bytes) -> None:
    file_of(tmp_path).parent.mkdir()
    file_of(tmp_path).write_bytes(content)
    for use in (
        lambda h: h.versions.entries(),
        lambda h: h.versions.find("v1"),
        lambda h: h.versions.has("a"),
        lambda h: h.versions.record("a", tag="v1"),
    ):
        with pytest.raises(EnvironmentProblem, match=r"history\.sqlite3: the history is damaged") as caught:
            use(History.open(tmp_path))
        assert "Move it away" in caught.value.hint
        assert "\n" not in caught.value.message
    assert file_of(tmp_path).read_bytes() == content


def test_a_file_damaged_in_the_middle(tmp_path: Path) -> None:
    with History.open(tmp_path) as history:
        for number in range(200):
            history.versions.record(f"text {number}\n" * 50)
    content = bytearray(file_of(tmp_path).read_bytes())
    content[4096 : len(content) - 4096] = b"\xa5" * (len(content) - 8192)
    file_of(tmp_path).write_bytes(content)
    with pytest.raises(EnvironmentProblem, match="damaged"):
        History.open(tmp_path).versions.entries()
    assert file_of(tmp_path).read_bytes() == content


def test_a_folder_that_is_not_there_or_no_folder(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match="the history's folder cannot be made"):
        History.open(tmp_path / "missing").versions.record("a")
    (tmp_path / ".mxsub").write_text("a file")
    with pytest.raises(MxsubError, match="history"):
        History.open(tmp_path).versions.record("a")
    assert (tmp_path / ".mxsub").read_text() == "a file"


RECORD = """
import sys
from pathlib import Path
from mxsub.submit.errors import MxsubError
from mxsub.submit.history import History
"""

FULL_DISK = (
    RECORD
    + """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
history = History.open(Path(sys.argv[1]))
try:
    for number in range(1000):
        history.versions.record(f"text {number}" * 2000, tag=f"t{number}")
except MxsubError as error:
    print(number, error.exit_code, error.message, "|", error.hint)
"""
)


def run(program: str, *arguments: object) -> str:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


def test_a_full_disk_loses_nothing_of_what_was_there(tmp_path: Path) -> None:
    with History.open(tmp_path) as history:
        history.versions.record("first", tag="first")
    told = run(FULL_DISK, tmp_path)
    number, exit_code, message = told.split(maxsplit=2)
    assert exit_code == "3"
    assert "the history cannot be used: " in message
    assert "what was recorded before is safe" in message
    with History.open(tmp_path) as history:
        kept = {tag for version in history.versions.entries() for tag in version.tags}
        assert kept >= {"first", *(f"t{n}" for n in range(int(number)))}
        assert history.versions.find("first").text == "first"
        assert history.versions.record("after", tag="after").tags == ("after",)


@pytest.mark.slow
def test_processes_at_once_lose_no_row(tmp_path: Path) -> None:
    """Six processes make the file together, each records 20 versions, and all move one tag."""
    program = (
        RECORD
        + """
name = sys.argv[2]
for number in range(20):
    with History.open(Path(sys.argv[1])) as history:
        history.versions.record(f"{name} {number}", tag=f"t{name}-{number}")
        history.versions.record("shared", tag="shared")
        assert history.versions.find(f"t{name}-{number}").text == f"{name} {number}"
"""
    )
    processes = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path), f"p{n}"], stderr=subprocess.PIPE)
        for n in range(6)
    ]
    errors = [process.communicate(timeout=120)[1].decode() for process in processes]
    assert errors == [""] * 6
    with History.open(tmp_path) as history:
        assert len(history.versions.entries()) == 6 * 20 + 1
        assert len([tag for version in history.versions.entries() for tag in version.tags]) == 6 * 20 + 1


def test_a_reader_is_not_held_up_by_a_writer(tmp_path: Path) -> None:
    with History.open(tmp_path) as history:
        history.versions.record("a", tag="v1")
    writer = sqlite3.connect(file_of(tmp_path), isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("DELETE FROM tags")
    with History.open(tmp_path) as history:
        assert history.versions.find("v1").text == "a"
    writer.execute("ROLLBACK")
    writer.close()


READ_ONLY = (
    RECORD
    + """
import os
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
history = History.open(Path(sys.argv[1]))
print(history.versions.find("v1").text)
try:
    history.versions.record("b")
except MxsubError as error:
    print(error.exit_code, error.message, "|", error.hint)
"""
)


def test_a_folder_that_can_only_be_read(tmp_path: Path) -> None:
    with History.open(tmp_path) as history:
        history.versions.record("a", tag="v1")
    for folder in (tmp_path, *tmp_path.parents[:3]):
        os.chmod(folder, 0o755)
    file_of(tmp_path).chmod(0o444)
    file_of(tmp_path).parent.chmod(0o555)
    before = file_of(tmp_path).read_bytes()
    try:
        text, told = run(READ_ONLY, tmp_path).splitlines()
    finally:
        file_of(tmp_path).parent.chmod(0o755)
    assert text == "a"
    assert told.startswith("3 ")
    assert "the history cannot be used" in told
    assert "Make the folder writable" in told
    assert file_of(tmp_path).read_bytes() == before


def test_a_thousand_versions_are_quick(tmp_path: Path) -> None:
    with History.open(tmp_path) as history:
        history.versions.record("first", tag="first")
        connection = sqlite3.connect(file_of(tmp_path))
        rows = [(f"{n:064x}", f"{n}" * 3000, f"2026-01-01T00:00:{n % 60:02}+00:00", "file") for n in range(1_000)]
        connection.executemany("INSERT INTO versions (sha256, text, recorded, origin) VALUES (?, ?, ?, ?)", rows)
        connection.commit()
        connection.close()
        started = time.process_time()
        assert len(history.versions.entries()) == 1_001
        assert history.versions.find("first").text == "first"
        assert time.process_time() - started < 1.0
