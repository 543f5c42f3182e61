"""The explorer in a browser, used as a visitor would: by pointer and by keys."""

import csv
import gzip
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from generator.storage.builds import live_build_id, open_build
from generator.storage.stores.folder import FolderStore
from tests.site.conftest import Visit, ending
from tests.support.commands import issue
from tests.support.service import Service, until
from tests.support.site_lake import DAYS, EMBERFOX, IMAGES, SLUG


def test_a_tile_shows_how_the_price_changed_in_7_days(visit: Visit) -> None:
    """The same as the page of the card says, from one request for all tiles."""
    page = visit.enter("")
    expect(page.locator(".card", has_text="Emberfox").locator(".change")).to_have_text("+3.27 % since 15 Aug")
    expect(page.locator(".card", has_text="Filler 129").locator(".change")).to_have_text("")  # no price 7 days ago
    page.mouse.wheel(0, 20_000)
    expect(page.locator(".card")).to_have_count(100)
    asked = [request.url for request in visit.requests]
    assert sum("/explore/week.json" in url for url in asked) == 1
    assert not any("/api/v1/cards/" in url for url in asked)


@pytest.mark.thorough
def test_a_card_shows_its_ids_in_other_catalogues(visit: Visit) -> None:
    page = visit.enter(f"#/cards/{EMBERFOX}")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ids = page.get_by_label("Ids in other catalogues")
    expect(ids.locator("dt")).to_have_text(["tcgdex", "tcgplayer"])
    expect(ids.locator("code")).to_have_text(["asp-012", "516713", "<b>&amp;</b>"])
    ids.get_by_role("button", name="Copy 516713").click()
    expect(page.get_by_role("status")).to_have_text("Copied 516713.")
    assert page.evaluate("navigator.clipboard.readText()") == "516713"
    page.goto(f"{visit.base}/explore#/cards/2")
    expect(page.get_by_role("heading", name="No picture")).to_be_visible()
    page.wait_for_load_state("networkidle")
    expect(ids).to_have_count(0)


@pytest.mark.thorough
def test_price_moves_show_what_rose_and_fell(visit: Visit) -> None:
    page = visit.enter("#/movers")
    expect(page.get_by_role("heading", name="Largest price moves")).to_be_focused()
    page.get_by_role("radio", name="All moves").check()
    rose = page.get_by_role("table", name="Rose").locator("tbody tr")
    expect(rose).to_have_count(1)
    expect(rose).to_contain_text("€21.40")  # 7 days before the newest guide
    expect(rose).to_contain_text("€22.10")
    expect(rose).to_contain_text("€21.4015 Aug 2026")
    expect(rose).to_contain_text("€22.1022 Aug 2026")
    expect(rose).to_contain_text("+3.27 %")
    expect(rose.locator(".sparkline")).to_have_count(0)  # a week is too short for a line
    expect(page.get_by_role("table", name="Fell").locator("tbody tr")).to_have_count(0)
    page.get_by_role("radio", name="1 day", exact=True).check()
    expect(rose).to_contain_text("+0.45 %")
    expect(page).to_have_url(ending("#/movers?window=1d&confirmed="))
    page.get_by_role("radio", name="Sealed").check()
    expect(rose).to_have_count(0)
    page.get_by_role("radio", name="Singles").check()
    page.get_by_role("link", name="Emberfox ex").click()
    expect(page.get_by_role("heading", name="Emberfox ex")).to_be_focused()


def test_search_as_one_types(visit: Visit) -> None:
    page = visit.enter()
    expect(page.locator(".total")).to_have_text("134 cards, 3 sealed products")
    expect(page.get_by_role("status")).to_have_text("50 of 137 cards shown.")
    page.keyboard.type("emberfox")  # the field has the focus
    expect(page.locator(".card")).to_have_count(1)
    expect(page.locator(".card")).to_contain_text("Emberfox ex [Blazing Tail]")
    expect(page.locator(".card")).to_contain_text("€18.50")
    expect(page.locator(".total")).to_contain_text("1 card")
    expect(page.get_by_role("status")).to_have_text("These are all.")
    expect(page).to_have_url(ending("#/cards?q=emberfox"))
    expect(page).to_have_title("emberfox, Cards, cardpress")
    page.get_by_label("Find a card").fill("nothing of that name")
    expect(page.get_by_role("status")).to_contain_text("No cards found.")


