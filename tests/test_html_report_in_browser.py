"""The report in a real browser: it works, can be read everywhere, asks for nothing, and no text in it acts."""

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from mxsub.submit.history import History
from mxsub.submit.html_report.writing import write_report
from tests.history_of_size import fill
from tests.reported_season import BOARD, season, submit

HOSTILE = "</style></script><script>window.hurt = 1</script><img src=x onerror='window.hurt = 2'>]]>\u202e\x00&lt;"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MXSUB = [sys.executable, "-c", "from mxsub.cli import main; main()"]


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
    done = subprocess.run([*MXSUB, "report", "--json"], capture_output=True, text=True, cwd=folder, check=True)
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
    assert "960 versions are not shown in detail" in page.locator("main").inner_text()
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
