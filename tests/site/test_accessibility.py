"""Every page and view against axe's rules, in both themes, and on screens from small to large."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.site.conftest import Visit
from tests.support.selection import mostly_thorough
from tests.support.site_lake import EMBERFOX, SLUG


def key_asked(visit: Visit) -> None:
    visit.open("/explore")


def cards(visit: Visit) -> None:
    page = visit.enter()
    page.get_by_text("What do the prices mean?").click()
    page.locator(".change", has_text="since ").first.wait_for()


def completing(visit: Visit) -> None:
    page = visit.enter()
    page.keyboard.type("filler")
    page.get_by_role("listbox").get_by_role("option").last.wait_for()
    page.keyboard.press("ArrowDown")


def choosing_a_set(visit: Visit) -> None:
    page = visit.enter()
    if not page.get_by_label("Set").is_visible():
        page.get_by_text("Filters and order").click()
    page.locator("select[name=game] option").nth(1).wait_for(state="attached")
    page.get_by_label("Set").press("ArrowDown")
    page.get_by_role("listbox").get_by_role("option").last.wait_for()


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
    page = visit.open("/docs/cards.html")
    article = page.locator('.endpoint[data-path="/api/v1/cards"]')
    article.get_by_role("button", name="Try it").click()
    article.get_by_label("API key").fill(visit.key)
    visit.keeps_key = True
    article.get_by_role("button", name="Send").click()
    article.locator(".result").wait_for()


def reference_start(visit: Visit) -> None:
    page = visit.open("/docs")
    page.get_by_role("searchbox").fill("rate limit")
    page.locator("#found a").first.wait_for()


def concepts(visit: Visit) -> None:
    visit.open("/docs/concepts.html").locator(".copy").first.wait_for()


def home(visit: Visit) -> None:
    page = visit.open("/")
    page.get_by_label("API key").fill(visit.key)
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Send it").last.click()
    page.get_by_text("200 OK").wait_for()
    visit.keeps_key = True


def movers(visit: Visit) -> None:
    page = visit.enter("#/movers")
    page.get_by_role("radio", name="All moves").check()
    page.locator(".thumb img").first.wait_for()


def downloads(visit: Visit) -> None:
    visit.enter("#/downloads").locator("tbody tr").first.wait_for()


def changelog(visit: Visit) -> None:
    visit.open("/docs/changelog.html")
    visit.in_menu("link", "Downloads").hover()


COLOURS = ["color-contrast", "link-in-text-block"]
MARK_REPEATED = """() => {
    const states = /^(class|style|open|disabled|hidden|role|type|aria-(?!label|controls|describedby).*)$/
    const said = (one) => [...one.attributes].filter(({name}) => states.test(name)).map(({name, value}) => name + value)
    const seen = new Set()
    const mark = (one, path) => {
        const kind = `${path} > ${one.tagName} ${said(one)}`
        const inside = [...one.children].map((child) => mark(child, kind))
        const repeated = seen.has(kind) && inside.every(Boolean)
        if (!repeated) inside.forEach((known, place) => one.children[place].toggleAttribute("data-repeated", known))
        seen.add(kind)
        return repeated
    }
    mark(document.body, "")
}"""
EXPLORER = [key_asked, cards, completing, choosing_a_set, movers, card, watchlist, watched, downloads]
VIEWS = [home, reference_start, concepts, reference, changelog, *EXPLORER]


@pytest.mark.parametrize("view", mostly_thorough(VIEWS, home), ids=lambda view: view.__name__)
def test_axe_finds_nothing(visit: Visit, view) -> None:
    visit.page.emulate_media(reduced_motion="reduce")
    view(visit)
    assert_accessible(visit.page)


def assert_accessible(page: Page) -> None:
    """Check the page against all of axe's rules, and its colours in both themes, which differ in nothing else.

    Axe takes most of its time for colours, so it looks at one element of each kind. Elements are of one kind if they
    and all elements around them have the same tags, classes and states: style sheets give them the same colours.
    """
    others = {rule: {"enabled": False} for rule in COLOURS} | {"target-size": {"enabled": True}}
    assert_no_violations(page, {"rules": others})
    page.evaluate(MARK_REPEATED)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        only = {"runOnly": {"type": "rule", "values": COLOURS}}
        assert_no_violations(page, only, {"exclude": [["[data-repeated]"]]})


def assert_no_violations(page: Page, options: dict, context: dict | None = None) -> None:
    results = Axe().run(page, context, options | {"resultTypes": ["violations"]})
    assert results.violations_count == 0, results.generate_report()


@pytest.mark.parametrize("view", mostly_thorough(VIEWS, home, cards, card), ids=lambda view: view.__name__)
def test_nothing_sticks_out_at_any_width(visit: Visit, view) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    view(visit)
    for width in (390, 600, 768, 1024, 1440, 1920):
        visit.page.set_viewport_size({"width": width, "height": 900})
        assert overflow(visit.page) == [], width
        bar = visit.page.locator(".top").bounding_box()
        assert bar is not None and bar["height"] <= 110, width


def overflow(page: Page) -> list[str]:
    """What is wider than the screen, unless it scrolls by itself."""
    return page.evaluate("""() => document.documentElement.scrollWidth <= innerWidth ? [] :
        [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
            .map((one) => one.outerHTML.slice(0, 120))""")