def test_filters_and_sorting(visit: Visit) -> None:
    page = visit.enter()
    cards = page.locator(".card")
    page.get_by_text("Filters and order").click()
    page.get_by_label("Kind").select_option("sealed")
    expect(cards).to_have_count(3)
    page.get_by_role("button", name="Clear").click()
    expect(cards).to_have_count(50)
    page.get_by_label("Set", exact=True).fill("Filler Se")  # half a name asks nothing yet
    page.get_by_label("Set", exact=True).fill("Filler Set")
    page.get_by_label("Sort by").select_option("number")
    expect(cards.first).to_contain_text("Filler 000")
    page.get_by_label("Order").select_option("desc")
    expect(cards.first).to_contain_text("Filler 129")
    assert "set=Filler+Set" in page.url and "sort=number" in page.url and "order=desc" in page.url
    page.get_by_label("Set", exact=True).fill("No such set")
    page.get_by_label("Set", exact=True).press("Tab")
    expect(page.get_by_role("status")).to_have_class(re.compile("error"))
    visit.excused += ("404 (Not Found)",)


def read_csv(text: str) -> dict[str, dict[str, str]]:
    return {row["id_product"]: row for row in csv.DictReader(text.splitlines())}


def test_a_list_is_saved_as_a_table_with_the_values_of_the_table_of_prices(visit: Visit, site_store: Path) -> None:
    visit.enter("#/cards?set=Filler+Set&sort=number")
    with visit.page.expect_download() as saving:
        visit.page.get_by_role("button", name="Download as CSV").click()
    assert saving.value.suggested_filename == "cards.csv"
    saved = read_csv(saving.value.path().read_bytes().decode("utf-8-sig"))
    store = FolderStore(str(site_store))
    build = open_build(store, live_build_id(store))
    [file] = [file for name, file in build.bulk_files.items() if name.startswith("prices-")]
    prices = read_csv(gzip.decompress(build.store.get(file.object)).decode())
    expected = {id_: row for id_, row in prices.items() if row["set"] == "Filler Set"}
    assert list(saved) == sorted(expected, key=int) and len(saved) == 130
    numbers = {"price", "low", "avg7", "avg30"}
    for id_, row in saved.items():
        for name, text in row.items():
            value = expected[id_][name]
            assert (float(text) == float(value)) if name in numbers and text else text == value, (id_, name)
    visit.page.get_by_label("Find a card").fill("nothing like it")
    expect(visit.page.get_by_role("button", name="Download as CSV")).to_be_hidden()


def test_names_complete_the_search(visit: Visit) -> None:
    page = visit.enter()
    search, names = page.get_by_label("Find a card"), suggestions(page)
    page.keyboard.type("f")
    expect(page.locator(".total")).to_contain_text("131 cards")
    expect(search).to_have_attribute("aria-expanded", "false")  # one letter is too little
    page.keyboard.type("iller 01")
    expect(names).to_have_text([f"Filler 01{n}1" for n in range(8)])  # a name, and its number of products
    expect(search).to_have_attribute("aria-expanded", "true")
    expect(search).to_be_focused()
    names.nth(2).click()
    expect(names).to_have_count(0)
    expect(search).to_be_focused()
    expect(search).to_have_value("Filler 012")
    expect(page.locator(".card .name")).to_have_text(["Filler 012"])
    expect(page).to_have_url(ending("#/cards?q=Filler+012"))
    search.fill("PICTURE")
    expect(names).to_have_text(["Insecure picture1", "No picture1"])
    visit.in_menu("link", "Watchlist").click()
    page.get_by_role("link", name="Cards", exact=True).click()
    page.get_by_label("Find a card").fill("emberfox [e")
    expect(suggestions(page)).to_have_text(["Emberfox ex1"])
    assert asked(visit, "names") == 1


