"""`cardpress ingest cardmarket` from the outside: files in, Parquet out (contract sections 1 and 4)."""

import gzip
import itertools
import json
from datetime import datetime
from functools import partial
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support import imports
from tests.support.commands import run
from tests.support.imports import FIGURES, MORNING, NOON, write_list

DATA = Path(__file__).parents[2] / ".." / "shared" / "data"
HOLO = tuple(f"{figure}_holo" for figure in FIGURES)
NEXT_NOON = "2026-07-27T10:51:03+0200"


def ingest(lake, *arguments):
    """The command's result, by table."""
    return imports.ingest(lake, "cardmarket", *arguments)


def refused(lake, *arguments):
    """The one line that a refused import says; it wrote nothing."""
    return imports.refused(lake, "cardmarket", *arguments)


@pytest.fixture
def write(tmp_path):
    """Writes a marketplace file: write(list name, rows, created_at) gives its path."""
    number = itertools.count()

    def file(key, rows, created_at=NOON, packed=False, **more):
        return write_list(tmp_path / f"{next(number)}-{key}.json{'.gz' * packed}", key, rows, created_at, **more)

    return file


def product(id_product, name="Weedle [Multiply]", **more):
    return {
        "idProduct": id_product,
        "name": name,
        "idCategory": 51,
        "categoryName": "Pokémon Single",
        "idExpansion": 1585,
        "idMetacard": 340471,
        "dateAdded": "2016-05-18 10:00:00",
    } | more


def guide_row(id_product, foil=None, **prices):
    row = {"idProduct": id_product, "idCategory": 51} | {figure: prices.get(figure) for figure in FIGURES}
    return row | ({f"{figure}{foil}": prices.get(f"{figure}_holo") for figure in FIGURES} if foil else {})


def rows_of(lake, table, day="*"):
    """Rows as dicts, by id."""
    return {row.get("id_product", row.get("id")): row for row in imports.rows_of(lake, table, day)}


def products(lake):
    return rows_of(lake, "products")


def guide(lake, day="2026-07-26"):
    return rows_of(lake, "price_guide", day)


def test_a_product_in_all_its_columns(lake, write):
    single = write("products", [product(273532)])
    sealed = write("products", [product(5, "Tin ", categoryName="Pokémon Tins", idMetacard=0)], packed=True)
    ingest(lake, "--singles", single, "--nonsingles", sealed)
    found = products(lake)
    assert list(found) == [5, 273532]
    assert found[273532] == {
        "id_product": 273532,
        "name": "Weedle [Multiply]",
        "kind": "single",
        "category": "Pokémon Single",
        "id_expansion": 1585,
        "rarity": None,
        "number": None,
        "image": None,
        "image_large": None,
        "url": None,
        "date_added": datetime(2016, 5, 18, 10),
        "created_at": datetime(2026, 7, 26, 8, 55, 29),
    }
    assert (found[5]["kind"], found[5]["name"]) == ("sealed", "Tin ")


NAMES = (
    'Kongming, ""Sleeping Dragon""', 'Crushing "Thorn"', "Guardians Rising: Solgaleo  Coin", "Genie Trio ", "_____",
    "N", "Ratonhnhaké꞉ton ナッシー ♀ ☆",
)  # fmt: skip
DATES = {
    "0000-00-00 00:00:00": None, "2007-00-00 00:00:00": None, None: None, "2007-01-01 00:00:00": datetime(2007, 1, 1),
}  # fmt: skip


def test_names_are_as_written_and_a_zero_date_is_no_date(lake, write):
    ingest(lake, "--singles", write("products", [product(n, name) for n, name in enumerate(NAMES)]))
    assert [row["name"] for row in products(lake).values()] == list(NAMES)
    ingest(lake, "--singles", write("products", [product(n, dateAdded=date) for n, date in enumerate(DATES)]))
    assert [row["date_added"] for row in list(products(lake).values())[: len(DATES)]] == list(DATES.values())


