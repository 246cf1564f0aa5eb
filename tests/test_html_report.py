"""The report: what is read from the history, the page as HTML, and the page in a real browser."""

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from mxsub.submit.errors import UsageError
from mxsub.submit.history import History
from mxsub.submit.history.submissions import ResultRecord, SubmissionRecord
from mxsub.submit.html_report.contents import Report
from mxsub.submit.html_report.gathering import gather
from mxsub.submit.html_report.page import page_of
from mxsub.submit.html_report.writing import write_report
from tests.history_of_size import fill
from tests.test_cli import mxsub

BOARD, GPU, SERVICE = "amd-mxfp4-mm", "MI355X", "https://kernelbot.test"
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
MADE = datetime(2026, 4, 1, 12, 0, tzinfo=UTC)
SLOW, FAST = {"4x2880x512": 12.0, "16x2112x7168": 27.0}, {"4x2880x512": 9.0, "16x2112x7168": 36.0}
HOSTILE = "</style></script><script>window.hurt = 1</script><img src=x onerror='window.hurt = 2'>]]>\u202e\x00&lt;"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


# A season's history


def submit(history: History, sha256: str | None, number: int, mode: str = "benchmark", **facts: object) -> None:
    """A submission that passed without times, but for the facts."""
    at = START + timedelta(hours=number)
    record = SubmissionRecord(
        uuid4().hex, sha256, SERVICE, "", BOARD, GPU, mode, "sub.py", at, "finished", sent=at, remote_id=number,
        submitted=at, status="succeeded", finished=at, verdict="passed", sentence="passed",
    )  # fmt: skip
    times = facts.pop("times", None)
    record = replace(record, **facts)  # type: ignore[arg-type]
    history.submissions.add([record])
    if isinstance(times, dict):
        lines = {"benchmark-count": str(len(times)), "check": "pass"}
        for place, (shape, us) in enumerate(times.items()):
            m, n, k = shape.split("x")
            figures = {"runs": 100, "mean": us * 1e3, "std": 90, "err": 9, "best": us * 990, "worst": us * 1100}
            lines[f"benchmark.{place}.spec"] = f"m: {m}; n: {n}; k: {k}; seed: 1"
            lines |= {f"benchmark.{place}.{name}": str(value) for name, value in figures.items()}
        result = ResultRecord("benchmark", at, at + timedelta(seconds=12), GPU, True, None, lines)
        history.submissions.update(record.uid, results=[result])


def season(folder: Path, *, tag: str = "third", sentence: str = "it crashed", code: str = "x = 3") -> None:
    """Four versions: `first` and `second` timed, `third` refused by lint and failed; the last was run in part only."""
    (folder / "configs.yaml").write_text("")
    with History.open(folder) as history:
        table = "CONFIGS = {{(4, 2880, 512): dict(BLOCK_SIZE_M={}, num_warps=4)}}\n" + "pass\n" * 20
        hashes = [
            history.versions.record(table.format(16), tag="first", variant="constexpr").sha256,
            history.versions.record(table.format(32), tag="second", variant="runtime").sha256,
            history.versions.record(f"{table.format(32)}{code}\n").sha256,
            history.versions.record("untagged\n").sha256,
        ]
        with history.file.write() as connection:
            connection.execute("INSERT INTO tags VALUES (?, ?, '')", (tag, hashes[2]))
        finding = {
            "rule": "MX001", "name": "banned-word", "severity": "error", "line": 2, "column": 5,
            "message": f"the word: {sentence}", "fix": "Say it another way.",
        }  # fmt: skip
        for place, sha256 in enumerate(hashes[:3]):
            history.lints.record(
                sha256, leaderboard=BOARD, gpu=GPU, mxsub="0.1.0", kernelguard="0.3.2", accepted=place < 2,
                findings=[finding] * (place == 2),
            )  # fmt: skip
        for mode, whole, outcome, mean in (
            ("test", True, "failed", None), ("test", True, "passed", None), ("benchmark", True, "passed", 250000.0),
            ("leaderboard", False, "crashed", None),
        ):  # fmt: skip
            history.runs.record(
                hashes[3], started=START + timedelta(minutes=len(history.runs.latest())), task=BOARD, mode=mode,
                whole=whole, gpu=GPU, virtual=True, triton="3.6.0", outcome=outcome, geometric_mean=mean,
                detail={"error": f"{mode}: {sentence}", "expected": 2, "cases": [{"status": "pass"}]},
            )  # fmt: skip
        submit(history, hashes[0], 1, geometric_mean=18.0, times=SLOW)
        submit(history, hashes[1], 2, mode="leaderboard", geometric_mean=17.5, rank=7, times=FAST)
        submit(history, hashes[2], 3, verdict="crashed", sentence=sentence)
        submit(history, None, 4, mode=None, geometric_mean=19.0)
        submit(history, hashes[0], 5, leaderboard="another-board", geometric_mean=1.0)