def test_a_search_that_finds_nothing_offers_what_may_be_meant(visit: Visit) -> None:
    page = visit.enter("#/cards?q=emberfx")
    meant = page.locator(".meant")
    expect(meant).to_have_text("Nothing has \u201cemberfx\u201d. Did you mean emberfox (1)?")
    page.get_by_label("Find a card").fill("Emberfox #12")
    expect(meant).to_contain_text("Did you mean emberfox 12 (1)")
    page.get_by_label("Find a card").fill("zzyzx")
    expect(meant).to_have_text("Nothing has \u201czzyzx\u201d. ")
    page.get_by_label("Find a card").fill("emberfox ashn peaks")
    meant.get_by_role("link", name="emberfox ashen peaks (1)").click()
    expect(page.locator(".card .name")).to_have_text(["Emberfox ex [Blazing Tail]"])
    expect(page).to_have_url(ending("#/cards?q=emberfox+ashen+peaks"))
    expect(meant).to_have_count(0)


@pytest.mark.parametrize("after", ["the click", "the event of the new address"])
def test_a_link_that_is_followed_while_one_types_leads_on(visit: Visit, after: str) -> None:
    """The pause after typing ends when the link was followed."""
    page = visit.enter()
    expect(page.locator(".card").first).to_be_visible()
    page.evaluate(
        """(isLate) => {
        const search = document.querySelector("input[name=q]"), wait = globalThis.setTimeout;
        let begin;
        globalThis.setTimeout = (work) => { begin = work; };
        search.value = "emberfox";
        search.dispatchEvent(new Event("change", {bubbles: true}));
        globalThis.setTimeout = wait;
        location.hash = "#/watchlist";
        isLate ? addEventListener("hashchange", begin, {once: true}) : begin();
    }""",
        after != "the click",
    )
    expect(page.get_by_role("heading", name="Watchlist")).to_be_visible()
    expect(page).to_have_url(ending("#/watchlist"))


@pytest.mark.parametrize(
    ("filters", "meant"), [("set=Ashn+Peak", "set Ashen Peaks"), ("game=Mythgrov", "game Mythgrove")]
)
def test_a_set_or_game_that_is_not_known_offers_the_nearest(visit: Visit, filters: str, meant: str) -> None:
    visit.excused += ("404 (Not Found)",)
    page = visit.enter(f"#/cards?{filters}")
    page.locator(".meant").get_by_role("link", name=meant).click()
    expect(page.locator(".card").first).to_be_visible()


@pytest.mark.thorough
def test_the_search_is_completed_by_keys(visit: Visit) -> None:
    """As the combobox with list autocomplete of the WAI-ARIA Authoring Practices."""
    page = visit.enter()
    search, names = page.get_by_label("Find a card"), suggestions(page)
    page.keyboard.type("box")
    expect(names).to_have_text(["Box 01", "Box 11", "Box 21"])
    assert page.get_by_role("listbox").get_attribute("id") == search.get_attribute("aria-controls")
    for key, at in (("ArrowDown", 0), ("ArrowDown", 1), ("ArrowUp", 0), ("ArrowUp", 2), ("ArrowDown", 0)):
        page.keyboard.press(key)
        expect(page.locator("[aria-selected=true]")).to_have_text(f"Box {at}1")
        expect(search).to_have_attribute("aria-activedescendant", names.nth(at).get_attribute("id") or "none")
    page.keyboard.press("ArrowLeft")
    expect(search).not_to_have_attribute("aria-activedescendant", re.compile(""))
    page.keyboard.press("Escape")
    expect(names).to_have_count(0)
    expect(search).to_have_value("box")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(search).to_have_value("Box 2")
    expect(page.locator(".card .name")).to_have_text(["Box 2"])
    page.keyboard.press("Escape")
    expect(search).to_have_value("")
    expect(page.locator(".total")).to_contain_text("134 cards, 3 sealed products")
    page.keyboard.type("box")
    expect(names).to_have_count(3)
    page.keyboard.press("Tab")
    expect(names).to_have_count(0)
    expect(search).to_have_value("box")
    expect(search).not_to_be_focused()


