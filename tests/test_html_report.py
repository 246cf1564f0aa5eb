"""The report: what is read from the history, the command, and the page as HTML."""

import json
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mxsub.cli import main
from mxsub.submit.errors import UsageError
from mxsub.submit.history import History
from mxsub.submit.html_report.contents import Report
from mxsub.submit.html_report.gathering import gather
from mxsub.submit.html_report.page import page_of
from mxsub.submit.html_report.writing import write_report
from tests.reported_season import BOARD, FAST, GPU, SERVICE, season, submit

MADE = datetime(2026, 4, 1, 12, 0, tzinfo=UTC)


def gathered(folder: Path, **options: object) -> Report:
    with History.open(folder) as history:
        wanted = {"leaderboard": BOARD, "gpu": None, "last": 40, **options}
        return gather(history, folder, **wanted)  # type: ignore[arg-type]


def report(folder: Path, *arguments: object, output: str = "report.html") -> Result:
    """`mxsub report` of a project, in this process."""
    line = ["report", "--project", folder, "-o", folder / output, *arguments]
    return CliRunner().invoke(main, [str(word) for word in line], prog_name="mxsub")


# What is read from the history


def test_where_things_stand(tmp_path: Path) -> None:
    season(tmp_path)
    report = gathered(tmp_path)
    assert report.counts.__dict__ == {"versions": 4, "runs": 4, "submissions": 5}
    assert (report.place.leaderboard, report.place.gpu, report.place.service) == (BOARD, GPU, SERVICE)
    assert report.best is not None
    assert report.best.ranked is not None
    assert (report.best.fastest.label, report.best.fastest.record.geometric_mean) == ("second", 17.5)
    assert (report.best.ranked.number, report.best.ranked.record.rank) == ("#2", 7)
    assert report.best.aiter == pytest.approx(11.499, abs=1e-3)
    assert [one.number for one in report.submissions] == ["#1", "#2", "#3", "#4"]
    assert [one.number for one in report.foreign] == ["#4"]
    assert report.left_out == ("1 submission is to other boards, GPUs or services",)


def test_times_by_shape(tmp_path: Path) -> None:
    season(tmp_path)
    table = gathered(tmp_path).shapes
    assert table.shapes == ("4x2880x512", "16x2112x7168")
    assert [row.label for row in table.rows] == ["second", "first"]
    uids = {row.label: row.record.uid for row in table.rows}
    assert table.best == {"4x2880x512": uids["second"], "16x2112x7168": uids["first"]}
    assert {shape: time.mean for shape, time in table.rows[0].times.items()} == FAST
    assert table.rows[0].times["4x2880x512"].err == pytest.approx(0.009)


def test_versions(tmp_path: Path) -> None:
    season(tmp_path)
    rows = gathered(tmp_path).versions
    assert [row.tags for row in rows] == [(), ("third",), ("second",), ("first",)]
    assert [row.lint.sentence for row in rows] == ["-", "refused: 1 error", "accepted", "accepted"]
    assert [row.mean for row in rows] == [None, None, 17.5, 18.0]
    assert rows[0].local == {"test": "passed", "benchmark": "passed"}
    assert rows[0].wave_instructions == 250000.0
    assert [one.verdict for one in rows[1].submissions] == ["crashed"]


def test_what_failed_and_why(tmp_path: Path) -> None:
    season(tmp_path)
    found = [(one.what, one.label[:5], one.verdict, one.sentence) for one in gathered(tmp_path).failures]
    untagged = gathered(tmp_path).versions[0].sha256[:5]
    assert found == [
        ("#3", "third", "crashed", "it crashed"),
        ("local, virtual MI355X", untagged, "crashed", "leaderboard: it crashed"),
        ("local, virtual MI355X", untagged, "failed", "test: it crashed"),
    ]


def test_details_of_a_version(tmp_path: Path) -> None:
    season(tmp_path)
    untagged, third, second, first = gathered(tmp_path).details
    assert first.change is None
    assert second.change is not None
    assert third.change is not None
    assert second.change.base_label == "first"
    assert [(one.key, one.old, one.new) for one in second.change.difference.configs] == [("BLOCK_SIZE_M", 16, 32)]
    assert third.change.base_label == "second"
    assert [line.text for line in third.change.lines if line.kind == "added"] == ["x = 3"]
    assert second.config.keys == ("BLOCK_SIZE_M", "num_warps")
    assert second.config.rows == (("4x2880x512", ("32", "4")),)
    assert list(second.results.values()) == ["benchmark passed in 12 s"]
    assert [run.figure for run in untagged.runs] == ["-", "250,000 wave instructions", "-", "-"]
    assert untagged.runs[0].mode == "leaderboard, in part"
    assert untagged.runs[0].cases == "1 of 2"


def test_only_the_latest_versions_have_details(tmp_path: Path) -> None:
    season(tmp_path)
    report = gathered(tmp_path, last=1)
    assert [detail.row.label for detail in report.details] == [report.versions[0].label]
    assert [row.anchor is None for row in report.versions] == [False, True, True, True]
    assert "3 versions are not shown in detail: `--last N` shows the latest N" in report.left_out