def gathered(folder: Path, **options: object) -> Report:
    with History.open(folder) as history:
        wanted = {"leaderboard": BOARD, "gpu": None, "last": 40, **options}
        return gather(history, folder, **wanted)  # type: ignore[arg-type]


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
    assert "3 versions are without their details: `--last N` shows those of the latest N" in report.left_out


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
    said = json.loads(mxsub("report", "--board", BOARD, "--json", cwd=tmp_path).stdout)
    assert said["file"] == "report.html"
    assert (said["versions"], said["runs"], said["submissions"], said["timed"], said["failed"]) == (4, 4, 5, 3, 1)
    assert said["bytes"] == (tmp_path / "report.html").stat().st_size
    again = mxsub("report", "-o", "report.html", cwd=tmp_path)
    assert again.stdout.startswith("report.html: 4 versions, 4 runs, 5 submissions, ")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".mxsub", "configs.yaml", "report.html"]


def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    season(tmp_path)
    own = tmp_path / "notes.html"
    own.write_text("<!DOCTYPE html><title>mxsub report</title>")
    done = mxsub("report", "-o", own, cwd=tmp_path)
    assert done.returncode == 2
    assert "notes.html is a file that no `mxsub report` wrote, and is left as it is" in done.stderr
    assert own.read_text() == "<!DOCTYPE html><title>mxsub report</title>"
    assert mxsub("report", "-o", own, "--force", cwd=tmp_path).returncode == 0
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
    assert mxsub("report", cwd=tmp_path).returncode == 0
    page = Parsed((tmp_path / "report.html").read_text())
    assert "The history is empty." in " ".join(page.texts)
    assert not page.all("svg", "table")
    assert not (tmp_path / ".mxsub").exists()


# The page in a browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.fail("no browser to look at the report with: run `make browser`, or install Chromium or Chrome")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def seasonal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a season."""
    folder = tmp_path_factory.mktemp("season")
    season(folder)
    with History.open(folder) as history, history.file.write() as connection:
        connection.execute("DELETE FROM submissions WHERE leaderboard <> ?", (BOARD,))
    return write_report(folder, folder / "report.html", last=40).path


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """The page of a history of 1,000 versions, 5,000 runs and 300 submissions, and the seconds that it took."""
    folder = tmp_path_factory.mktemp("large")
    fill(folder)
    start = time.perf_counter()
    done = mxsub("report", "--json", cwd=folder)
    seconds = time.perf_counter() - start
    said = json.loads(done.stdout)
    assert (said["versions"], said["runs"], said["submissions"], said["details"]) == (1000, 5000, 300, 40)
    return folder / "report.html", seconds


class Visit:
    """A page that was opened. complaints: what the console said. requests: the addresses that were asked for."""

    def __init__(self, page: Page, path: Path, anchor: str = "") -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        page.goto(path.as_uri() + anchor)
        assert self.complaints == []
        assert [url.partition("#")[0] for url in self.requests] == [path.as_uri()]


def visit(browser: Browser, path: Path, anchor: str = "", **options: object) -> Page:
    """Opens a page, which must neither complain nor ask for anything but itself."""
    page = browser.new_context(**options).new_page()  # type: ignore[arg-type]
    return Visit(page, path, anchor).page


def column(page: Page, place: int) -> list[str]:
    return page.locator(f"#version-table tbody tr > :nth-child({place})").all_inner_texts()


def test_a_large_history(browser: Browser, large: tuple[Path, float]) -> None:
    path, seconds = large
    assert path.stat().st_size < 5_000_000
    assert seconds < 5
    page = visit(browser, path)
    assert page.locator("#version-table tbody tr").count() == 1000
    assert page.locator("details.version").count() == 40
    assert page.locator("svg").count() == 7
    assert "960 versions are without their details" in page.locator("main").inner_text()
    assert page.locator(".trend use").count() >= 200


def test_sorting(browser: Browser, seasonal: Path) -> None:
    page = visit(browser, seasonal)
    header = page.locator("#version-table th", has_text="best us")
    assert column(page, 8) == ["-", "-", "17.500", "18.000"]
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    assert column(page, 8) == ["17.500", "18.000", "-", "-"]
    header.get_by_role("button").press("Enter")
    assert header.get_attribute("aria-sort") == "descending"
    assert column(page, 8) == ["18.000", "17.500", "-", "-"]
    page.locator("#version-table th", has_text="version").get_by_role("button").click()
    assert column(page, 1) == ["first", "second", "third", "-"]


def test_filtering(browser: Browser, seasonal: Path) -> None:
    page = visit(browser, seasonal)
    page.get_by_role("searchbox").fill("refused CRASHED")
    assert page.locator("#version-table tbody tr:visible th").all_inner_texts() == ["third"]
    assert page.locator("output").inner_text() == "1 of 4"
    page.get_by_role("searchbox").fill("")
    assert page.locator("#version-table tbody tr:visible").count() == 4


