"""What becomes of a list in the browser: how it is read, kept, saved, and what requests it costs."""

import csv
import io
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.site.value.conftest import asked, choose, paste
from tests.support.list_files import APPS, COLLECTION, Owned, deck, stock, table
from tests.support.list_worth import Worth, euros
from tests.support.value_lake import FILLERS, FORMULA, MARKUP, SHINY, TRIO


def test_the_list_stays_here_and_is_deleted(page: Page, worth: Worth, requests: list[Request]) -> None:
    total = euros(worth.total(COLLECTION))
    choose(page, deck(COLLECTION))
    expect(page.locator("#worth-total")).to_have_text(total)
    requests.clear()
    page.reload()
    expect(page.locator("#worth-total")).to_have_text(total)
    assert [path.partition("?")[0] for path in asked(requests)] == ["me", "cards", "series"]  # the products are known
    page.get_by_text("Menu", exact=True).click()
    page.get_by_role("button", name="Forget the key").click()
    expect(page.locator("#value")).to_be_hidden()
    page.reload()
    page.get_by_label("API key").fill("cpm_live_wrong")
    assert page.evaluate("Object.keys(localStorage)") == ["cardpress-list"]


def test_delete_and_add(page: Page, worth: Worth) -> None:
    paste(page, "3")
    paste(page, "2x 149")
    expect(page.locator("#status")).to_contain_text("1 matched")
    page.get_by_label("Or type or paste a list").fill("1 Shiny Otter")
    page.get_by_role("button", name="Add it to my list").click()
    expect(page.locator("#worth-total")).to_have_text(euros(worth.total([Owned(149, 2), Owned(SHINY, 1)])))
    page.get_by_role("button", name="Delete my list").click()
    expect(page.locator("#worth-total")).to_have_count(0)
    expect(page.get_by_role("button", name="Delete my list")).to_be_hidden()
    assert page.evaluate("localStorage.length") == 0


def test_the_valued_list_is_saved_without_formulas(page: Page, worth: Worth) -> None:
    rows = [[FORMULA, 2, "@SUM(1)", "-1+1"], ["+nothing", "1", "", ""], ["Lightning Bolt", "many", "", ""]]
    paste(page, table("\t", ["Name", "Quantity", "Condition", "Language"], rows))
    expect(page.locator("#status")).to_contain_text("1 matched, 0 to choose, 2 not found.")
    with page.expect_download() as saving:
        page.get_by_role("button", name="Download as CSV").click()
    assert saving.value.suggested_filename == "my-cards.csv"
    text = saving.value.path().read_bytes().decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["Status"] for row in rows] == ["matched", "not found", "not found"]
    first = rows[0]
    assert (first["Name"], first["Condition"], first["Language"]) == (f"'{FORMULA}", "'@SUM(1)", "'-1+1")
    assert float(first["Market price of all"]) * 100 == pytest.approx(worth.total([Owned(8, 2)]))
    assert rows[1]["Name"] == "'+nothing"
    assert rows[2]["Note"] == "“many” is no quantity"


def test_a_list_is_sent_as_a_link_that_no_server_sees(
    page: Page, worth: Worth, requests: list[Request], key: str
) -> None:
    lines = [Owned(149, 2), Owned(SHINY, 1, foil=True)]
    paste(page, f'Quantity,Name,idProduct,Foil\n2,,149,\n1,,{SHINY},foil\n1,"=Nothing, of that",,')
    expect(page.locator("#worth-total")).to_have_text(euros(worth.total(lines)))
    page.get_by_role("button", name="Make a link to this list").click()
    field = page.get_by_label("Link to this list")
    expect(field).to_have_value(re.compile("#list="))
    link = field.input_value()
    page.get_by_role("button", name="Delete my list").click()
    page.goto("about:blank")
    page.goto(link.replace("#", f"#key={key}&"))
    page.get_by_role("button", name="Take it as my list").click()
    expect(page.locator("#status")).to_contain_text("2 matched, 0 to choose, 1 not found.")
    expect(page.locator("#worth-total")).to_have_text(euros(worth.total(lines)))
    expect(page.get_by_role("table", name="Not found")).to_contain_text("=Nothing, of that")
    assert not page.url.partition("#")[2]
    page.goto("about:blank")
    page.goto(link)
    page.get_by_role("button", name="Add it to mine").click()
    expect(page.locator("#worth-total")).to_have_text(euros(worth.total(lines + lines)))
    assert not [request.url for request in requests if link.partition("#list=")[2] in request.url.partition("#")[0]]