def test_another_board(tmp_path: Path) -> None:
    season(tmp_path)
    assert gathered(tmp_path, leaderboard=None).place.leaderboard == "another-board"
    with pytest.raises(UsageError, match="no submission to amd-mxfp4-mm on H200") as caught:
        gathered(tmp_path, gpu="H200")
    assert "amd-mxfp4-mm on MI355X" in caught.value.hint


def test_what_is_no_time_is_not_plotted(tmp_path: Path) -> None:
    season(tmp_path)
    with History.open(tmp_path) as history:
        sha256 = history.versions.find("first").sha256
        for number, bad in enumerate(("nan", "inf", "-1", "0"), 6):
            submit(history, sha256, number, times={"4x2880x512": float(bad)}, geometric_mean=float("inf"))
            submit(history, sha256, number + 10, times={"4x2880x512": float(bad), "9x9x9": 5.0}, geometric_mean=30.0)
    report = gathered(tmp_path)
    assert report.best is not None
    assert report.best.fastest.number == "#2"
    assert report.shapes.shapes == ("4x2880x512", "16x2112x7168", "9x9x9")
    assert page_of(report, MADE).count("<svg") == 4


# The command


def test_the_command(tmp_path: Path) -> None:
    season(tmp_path)
    said = json.loads(report(tmp_path, "--board", BOARD, "--json").stdout)
    assert said["file"] == str(tmp_path / "report.html")
    assert (said["versions"], said["runs"], said["submissions"], said["timed"], said["failed"]) == (4, 4, 5, 3, 1)
    assert said["bytes"] == (tmp_path / "report.html").stat().st_size
    again = report(tmp_path)
    assert again.stdout.startswith(f"{tmp_path}/report.html: 4 versions, 4 runs, 5 submissions, ")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".mxsub", "configs.yaml", "report.html"]


def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    season(tmp_path)
    own = tmp_path / "notes.html"
    own.write_text("<!DOCTYPE html><title>mxsub report</title>")
    done = report(tmp_path, output="notes.html")
    assert done.exit_code == 2
    assert "notes.html is a file that no `mxsub report` wrote, and is left as it is" in done.stderr
    assert own.read_text() == "<!DOCTYPE html><title>mxsub report</title>"
    assert report(tmp_path, "--force", output="notes.html").exit_code == 0
    assert "<h1>" in own.read_text()


def test_a_link_stays_one(tmp_path: Path) -> None:
    season(tmp_path)
    (tmp_path / "link.html").symlink_to(tmp_path / "pages" / "real.html")
    write_report(tmp_path, tmp_path / "link.html", last=1)
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "pages" / "real.html").read_text().startswith("<!DOCTYPE html>")


def test_where_it_cannot_be_written(tmp_path: Path) -> None:
    season(tmp_path)
    with pytest.raises(UsageError, match="cannot be written: "):
        write_report(tmp_path, Path("/proc/no/report.html"), last=1)


def test_without_matplotlib(tmp_path: Path) -> None:
    season(tmp_path)
    without = "import sys; sys.modules['matplotlib'] = None; from mxsub.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", without, "report"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 3
    assert done.stderr == (
        "error: the report's plots need matplotlib, which is not installed\npip install 'mxsub[plot]'\n"
    )
    assert not (tmp_path / "report.html").exists()


def test_the_same_history_gives_the_same_bytes(tmp_path: Path) -> None:
    season(tmp_path)
    first, second = (page_of(gathered(tmp_path), MADE + timedelta(days=day)) for day in (0, 1))
    assert first != second
    assert first == second.replace("2026-04-02", "2026-04-01")


# The page as HTML


class Parsed(HTMLParser):
    """tags: each start tag with its attributes. texts: all text but scripts and styles, joined."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        if self._inside not in ("script", "style"):
            self.texts.append(data)

    def all(self, *names: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag in names]


def test_the_page_refers_to_itself_only(tmp_path: Path) -> None:
    season(tmp_path)
    page = Parsed(page_of(gathered(tmp_path), MADE))
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [attributes["href"] or "" for _, attributes in page.tags if "href" in attributes]
    assert len(links) > 20
    assert {link[:1] for link in links} == {"#"}
    assert {link[1:] for link in links} <= set(ids)
    assert not [attributes for _, attributes in page.tags if {"style", "src", "onclick"} & attributes.keys()]
    assert not page.all("link", "img", "iframe", "object", "form", "base")


def test_the_page_for_a_screen_reader(tmp_path: Path) -> None:
    season(tmp_path)
    page = Parsed(page_of(gathered(tmp_path), MADE))
    assert page.all("html") == [{"lang": "en"}]
    assert all(header.get("scope") in ("col", "row") for header in page.all("th"))
    plots = page.all("svg")
    assert [plot["role"] for plot in plots] == ["img"] * 3
    assert str(plots[0]["aria-label"]).startswith("Geometric mean of 3 timed submissions, from 18.000 us to 19.000 us")
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(below - above <= 1 for above, below in pairwise(levels))


def test_an_empty_history(tmp_path: Path) -> None:
    (tmp_path / "configs.yaml").write_text("")
    assert report(tmp_path).exit_code == 0
    page = Parsed((tmp_path / "report.html").read_text())
    assert "The history is empty." in " ".join(page.texts)
    assert not page.all("svg", "table")
    assert not (tmp_path / ".mxsub").exists()