@pytest.mark.parametrize(
    ("created_at", "day", "moment"),
    [
        ("2026-07-26T02:44:32+0200", "2026-07-26", datetime(2026, 7, 26, 0, 44, 32)),
        ("2026-07-26T02:44:32+02:00", "2026-07-26", datetime(2026, 7, 26, 0, 44, 32)),
        ("2026-01-26T02:44:32+0100", "2026-01-26", datetime(2026, 1, 26, 1, 44, 32)),
        ("2026-07-26T02:44:32Z", "2026-07-26", datetime(2026, 7, 26, 2, 44, 32)),
        ("2026-07-26T02:44:32", "2026-07-26", datetime(2026, 7, 26, 2, 44, 32)),
        # The day that the file shows, although UTC is still a day behind.
        ("2026-07-26T00:30:00+0200", "2026-07-26", datetime(2026, 7, 25, 22, 30)),
    ],
)
@pytest.mark.thorough
def test_the_day_is_the_date_that_created_at_shows(lake, write, created_at, day, moment):
    ingest(lake, "--price-guide", write("priceGuides", [guide_row(1, low=1)], created_at))
    assert [path.name for path in (lake / "price_guide").iterdir()] == [f"day={day}"]
    assert guide(lake, day)[1]["created_at"] == moment


def test_guide_rows_of_every_key_set(lake, write):
    prices = dict(zip(FIGURES, (1, 2.5, 3, 0.04, 19275, 6), strict=True))
    holo = dict(zip(HOLO, (11, 12.5, 13, 0.14, 100000, 16), strict=True))
    foil_only = {key: value for key, value in guide_row(4, "-foil", **holo).items() if key not in FIGURES}
    bare = {key: value for key, value in guide_row(5, **prices).items() if key != "idCategory"}
    rows = [guide_row(1, **prices), guide_row(2, "-foil", **prices, **holo), guide_row(3, "-holo", **prices, **holo)]
    ingest(lake, "--price-guide", write("priceGuides", [*rows, foil_only, bare, guide_row(6)]))
    found = guide(lake)
    nothing, no_holo = dict.fromkeys(FIGURES), dict.fromkeys(HOLO)
    expected = [prices | no_holo, prices | holo, prices | holo, nothing | holo, prices | no_holo, nothing | no_holo]
    for id_product, row in enumerate(expected, 1):
        assert {key: found[id_product][key] for key in (*FIGURES, *HOLO)} == row, id_product


@pytest.mark.parametrize("foil", ["-foil", "-holo"])
@pytest.mark.parametrize("zero", [0, 0.0])
def test_only_a_trend_of_zero_is_no_price(lake, write, foil, zero):
    row = guide_row(1, foil, **dict.fromkeys((*FIGURES, *HOLO), zero))
    ingest(lake, "--price-guide", write("priceGuides", [row]))
    found = guide(lake)[1]
    assert {key for key in (*FIGURES, *HOLO) if found[key] is None} == {"trend", "trend_holo"}
    assert found["low"] == found["avg30_holo"] == 0


def test_the_newest_description_wins_and_nothing_is_lost(lake, write):
    sealed = partial(product, categoryName="Pokémon Box Set")
    old = write("products", [sealed(1, "Kit"), sealed(2), sealed(3, "Old", idExpansion=9)])
    new = write("products", [sealed(1, "Box"), sealed(3, "Old", idExpansion=10)], NEXT_NOON)
    ingest(lake, "--nonsingles", old)
    result = ingest(lake, "--nonsingles", new)
    found = products(lake)
    assert {key: (row["name"], row["id_expansion"]) for key, row in found.items()} == {
        1: ("Box", 1585),
        2: ("Weedle [Multiply]", 1585),
        3: ("Old", 10),
    }
    assert result["products-cardmarket.parquet"] == {"rows": 3, "new": 0, "changed": 2, "unchanged": 1, "elsewhere": 0}


def test_newest_is_by_instant_not_by_text(lake, write):
    late = write("products", [product(1, "late")], "2026-07-26T09:30:00Z")
    early = write("products", [product(1, "early")], "2026-07-26T10:55:29+0200")
    ingest(lake, "--singles", late)
    ingest(lake, "--singles", early)
    assert products(lake)[1]["name"] == "late"


