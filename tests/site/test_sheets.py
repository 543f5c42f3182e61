"""Operators' pages in a browser, opened as files: they ask for nothing, read well in both themes, and fit."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from tests.site.conftest import watched_page
from tests.site.test_accessibility import assert_accessible, overflow
from tests.support.commands import run
from tests.support.nights import demo_lake, published
from tests.support.selection import mostly_thorough
from tests.support.service import Service

pytestmark = pytest.mark.thorough

LINES_OF_WORDS = """cells => cells.flatMap((cell) => cell.firstChild.data.split(" ").map((word, at, words) => {
  const range = document.createRange();
  const start = words.slice(0, at).join(" ").length + (at > 0);
  range.setStart(cell.firstChild, start);
  range.setEnd(cell.firstChild, start + word.length);
  return range.getClientRects().length;
}))"""  # on how many lines each word stands


@pytest.fixture(scope="module")
def sheets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """report.html and diff.html of a night after a demo lake's first build."""
    folder = tmp_path_factory.mktemp("sheets")
    store, lake, _ = published(folder, 7)
    run("nightly", "--lake", demo_lake(lake, 8), "--store", store.root)
    run("report", "--store", store.root, "--out", folder / "report.html", "--against", "previous")
    return folder


@pytest.fixture
def page(browser: Browser, requests: list[Request]) -> Iterator[Page]:
    """Open a page. Afterwards the page requested only the files that the test opened."""
    with watched_page(browser, requests) as page:
        yield page
    assert {request.url.rpartition("/")[2] for request in requests} <= {"report.html", "diff.html"}


@pytest.mark.parametrize("name", mostly_thorough(["report", "diff"], "diff"))
def test_a_sheet_is_accessible_and_fits(sheets: Path, page: Page, name: str) -> None:
    page.goto(f"file://{sheets}/{name}.html")
    assert_accessible(page)
    for width in (390, 768, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert overflow(page) == [], width
    page.set_viewport_size({"width": 390, "height": 844})
    names = page.locator("header td.what").evaluate_all(LINES_OF_WORDS)
    assert all(lines == 1 for lines in names), "a word of a figure is broken"


def test_the_report_s_filter_and_links(sheets: Path, page: Page) -> None:
    page.goto(f"file://{sheets}/report.html")
    games = page.get_by_role("region", name="Coverage of prices").get_by_role("row")
    before = games.count()
    page.get_by_label("Kind").select_option("sealed")
    assert 1 < games.count() < before
    assert page.get_by_role("heading", name="Left out").is_visible()
    page.get_by_role("link", name="what it changed").click()
    page.get_by_role("link", name="report of the newer build").click()
    expect(page).to_have_title(re.compile("^Build of "))


def test_no_page_of_a_night_is_served(site_service: Service, site_key: str) -> None:
    pages = site_service.store / "private" / "nights" / "run"
    pages.mkdir(parents=True, exist_ok=True)
    (pages / "report.html").write_text("for operators")
    client = site_service.client(site_key)
    for path in ("/private/nights/run/report.html", "/docs/../private/nights/run/report.html", "/reports/run.json"):
        answer = client.get(path)
        assert answer.status == 404 and "operators" not in answer.text