def test_a_link_that_holds_no_list_says_so(page: Page) -> None:
    address = page.url.partition("#")[0]
    for sent in ("x", "%00", "A" * 9):
        page.goto("about:blank")
        page.goto(f"{address}#list={sent}")
        expect(page.locator("#status")).to_have_text(re.compile("The list of this link cannot be read"))


HOSTILE = {  # the text of a file, with a part that is repeated, and the message
    "a line of 10 MB": (("idProduct;Quantity\n", "x", 10_000_000), "Row 2 has a cell of more than 2000 characters."),
    "a million columns": (("", "idProduct;", 1_000_000), "Row 1 has more than 200 columns."),
    "a long plain line": (("", "x", 10_000_000), "Row 1 has a cell of more than 2000 characters."),
    "a large file": (("Name", "\nx", 9_000_000), "The file is too large"),
    "too many lines": (("Name", "\nx", 50_001), "more than 50000 lines"),
    "an open quote": (('Name;Quantity\n"Pikachu;1', "\n", 1), "Row 2 has a quote that is not closed."),
    "a workbook": (("PK\x03\x04", "\0", 50), "This is a workbook of a spreadsheet"),
    "no text": (("", "\0\1\2", 50), "This file is no text"),
    "nothing": (("", "\n ", 9), "There is no card in this list."),
    "other columns": (("a;b;c", "\n1;2;3", 2), "the columns “a”, “b”, “c”, and none that names a card: it needs Name"),
}
DROP = """([before, part, times]) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([before + part.repeat(times)], "mine.csv"));
    const event = new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: transfer});
    document.getElementById("drop").dispatchEvent(event);
}"""


@pytest.mark.thorough
def test_hostile_files_do_nothing_but_a_message(page: Page, requests: list[Request]) -> None:
    expect(choose(page, b"149")).to_contain_text("1 matched")
    before = asked(requests)
    for text, message in HOSTILE.values():
        page.evaluate(DROP, text)
        expect(page.locator("#status")).to_contain_text(message)
        expect(page.locator("#worth-total")).to_have_count(1)
    assert asked(requests) == before
    page.evaluate(DROP, ["x", "\nx" + "( " * 999, 1_000])
    expect(page.locator("#status")).to_contain_text("0 matched, 0 to choose, 1,001 not found.")


def test_text_of_a_list_is_text(page: Page) -> None:
    paste(
        page, table(";", ["Name", "Quantity", "Set"], [[MARKUP, 1, ""], ["<b>x</b>", 1, "<script>alert(1)</script>"]])
    )
    expect(page.locator("#status")).to_contain_text("1 matched, 0 to choose, 1 not found.")
    expect(page.get_by_role("table", name="Not found")).to_contain_text("<b>x</b>")
    expect(page.get_by_role("table", name="Your list")).to_contain_text(MARKUP)
    assert page.locator("#value :is(b, img, script)", has_text="x").count() == 0


def test_500_lines_take_12_requests_at_most(page: Page, worth: Worth, requests: list[Request]) -> None:
    lines = [Owned(id_product, id_product % 4 + 1) for id_product in FILLERS[:500]]
    expect(choose(page, stock(lines))).to_contain_text("500 matched")
    expect(page.locator("#worth-total")).to_have_text(euros(worth.total(lines)))
    assert len(asked(requests)) <= 12