@pytest.mark.thorough
def test_any_order_and_any_grouping_of_imports_gives_the_same_bytes(tmp_path, write):
    """Of files of different moments: where two have the same createdAt, the later import counts."""
    files = [
        ("--singles", write("products", [product(1, "a"), product(2, "b")], MORNING)),
        ("--singles", write("products", [product(1, "c"), product(3, "d")], NOON)),
        (
            "--nonsingles",
            write(
                "products",
                [product(n, name, categoryName="Pokémon Tins") for n, name in ((1, "b"), (2, "z"))],
                "2026-07-26T06:00:00Z",
            ),
        ),
        ("--price-guide", write("priceGuides", [guide_row(1, low=1), guide_row(2, low=5)], MORNING)),
        ("--price-guide", write("priceGuides", [guide_row(1, low=2)], NOON)),
        ("--expansions", write("expansions", [{"idExpansion": 1, "enName": "Black Bolt"}], MORNING)),
        ("--expansions", write("expansions", [{"idExpansion": 1, "enName": "Black Bolt JP"}], NOON)),
    ]
    ingest(tmp_path / "all", *itertools.chain(*files))
    for name, order in (("one by one", files), ("backwards", files[::-1]), ("twice", files + files[2:5])):
        for option, path in order:
            ingest(tmp_path / name, option, path)
        assert imports.content(tmp_path / name) == imports.content(tmp_path / "all"), name
    found = products(tmp_path / "all")
    assert {key: (row["name"], row["kind"]) for key, row in found.items()} == {
        1: ("c", "single"),
        2: ("z", "sealed"),
        3: ("d", "single"),
    }
    assert guide(tmp_path / "all")[1]["low"] == 2
    assert guide(tmp_path / "all")[2]["low"] == 5


def test_importing_again_leaves_every_file_alone(lake, write):
    files = [
        *("--singles", write("products", [product(1)])),
        *("--price-guide", write("priceGuides", [guide_row(1, low=1)])),
        *("--expansions", write("expansions", [{"idExpansion": 1, "enName": "Jungle"}]), "--game", "Pokémon"),
    ]
    ingest(lake, *files)
    before, inodes = imports.content(lake), {path: path.stat().st_ino for path in lake.rglob("*")}
    result = ingest(lake, *files, *files)
    assert imports.content(lake) == before
    assert {path: path.stat().st_ino for path in lake.rglob("*")} == inodes
    assert {(counts["new"], counts["changed"]) for counts in result.values()} == {(0, 0)}


def test_a_confirmed_description_counts_as_unchanged_but_keeps_its_newest_time(lake, write):
    for created_at in (NOON, NEXT_NOON):
        result = ingest(lake, "--singles", write("products", [product(1, "right")], created_at))
    assert result["products-cardmarket.parquet"]["unchanged"] == 1
    ingest(lake, "--singles", write("products", [product(1, "wrong")], "2026-07-27T02:00:00+0200"))
    assert products(lake)[1]["name"] == "right"


def test_guides_of_two_games_stand_side_by_side_on_a_day(lake, write):
    ingest(lake, "--price-guide", write("priceGuides", [guide_row(1, low=1)], MORNING))
    ingest(lake, "--price-guide", write("priceGuides", [guide_row(620001, low=2)], "2026-07-26T02:49:10+0200"))
    assert {key: row["low"] for key, row in guide(lake).items()} == {1: 1, 620001: 2}


def test_ids_in_other_files_of_the_lake_are_left_to_them(lake, write):
    (lake / "price_guide/day=2026-07-26").mkdir(parents=True)
    own = {"name": ["scraped"], "kind": ["single"], "number": ["010"]}
    pq.write_table(pa.table({"id_product": pa.array([1], pa.int32()), **own}), lake / "products.parquet")
    pq.write_table(pa.table({"id": [7], "name": ["Jungle"]}), lake / "expansions-2.parquet")
    pq.write_table(pa.table({"id_product": [1], "low": [9.0]}), lake / "price_guide/day=2026-07-26/0.parquet")
    others = imports.content(lake)
    files = [
        *("--singles", write("products", [product(1), product(2)])),
        *("--price-guide", write("priceGuides", [guide_row(1, low=1), guide_row(2, low=2)])),
        *("--expansions", write("expansions", [{"idExpansion": 7, "enName": "Dschungel"}])),
    ]
    result = ingest(lake, *files)
    assert {name: (counts["new"], counts["elsewhere"]) for name, counts in result.items()} == {
        "products-cardmarket.parquet": (1, 1),
        "expansions-cardmarket.parquet": (1, 1),
        "price_guide/day=2026-07-26/cardmarket.parquet": (1, 1),
    }
    assert imports.content(lake).items() >= others.items()
    assert {key: row["low"] for key, row in guide(lake).items()} == {1: 9, 2: 2}
    ids = duckdb.sql(f"SELECT id_product FROM read_parquet('{lake}/products*.parquet', union_by_name = true)")
    assert sorted(ids.fetchall()) == [(1,), (2,)]


