"""The reference in a browser: trying an endpoint with a key, choosing a language, and what the page must never do."""

import pytest
from playwright.sync_api import Browser, Error, Locator, Route, expect

from generator.site.api_reference import page_address, reference
from tests.site.conftest import Visit, ending
from tests.support.service import Service

PAGES = reference().pages


def endpoint(visit: Visit, path: str) -> Locator:
    """Open the page of an endpoint, and its form."""
    page = next(page for page in PAGES if any(operation.path == path for operation in page.operations))
    visit.open(page_address(page.name))
    article = visit.page.locator(f'.endpoint[data-path="{path}"]')
    article.get_by_role("button", name="Try it").click()
    return article


def body(article: Locator) -> Locator:
    """What the endpoint answered when it was tried."""
    return article.get_by_label("Body of the answer", exact=True)


def test_an_endpoint_can_be_tried(visit: Visit) -> None:
    cards = endpoint(visit, "/api/v1/cards")
    cards.get_by_label("API key").fill(visit.key)
    visit.keeps_key = True
    cards.get_by_label("q", exact=True).fill("emberfox & ex")
    cards.get_by_label("kind").select_option("single")
    cards.get_by_role("button", name="Send", exact=True).click()
    said = cards.locator(".result")
    expect(said).to_contain_text("200 OK")
    expect(said).to_contain_text("/api/v1/cards?q=emberfox+%26+ex&kind=single")
    cards.get_by_label("q", exact=True).fill("emberfox")
    cards.get_by_role("button", name="Send").click()
    expect(body(cards)).to_contain_text('"id_product": 10002')
    cards.get_by_text("Headers of the answer").click()
    expect(cards.get_by_label("Headers of the answer", exact=True)).to_contain_text("x-ratelimit-remaining: ")


def test_the_key_is_typed_once_and_paths_are_filled_in(visit: Visit) -> None:
    endpoint(visit, "/api/v1/me").get_by_label("API key").fill(visit.key)
    visit.keeps_key = True
    card = endpoint(visit, "/api/v1/cards/{idProduct}")
    assert card.get_by_label("API key").input_value() == visit.key
    assert card.get_by_label("idProduct").input_value() == "10002"
    card.get_by_role("button", name="Send").click()
    expect(body(card)).to_contain_text('"history": {')


MOST_SHIFT = 0.02  # of the page's view, as browsers count it; 0.1 is called good
SHIFTS = """() => new Promise((resolve) => {
    const shift = ({value, sources}) => [value, sources.map(({node}) => node?.outerHTML?.slice(0, 80))];
    const observer = new PerformanceObserver((list) => resolve(list.getEntries().map(shift)));
    observer.observe({type: "layout-shift", buffered: true});
    setTimeout(() => resolve([]), 500);
})"""


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("path", ["/", page_address("cards"), "/explore/scan"])
def test_nothing_moves_when_the_scripts_come(visit: Visit, path: str, width: int) -> None:
    """They come half a second after the text."""
    visit.page.set_viewport_size({"width": width, "height": 844})

    def late(route: Route) -> None:
        visit.page.wait_for_timeout(500)
        route.continue_()

    visit.page.route("**/*.js*", late)
    visit.open(path)
    visit.page.wait_for_load_state("networkidle")
    shifts = visit.page.evaluate(SHIFTS)
    assert sum(value for value, _ in shifts) <= MOST_SHIFT, shifts


@pytest.mark.thorough
def test_a_language_is_chosen_for_all_examples(visit: Visit) -> None:
    page = visit.open("/docs/cards.html")
    shown = lambda kind: page.locator(f".in-{kind}").filter(visible=True).count()  # noqa: E731
    calls = sum(1 for operation in reference().operations if operation.page == "cards")
    assert (shown("curl"), shown("python"), shown("javascript")) == (calls, 0, 0)
    page.get_by_label("Python", exact=True).check()
    assert (shown("curl"), shown("python"), shown("javascript")) == (0, calls, 0)
    visit.open("/docs").get_by_label("Python", exact=True).check()
    first = page.locator(".intro .request")
    assert "requests.get(" in first.inner_text() and "curl -H" not in first.inner_text()
    assert f"export CARDS={visit.base}" in page.locator(".keys").inner_text()