@pytest.mark.parametrize("written", [APPS["ManaBox"], deck])
def test_300_names_take_4_requests(
    page: Page, worth: Worth, requests: list[Request], written: Callable[[list[Owned]], bytes]
) -> None:
    """A Card is asked for if its line is shown, the year if you ask for it."""
    requests.clear()
    lines = [Owned(id_product, 2) for id_product in FILLERS[:300]]
    expect(choose(page, written(lines))).to_contain_text("300 matched, 0 to choose, 0 not found.")
    expect(page.locator("#worth-total")).to_have_text(euros(worth.total(lines)))
    page.wait_for_load_state("networkidle")
    paths = [path.partition("?")[0] for path in asked(requests)]
    assert paths == ["cards/named", "cards/named", "cards/named", "cards"]
    assert asked(requests)[-1].count("%2C") == 49
    page.get_by_role("button", name="Show the year").click()
    expect(page.locator(".ago > div", has_text="A year ago")).to_be_visible()
    assert len(asked(requests)) == 7


BY_CODE = {
    "4 Lightning Bolt (M11) 149": 3,
    "1x Lightning Bolt (lea) 161 [Burn]": 4,
    "2 Pikachu (BASE1) 058/102": 1,
    "base1-58": 1,
    "1 Pikachu (XYZ) 60": 2,
    "1 Lim-Dul the Necromancer (M11) 149": None,
    "1 Nothing like it (M11) 149": None,
}


def test_codes_and_ids_of_other_catalogues_are_read(page: Page, requests: list[Request]) -> None:
    paste(page, "\n".join(BY_CODE))
    expect(page.locator("#status")).to_contain_text("5 matched, 1 to choose, 1 not found.")
    kept = page.evaluate("JSON.parse(localStorage.getItem('cardpress-list')).map((line) => line[10] ?? null)")
    assert kept == list(BY_CODE.values())
    header = ["Name", "Set code", "Set name", "Collector number", "Quantity", "ManaBox ID", "Scryfall ID"]
    line = ["Fire // Ice", "APC", "Apocalypse", "1", 1, 7, "5b1f8a3e-0c55-4f5e-9e0a-0d2d2a2b7c11"]
    expect(choose(page, table(",", header, [line]).encode())).to_contain_text("Read as ManaBox: 1 line. 1 matched")


KEPT = "JSON.parse(localStorage.getItem('cardpress-list')).map((line) => [line[10] ?? null, line[11] ?? null])"


def test_numbers_are_read_with_other_zeros_and_of_several_products_the_cheapest_is_taken(
    page: Page, worth: Worth
) -> None:
    """PTCG Live writes `16` where catalogues have `016`, and says nothing of patterns, which are products."""
    paste(page, "1 Trio TRS 16\n2 Trio TRS TG2\n1 Trio")
    expect(page.locator("#status")).to_contain_text("2 matched (1 as the cheapest of several), 1 to choose")
    cheapest, other = sorted(TRIO[1:], key=lambda id_product: worth.total([Owned(id_product, 1)]))
    assert page.evaluate(KEPT) == [[TRIO[0], None], [cheapest, [cheapest, other]], [None, list(TRIO)]]
    to_check = page.get_by_role("table", name="To check")
    expect(to_check).to_contain_text("the cheapest of 2 that fit")
    page.reload()
    to_check.get_by_role("combobox").select_option(str(other))
    expect(page.locator("#worth-total")).to_have_text(euros(worth.total([Owned(TRIO[0], 1), Owned(other, 2)])))
    page.reload()
    expect(page.locator("#status")).to_contain_text("2 matched, 1 to choose")
    assert page.evaluate(KEPT)[1][0] == other
    expect(to_check).to_have_count(0)


