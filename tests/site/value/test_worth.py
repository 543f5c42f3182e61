"""What the page that values a list shows, in a browser, against the totals of the oracle."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import Page, Request, expect

from tests.site.test_accessibility import assert_accessible, overflow
from tests.site.value.conftest import choose, paste
from tests.support.list_files import COLLECTION, FORMATS, Owned, stock
from tests.support.list_worth import WEEKS, Worth, euros
from tests.support.value_lake import AS_OF, FILLERS, NAMES, OLD, SHINY, YOUNG


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_valued(page: Page, worth: Worth, name: str) -> None:
    lines = [one for one in COLLECTION if not (one.foil and name == "YGOPRODeck")]  # which has no finishes
    said = name.partition(" of ")[0]
    expect(choose(page, FORMATS[name](lines))).to_contain_text(f"Read as {said}: {len(lines)} lines")
    expect(page.locator("#status")).to_contain_text(f"{len(lines)} matched, 0 to choose, 0 not found.")
    expect(page.locator("#worth-total")).to_have_text(euros(worth.total(lines)))
    expect(page.locator("#worth")).to_contain_text(euros(worth.total(lines, "low")))


def test_against_earlier_and_over_the_year(page: Page, worth: Worth) -> None:
    choose(page, stock(COLLECTION))
    for name, days in (("7 days ago", 7), ("30 days ago", 30), ("A year ago", 365)):
        then, now = worth.moved(COLLECTION, max(0, (AS_OF - timedelta(days=days) - WEEKS[0]).days // 7))
        fact = page.locator(".ago > div", has_text=name)
        expect(fact).to_contain_text(f"{euros(then)} {'+' if now > then else '−'}{euros(abs(now - then))} (")
        expect(fact).to_contain_text(f"now {euros(now)}")
    year = [owned for owned in COLLECTION if not (owned.foil and owned.id == SHINY)]
    newest = sum((worth.weekly(owned.id)[52] or 0) * owned.quantity for owned in year)
    old = [owned for owned in year if worth.own(owned.id)[52] is None]
    assert Owned(OLD, 1) in old
    carried = sum((worth.weekly(owned.id)[52] or 0) * owned.quantity for owned in old)
    young = sum(worth.weekly(owned.id)[0] is None for owned in year)
    slider = page.get_by_role("slider", name="Day")
    expect(slider).to_have_attribute("max", "52")
    expect(slider).to_have_attribute(
        "aria-valuetext", re.compile(f"Value {re.escape(euros(newest))}, Carried {re.escape(euros(carried))}$")
    )
    expect(page.locator("#worth")).to_contain_text(f"{euros(carried)} ({carried / newest * 100:.2f} %) is carried.")
    expect(page.locator("#worth")).to_contain_text(
        f"{young} lines have no price at the beginning of the year and join later."
    )
    expect(page.locator("#worth")).to_contain_text("the year has no prices of foils")
    slider.press("Home")
    oldest = sum((worth.weekly(owned.id)[0] or 0) * owned.quantity for owned in year)
    expect(slider).to_have_attribute("aria-valuetext", re.compile(f"Value {re.escape(euros(oldest))}, "))


def test_earlier_worth_says_for_how_many_cards_of_the_list_it_speaks(page: Page, worth: Worth) -> None:
    known, matched = [Owned(5, 1), Owned(YOUNG, 2)], "1 Lim-Dul the Necromancer\n2 Young, in quotes\n"
    paste(page, f"{matched}4 Lightning Bolt\n3 Nothing of that name\n2 No Price Yet")
    expect(page.locator("#speaks-for")).to_have_text("for 3 of 12 cards")
    for name, week, cards in (("7 days ago", 51, 3), ("A year ago", 0, 1)):
        now = euros(worth.moved(known, week)[1])
        expect(page.locator(".ago > div", has_text=name)).to_contain_text(f"now {now}, for {cards} of 12 cards")
    expect(page.locator("#worth")).to_contain_text("The plot is for 3 of 12 cards.")
    paste(page, matched)
    expect(page.locator(".ago > div", has_text="7 days ago")).to_contain_text("for all 3 cards")
    expect(page.locator("#worth")).to_contain_text("The plot is for all 3 cards.")


def test_dearest_cards_changes_and_copies(page: Page, worth: Worth) -> None:
    choose(page, stock(COLLECTION))
    dearest = max((one for one in COLLECTION if worth.price(one)), key=lambda one: worth.price(one) or 0)
    first = page.get_by_role("table", name="Dearest cards").locator("tbody tr").first
    expect(first).to_contain_text(dearest.name)
    expect(first).to_contain_text(euros(worth.price(dearest) or 0))
    moves = {}
    for one in COLLECTION:
        then, now = worth.moved([one], 52 - 5)  # 30 days before a Saturday: five weeks back
        moves[one] = now - then
    rose = page.get_by_role("table", name="Rose").locator("tbody tr").first
    best = max(moves, key=lambda one: moves[one])
    expect(rose).to_contain_text(best.name)
    expect(rose).to_contain_text(f"+{euros(moves[best])}")
    mine = page.get_by_role("table", name="Your list").locator("tbody tr")
    expect(mine.nth(2)).to_contain_text("Near Mint, offers from €7.50")
    expect(mine.nth(0)).to_contain_text("Near Mint, not priced")
    expect(mine.nth(11)).to_contain_text("Foil · Near Mint")
    expect(mine.nth(12)).to_contain_text("Foil, no price of its own: counted as normal")


def test_every_line_ends_and_several_are_chosen_from(page: Page, worth: Worth) -> None:
    paste(
        page,
        "4 Lightning Bolt\nPikachu x2\n1 lim-dul the necromancer\n3 Nothing of that name\n999999\n2 fire\n"
        "1 Shiny Otter (No Such Set) 99",
    )
    status = page.locator("#status")
    expect(status).to_contain_text("2 matched, 3 to choose, 2 not found.")
    not_found = page.get_by_role("table", name="Not found").locator("tbody tr")
    expect(not_found).to_have_text(
        [re.compile("Nothing of that name.*no product has this name"), re.compile("no product has the id 999999")]
    )
    several = page.get_by_role("table", name="To choose").locator("tbody tr")
    expect(several.nth(2)).to_contain_text("not known in “No Such Set”")
    known = [Owned(5, 1), Owned(6, 2)]
    expect(page.locator("#worth-total")).to_have_text(euros(worth.total(known)))
    expect(page.locator("#speaks-for")).to_have_text("for 3 of 14 cards")
    page.get_by_label("Which Lightning Bolt?").select_option("4")
    expect(status).to_have_text("3 matched, 2 to choose, 2 not found.")
    expect(page.locator("#worth-total")).to_have_text(euros(worth.total([*known, Owned(4, 4)])))
    page.get_by_role("button", name="Take the cheapest of each").click()
    cheapest = min((Owned(1, 2), Owned(2, 2)), key=lambda one: worth.total([one]))
    expect(page.locator("#worth-total")).to_have_text(
        euros(worth.total([*known, Owned(4, 4), cheapest, Owned(SHINY, 1)]))
    )
    expect(page.get_by_label("Which Pikachu?")).to_have_value(str(cheapest.id))


def test_what_a_set_lacks(page: Page, worth: Worth, requests: list[Request]) -> None:
    paste(page, "\n".join(["idProduct"] + [str(id_product) for id_product in FILLERS[5:]] + ["6", "50"]))
    page.get_by_role("button", name="Show my sets").click()
    sets = page.get_by_role("table", name="Your sets").locator("tbody tr")
    expect(sets).to_have_count(2)  # the box is no single
    expect(sets.first).to_contain_text(f"1 of {sum(set_ == 22 for _, set_, _ in NAMES.values())}")
    expect(sets.last).to_contain_text(f"{len(FILLERS) - 5} of {len(FILLERS)}")
    page.get_by_role("button", name="What is missing of Fillers?").click()
    missing = [Owned(id_product, 1) for id_product in FILLERS[:5]]
    result = page.locator("#result")
    expect(result).to_contain_text(f"You have {len(FILLERS) - 5} of {len(FILLERS)} singles of Fillers.")
    priced = f"The other 5 cost {euros(worth.total(missing))} at market prices, "
    expect(result).to_contain_text(f"{priced}{euros(worth.total(missing, 'lowest in Europe'))} at the lowest offers")
    rows = page.get_by_role("table", name="Missing cards").locator("tbody tr")
    cheapest = min(missing, key=lambda one: (worth.price(one) or 0, one.id))
    expect(rows).to_have_count(5)
    expect(rows.first).to_contain_text(cheapest.name)
    page.get_by_role("button", name="What is missing of Apocalypse?").click()
    expect(result).to_contain_text("(5 of 6 have one) at market prices")


@pytest.mark.thorough
def test_accessible_in_both_themes_at_all_widths(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    paste(page, "4 Lightning Bolt\n2 Shiny Otter (Apocalypse) 13\n3 Nothing of that name\n149\n150")
    page.get_by_role("button", name="Show my sets").click()
    page.get_by_role("button", name="What is missing of Fillers?").click()
    page.get_by_role("button", name="Make a link to this list").click()
    page.get_by_role("table", name="Missing cards").wait_for()
    page.get_by_text("As a table").click()
    assert_accessible(page)
    for width in (390, 600, 768, 1024, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert overflow(page) == [], width