def test_what_others_filled_into_the_imports_own_table_is_kept(lake, write):
    ingest(lake, "--singles", write("products", [product(1, "old"), product(2)]))
    path = lake / "products-cardmarket.parquet"
    table = pq.read_table(path)
    table = table.set_column(table.schema.get_field_index("number"), "number", pa.array(["010", None]))
    pq.write_table(table.append_column("scraped", pa.array([True, False])), path)
    ingest(lake, "--singles", write("products", [product(1, "new"), product(0)], NEXT_NOON))
    found = products(lake).values()
    assert [tuple(row[name] for name in ("id_product", "name", "number", "scraped")) for row in found] == [
        (0, "Weedle [Multiply]", None, None),
        (1, "new", "010", True),
        (2, "Weedle [Multiply]", None, False),
    ]


def test_expansions_with_their_oddities(lake, write):
    rows = [
        {"idExpansion": 5402, "enName": "151", "abbreviation": None},
        {"idProduct": 4014, "enName": "Blue Shock", "abbreviation": None},
        {"idExpansion": 4211, "enName": "Battle Theme Deck: Victini"},
        {"idExpansion": 4211, "enName": "Battle Theme Deck: Victini"},
        {"idExpansion": 6130, "enName": "Black Bolt"},
        {"idExpansion": 6134, "enName": "Black Bolt"},
        {"idExpansion": 9, "enName": None},
        {"idExpansion": 10},
        {"idExpansion": 11, "enName": 'WCD 2024: Fernando Cifuentes "Crushing Thorn"'},
    ]
    ingest(lake, "--expansions", write("expansions", rows), "--game", "Pokémon")
    found = rows_of(lake, "expansions")
    assert {key: row["name"] for key, row in found.items()} == {
        11: rows[-1]["enName"],
        4014: "Blue Shock",
        4211: "Battle Theme Deck: Victini",
        5402: "151",
        6130: "Black Bolt",
        6134: "Black Bolt",
    }
    assert {(row["game"], row["url"]) for row in found.values()} == {("Pokémon", None)}


def test_the_game_stands_until_a_command_names_another(lake, write):
    one = write("expansions", [{"idExpansion": 1, "enName": "Promos"}])
    two = write("expansions", [{"idExpansion": 2, "enName": "Promos"}], NEXT_NOON)
    games = []
    for arguments in ((one, "--game", "Magic"), (one,), (two,), (two, "--game", "Pokémon"), (one, "--game", "MTG")):
        ingest(lake, "--expansions", *arguments)
        games.append({key: row["game"] for key, row in rows_of(lake, "expansions").items()})
    assert games == [
        {1: "Magic"},
        {1: "Magic"},
        {1: "Magic", 2: None},
        {1: "Magic", 2: "Pokémon"},
        {1: "MTG", 2: "Pokémon"},
    ]