def test_the_build_tells_the_set_of_a_code(page: Page) -> None:
    """A number that the name has in another set alone is no proof against the set of the code: you choose."""
    paste(page, "1 Lightning Bolt (LEA)\n1 Lightning Bolt (m11)\n1 Lightning Bolt (MIX)\n1 Lightning Bolt (LEA) 149")
    expect(page.locator("#status")).to_contain_text("2 matched, 2 to choose")
    kept = page.evaluate("JSON.parse(localStorage.getItem('cardpress-list')).map((line) => line[10] ?? null)")
    assert kept == [4, 3, None, None]


def test_a_service_without_codes_says_so_once(page: Page) -> None:
    page.route("**/explore/value/codes.json*", lambda route: route.fulfill(json={}))
    paste(page, "1 Lightning Bolt (LEA)\n1 Lightning Bolt (M11)\n1 Lim-Dul the Necromancer (LEA)")
    status = page.locator("#status")
    expect(status).to_contain_text("This service knows no codes of sets, so 2 lines have a name and a number alone")
    expect(page.get_by_role("table", name="To choose")).not_to_contain_text("LEA”")


def test_a_card_of_two_faces_is_found_by_its_front(page: Page, requests: list[Request]) -> None:
    requests.clear()
    paste(page, "1 Fire\n2 Fire (Apocalypse)")
    expect(page.locator("#status")).to_contain_text("2 matched, 0 to choose, 0 not found.")
    assert page.evaluate(KEPT)[0][0] == page.evaluate(KEPT)[1][0] == 6
    assert not [path for path in asked(requests) if path.startswith("names")]


def test_other_lines_tell_the_set_of_a_code_that_is_not_known(page: Page) -> None:
    told = [f"{n} Lim-Dûl the Necromancer (MAG) 1" for n in (1, 2, 3)]
    paste(page, "\n".join(["1 Lightning Bolt (MAG)", *told, "1 Lightning Bolt (XYZ)"]))
    expect(page.locator("#status")).to_contain_text("4 matched, 1 to choose")
    kept = page.evaluate("JSON.parse(localStorage.getItem('cardpress-list')).map((line) => line[10] ?? null)")
    assert kept == [3, 5, 5, 5, None]


UNSURE = {  # an unknown code proves nothing where the right product may be one without a number
    "1 Mewtwo EX 55": 18,
    "1 Mewtwo EX 54": None,
    "8 Basic {R} Energy SVE 2": 19,
    "4 Fire Energy SVE 2": 19,
    "1 Torkoal CEC 29": None,
    "1 Metal Energy M11 94": 23,
    "1 m11/149": 3,
    "1 M11/0149": 3,
    "1 BASE1-58": 1,
}


def test_what_only_looks_like_a_code_or_a_proof_is_none(page: Page) -> None:
    paste(page, "\n".join(UNSURE))
    expect(page.locator("#status")).to_contain_text("7 matched, 2 to choose")
    kept = page.evaluate("JSON.parse(localStorage.getItem('cardpress-list')).map((line) => line[10] ?? null)")
    assert kept == list(UNSURE.values())
    paste(page, "".join(f"{n} Torkoal CEC 29\n" for n in (1, 2, 3)))  # three lines agree on the set of the code
    expect(page.locator("#status")).to_contain_text("3 matched")


def test_it_waits_at_the_limit_and_can_be_cancelled(page: Page, worth: Worth) -> None:
    waits = iter(["1", "60"])

    def refuse(route: Route) -> None:
        wait = next(waits, None)
        if wait is None:
            return route.continue_()
        error = {"error": {"code": "rate_limited", "message": "too many"}}
        return route.fulfill(status=429, json=error, headers={"Retry-After": wait})

    page.route("**/api/v1/cards?*", refuse)
    lines = [Owned(id_product, 1) for id_product in FILLERS[:300]]
    choose(page, stock(lines))
    expect(page.locator("#wait-text")).to_contain_text("it goes on in 60 s")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#status")).to_contain_text("Cancelled: some cards have no price yet.")
    expect(page.locator("#progress")).to_be_hidden()
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("#worth-total")).to_have_text(euros(worth.total(lines)))
    expect(page.get_by_role("button", name="Go on")).to_be_hidden()