def test_the_best_match_comes_first_unless_another_sort_is_chosen(visit: Visit) -> None:
    page = visit.enter()
    page.get_by_text("Filters and order").click()
    first, sort, order = page.locator(".card").first, page.get_by_label("Sort by"), page.get_by_label("Order")
    expect(sort).to_have_value("market")
    expect(sort.get_by_role("option", name="Best match")).to_have_count(0)  # there are no words to match
    page.get_by_label("Find a card").fill("00")
    expect(first).to_contain_text("Filler 009")  # a word begins with 00
    expect(sort).to_have_value("match")
    expect(sort.get_by_role("option", name="Best match")).to_have_count(1)
    expect(order).to_be_disabled()
    expect(page).to_have_url(ending("#/cards?q=00"))
    sort.select_option("trend")
    expect(first).to_contain_text("Filler 100")  # the highest price
    expect(page).to_have_url(ending("#/cards?q=00&sort=trend"))
    page.get_by_label("Find a card").fill("001")
    expect(sort).to_have_value("trend")
    page.reload()
    expect(sort).to_have_value("trend")
    sort.select_option("match")
    page.get_by_label("Find a card").fill("")
    expect(sort).to_have_value("market")
    expect(order).to_be_enabled()


def test_filters_offer_values_that_exist_with_their_counts(visit: Visit) -> None:
    page = visit.enter()
    page.get_by_text("Filters and order").click()
    kind, game, options = page.get_by_label("Kind"), page.get_by_label("Game"), suggestions(page)
    expect(kind.locator("option")).to_have_text(["All", "Singles (134)", "Sealed (3)"])
    expect(game.locator("option")).to_have_text(["Any", "Mythgrove (7)"])
    page.get_by_label("Rarity", exact=True).click()
    expect(options).to_have_text(["Rare1", "Ultra Rare1"])
    page.get_by_label("Set", exact=True).click()
    expect(options).to_have_text(["Filler Set130", "Ashen Peaks7"])
    page.keyboard.type("é")
    expect(options).to_have_text(["Filler Set130", "Ashen Peaks7"])  # both have an e
    page.keyboard.press("Backspace")
    page.keyboard.type("PEAK")
    expect(options).to_have_text(["Ashen Peaks7"])
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".total")).to_contain_text("4 cards, 3 sealed products, €22.10 in all")
    expect(kind.locator("option")).to_have_text(["All", "Singles (4)", "Sealed (3)"])
    page.get_by_label("Set", exact=True).click()
    expect(options).to_have_text(["Filler Set130", "Ashen Peaks7"])  # what another choice would find
    kind.select_option("sealed")
    expect(page.locator(".total")).to_contain_text("3 sealed products")
    page.get_by_label("Set", exact=True).click()
    expect(options).to_have_text(["Ashen Peaks3"])
    expect(kind.locator("option")).to_have_text(["All", "Singles (4)", "Sealed (3)"])
    page.get_by_label("Rarity", exact=True).click()
    expect(options).to_have_count(0)
    game.select_option("Mythgrove")
    expect(page).to_have_url(ending("#/cards?set=Ashen+Peaks&kind=sealed&game=Mythgrove"))


def test_bounds_of_the_market_price_are_counted_and_summed(visit: Visit) -> None:
    page = visit.enter("#/cards?min_price=1")
    expect(page.locator(".total")).to_have_text(re.compile(r"\d+ cards, €[\d,.]+ in all$"))
    expect(page.get_by_label("Kind").locator("option")).to_have_text(["All", "Singles (131)"])
    assert asked(visit, "facets") == 1