GOOD = b'{"version":1,"createdAt":"2026-07-26T02:44:32+0200","priceGuides":[{"idProduct":7,"low":1}]}'


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (gzip.compress(GOOD, mtime=0)[:-9], "cannot be read"),
        (gzip.compress(GOOD, mtime=0)[:20] + b"\xff" * 30, "cannot be read"),
        (b"<html>", "it is a web page"),
        (b"", "not JSON"),
        (GOOD[:-1], "not JSON"),
        (b"\xff\xfe\xfa", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (GOOD.replace(b'"low":1', b'"low":NaN'), "not JSON"),
        (b"[]", 'no list "priceGuides"'),
        (GOOD.replace(b"priceGuides", b"products"), 'no list "priceGuides"'),
        (GOOD.replace(b"[", b'{"a":').replace(b"]", b"}"), 'no list "priceGuides"'),
        (GOOD.replace(b'"version":1', b'"version":2'), "version 2"),
        (GOOD.replace(b"createdAt", b"created"), "createdAt"),
        (GOOD.replace(b"2026-07-26T", b"26.7.2026 "), "createdAt"),
        (GOOD.replace(b'"2026-07-26T02:44:32+0200"', b"1784000000"), "createdAt"),
        (GOOD.replace(b'{"idProduct":7,"low":1}', b"7"), "no JSON object"),
        (GOOD.replace(b'"idProduct":7', b'"id":7'), "row 1 of 1: it has no idProduct"),
        (GOOD.replace(b":7", b':"7"'), 'row 1 of 1: idProduct must be an integer, not "7"; download the file again'),
        (GOOD.replace(b'"low":1', b'"low":' + b"9" * 400), "row 1 of 1: low is too large"),
        (GOOD.replace(b":7", b":7.5"), "idProduct must be an integer"),
        (GOOD.replace(b":7", b":99999999999999999999"), "idProduct"),
        (GOOD.replace(b'"low":1', b'"low":"1"'), "low must be a number"),
        (GOOD.replace(b'"low":1', b'"low":true'), "low must be a number"),
        (GOOD.replace(b'"low":1', b'"low":-0.01'), "row 1 of 1: column low is no price"),
        (GOOD.replace(b'"low":1', b'"low":1e999'), "column low is no price"),
        (GOOD.replace(b'"low":1', b'"low":1e15'), "such as id_product 7 on 2026-07-26: 1000000000000000.0"),
        (GOOD.replace(b'"low":1', b'"avg30-foil":-1'), "column avg30_holo is no price"),
    ],
)
def test_a_bad_guide_is_refused_in_one_line_and_nothing_is_written(lake, tmp_path, write, data, says):
    bad = tmp_path / "bad.json"
    bad.write_bytes(data)
    line = refused(lake, "--singles", write("products", [product(1)]), "--price-guide", bad)
    assert line.startswith(f"cardpress: {bad}: ")
    assert says in line


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"idProduct": None}, "row 2 of 2: it has no idProduct"),
        ({"name": None}, "row 2 of 2: it has no name"),
        ({"name": 5}, "row 2 of 2: name must be text, not 5; "),
        ({"name": "\ud800"}, "row 2 of 2: name is too large, or half of a surrogate pair"),
        ({"dateAdded": "2026-02-30 00:00:00"}, "row 2 of 2: dateAdded must be a time"),
        (
            {"dateAdded": "yesterday"},
            'row 2 of 2: dateAdded must be a time such as 2022-07-01 10:00:00, not "yesterday"',
        ),
        ({"idExpansion": "x"}, "idExpansion must be an integer"),
        ({"idProduct": 10**18}, "row 2 of 2: column id_product has more than 18 digits"),
    ],
)
def test_a_bad_product_list_is_refused(lake, tmp_path, row, says):
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps({"version": 1, "createdAt": NOON, "products": [product(1), product(2) | row]}))
    line = refused(lake, "--singles", bad)
    assert line.startswith(f"cardpress: {bad}: ")
    assert says in line


def test_a_missing_file_and_a_broken_lake_are_refused(lake, tmp_path, write):
    assert "No such file" in refused(lake, "--singles", tmp_path / "none.json")
    lake.mkdir()
    (lake / "products.parquet").write_bytes(b"no Parquet")
    file = write("products", [product(1)])
    assert "products.parquet in lake" in refused(lake, "--singles", file)
    pq.write_table(pa.table({"id": [1]}), lake / "products.parquet")
    assert "no column id_product" in refused(lake, "--singles", file)
    run("ingest", "cardmarket", "--lake", file, "--singles", file, status=1)  # a file for a lake
    run("ingest", "cardmarket", "--lake", lake, status=2)


# Real files, where they are at hand.


def real(pattern):
    found = sorted(DATA.glob(pattern))
    if not found:
        pytest.skip(f"no {pattern} in ../shared/data")
    return found


def document(path):
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


def expected_guide(path):
    """A brute-force reading of a guide: {id: 12 prices}, by the names of the lake."""
    found = {}
    for row in document(path)["priceGuides"]:
        prices = {figure: row.get(figure) for figure in FIGURES}
        prices |= {f"{f}_holo": row.get(f"{f}-foil", row.get(f"{f}-holo")) for f in FIGURES}
        for trend in ("trend", "trend_holo"):
            prices[trend] = prices[trend] or None
        found[row["idProduct"]] = prices
    return found


