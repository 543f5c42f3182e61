"""The pages of the market, of sets and of games, and the ways between them and the cards."""

import re

import pytest
from playwright.sync_api import expect

from tests.site.conftest import Visit, ending
from tests.site.test_accessibility import assert_accessible, overflow
from tests.support.site_lake import DAYS, EMBERFOX

pytestmark = pytest.mark.thorough


def test_the_market_ranks_sets_and_games(visit: Visit) -> None:
    page = visit.enter("#/market")
    expect(page.get_by_role("heading", name="The market")).to_be_focused()
    rows = page.get_by_role("table", name="Market").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("Filler Set")  # 130 cards of 1.00 to 2.29
    expect(rows.first).to_contain_text("€213.85")
    expect(rows.last).to_contain_text("Ashen Peaks")
    expect(rows.last).to_contain_text("1 of 4")
    expect(rows.last).to_contain_text("110.50")
    expect(rows.last).to_contain_text("+3.27 %")
    page.get_by_label("Sort by").select_option("name")
    expect(rows.first).to_contain_text("Ashen Peaks")
    expect(page).to_have_url(ending("#/market?sort=name"))
    page.locator("[name=game]").select_option("Mythgrove")
    expect(rows).to_have_count(1)
    page.reload()
    expect(rows).to_have_count(1)
    page.get_by_label("Of").select_option("game")
    expect(rows.locator("a")).to_have_text(["Mythgrove"])
    expect(page.locator("[name=game]")).to_be_disabled()


def test_a_set_shows_its_value_its_cards_and_their_moves(visit: Visit) -> None:
    page = visit.enter("#/sets/6204")
    expect(page.get_by_role("heading", name="Ashen Peaks")).to_be_focused()
    expect(page).to_have_title(re.compile("^Ashen Peaks"))
    expect(page.locator(".headline")).to_contain_text("€22.10")
    expect(page.locator(".headline")).to_contain_text("Market prices of 1 card, 22 Aug 2026")
    expect(page.locator(".headline")).to_contain_text("+3.27 %")
    slider = page.get_by_role("slider", name="Day")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("Value at market prices €22.10.*Index 110.50"))
    page.get_by_label("Value at lowest offers").uncheck()
    expect(page.locator(".canvas path.line")).to_have_count(2)
    expect(page.get_by_role("table", name="Rose most within a week").locator("tbody tr")).to_have_count(1)
    some = "(1 of 4 have one)"
    whole = f"The whole set costs €22.10 {some} at market prices, €16.90 {some} at the lowest offers"
    expect(page.get_by_text(whole)).to_be_visible()
    cards = page.get_by_role("table", name="Cards by number").locator("tbody th")
    expect(cards.first).to_contain_text('<b>Bold</b> & "quoted"')
    expect(cards).to_have_count(4)
    page.get_by_role("navigation", name="Path").get_by_role("link", name="Mythgrove").click()
    expect(page.get_by_role("heading", name="Mythgrove")).to_be_focused()
    expect(page.locator(".headline")).to_contain_text("€22.10")


def test_a_long_set_shows_its_first_cards_until_all_are_asked_for(visit: Visit) -> None:
    page = visit.enter("#/sets/7")
    cards = page.get_by_role("table", name="Cards by number").locator("tbody tr")
    expect(cards).to_have_count(50)
    headings = page.get_by_role("table", name="Cards by number").get_by_role("columnheader")
    expect(headings).to_have_text(["Card", "Number", "Price"])  # none has a rarity or a price of a week before
    expect(page.get_by_role("link", name=re.compile("^All of the set"))).to_have_text("All of the set")
    page.get_by_role("button", name="Show 80 more").click()
    expect(cards).to_have_count(130)
    expect(cards.nth(50).get_by_role("link")).to_be_focused()
    expect(page.get_by_role("button", name="more")).to_have_count(0)


def test_a_card_leads_to_its_set_its_game_and_its_neighbours(visit: Visit) -> None:
    page = visit.enter(f"#/cards/{EMBERFOX}")
    way = page.get_by_role("navigation", name="Path").get_by_role("link")
    expect(way).to_have_text(["Market", "Mythgrove", "Ashen Peaks"])
    around = page.get_by_role("navigation", name="Cards of the set")
    around.get_by_role("link", name="← Previous").click()
    expect(page.get_by_role("heading", name='<b>Bold</b> & "quoted"')).to_be_focused()
    expect(around.get_by_role("link")).to_have_text(["Next →"])
    page.get_by_role("navigation", name="Path").get_by_role("link", name="Ashen Peaks").click()
    expect(page).to_have_url(ending("#/sets/6204"))


def test_the_first_page_shows_the_index_of_each_game(visit: Visit) -> None:
    page = visit.open("/")
    games = page.get_by_role("region", name="How does the market move?").get_by_role("listitem")
    expect(games).to_have_count(1)
    expect(games).to_contain_text("Mythgrove")
    expect(games).to_contain_text("110.50, +3.27 % since 15 Aug")
    line = games.get_by_role("img", name="Its index over 90 days: from 100.00 to 110.50").locator("polyline")
    points = (line.get_attribute("points") or "").split()
    assert len(points) == len(DAYS) and (points[0], points[-1]) == ("3.0,25.0", "117.0,3.0")


def test_the_pages_are_accessible_and_fit_a_phone(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    for fragment in ("#/market", "#/sets/6204"):
        page = visit.enter(fragment) if not visit.keeps_key else visit.open(f"/explore{fragment}")
        expect(page.locator("tbody tr").first).to_be_visible()
        assert overflow(page) == []
        assert_accessible(page)
