"""The page at /: which form a client gets, under which headers, and what it says about the live build."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import expect

from generator.site import pages as site
from generator.site.api_reference import NO_EXAMPLES
from tests.site.conftest import Visit, ending
from tests.site.test_files import POLICY, Markup
from tests.support.commands import build, run
from tests.support.lakes import write
from tests.support.lakes.rows import Rows
from tests.support.service import Client, Service
from tests.support.site_lake import EMBERFOX, LAKE

JSON_BODY = {
    "service": "cardpress",
    "version": "1.0.0",
    "docs": "/docs",
    "openapi": "/api/v1/openapi.json",
    "status": "/api/v1/status",
}
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
# Accept, and whether the answer is JSON.
FORMS = {
    "": False,
    "*/*": False,
    BROWSER: False,
    "text/html, application/json": False,
    "application/json, text/html": False,
    "application/json, */*": False,
    "text/plain": False,
    "nonsense": False,
    "application/json": True,
    "application/json;charset=utf-8": True,
    "application/json;q=0.002, text/html;q=0.001": True,
    "text/html;q=0.9, application/json": True,
    "text/html;level=1;q=0.4, application/json;q=0.5": True,
    "text/html;q=0.4, */*;q=0.5": True,
    "text/*;q=0.4, application/*;q=0.5": True,
    "application/json;q=0.4, application/*;q=0.9, text/html;q=0.5": False,
    "application/json;q=0, */*": False,
    "text/html;q=0, */*": True,
    'application/json;profile="a,b;q=0";q=0.9, text/html;q=0.8': True,
    "APPLICATION/JSON;Q=1, TEXT/HTML;Q=0.1": True,
    "text/html ; q=0.1 ,application/json ; q=0.2": True,
}


@pytest.fixture
def anonymous(site_service: Service) -> Client:
    return site_service.client()


@pytest.mark.parametrize(("accept", "is_json"), FORMS.items())
def test_the_form_follows_accept(anonymous: Client, accept: str, is_json: bool) -> None:
    answer = anonymous.get("/", **({"Accept": accept} if accept else {}))
    assert answer.status == 200
    assert answer["Content-Type"] == ("application/json" if is_json else "text/html; charset=utf-8")
    assert not is_json or answer.json == JSON_BODY
    assert "accept" in answer.listed("Vary")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert set(answer["Content-Security-Policy"].split("; ")) == POLICY
    head = anonymous.send("HEAD", "/", {"Accept": accept} if accept else {})
    assert (head.status, head.body, head["ETag"]) == (200, b"", answer["ETag"])
    assert head["Content-Length"] == str(len(answer.body))


def test_each_form_has_its_own_tag(anonymous: Client) -> None:
    page, form = anonymous.get("/"), anonymous.get("/", Accept="application/json")
    assert anonymous.get("/", If_None_Match=page["ETag"]).status == 304
    assert anonymous.get("/", Accept="application/json", If_None_Match=page["ETag"]).status == 200
    assert anonymous.get("/", Accept="application/json", If_None_Match=form["ETag"]).status == 304
    assert anonymous.get("/?a=1&a=1", X_Build="2020-01-01-000000000000").status == 200


def test_it_says_what_is_there_and_how_fresh(anonymous: Client, site_service: Service, site_key: str) -> None:
    text = re.sub(r"\s+", " ", Markup(anonymous.get("/").text).text)
    status = site_service.client(site_key).get("/api/v1/status").json
    assert status["build"]["as_of"] in text and status["build"]["id"] in text
    assert (
        f"Cards{status['catalogue']['singles']:,} in" in text
        and f"Sealed products{status['catalogue']['sealed']}" in text
    )
    assert "cardpress keys issue" in text


def test_it_speaks_to_collectors_first(visit: Visit) -> None:
    """The first screen of a phone: a plain sentence, and one button. Ages are against the clock of the visitor."""
    visit.page.clock.set_fixed_time("2026-09-06T10:00:00Z")
    visit.page.set_viewport_size({"width": 390, "height": 844})
    page = visit.open("/")
    lead = page.locator(".lead")
    expect(lead).to_contain_text("See what a card costs")
    assert not re.search("API|JSON|endpoint|request", lead.inner_text())
    expect(page.locator(".first:visible")).to_have_count(2)  # this button, and that of the form of the key
    expect(page.get_by_role("link", name="look at the cards", exact=True)).to_have_attribute("href", "/explore#/cards")
    box = page.get_by_role("button", name="Find it").bounding_box()
    assert box is not None and box["y"] + box["height"] < 600
    guide = page.locator(".facts > div", has_text="Price guide")
    expect(guide).to_contain_text("22 Aug 2026, 15 days old")
    expect(guide.locator(".age")).to_have_class("age")
    page.clock.set_fixed_time("2026-08-23T00:30:00Z")
    page.reload()
    expect(guide).to_contain_text("22 Aug 2026, yesterday")
    expect(guide.locator(".age")).to_have_class("age fresh")


def test_its_box_answers_what_a_card_is_worth(visit: Visit) -> None:
    page = visit.open("/")
    page.get_by_role("searchbox", name="What is your card worth?").fill("emberfox ashen")
    page.keyboard.press("Enter")
    expect(page).to_have_url(ending("/explore#/cards?q=emberfox+ashen"))
    page.get_by_label("API key").fill(visit.key)
    page.get_by_role("button", name="Open").click()
    visit.keeps_key = True
    expect(page.locator(".card").first).to_contain_text("Emberfox")
    expect(page.get_by_label("Find a card")).to_have_value("emberfox ashen")


@pytest.mark.parametrize("path", ["/", "/docs", "/docs/cards.html", "/docs/concepts.html", "/docs/changelog.html"])
def test_each_page_says_what_it_is_for(anonymous: Client, path: str) -> None:
    elements = Markup(anonymous.get(path).text).elements
    said = [given["content"] for tag, given in elements if tag == "meta" and given.get("name") == "description"]
    assert len(said) == 1 and 30 < len(said[0] or "") < 200


def test_it_shows_the_confirmed_moves_of_the_week(demo_service: tuple[Service, str]) -> None:
    service, key = demo_service
    page = Markup(service.client().get("/").text)
    links = [given["href"] or "" for _, given in page.elements if "/explore#/cards/" in (given.get("href") or "")]
    shown = [int(link.rpartition("/")[2]) for link in links]
    pictures = [given["src"] or "" for tag, given in page.elements if tag == "img"]
    asked, client, moves = "/api/v1/movers?confirmed=true&min_price=5&limit=50&direction=", service.client(key), []
    for way in ("up", "down"):
        found = client.get(asked + way).json["data"]
        moves += [mover for mover in found if _is_plain(mover, client)][:4]
    assert shown and shown == [mover["id_product"] for mover in moves]
    assert all(mover["name"] in page.text for mover in moves)
    assert "before €" in page.text and "lowest offer €" in page.text
    assert pictures and all(service.client().get(picture).status == 200 for picture in pictures)


def _is_plain(mover: dict, client: Client) -> bool:
    """Whether a tile shows a move: from 5 euros on, two averages, and lowest offers that moved along and are near."""
    card = client.get(f"/api/v1/cards/{mover['id_product']}").json
    suffix, guide = ("_holo", card["price_guide"]["holo"]) if mover["finish"] == "foil" else ("", card["price_guide"])
    lows = {point["day"]: point[f"low{suffix}"] for point in card["history"]["price_guide"]}
    low, before = lows[mover["day_now"]], lows[mover["day_then"]]
    along = low is None or before is None or (low > before if mover["change"] > 0 else low < before)
    return mover["now"] >= 5 and guide["avg7"] != guide["avg30"] and along and not (low and mover["now"] > 3 * low)


PLAIN = {"now": 12.0, "then": 6.0, "low": 4.0, "low before": 3.99, "avg7": 11.0, "avg30": 10.0}


@pytest.mark.parametrize("finish", ["normal", "foil"])
@pytest.mark.parametrize(
    ("changed", "is_shown"),
    [
        ({}, True),
        ({"low": 3.99, "low before": 3.0}, False),  # more than 3 times the lowest offer
        ({"low before": 4.0}, False),
        ({"low before": 4.01}, False),
        ({"low before": None}, True),
        ({"low": None}, True),
        ({"avg7": 10.0}, False),
        ({"then": 16.0}, False),  # a fall, and the offers rose
        ({"then": 16.0, "low before": 4.01}, True),
        ({"now": 4.99, "then": 16.0, "low before": 4.01}, False),
    ],
)
def test_a_tile_has_a_move_that_the_offers_share(changed: dict, is_shown: bool, finish: str) -> None:
    values = PLAIN | changed
    guide = {name: values[name] for name in ("low", "avg7", "avg30")}
    guides = {"holo": guide, "avg7": 1, "avg30": 1, "low": 1} if finish == "foil" else guide | {"holo": {}}
    low = "low_holo" if finish == "foil" else "low"
    points = [{"day": "then", low: values["low before"]}, {"day": "now", low: values["low"]}]
    card = {"image": None, "category": None, "number": None, "price_guide": guides, "history": {"price_guide": points}}
    prices = {"now": values["now"], "then": values["then"], "change": values["now"] - values["then"]}
    mover = {"id_product": 1, "name": "P", "finish": finish, "day_then": "then", "day_now": "now", **prices}
    found = site._moves("up", lambda target: {"data": [mover]} if "/movers?" in target else card)
    assert bool(found) == is_shown


def test_it_promises_only_what_the_build_has() -> None:
    catalogue = {"products": 7, "singles": 5, "sealed": 2, "sets": 0, "price_guide_day": "2026-07-14"}
    status = {
        "build": {"id": "2026-07-14-0", "as_of": "2026-07-14"},
        "watchlist": {"products": 0, "checked": 0, "last_checked": None},
        "catalogue": {**catalogue, "listing_scraped_at": None},
        "filtered_price": {"checked": 0, "latest_checked_at": None},
    }
    live = replace(NO_EXAMPLES, status=status, answer={"/api/v1/fingerprints": {"count": 0}}.get)
    page = site.documents(live)["index.html"].decode()
    words = re.sub(r"\s+", " ", Markup(page.partition("<main")[2].partition("Three requests")[0]).text)
    assert "Cards5" in words and "Sealed products2" in words and "14 Jul 2026" in words
    assert not re.search("offer|photo|sets|Watchlist|Pictures|night|never", words)


def test_its_three_requests_work(anonymous: Client, site_service: Service, site_key: str) -> None:
    targets = [given["data-url"] for _, given in Markup(anonymous.get("/").text).elements if "data-url" in given]
    assert len(targets) == 3 and f"/api/v1/cards/{EMBERFOX}?days=3" in targets
    answers = [site_service.client(site_key).get(target) for target in targets]
    assert [answer.status for answer in answers] == [200] * 3
    assert answers[1].json["data"]


@pytest.mark.parametrize(
    ("lacking", "entries"),
    [
        ((), ["Cards", "Moves", "Market", "Scan", "My cards", "API"]),
        (("fingerprints", "recipe"), ["Cards", "Moves", "Market", "My cards", "API"]),
        (("price_guide", "watchlist", "watch_checks"), ["Cards", "Scan", "My cards", "API"]),
    ],
)
@pytest.mark.thorough
def test_the_navigation_names_what_the_build_has(tmp_path: Path, lacking: tuple[str, ...], entries: list[str]) -> None:
    nothing = Rows(products=[])
    lake = replace(LAKE, **{name: getattr(nothing, name) for name in lacking})
    build(write(lake, tmp_path / "lake"), tmp_path / "store")
    page = run("cat", "index.html", "--store", tmp_path / "store").stdout
    navigation = page[page.index("<nav") : page.index("</nav>")]
    assert re.findall("<a [^>]*>([^<]*)</a>", navigation) == entries
    assert ("/explore#/watchlist" in page) == ("watchlist" not in lacking)