def test_the_policy_stops_what_does_not_belong(visit: Visit) -> None:
    page = visit.open("/docs/status.html")
    with pytest.raises(Error):
        page.evaluate("document.body.innerHTML = '<img src=x onerror=alert(1)>'")
    with pytest.raises(Error):
        page.evaluate("Object.assign(document.createElement('script'), {text: 'window.broken = 1'})")
    with pytest.raises(Error):
        page.evaluate("fetch('https://strangers.example/')")
    assert page.evaluate("document.querySelector('.endpoint').setAttribute('style', 'display:none')") is None
    assert page.locator(".endpoint").first.is_visible()
    violations = " ".join(page.evaluate("violations.splice(0)"))
    assert "connect-src" in violations and "style-src" in violations and "require-trusted-types-for" in violations
    visit.requests[:] = [request for request in visit.requests if "strangers" not in request.url]
    visit.excused += ("Content Security Policy", "Trusted", "ERR_", "strangers")


def test_it_is_read_without_javascript(browser: Browser, site_service: Service) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{site_service.port}/docs")
    page.get_by_role("navigation", name="Contents").get_by_role("link", name="Cards", exact=True).click()
    assert page.get_by_role("heading", name="Catalogue search").is_visible()
    assert page.get_by_role("button", name="Try it").count() == 0
    page.get_by_label("JavaScript", exact=True).check()
    assert page.get_by_label("Catalogue search, in JavaScript").is_visible()
    page.get_by_role("navigation", name="Contents").get_by_role("link", name="Cards by names").click()
    expect(page).to_have_url(ending("/docs/cards.html#findNamedCards"))
    page.goto(f"http://127.0.0.1:{site_service.port}/explore")
    assert "needs JavaScript" in page.locator("main").inner_text()
    context.close()


def test_the_reference_is_searched(visit: Visit) -> None:
    page = visit.open("/docs")
    page.keyboard.press("/")
    search = page.get_by_role("searchbox", name="Search the reference")
    expect(search).to_be_focused()
    page.keyboard.type("sparkline")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("link", name="sparkline_14d WatchlistItem")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(ending("/docs/watchlist.html#WatchlistItem.sparkline_14d"))
    expect(page.locator(r"#WatchlistItem\.sparkline_14d")).to_be_in_viewport()
    expect(page.locator("#found")).to_be_hidden()
    page.keyboard.press("Control+k")
    page.keyboard.type("away from zero")  # words of the text, not of a name
    expect(page.locator("#found").get_by_role("link", name="Prices", exact=True)).to_be_visible()
    page.get_by_text("Examples in").click()  # a click elsewhere closes the list
    expect(page.locator("#found")).to_be_hidden()
    page.get_by_role("searchbox").fill("no such thing")
    expect(page.locator("#found")).to_have_text("Nothing found.")
    page.keyboard.press("Escape")
    expect(page.locator("#found")).to_be_hidden()


@pytest.mark.thorough
def test_the_search_knows_other_words(visit: Visit) -> None:
    page = visit.open("/docs")
    expected = {
        "CORS": "Browsers",
        "autocomplete": "Completion as you type",
        "deck": "The price of a deck list",
        "webhook": "An alert when a price falls",
        "rate limit header": "X-RateLimit-Limit",
        "price of many cards": "The price of a list of names",
        "python client": "Clients",
        "excel": "The first page in a spreadsheet",
    }
    for typed, found in expected.items():
        page.get_by_role("searchbox").fill(typed)
        expect(page.locator("#found").get_by_role("link", name=found).first).to_be_visible()


@pytest.mark.thorough
def test_code_is_coloured_and_copied(visit: Visit) -> None:
    page = visit.open("/docs/cards.html")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    example = page.locator(".endpoint", has_text="Catalogue search").first
    assert example.locator(".code-text").count() > 5 and example.locator(".code-number").count() > 3
    example.get_by_role("button", name="Copy: Catalogue search, in curl").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("curl -sS") and copied.endswith('/api/v1/cards?q=Emberfox&limit=1"')


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("getBulkFile", "/docs/bulk.html#getBulkFile"),
        ("Card.rarity", "/docs/cards.html#Card.rarity"),
        ("rate-limits", "/docs/concepts.html#rate-limits"),
        ("listMovers.min_price", "/docs/movers.html#listMovers.min_price"),
        ("recipes", "/docs#recipes"),
    ],
)
def test_an_address_of_the_one_long_page_leads_to_the_place(visit: Visit, old: str, new: str) -> None:
    page = visit.open(f"/docs#{old}")
    expect(page).to_have_url(ending(new))
    expect(page.locator(f"[id='{old}']")).to_be_in_viewport()