def suggestions(page: Page) -> Locator:
    """Return the options of the list that is open."""
    return page.get_by_role("listbox").get_by_role("option")


def asked(visit: Visit, path: str) -> int:
    """Return how many requests for a path of the API there were."""
    return sum(urlsplit(request.url).path == f"/api/v1/{path}" for request in visit.requests)


def test_the_list_goes_on_and_is_found_again(visit: Visit) -> None:
    page = visit.enter()
    expect(page.locator(".card")).to_have_count(50)
    page.mouse.wheel(0, 20_000)
    expect(page.locator(".card")).to_have_count(100)
    page.mouse.wheel(0, 40_000)
    expect(page.locator(".card")).to_have_count(137)
    expect(page.get_by_role("button", name="More cards")).to_be_hidden()
    builds = {r.headers.get("x-build") for r in visit.requests if "offset=50" in r.url or "offset=100" in r.url}
    assert len(builds) == 1 and None not in builds
    scrolled = page.evaluate("scrollY")
    page.locator(".card", has_text="Filler 003").click()
    expect(page.get_by_role("heading", name="Filler 003")).to_be_focused()
    page.go_back()
    expect(page.locator(".card")).to_have_count(137)
    until(lambda: page.evaluate("scrollY") > scrolled / 2, 60, "it scrolls back")


def test_pictures(visit: Visit) -> None:
    page = visit.enter("#/cards?set=6204")
    there = page.locator("li", has_text="Emberfox").locator("img")
    expect(there).to_have_attribute("src", f"{IMAGES}/asp/012.png")
    for name in ("Bold", "No picture", "Insecure"):  # missing on its host, none, over http
        card = page.locator("li", has=page.locator(".name", has_text=name))
        expect(card.locator(".picture")).to_have_class(re.compile(r"\bnone\b"))
    assert [r.url for r in visit.requests if r.url.startswith("http://images")] == []


def test_a_list_without_pictures_says_why(visit: Visit) -> None:
    page = visit.enter("#/cards?set=7")
    expect(page.get_by_text("There are no pictures here: the data")).to_be_visible()
    page.goto(f"{visit.base}/explore#/cards?set=6204")
    expect(page.locator("li img").first).to_be_visible()
    expect(page.get_by_text("There are no pictures here")).to_be_hidden()


def test_a_card_joins_my_cards(visit: Visit) -> None:
    page = visit.enter(f"#/cards/{EMBERFOX}")
    add = page.get_by_role("button", name="Add to my cards")
    for copies in ("1", "2"):
        add.click()
        expect(page.locator(".keeping")).to_contain_text(f"{copies} in My cards")
    page.locator(".keeping").get_by_role("link", name="My cards").click()
    expect(page.locator("#worth-total")).to_have_text("€44.20")
    expect(page.get_by_role("table", name="Your list")).to_contain_text("Emberfox ex")
    page.get_by_role("button", name="Delete my list").click()
    expect(page.locator("#worth-total")).to_have_count(0)


def test_the_watchlist_says_whose_it_is(visit: Visit) -> None:
    page = visit.enter("#/watchlist")
    expect(page.get_by_text("the operator of this service tracks, the same for every visitor")).to_be_visible()


def test_text_of_the_data_is_text(visit: Visit) -> None:
    page = visit.enter("#/cards?q=bold")
    expect(page.locator(".card .name")).to_have_text('<b>Bold</b> & "quoted"')
    page.goto(f"{visit.base}/explore#/cards/2")
    expect(page.get_by_role("heading", name="No picture")).to_be_visible()
    assert page.locator("a[href^='javascript']").count() == 0