@pytest.mark.thorough
def test_20_000_lines_are_valued_and_shown_in_parts(page: Page, worth: Worth) -> None:
    lines = [Owned(FILLERS[n % len(FILLERS)], 1) for n in range(20_000)]
    expect(choose(page, stock(lines))).to_contain_text("20,000 matched")
    expect(page.get_by_role("table", name="Your list").locator("tbody tr")).to_have_count(50)
    page.get_by_role("button", name="More: 19,950 left").click()
    expect(page.get_by_role("table", name="Your list").locator("tbody tr")).to_have_count(100)
    amounts = {id_product: worth.total([Owned(id_product, 1)]) for id_product in FILLERS}
    expect(page.locator("#worth-total")).to_have_text(euros(sum(amounts[line.id] for line in lines)))


def test_the_page_says_what_it_took_each_column_for(page: Page) -> None:
    columns = page.locator("#columns")
    choose(page, APPS["Collectr"](COLLECTION))
    expect(columns).to_have_text(
        "Quantity: “Quantity”. Card: “Product Name”. Set: “Set”. Number: “Card Number”. Finish: “Variance”. "
        "Condition: “Card Condition”, “Grade”. Language: no column. Left out: “Portfolio Name”, “Category”, “Rarity”, "
        "“Average Cost Paid”, “Market Price (As of 2026-08-22)”, “Price Override”, “Watchlist”, “Date Added”, “Notes”."
    )
    paste(page, "Card\tStück\nLightning Bolt\t4")
    expect(columns).to_contain_text("Quantity: no column, so each line counts once. Card: “Card”.")
    expect(columns).to_contain_text("Left out: “Stück”.")
    paste(page, "4 Lightning Bolt")
    expect(columns).to_have_text("")
    paste(page, "Qty;Edition\n4;Beta")
    expect(page.locator("#status")).to_contain_text("the columns “Qty”, “Edition”, and none that names a card")


COUNTS = {  # of copies without and with foil
    "Name,Quantity,Foil Quantity\nShiny Otter,3,1\nLightning Bolt,2,\nPikachu,1,1": [(2, 1), (2, 0), (0, 1)],
    "Name,Reg Qty,Foil Qty\nShiny Otter,3,1\nLightning Bolt,0,0\nPikachu,0,2": [(3, 1), (0, 0), (0, 2)],
    "CardId,Normal,Foil,Name,Set\nx,2,1,Shiny Otter,Apocalypse": [(2, 1)],
    "Name,Normal,Foil\nShiny Otter,many,1": [],
}


def test_two_columns_of_counts_are_two_lines(page: Page) -> None:
    for text, counts in COUNTS.items():
        lines = page.evaluate(
            "async (text) => (await (await import('/explore/value/lines.js')).linesOf(text)).lines", text
        )
        expected = [(count, bool(foil)) for pair in counts for foil, count in enumerate(pair) if count]
        assert [(line["quantity"], line["foil"]) for line in lines if "wrong" not in line] == expected, text
    paste(page, next(iter(COUNTS)))
    expect(page.locator("#columns")).to_contain_text("“Foil Quantity” are among “Quantity”.")


def test_a_graded_card_has_no_price(page: Page, worth: Worth) -> None:
    rows = [["Shiny Otter", "PSA 10", 2], ["Shiny Otter", "Ungraded", 1], ["Shiny Otter", "", 1]]
    paste(page, table(",", ["Product Name", "Grade", "Quantity"], rows))
    expect(page.locator("#worth-total")).to_have_text(euros(worth.total([Owned(SHINY, 2)])))
    expect(page.locator("#worth")).to_contain_text("Graded, without a price of raw cards2")
    first = page.get_by_role("table", name="Your list").locator("tbody tr").first
    expect(first).to_contain_text("Graded PSA 10: not priced, the prices here are of raw cards")


