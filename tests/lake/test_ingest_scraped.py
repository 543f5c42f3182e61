"""`cardpress ingest list-pages`, `offers`, `watch-checks` from the outside: lines in, Parquet out, a build of it."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from generator.commands.ingest import ingest as ingest_group
from generator.lake.lake import open_lake
from tests.support import commands
from tests.support.imports import content, ingest, refused, rows_of, write_list
from tests.support.programs import OURS, shell_program

ROOT = Path(__file__).parents[2]
NOON = "2026-08-21T12:00:00Z"
DAILY = ("listings", "filtered_checks", "watch_checks")
URL = "https://www.cardmarket.com/en/Pokemon/Products/Singles/Pokemon-GO/Charizard-PGO010"
NAMES = {
    "MT": "Mint",
    "NM": "Near Mint",
    "EX": "Excellent",
    "GD": "Good",
    "LP": "Light Played",
    "PL": "Played",
    "PO": "Poor",
}


def written(line):
    return line if isinstance(line, bytes) else (line if isinstance(line, str) else json.dumps(line)).encode()


@pytest.fixture
def write(tmp_path):
    """Writes a file of lines: objects as JSON, text and bytes as they are; gives its path."""

    def file(*lines, name="lines.jsonl"):
        data = b"".join(written(line) + b"\n" for line in lines)
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
        return path

    return file


def page(id_product=1, scraped_at=NOON, **more):
    return {"id": id_product, "scraped_at": scraped_at} | more


def check(id_product=1, checked_at=NOON, **more):
    return {"id_product": id_product, "checked_at": checked_at} | more


def offer(price=1.5, condition="Near Mint", quantity=1, seller="anna"):
    return {"price": price, "condition": condition, "quantity": quantity, "seller": seller}


def watch(slug="ho-oh", checked_at=NOON, **more):
    return {"slug": slug, "checked_at": checked_at} | more


def products(tmp_path, *ids, id_expansion=5000, created_at="2026-07-26T10:55:29+0200"):
    rows = [{"idProduct": i, "name": f"Card {i}", "idExpansion": id_expansion} for i in ids]
    return write_list(tmp_path / f"products-{created_at[:10]}.json", "products", rows, created_at)


SCRAPED = {
    "id": 665244,
    "name": "Charizard (PGO 010)",
    "url": f"{URL}?utm_source=x#top",
    "expansion": "Pokémon GO",
    "rarity": "Holo Rare ",
    "number": "010",
    "available_items": 1044,
    "from_price": 0.99,
    "available_foils": None,
    "from_price_foil": None,
    "image": "https://product-images.s3.cardmarket.com/51/PGO/665244/665244.jpg",
    "scraped_at": "2026-08-21T23:30:00-02:00",
}


def test_a_list_page_row_in_all_its_columns(lake, tmp_path, write):
    ingest(lake, "cardmarket", "--singles", products(tmp_path, 665244))
    result = ingest(lake, "list-pages", write(SCRAPED))
    assert result["lines"] == 1 and result["refused"] == 0
    assert rows_of(lake, "listings", "2026-08-22") == [
        {
            "id_product": 665244,
            "scraped_at": datetime(2026, 8, 22, 1, 30),
            "available": 1044,
            "from_price": 0.99,
            "available_foil": None,
            "from_price_foil": None,
        }
    ]
    (product,) = rows_of(lake, "products")
    actual = {name: product[name] for name in ("number", "rarity", "url", "image", "image_large", "name")}
    assert actual == {
        "number": "010",
        "rarity": "Holo Rare",
        "url": URL,
        "image": SCRAPED["image"],
        "image_large": None,
        "name": "Card 665244",
    }
    (expansion,) = rows_of(lake, "expansions")
    assert (expansion["id"], expansion["name"], expansion["url"]) == (5000, "Pokémon GO", None)


def test_a_check_of_offers_in_all_its_columns(lake, write):
    scraped = offer("9,80 €", "Near Mint", "1", {"name": " kaartenhuis ", "country": "Netherlands", "sales": 7})
    scraped |= {"condition_code": "NM", "language": "English", "is_foil": False, "comments": "MINT"}
    ingest(lake, "offers", write(check(7, offers=16, offer_list=[scraped, offer(9992, "EX", None, "b")])))
    assert rows_of(lake, "filtered_checks", "2026-08-21") == [
        {
            "id_product": 7,
            "checked_at": datetime(2026, 8, 21, 12),
            "offers": 16,
            "lowest": None,
            "cheapest_seller": None,
            "cheapest_condition": None,
            "offer_list": [
                {"price": 9.8, "condition": "NM", "quantity": 1, "seller": "kaartenhuis"},
                {"price": 9992.0, "condition": "EX", "quantity": None, "seller": "b"},
            ],
        }
    ]


def test_checks_without_a_list_and_without_a_count(lake, write):
    lines = [
        check(1, offers=3, lowest="0,50 €", cheapest_seller={"name": "anna"}, cheapest_condition="Good"),
        check(2, offer_list=[offer(), offer()]),
        check(3, offers=0, offer_list=[]),
        check(4, offers="12", offer_list=None),
    ]
    ingest(lake, "offers", write(*lines))
    found = {row["id_product"]: row for row in rows_of(lake, "filtered_checks")}
    assert {key: row["offers"] for key, row in found.items()} == {1: 3, 2: 2, 3: 0, 4: 12}
    assert {key: row["offer_list"] is None for key, row in found.items()} == {1: True, 2: False, 3: False, 4: True}
    assert (found[1]["lowest"], found[1]["cheapest_seller"], found[1]["cheapest_condition"]) == (0.5, "anna", "GD")


def test_a_watch_check_in_all_its_columns(lake, write):
    listed = [
        offer("1.234,56 €", "Light Played", 2, None) | {"comment": " Lot 1\u00a0"},
        offer(quantity=" 3 ") | {"comments": ""},
    ]
    ingest(lake, "watch-checks", write(watch(" Ho-Oh ", num_offers=2, lowest_price="1,50 €", offer_list=listed)))
    assert rows_of(lake, "watch_checks", "2026-08-21") == [
        {
            "slug": "Ho-Oh",
            "checked_at": datetime(2026, 8, 21, 12),
            "num_offers": 2,
            "lowest_price": 1.5,
            "offer_list": [
                {"seller": None, "condition": "LP", "quantity": "2", "price": 1234.56, "comment": "Lot 1"},
                {"seller": "anna", "condition": "NM", "quantity": "3", "price": 1.5, "comment": None},
            ],
        }
    ]


ODD_PRICES = {
    "0,02 €": 0.02, "0,02\u00a0€": 0.02, "1.234,56 €": 1234.56, "1.234,56\u202f€": 1234.56,
    "1\u00a0234,56\u00a0€": 1234.56,
    "12.345.678,90 €": 12345678.9, "1'234.50 €": 1234.5, "1 234,567 €": 1234.567, "12,50\u200b €\u200e": 12.5,
    "undefined": None, "€ 3,5": 3.5, "3": 3, "9.80": 9.8, "0.125": 0.125, "0,125 €": 0.125, " 0,00 € ": 0, "N/A": None,
    "–": None, "": None, None: None, 100: 100, 0: 0, 0.1: 0.1, 9993.0: 9993,
}  # fmt: skip


def test_odd_prices(lake, write):
    """Each in a file of its own, since a mark means one thing in a file."""
    files = [
        write(page(n, from_price=written, from_price_foil=written), name=str(n)) for n, written in enumerate(ODD_PRICES)
    ]
    ingest(lake, "list-pages", *files)
    assert [row["from_price"] for row in rows_of(lake, "listings")] == list(ODD_PRICES.values())
    assert [row["from_price_foil"] for row in rows_of(lake, "listings")] == list(ODD_PRICES.values())


def test_what_is_no_price_is_refused(lake, tmp_path, write):
    odd = ["abc", "1,2,3", "1.23,45", "-1,00 €", "0,02 $", "1e5", "٣", "1.2345,6", -0.01, 1e14, 10**400, True, [1], {}]
    bad = tmp_path / "bad"
    ingest(lake, "list-pages", write(page(1), *(page(2, from_price=one) for one in odd)), "--bad-lines", bad)
    reasons = [json.loads(line)["reason"] for line in bad.read_text().splitlines()]
    assert len(reasons) == len(odd)
    assert all(re.match("from_price (is no|must be a) price", reason) for reason in reasons)


CONDITIONS = {
    "near_mint": "NM", "Near-Mint": "NM", "NEARMINT": "NM", "nearMint": "NM", "Near.Mint": "NM", "light_played": "LP",
    "Near Mint (NM)": "NM", "NM - Near Mint": "NM", "\u200egood": "GD", "ex": "EX", "N.M.": "NM", "(NM)": "NM",
    "'Near Mint'.": "NM", "Near\u00a0Mint": "NM", "": None, None: None,
    "NM-": "NM-", "Lightly Played": "Lightly Played", "Mint/Near Mint": "Mint/Near Mint",
}  # fmt: skip


def test_conditions_become_codes(lake, write):
    names = [(word, code) for code, name in NAMES.items() for word in (name, f" {name.upper()}\u00a0", code.lower())]
    stored = dict(names) | CONDITIONS
    offers = [offer(condition=written) for written in stored]
    ingest(lake, "offers", write(check(offer_list=offers)))
    ingest(lake, "watch-checks", write(watch(offer_list=offers)))
    for table in ("filtered_checks", "watch_checks"):
        found = [one["condition"] for one in rows_of(lake, table)[0]["offer_list"]]
        assert found == list(stored.values())


TIMES = {
    "2026-08-21T12:00:00Z": datetime(2026, 8, 21, 12),
    "2026-08-22T00:30:00+0200": datetime(2026, 8, 21, 22, 30),
    "2026-08-22T00:30:00+02:00": datetime(2026, 8, 21, 22, 30),
    "2026-08-21T23:30:00-02:00": datetime(2026, 8, 22, 1, 30),
    "2026-08-21 23:30:00": datetime(2026, 8, 21, 23, 30),
    "2026-08-21T23:59:59.999999Z": datetime(2026, 8, 21, 23, 59, 59, 999999),
    "1969-12-31T23:59:59.5Z": datetime(1969, 12, 31, 23, 59, 59, 500000),
}


def test_a_row_lies_in_the_partition_of_its_utc_day(lake, write):
    any_year = ("--accept", "far-day")
    ingest(lake, "list-pages", write(*(page(n, time) for n, time in enumerate(TIMES))), *any_year)
    ingest(lake, "offers", write(*(check(n, time, offers=0) for n, time in enumerate(TIMES))), *any_year)
    ingest(lake, "watch-checks", write(*(watch(str(n), time) for n, time in enumerate(TIMES))), *any_year)
    for table, column in zip(DAILY, ("scraped_at", "checked_at", "checked_at"), strict=True):
        for day in {str(time.date()) for time in TIMES.values()}:
            of_day = {time for time in TIMES.values() if str(time.date()) == day}
            assert {row[column] for row in rows_of(lake, table, day)} == of_day


BAD = [
    ("list-pages", {"scraped_at": NOON}, "it has no id_product"),
    ("list-pages", {"id": 1}, "it has no scraped_at"),
    ("list-pages", page("1"), "id must be an integer"),
    ("list-pages", page(True), "id must be an integer"),
    ("list-pages", page(2**63), "id must be an integer"),
    ("list-pages", page(scraped_at=1784000000), "scraped_at must be a time"),
    ("list-pages", page(scraped_at="2026-08-21"), "scraped_at must be a time"),
    ("list-pages", page(scraped_at="2026-02-30T00:00:00Z"), "scraped_at must be a time"),
    ("list-pages", page(scraped_at="9999-12-31T23:59:59-10:00"), "scraped_at must be a time"),
    ("list-pages", page(available_items=-1), "available_items must be a count"),
    ("list-pages", page(available_items="many"), "available_items must be a count"),
    ("list-pages", page(available_items=1.5), "available_items must be a count"),
    ("list-pages", page(number=4), "number must be text"),
    ("list-pages", page(rarity="\ud800"), "surrogate"),
    ("list-pages", page(url="/en/Pokemon"), "url must begin with https://"),
    ("list-pages", '{"id": 1', "not JSON"),
    ("list-pages", '{"id": NaN}', "not JSON"),
    ("list-pages", b'{"id": 1, "rarity": "\xff"}', "not JSON"),
    ("list-pages", "[" * 100_000, "not JSON"),
    ("list-pages", "[1]", "no JSON object"),
    ("list-pages", page(rarity="r" * 201), "products: column rarity has more than 200 characters"),
    ("list-pages", '{"id": 1, "id": 2}', '"id" stands twice in an object'),
    ("offers", check(), "it has no offers"),
    ("offers", check(offer_list=None), "it has no offers"),
    ("offers", check(offers="N/A"), "it has no offers"),
    ("offers", check(article=[offer()], offer_list=[]), "offer_list and article are the same column"),
    ("offers", check(id=2, offer_list=[]), "id_product and id are the same column"),
    ("offers", check(article=[offer() | {"currencyCode": "GBP"}]), "offer 1: price is in GBP: give it in euros"),
    ("offers", check(offer_list=[], checkedAt="1970-01-01T00:00:00Z"), "checked_at and checkedAt are the same column"),
    ("offers", check(offers=1, offer_list={}), "offer_list must be a list of objects"),
    ("offers", check(offer_list=[offer(), 5]), "offer_list must be a list of objects"),
    ("offers", check(offer_list=[offer(), offer("free")]), "offer 2: price is no price"),
    ("offers", check(offer_list=[offer(quantity="lots")]), "offer 1: quantity must be a count"),
    ("offers", check(offer_list=[offer(seller=5)]), "offer 1: seller must be text"),
    ("offers", check(offer_list=[offer(condition=["NM"])]), "offer 1: condition must be text"),
    ("watch-checks", watch("  "), "it has no slug"),
    ("watch-checks", watch(5), "slug must be text"),
    ("watch-checks", watch(lowest_price=-1), "lowest_price is no price"),
    ("watch-checks", watch(offer_list=[offer(-1)]), "offer 1: price is no price"),
]
GOOD = {"list-pages": page(9), "offers": check(9, offers=0), "watch-checks": watch("good")}


@pytest.mark.parametrize("kind", GOOD)
def test_a_bad_line_is_refused_with_its_number_and_kept_where_asked(lake, tmp_path, write, kind):
    bad, cases = tmp_path / "bad.jsonl", [(line, reason) for of_kind, line, reason in BAD if of_kind == kind]
    lines = write(GOOD[kind], "", *(line for line, _ in cases), GOOD[kind])
    message = refused(lake, kind, lines)
    assert message.startswith(f"cardpress: {lines}: line 3: ") and cases[0][1] in message
    result = ingest(lake, kind, lines, "--bad-lines", bad)
    assert (result["lines"], result["refused"]) == (len(cases) + 2, len(cases))
    assert sum(len(rows_of(lake, table)) for table in DAILY if (lake / table).is_dir()) == 1
    kept = [json.loads(line) for line in bad.read_text().splitlines()]
    assert [(one["file"], one["line"]) for one in kept] == [(str(lines), 3 + n) for n in range(len(cases))]
    for (line, reason), one in zip(cases, kept, strict=True):
        assert reason in one["reason"]
        assert one["text"].encode("utf-8", "surrogateescape") == written(line)


def test_many_bad_lines_are_counted_over_all_files_and_added_once(lake, tmp_path, write):
    one = write(page(1), "x", "y", name="one.jsonl")
    two = write("z", page(2), name="two.jsonl.gz")
    message = refused(lake, "list-pages", one, two)
    assert message.startswith(f"cardpress: {one}: line 2: not JSON")
    assert "(and 2 more refused lines)" in message and "--bad-lines FILE" in message
    bad = tmp_path / "bad.jsonl"
    bad.write_text("from last night\n")
    for _ in range(2):
        assert ingest(lake, "list-pages", one, two, "--bad-lines", bad)["refused"] == 3
        first, *others = bad.read_text().splitlines()
        assert first == "from last night"
        assert [(Path(k["file"]).name, k["line"], k["text"]) for k in map(json.loads, others)] == [
            ("one.jsonl", 2, "x"),
            ("one.jsonl", 3, "y"),
            ("two.jsonl.gz", 1, "z"),
        ]
    assert {row["id_product"] for row in rows_of(lake, "listings")} == {1, 2}


def test_a_file_of_bad_lines_that_cannot_be_written_refuses_the_import(lake, tmp_path, write):
    assert "refused lines cannot be stored" in refused(
        lake, "offers", write("x", check(offers=1)), "--bad-lines", tmp_path / "no" / "b"
    )


def test_offers_that_lack_something_are_kept_and_counted(lake, tmp_path, write):
    listed, bad = [offer(), offer(price=None), offer(seller=""), offer(condition="Bent"), {}], tmp_path / "bad"
    result = ingest(lake, "offers", write(check(offer_list=listed), check(2, offers=1)), "--bad-lines", bad)
    assert result["incomplete_offers"] == 4 and not bad.exists()
    assert len(rows_of(lake, "filtered_checks")[0]["offer_list"]) == 5


@pytest.mark.thorough
def test_overlapping_files_in_any_order_give_the_same_bytes(tmp_path, write):
    late = "2026-08-22T12:00:00Z"
    files = {
        "list-pages": [
            write(
                page(1, available=1),
                page(2, available=2, rarity="A", number="1", id_expansion=1, expansion="X"),
                name="p1",
            ),
            write(
                page(2, available=3, rarity="B"),
                page(2, late, rarity=None, number="2"),
                page(1, available=1),
                name="p2",
            ),
            write(page(1), page(3, available_foil=2, expansion="Y", id_expansion=1), name="p3"),
        ],
        "offers": [
            write(check(1, offer_list=[offer()]), check(1, late, offers=1), name="o1"),
            write(
                check(1, offer_list=[offer(price=None)]),
                check(1, offers=1),
                check(1, late, offers=2),
                check(2, offer_list=[offer()]),
                name="o2",
            ),
        ],
        "watch-checks": [
            write(watch("a", num_offers=1), watch("b", offer_list=[{"price": 1}]), name="w1"),
            write(watch("a"), watch("b", offer_list=[offer()]), watch("b"), name="w2"),
        ],
    }
    lists = ["cardmarket", "--singles", products(tmp_path, 1, 2, 3)]
    orders = {
        "forward": [lists, *([kind, f] for kind, fs in files.items() for f in fs)],
        "backward": [*([kind, f] for kind, fs in files.items() for f in reversed(fs)), lists],
        "at once": [*([kind, *fs] for kind, fs in files.items()), lists],
        "twice": [*([kind, f] for _ in "12" for kind, fs in files.items() for f in fs), lists],
    }
    for name, order in orders.items():
        for command in order:
            ingest(tmp_path / name, *command)
        assert content(tmp_path / name) == content(tmp_path / "forward"), name
    lake = tmp_path / "forward"
    listed = {(row["id_product"], row["scraped_at"].day): row["available"] for row in rows_of(lake, "listings")}
    assert listed == {(1, 21): 1, (2, 21): 3, (2, 22): None, (3, 21): None}
    assert [row["offers"] for row in rows_of(lake, "filtered_checks")] == [1, 1, 2]
    assert rows_of(lake, "filtered_checks")[0]["offer_list"][0]["price"] == 1.5  # null least, in a list too
    actual = {row["id_product"]: (row["rarity"], row["number"]) for row in rows_of(lake, "products")}
    assert actual == {1: (None, None), 2: ("B", "2"), 3: (None, None)}


def test_lines_left_out_for_a_greater_one_are_counted(lake, write):
    result = ingest(lake, "list-pages", write(*(page(available=count) for count in (1, 3, 2, 3))))
    (counts,) = result["tables"].values()
    assert (counts["rows"], counts["new"], counts["lesser"]) == (1, 1, 2)


def test_what_other_files_of_the_lake_have_is_left_to_them(lake, write):
    folder = lake / "listings" / "day=2026-08-21"
    folder.mkdir(parents=True)
    times = pa.array([datetime(2026, 8, 21, 12)], pa.timestamp("ns", "UTC"))
    pq.write_table(pa.table({"scraped_at": times, "id_product": pa.array([1], pa.int32())}), folder / "0.parquet")
    pq.write_table(pa.table({"id_product": [1], "name": ["n"], "kind": ["single"]}), lake / "products.parquet")
    others = content(lake)
    result = ingest(lake, "list-pages", write(page(1, rarity="R"), page(1, "2026-08-21T13:00:00Z"), page(2)))
    assert content(lake).items() >= others.items()
    listings = result["tables"]["listings/day=2026-08-21/monitor.parquet"]
    assert (listings["rows"], listings["elsewhere"]) == (2, 1)
    assert result["tables"]["products-cardmarket.parquet"]["elsewhere"] == 1


def test_what_pages_say_waits_for_the_product_list_and_outlives_it(lake, tmp_path, write):
    ingest(lake, "list-pages", write(SCRAPED | {"expansion_url": "https://x/en/Pokemon/Expansions/Pokemon-GO?a=1"}))
    assert not list(lake.glob("products*")) and not list(lake.glob("expansions*"))
    for created_at in ("2026-07-26T10:55:29+0200", "2026-07-27T10:55:29+0200"):
        ingest(lake, "cardmarket", "--singles", products(tmp_path, 665244, created_at=created_at))
        (product,), (expansion,) = rows_of(lake, "products"), rows_of(lake, "expansions")
        assert (product["number"], product["rarity"], product["url"]) == ("010", "Holo Rare", URL)
        assert (expansion["name"], expansion["url"]) == ("Pokémon GO", "https://x/en/Pokemon/Expansions/Pokemon-GO")


def test_names_of_expansions_from_elsewhere_stand(lake, tmp_path, write):
    rows = [{"idExpansion": 5000, "enName": "Pokemon GO (official)"}]
    names = write_list(tmp_path / "expansions.json", "expansions", rows, "2020-01-01T00:00:00Z")
    pages = write(
        SCRAPED | {"id_expansion": 5000, "expansion_url": "https://x/go"}, page(1, expansion="Two", idExpansion=2)
    )
    orders = {"pages first": [["list-pages", pages], ["cardmarket", "--expansions", names, "--game", "Pokémon"]]}
    orders["names first"] = orders["pages first"][::-1]
    for name, order in orders.items():
        for command in order:
            ingest(tmp_path / name, *command)
        found = [(row["id"], row["name"], row["game"], row["url"]) for row in rows_of(tmp_path / name, "expansions")]
        assert found == [(2, "Two", None, None), (5000, "Pokemon GO (official)", "Pokémon", "https://x/go")], name


def test_most_products_name_an_expansion(lake, tmp_path, write):
    moved = page(3, "2026-08-22T12:00:00Z", expansion="Elsewhere")
    ingest(lake, "cardmarket", "--singles", products(tmp_path, 1, 2, 3))
    ingest(lake, "list-pages", write(page(1, expansion="Here"), page(2, expansion="Here"), moved))
    assert [(row["id"], row["name"]) for row in rows_of(lake, "expansions")] == [(5000, "Here")]


@pytest.mark.thorough
def test_plain_gzip_and_standard_input_say_the_same(tmp_path, write):
    plain, packed = write(check(offers=1)), write(check(offers=1), name="lines.gz")
    ingest(tmp_path / "plain", "offers", plain)
    ingest(tmp_path / "packed", "offers", packed)
    for number, data in enumerate((plain.read_bytes(), packed.read_bytes())):
        command = [sys.executable, "-m", "generator", "ingest", "offers", "--lake", tmp_path / str(number), "-"]
        completed = subprocess.run(command, capture_output=True, cwd=ROOT, timeout=120, input=data)
        assert completed.returncode == 0, completed.stderr
        assert completed.stdout.decode().splitlines()[0] == "1 line, 0 refused"
        assert content(tmp_path / str(number)) == content(tmp_path / "plain") == content(tmp_path / "packed")


def test_files_that_cannot_be_read_to_their_end_are_refused(lake, tmp_path, write):
    good, packed = write(check(offers=1)), write(*(check(i, offers=1) for i in range(1000)), name="cut.gz")
    packed.write_bytes(packed.read_bytes()[:-20])
    assert "cut.gz: cannot be read" in refused(lake, "offers", good, packed, "--bad-lines", tmp_path / "bad")
    assert "No such file" in refused(lake, "offers", good, tmp_path / "none")
    assert "cannot be read" in refused(lake, "offers", tmp_path)
    commands.run("ingest", "offers", "--lake", lake, status=2)


def test_an_import_that_meets_an_obstacle_writes_nothing(lake, write):
    days = [page(1, f"2026-08-{day:02}T12:00:00Z") for day in range(1, 9)]
    ingest(lake, "list-pages", write(*days[:4]))
    (lake / "listings" / "day=2026-08-07").write_bytes(b"no folder")
    assert "listings/day=2026-08-07" in refused(lake, "list-pages", write(*days)).replace(str(lake), "")
    assert not (lake / ".import").exists()


@pytest.mark.thorough
def test_imports_at_the_same_time_do_not_lose_each_others_rows(lake, write):
    files = [
        write(*(page(n, f"2026-08-{day:02}T12:00:00Z", rarity="R") for day in range(1, 9)), name=str(n))
        for n in range(3)
    ]
    commands = [[sys.executable, "-m", "generator", "ingest", "list-pages", "--lake", lake, file] for file in files]
    processes = [
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)
        for command in commands
    ]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert len(rows_of(lake, "listings")) == 24


def killed_when(lake, appears, *arguments):
    """Starts an import and kills it as soon as a path is there, or when it ended before."""
    command = [sys.executable, "-m", "generator", "ingest", *map(str, arguments), "--lake", str(lake)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)
    while process.poll() is None and not appears.exists():
        pass
    process.kill()
    process.wait()


@pytest.mark.thorough
def test_a_killed_import_is_wholly_in_the_lake_or_not_at_all(tmp_path, write):
    first = datetime(2025, 1, 1, 12)
    stamps = [f"{(first + timedelta(days=n)).isoformat()}Z" for n in range(150)]
    lists = products(tmp_path, 1, 2)
    old = write(*(page(1, stamp, rarity="R") for stamp in stamps), name="old")
    new = write(*(page(2, stamp, rarity="R") for stamp in stamps), name="new")
    prepared, seen, tries = tmp_path / "prepared", set(), 0
    ingest(prepared, "cardmarket", "--singles", lists)
    ingest(prepared, "list-pages", old)
    moments = (".import/journal.json", ".import", ".import/100")
    while tries < 4 or (not seen >= {"before", "midway"} and tries < 40):
        lake = shutil.copytree(prepared, tmp_path / f"lake{tries}")
        killed_when(lake, lake / moments[tries % len(moments)], "list-pages", new)
        journal = (lake / ".import" / "journal.json").exists()
        open_lake(str(lake))  # what a build does first
        assert not (lake / ".import" / "journal.json").exists()
        filled = {row["id_product"] for row in rows_of(lake, "products") if row["rarity"]}
        counts = (len(rows_of(lake, "listings")), filled)
        assert counts in ((150, {1}), (300, {1, 2}))
        assert not journal or counts[0] == 300
        seen.add("midway" if journal else "before" if counts[0] == 150 else "after")
        tries += 1
        ingest(lake, "list-pages", new)
        assert len(rows_of(lake, "listings")) == 300
        assert not (lake / ".import").exists()
    assert seen >= {"before", "midway"}, f"{tries} kills never met the moments that this test is about: {seen}"


def blocks():
    """The fenced blocks of docs/ingest.md: language, name, text."""
    text = (ROOT / "docs" / "ingest.md").read_text("utf-8")
    return re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.thorough
def test_the_examples_of_the_page_are_true(tmp_path):
    command = shell_program(tmp_path / "bin" / "cardpress", OURS)
    paths = {"PATH": f"{command.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "CARDPRESS_LAKE": "lake"}
    shown: set[str] = set()
    for language, name, text in blocks():
        if language in ("json", "csv"):
            (tmp_path / name).write_text(text, "utf-8")
            continue
        for line, expected in re.findall(r"^\$ (.*)\n((?:[^$].*\n)*)", text, re.MULTILINE):
            completed = subprocess.run(
                line, shell=True, cwd=tmp_path, env={**os.environ, **paths}, capture_output=True, text=True, timeout=60
            )
            assert (completed.returncode, completed.stdout) == (0, expected), completed.stderr
            shown |= set(re.findall(r"cardpress ingest ([a-z-]+)", line))
    assert shown == set(ingest_group.commands)