def test_a_card_and_its_plot(visit: Visit) -> None:
    page = visit.enter(f"#/cards/{EMBERFOX}")
    expect(page.get_by_role("heading", name="Emberfox ex")).to_be_focused()
    expect(page).to_have_title(re.compile("^Emberfox ex"))
    headline = page.locator(".headline")
    expect(headline.locator(".moves")).to_have_text("since 15 Aug+3.27 %")  # 22.10 after 21.40, and nothing older
    expect(headline).to_contain_text(re.compile("Lowest €.+ on .+, highest €.+ on .+: now at 100 % of the way"))
    expect(page.get_by_role("table", name="Cheapest offers", exact=True)).to_contain_text("kaartenhoek")
    lines = page.locator(".canvas path.line")
    expect(lines).to_have_count(5)
    paths = [line.get_attribute("d") or "" for line in lines.all()]
    assert [text.count("L") for text in paths] == [
        21,
        21,
        21,
        19,
        21,
    ]  # filtered: a day has no offers
    assert not any("NaN" in text for text in paths)
    slider = page.get_by_role("slider", name="Day")
    said = "22 Aug 2026: Trend €22.10, Average €23.10, Lowest offer €16.90, English, one country €18.50, Available 421"
    expect(slider).to_have_attribute("aria-valuetext", said)
    slider.press("ArrowLeft")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^21 Aug 2026: Trend €22.00"))
    slider.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^1 Aug 2026: "))
    page.locator(".canvas").hover(position={"x": 400, "y": 100})
    expect(slider).not_to_have_attribute("aria-valuetext", re.compile("^1 Aug 2026: "))
    page.get_by_label("Average", exact=True).uncheck()
    expect(lines).to_have_count(4)
    page.get_by_text("As a table").click()
    expect(page.get_by_role("table", name="Prices and quantity").get_by_role("row")).to_have_count(len(DAYS) + 1)
    with page.expect_response(lambda answer: "days=30" in answer.url):
        page.get_by_role("radio", name="30 days").check()
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^22 Aug 2026"))
    expect(lines).to_have_count(4)  # what was switched off stays off


def test_the_watchlist(visit: Visit) -> None:
    page = visit.enter()
    visit.in_menu("link", "Watchlist").click()
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("€19.10")
    expect(rows.first).to_contain_text("+0.53 %")
    expect(rows.first.get_by_role("img")).to_be_visible()
    expect(rows.last).to_contain_text("no prices")
    page.get_by_role("button", name="Product").click()
    expect(rows.first).to_contain_text("Zebra")
    expect(page.get_by_role("columnheader", name="Product")).to_have_attribute("aria-sort", "descending")
    page.get_by_role("button", name="Lowest").click()
    expect(rows.first).to_contain_text("Emberfox")  # what has no price comes last
    page.get_by_role("link", name="Emberfox ex").click()
    expect(page.locator(".canvas path.line")).to_have_count(1)
    expect(page.get_by_role("table", name="Offers")).to_contain_text("<i>sleeved</i>")
    page.get_by_text("Weeks", exact=True).click()
    expect(page.get_by_role("slider", name="Day")).to_have_attribute("max", "3")
    expect(page).to_have_url(ending(SLUG))


@pytest.mark.thorough
def test_a_slug_with_a_slash(visit: Visit) -> None:
    page = visit.enter("#/watchlist")
    page.get_by_role("link", name="Zebra with a slash").click()
    expect(page.get_by_role("heading", name="Zebra with a slash")).to_be_visible()
    expect(page.get_by_text("None were listed.")).to_be_visible()