def test_ids_of_apps_are_looked_up(page: Page) -> None:
    """The marketplace of another continent, and a card that has a set's code and a number, but no name."""
    header = "Quantity,Name,Simple Name,Set,Card Number,Set Code,Printing,Condition,Language,Rarity,Product ID,SKU"
    paste(page, f"{header}\n1,Lightning Bolt (M11),Lightning Bolt,No such set,,,Normal,Near Mint,English,Rare,33470,3")
    expect(page.locator("#status")).to_contain_text("Read as TCGplayer: 1 line. 1 matched")
    paste(page, "set_code,number,quantity,variant\nLEA,161,2,Normal\nBASE1,58,1,Holo")
    expect(page.locator("#status")).to_contain_text("2 matched")
    kept = page.evaluate("JSON.parse(localStorage.getItem('cardpress-list')).map((line) => line[10] ?? null)")
    assert kept == [4, 1]


READING = {
    "4 Lightning Bolt": ["Lightning Bolt", 4, "", "", False],
    "2x Pikachu (Base Set) 58/102": ["Pikachu", 2, "Base Set", "58", False],
    "1 Sol Ring (CMM) 0400 *F*": ["Sol Ring", 1, "CMM", "400", True],
    "SB: 3 × Arven SVI 166": ["Arven", 3, "SVI", "166", False],
    "Charizard 000/102": ["Charizard", 1, "", "0", False],
    "Mew x2": ["Mew", 2, "", "", False],
    "Éclair (XS) BL 07": ["Éclair", 1, "XS", "bl 7", False],
    "1x Sol Ring (c21) 263 *F* [Artifacts{top}] ^Have,#37d67a^": ["Sol Ring", 1, "c21", "263", True],
    "1 Squawkabilly ex PAL 169 PH": ["Squawkabilly ex", 1, "PAL", "169", True],
    "* 2 Charmander OBF 26": ["Charmander", 2, "OBF", "26", False],
    "1 Pinsir SWSH12.5 3": ["Pinsir", 1, "SWSH12.5", "3", False],
    "1 Sol Ring (C21) 263 *F* #!Mana #ramp": ["Sol Ring", 1, "C21", "263", True],
    "1x Sol Ring (c21) [Ramp]": ["Sol Ring", 1, "c21", "", False],
    "1 Charizard ex OBF 125/197": ["Charizard ex", 1, "OBF", "125", False],
    "1 Charizard ex obf #125": ["Charizard ex", 1, "obf", "125", False],
    "1 Pikachu LOR TG12/TG30": ["Pikachu", 1, "LOR", "tg12", False],
    "1 Pikachu SV2a 006": ["Pikachu", 1, "SV2a", "6", False],
    "1 Celebi CEL 4A": ["Celebi", 1, "CEL", "4a", False],
    "1 Schwarz (SY) SY/W08-025": ["Schwarz", 1, "SY", "sy/w8-25", False],
    "8 Basic {R} Energy SVE 2": ["Basic Fire Energy", 8, "SVE", "2", False],
    "x4 Xenagos": ["Xenagos", 4, "", "", False],
    "4xXenagos": ["Xenagos", 4, "", "", False],
    "1 X-Speed": ["X-Speed", 1, "", "", False],
}
HEADINGS = [
    "About", "Name My Deck", "Deck", "Sideboard:", "Creatures (24)", "Énergie: 12", "Total Cards - 60", "// mine",
]  # fmt: skip


def test_plain_lines_and_numbers(page: Page) -> None:
    """Numbers are compared as the API does."""
    found = page.evaluate(
        """async (lines) => {
          const {linesOf} = await import("/explore/value/lines.js");
          const {numberKey} = await import("/explore/value/same-card.js");
          const {lines: read, headings} = await linesOf(lines.join("\\n"));
          return [headings, read.map((one) => [one.name, one.quantity, one.set, numberKey(one.number), one.foil])];
        }""",
        HEADINGS + list(READING),
    )
    assert found == [len(HEADINGS), list(READING.values())]
