"""Every page and view against axe's rules, in both themes, and on screens from small to large."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.site.conftest import Visit
from tests.support.site_lake import EMBERFOX, SLUG


def key_asked(visit: Visit) -> None:
    visit.open("/explore")


def cards(visit: Visit) -> None:
    page = visit.enter()
    page.get_by_text("What do the prices mean?").click()
    page.get_by_text("in 7 days").first.wait_for()


def card(visit: Visit) -> None:
    page = visit.enter(f"#/cards/{EMBERFOX}")
    page.locator(".canvas .line").first.wait_for()
    page.get_by_text("As a table").click()
    page.get_by_text("By condition", exact=True).click()


def watchlist(visit: Visit) -> None:
    visit.enter("#/watchlist").locator(".sparkline").first.wait_for()


def watched(visit: Visit) -> None:
    visit.enter(f"#/watchlist/{SLUG}").locator(".canvas .line").first.wait_for()


def reference(visit: Visit) -> None:
    page = visit.open("/docs")
    article = page.locator('.endpoint[data-path="/api/v1/cards"]')
    article.get_by_role("button", name="Try it").click()
    article.get_by_label("API key").fill(visit.key)
    visit.keeps_key = True
    article.get_by_role("button", name="Send").click()
    article.locator(".result").wait_for()


def home(visit: Visit) -> None:
    page = visit.open("/")
    page.get_by_label("API key").fill(visit.key)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Send it").last.click()
    page.get_by_text("200 OK").wait_for()
    visit.keeps_key = True


def movers(visit: Visit) -> None:
    visit.enter("#/movers").locator(".thumb img").first.wait_for()


def downloads(visit: Visit) -> None:
    visit.enter("#/downloads").locator("tbody tr").first.wait_for()


def changelog(visit: Visit) -> None:
    visit.open("/docs/changelog.html")


COLOURS = ["color-contrast", "link-in-text-block"]
VIEWS = [home, reference, changelog, key_asked, cards, movers, card, watchlist, watched, downloads]


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_axe_finds_nothing(visit: Visit, view) -> None:
    visit.page.emulate_media(reduced_motion="reduce")
    view(visit)
    assert_accessible(visit.page)


def assert_accessible(page: Page) -> None:
    """Against all of axe's rules in the light theme; the dark one has other colours, and nothing else."""
    for theme, rules in (("light", None), ("dark", COLOURS)):
        page.emulate_media(color_scheme=theme)
        chosen = {"runOnly": {"type": "rule", "values": rules}} if rules else {}
        results = Axe().run(page, options={"resultTypes": ["violations"]} | chosen)
        assert results.violations_count == 0, results.generate_report()


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.__name__)
def test_nothing_sticks_out_at_any_width(visit: Visit, view) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    view(visit)
    for width in (390, 600, 768, 1024, 1440, 1920):
        visit.page.set_viewport_size({"width": width, "height": 900})
        assert overflow(visit.page) == [], width


def overflow(page: Page) -> list[str]:
    """What is wider than the screen, unless it scrolls by itself."""
    return page.evaluate("""() => document.documentElement.scrollWidth <= innerWidth ? [] :
        [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
            .map((one) => one.outerHTML.slice(0, 120))""")