def test_keys_are_refused_and_forgotten(visit: Visit) -> None:
    page = visit.open("/explore#/cards")
    expect(page.get_by_label("API key")).to_be_focused()
    page.keyboard.type("cpm_live_wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).not_to_be_empty()
    visit.excused += ("401 (Unauthorized)",)
    page.get_by_label("API key").fill(visit.key)
    page.keyboard.press("Enter")
    expect(page.locator(".card")).to_have_count(50)
    expect(page.get_by_label("API key")).to_have_value("")
    visit.in_menu("button", "Forget the key").click()
    visit.keeps_key = False
    expect(page.get_by_label("API key")).to_be_focused()
    expect(page.locator(".card")).to_have_count(0)
    page.reload()
    expect(page.get_by_label("API key")).to_be_visible()


@pytest.mark.thorough
def test_an_unknown_card_is_told(visit: Visit) -> None:
    """And so is an unknown view: a sentence, a search, a link."""
    visit.excused += ("404 (Not Found)",)
    page = visit.enter("#/cards/999999999")
    expect(page.get_by_role("heading", name="There is no card with this id")).to_be_focused()
    page.goto(f"{visit.base}/explore#/nonsense")
    expect(page.get_by_role("heading", name="There is no page at this address")).to_be_visible()
    page.get_by_label("Find a card").fill("emberfox")
    page.keyboard.press("Enter")
    expect(page.locator(".card")).to_have_count(1)


@pytest.mark.thorough
def test_a_service_that_cannot_be_reached_is_asked_again(visit: Visit) -> None:
    visit.excused += ("ERR_INTERNET_DISCONNECTED",)
    page = visit.enter()
    page.context.set_offline(True)
    page.get_by_role("link", name="Market").click()
    expect(page.get_by_role("status")).to_contain_text("The service cannot be reached.")
    page.context.set_offline(False)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("table", name="Market").locator("tbody tr")).to_have_count(2)


@pytest.mark.thorough
def test_a_key_without_the_scope_of_a_view_leads_to_another(visit: Visit, site_store: Path) -> None:
    visit.excused += ("403 (Forbidden)",)
    page = visit.open(f"/explore#key={issue(site_store, 'watchlist:read', name='watcher')}")
    expect(page.get_by_role("heading", name="Your key may not read this")).to_be_focused()
    expect(page.locator(".lost")).to_contain_text("it lacks the scope cards:read")
    page.locator(".lost").get_by_role("link", name="Watchlist").click()
    expect(page.locator("tbody tr")).to_have_count(2)
    visit.in_menu("button", "Forget the key").click()


def test_the_key_lasts_for_the_tab_on_all_pages(visit: Visit) -> None:
    page = visit.enter()
    page.reload()
    expect(page.locator(".card")).to_have_count(50)
    page.goto(f"{visit.base}/")
    expect(page.locator("#key-state")).to_contain_text("“visitor” is in use")
    page.goto(f"{visit.base}/docs/me.html")
    form = page.locator('.endpoint[data-path="/api/v1/me"]')
    form.get_by_role("button", name="Try it").click()
    assert form.get_by_label("API key").input_value() == visit.key
    other_tab = page.context.new_page()
    other_tab.goto(f"{visit.base}/explore")
    expect(other_tab.get_by_label("API key")).to_be_visible()


@pytest.mark.thorough
def test_a_key_in_the_fragment_is_read_and_removed(browser: Browser, site_service: Service, site_key: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.partition("#")[0]))
    page.goto(f"http://127.0.0.1:{site_service.port}/explore#key={site_key}")
    expect(page.locator(".card")).to_have_count(50)
    assert site_key not in page.url and page.evaluate("history.length") <= 2
    assert not any(site_key in url for url in asked)
    for path in ("me", "status", "cards"):  # what was asked early is not asked again
        assert sum(urlsplit(url).path == f"/api/v1/{path}" for url in asked) == 1
    context.close()


@pytest.mark.thorough
def test_the_first_picture_needs_four_round_trips(visit: Visit) -> None:
    """The page, a script that asks early, the cards, the picture: on a slow link these are the time."""
    rounds: dict[str, int] = {}
    finished: list[int] = [0]
    page = visit.page
    page.on("request", lambda request: rounds.setdefault(request.url, 1 + max(finished)))
    page.on("requestfinished", lambda request: finished.append(rounds[request.url]))
    slow = {"offline": False, "latency": 600, "downloadThroughput": 50_000, "uploadThroughput": 50_000}
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", slow)
    page.goto(f"{visit.base}/explore#key={visit.key}", wait_until="commit")
    expect(page.get_by_text("Loading…").first).to_be_visible()
    expect(page.locator(".card img").first).to_have_attribute("src", f"{IMAGES}/asp/012.png")
    visit.keeps_key = True
    page.wait_for_load_state("networkidle")
    assert rounds[f"{IMAGES}/asp/012.png"] <= 4