def stored_guide(lake, day):
    rows = guide(lake, day)
    return {key: {name: row[name] for name in (*FIGURES, *HOLO)} for key, row in rows.items()}


def options(option, paths):
    return list(itertools.chain(*((option, path) for path in paths)))


@pytest.mark.thorough
def test_five_days_of_digimon(lake):
    singles, sealed = real("digimon-hankep/products_singles*"), real("digimon-hankep/products_nonsingles*")
    guides = real("digimon-hankep/price_guide*")
    lists = options("--nonsingles", reversed(sealed)) + options("--singles", reversed(singles))
    result = ingest(lake, *lists, *options("--price-guide", guides))
    expected = {}
    for kind, paths in (("single", singles), ("sealed", sealed)):
        for path in paths:  # in the order of their days
            expected |= {row["idProduct"]: (kind, row) for row in document(path)["products"]}
    found = products(lake)
    assert {key: (row["kind"], row["name"], row["category"], row["id_expansion"]) for key, row in found.items()} == {
        key: (kind, row["name"], row["categoryName"], row["idExpansion"]) for key, (kind, row) in expected.items()
    }
    assert {key: str(row["date_added"]) for key, row in found.items()} == {
        key: row["dateAdded"] for key, (kind, row) in expected.items()
    }
    assert len(result) == 2 + len(guides)  # with the sets that the lists name
    for path in guides:
        day = path.name.removesuffix(".json.gz")[-10:]
        assert stored_guide(lake, day) == expected_guide(path), day


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("pattern", "day"),
    [
        ("magic-cusco/price_guide_1_2024-10-03.json.gz", "2024-10-03"),  # without idCategory
        ("riftbound-riftrune/price_guide_22_*.json", "2026-07-13"),
        ("pokemon-official/price_guide_6_sample_2026-06-29.json", "2026-06-29"),
    ],
)
def test_real_guides(lake, pattern, day):
    (path,) = real(pattern)
    ingest(lake, "--price-guide", path)
    assert stored_guide(lake, day) == expected_guide(path)


@pytest.mark.thorough
def test_real_expansions_and_sealed_lists(lake):
    sealed = real("pokemon-official/products_nonsingles*")
    (names,) = real("pokemon-official/expansions_6*")
    ingest(lake, *options("--nonsingles", sealed), "--expansions", names, "--game", "Pokémon")
    listed = [{row["idProduct"]: row for row in document(path)["products"]} for path in sealed]
    found = products(lake)
    assert set(found) == set().union(*listed)
    assert all(found[key]["id_expansion"] == row["idExpansion"] for key, row in listed[-1].items())
    rows = document(names)["expansions"]
    expected = {}
    for row in sorted(rows, key=lambda row: row["enName"]):  # of two names in one file, the greater
        expected[row.get("idExpansion", row.get("idProduct"))] = row["enName"]
    unnamed = {row["idExpansion"] for file in listed for row in file.values()} - set(expected)
    expected |= {key: f"Expansion {key}" for key in unnamed}
    assert {key: row["name"] for key, row in rows_of(lake, "expansions").items()} == expected


def test_a_product_in_the_files_of_two_games_is_reported(lake, write):
    """Product 5 is in both lists, product 1 only in one; spellings that fold to one text are one game."""

    def files(ids, expansion, created_at=NOON):
        products = [product(id_, idExpansion=expansion) for id_ in ids]
        names = [{"idExpansion": expansion, "enName": f"Set {expansion}"}]
        return "--singles", write("products", products, created_at), "--expansions", write("expansions", names)

    assert ingest(lake, *files([1, 5], 10), "--game", "Pokémon")
    words = ("ingest", "cardmarket", "--lake", lake, *files([1], 11, NEXT_NOON), "--game", "POKEMON")
    assert "two games" not in run(*words).stdout
    out = run("ingest", "cardmarket", "--lake", lake, *files([5, 6], 20), "--game", "Magic").stdout
    assert "1 products are in the files of two games, such as id_product 5" in out