def test_folding(browser: Browser, seasonal: Path) -> None:
    page = visit(browser, seasonal)
    assert page.locator("details.version[open]").count() == 0
    link = page.locator("#version-table").get_by_role("link", name="third")
    link.click()
    opened = page.locator("details.version[open]")
    assert opened.count() == 1
    assert opened.locator("h3").inner_text() == "third"
    assert opened.locator("tr.added").all_inner_texts() == ["\t22\t+\tx = 3"]
    assert opened.locator("tr.folded").all_inner_texts() == ["⋯ 18 unchanged lines"]
    assert "MX001 banned-word: the word: it crashed" in opened.locator(".findings").inner_text()
    page.get_by_role("button", name="Unfold all").click()
    assert page.locator("details.version[open]").count() == 4
    anchor = str(link.get_attribute("href"))
    assert visit(browser, seasonal, anchor).locator("details.version[open] h3").inner_text() == "third"


def test_without_javascript_nothing_is_missing(browser: Browser, seasonal: Path) -> None:
    page = visit(browser, seasonal, java_script_enabled=False)
    assert column(page, 1) == ["-", "third", "second", "first"]
    assert page.locator("button, input").count() == 0
    page.locator("details.version summary", has_text="second").first.click()
    assert page.locator("details.version[open] table.config").count() == 1


CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => v / 255).map((v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * x + .7152 * y + .0722 * z;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255];
  };
  const found = {};
  for (const element of document.body.querySelectorAll("*")) {
    if (["SCRIPT", "STYLE", "title"].includes(element.tagName)) continue;
    if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
    const style = getComputedStyle(element);
    const front = rgba(element.namespaceURI.endsWith("svg") ? style.fill : style.color);
    const [high, low] = [light(front), light(behind(element))].sort((a, b) => b - a);
    const name = `${element.tagName} ${element.className.baseVal ?? element.className}`;
    found[name] = Math.min(found[name] ?? 99, (high + .05) / (low + .05));
  }
  return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(browser: Browser, seasonal: Path, scheme: str) -> None:
    page = visit(browser, seasonal, color_scheme=scheme)
    page.get_by_role("button", name="Unfold all").click()
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 30
    assert {name: round(ratio, 2) for name, ratio in contrasts.items() if ratio < 4.5} == {}
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background))) < 150) == (scheme == "dark")


def test_on_a_phone(browser: Browser, seasonal: Path) -> None:
    page = visit(browser, seasonal, viewport={"width": 360, "height": 740})
    page.get_by_role("button", name="Unfold all").click()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    box = page.locator("#version-table").locator("..")
    assert box.evaluate("box => box.scrollWidth > box.clientWidth && box.clientWidth <= 360")


def test_on_paper(browser: Browser, seasonal: Path) -> None:
    page = visit(browser, seasonal, color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    assert not page.get_by_role("searchbox").is_visible()


def test_hostile_texts_are_inert(browser: Browser, tmp_path: Path) -> None:
    code = "$x_{2}$ \u202e\x00\x1b[2J</td></table><script>window.hurt = 3</script>\r\u2028"
    season(tmp_path, tag=HOSTILE, sentence=HOSTILE, code=code)
    with History.open(tmp_path) as history:
        submit(history, None, 9, geometric_mean=20.0, file_name="<b onclick=hurt()>\u2067.py", times={"1x1x1": 20.0})
        submit(history, None, 10, verdict="failed", sentence="]]><svg onload='window.hurt = 4'>", status="<i>")
    path = write_report(tmp_path, tmp_path / "report.html", leaderboard=BOARD, last=40).path
    text = path.read_text()
    assert not [sign for sign in text if not (sign.isprintable() or sign == "\n")]
    page = visit(browser, path)
    page.get_by_role("button", name="Unfold all").click()
    assert page.evaluate("window.hurt") is None
    assert page.locator("main script, main img, main b[onclick], main i").count() == 0
    assert page.locator("#version-table tbody tr").count() == 4
    assert "window.hurt = 1" in page.locator("#failures ~ .scroll").inner_text()
    added = page.locator("tr.added", has_text="$x_{2}$").inner_text()
    assert "⟨U+202E⟩⟨U+0000⟩⟨U+001B⟩[2J</td></table><script>window.hurt = 3" in added


def test_the_policy_stops_what_is_not_the_pages_own(browser: Browser, seasonal: Path) -> None:
    page = visit(browser, seasonal)
    blocked = page.evaluate(
        """async () => {
          const blocked = [];
          document.addEventListener("securitypolicyviolation", (event) => blocked.push(event.effectiveDirective));
          const add = (tag, values) => document.body.append(Object.assign(document.createElement(tag), values));
          add("script", { textContent: "window.hurt = 1" });
          add("img", { src: "http://127.0.0.1:9/x.png" });
          add("style", { textContent: "body { display: none }" });
          await fetch("http://127.0.0.1:9/").catch(() => {});
          await new Promise((done) => setTimeout(done, 100));
          return blocked;
        }"""
    )
    assert sorted(blocked) == ["connect-src", "img-src", "script-src-elem", "style-src-elem"]
    assert page.evaluate("window.hurt") is None