@pytest.mark.parametrize("path", ["/explore", "/", "/docs"])
@pytest.mark.thorough
def test_a_key_link_works_in_a_tab_that_is_open(visit: Visit, path: str) -> None:
    page = visit.open(path)
    expect(page.locator("#key-name")).to_have_text("No key in this tab.")
    page.evaluate("key => { location.hash = `key=${key}` }", visit.key)
    expect(page.locator("#key-name")).to_have_text("Key: visitor.")
    visit.keeps_key = True
    if path == "/explore":
        expect(page.locator(".card")).to_have_count(50)


@pytest.mark.thorough
def test_card_and_watchlist_lead_to_each_other(visit: Visit) -> None:
    page = visit.enter(f"#/cards/{EMBERFOX}")
    page.get_by_role("link", name="Tracked, with offers").click()
    expect(page.get_by_role("table", name="Offers")).to_contain_text("Near Mint")
    expect(page).to_have_url(ending(f"#/watchlist/{SLUG}"))
    page.get_by_role("link", name="Card with its prices").click()
    expect(page.get_by_role("heading", name="Emberfox ex")).to_be_focused()
    expect(page).to_have_url(ending(f"#/cards/{EMBERFOX}"))


def test_downloads_are_listed_and_saved(visit: Visit) -> None:
    page = visit.enter("#/downloads")
    expect(page.get_by_role("heading", name="Downloads")).to_be_visible()
    rows = page.get_by_role("table", name="Catalogue").locator("tbody tr")
    expect(rows.filter(has_text="cards-")).to_have_count(1)
    guide = page.locator("section", has=page.get_by_role("heading", name="Price guide")).last
    expect(guide.locator("tbody tr").first).to_contain_text("22 Aug 2026")  # the newest day
    lines = page.get_by_label("Lines for DuckDB")
    expect(lines).to_contain_text(f"ATTACH 'ducklake:{visit.base}/api/v1/bulk/catalog.ducklake' AS cards")
    expect(lines).to_contain_text(f"BEARER_TOKEN '{visit.key}'")
    assert lines.bounding_box()["y"] < rows.first.bounding_box()["y"]
    with page.expect_download() as saving:
        rows.filter(has_text="sets-").get_by_role("button").click()
    assert saving.value.suggested_filename.startswith("sets-")
    assert b"PAR1" in saving.value.path().read_bytes()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(rows.first).to_have_css("display", "grid")  # cells stand one below the other, so nothing scrolls sideways


def test_names_in_rows_are_never_cut(visit: Visit) -> None:
    """The name of the card, its brackets and the name of its set: all of each, on a phone too."""
    long = {"name": "Cinderback & Friends of the Long Road [Echoing Lullaby | Bitter Tackle | Everlasting Ember Storm]"}
    long |= {"set": {"id": 7, "name": "Ember, Frost & Thunder: a Set of Randomly Constructed Starter Decks of Old"}}

    def rename(route: Route) -> None:
        answer = route.fetch()
        body = answer.json()
        route.fulfill(response=answer, json={**body, "data": [{**card, **long} for card in body["data"]]})

    visit.page.context.route(re.compile(r"/api/v1/cards\?"), rename)
    visit.page.set_viewport_size({"width": 390, "height": 844})
    page = visit.enter("#/cards?set=Filler+Set")
    expect(page.locator(".card")).to_have_count(50)
    cut = "texts => texts.filter((one) => one.scrollHeight > one.clientHeight + 1).length"
    assert page.locator(".card:first-child :is(.name, .where, .rest-of-name)").evaluate_all(cut) == 0
