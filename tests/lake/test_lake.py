"""Broken lakes: each rule ends in one line that names table or file, column, number of rows and an example."""

import math
import unicodedata
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from generator.database import run_file
from generator.lake import files as hashes
from generator.lake.files import FileHashes
from generator.lake.tables import broken_rules
from generator.making.sorted_parquet import ROWS_PER_GROUP
from tests.support.commands import run
from tests.support.selection import mostly_thorough

Broken = Callable[[Path], None]
DAY = "day=2026-01-05"
OFFERS = pa.list_(pa.struct([("price", pa.float64()), ("condition", pa.string()), ("seller", pa.string())]))


def put(name: str, /, **columns: object) -> Broken:
    """Put one Parquet file into the lake."""

    def into(lake: Path) -> None:
        (lake / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(columns), lake / name)

    return into


def text(name: str, content: str) -> Broken:
    def into(lake: Path) -> None:
        (lake / name).parent.mkdir(parents=True, exist_ok=True)
        (lake / name).write_text(content)

    return into


def offer_that_is_no_text(lake: Path) -> None:
    """Put a check whose offer has a seller that is not UTF-8."""
    offers = pa.array([[{"price": 1.0, "condition": "NM", "seller": "<wrong>"}]], OFFERS)
    file, columns = lake / CHECKS, {"id_product": [1], "checked_at": TIME, "offers": [1], "offer_list": offers}
    file.parent.mkdir(parents=True)
    pq.write_table(pa.table(columns), file, compression="none", write_statistics=False)
    file.write_bytes(file.read_bytes().replace(b"<wrong>", b"<wr\xffng>"))


def fingerprints(name: str = "fingerprints.parquet", /, **changed: object) -> Broken:
    good = {"key": ["a"], "art_p": ["0" * 16], "art_d": ["0" * 16], "card_p": ["0" * 16], "colour": ["0" * 96]}
    return put(name, **(good | {"products": [[1]]} | changed))


RECIPE = text("fingerprints.json", '{"version": "v", "image_url": "x{key}"}')
GUIDE, CHECKS = f"price_guide/{DAY}/a.parquet", f"filtered_checks/{DAY}/a.parquet"
TIME = pa.array([0], pa.timestamp("us"))
TIMES = pa.array([0, 0], pa.timestamp("us"))
NAN_AND_PRICE = pa.array([[{"price": price, "condition": "NM", "seller": "s"}] for price in (math.nan, 1.0)], OFFERS)

BROKEN: dict[str, tuple[list[Broken], list[str]]] = {
    "a product twice": (
        [put("products-2.parquet", id_product=[2], name=["x"], kind=["single"])],
        ["products", "id_product", "2 rows", "id_product 2"],
    ),
    "a product id of 19 digits": (
        [put("products-2.parquet", id_product=[-(10**18)], name=["x"], kind=["single"])],
        ["products", "id_product", "1 row", "18 digits", "id_product -1000000000000000000"],
    ),
    "an expansion of 19 digits of a product": (
        [put("products-2.parquet", id_product=[3], name=["x"], kind=["single"], id_expansion=[10**18])],
        ["products", "id_expansion", "1 row", "18 digits", "1000000000000000000"],
    ),
    "an expansion of 19 digits": (
        [put("expansions.parquet", id=[10**18, 10**18 - 1], name=["x", "y"])],
        ["expansions", "id", "1 row", "18 digits", "id 1000000000000000000"],
    ),
    "an empty slug": (
        [put("watchlist.parquet", slug=[""], name=["x"], url=["https://x"])],
        ["watchlist", "slug", "1 row", "1 to 500 characters"],
    ),
    "a slug with a long name of a file": (
        [put("watchlist.parquet", slug=["é" * 40 + "a"], name=["x"], url=["https://x"])],
        ["watchlist", "slug", "1 row", "240 bytes"],
    ),
    "a slug whose first point makes its name of a file too long": (
        [put("watchlist.parquet", slug=["." + "a" * 238], name=["x"], url=["https://x"])],
        ["watchlist", "slug", "1 row", "240 bytes"],
    ),
    "a watched page that is no page of the web": (
        [put("watchlist.parquet", slug=["a", "b"], name=["x", "y"], url=["ftp://x", "HTTPS://y"])],
        ["watchlist", "url", "1 row", "slug a: ftp://x"],
    ),
    "a kind of no kind": (
        [put("products-2.parquet", id_product=[3], name=["x"], kind=["Single"])],
        ["products", "kind", "1 row", "id_product 3: Single"],
    ),
    "a scheme in capitals": (
        [put("identifiers-x.parquet", id_product=[2, 2, 2], scheme=["a", "A", "a" * 33], value=["1", "1", "1"])],
        ["identifiers", "scheme", "2 rows", "id_product 2 A: 1"],
    ),
    "an id with white space": (
        [put("identifiers.parquet", id_product=[2, 2, 2], scheme=["a"] * 3, value=["1", "1\u00a02", ""])],
        ["identifiers", "value", "2 rows", "id_product 2 a: "],
    ),
    "an id that is no text": (
        [put("identifiers.parquet", id_product=[2], scheme=["a"], value=[7])],
        ["identifiers", "value", "BIGINT", "such as 7"],
    ),
    "an expansion twice": ([put("expansions.parquet", id=[7, 7], name=["a", "b"])], ["expansions", "id", "2 rows"]),
    "a second guide row of a day": (
        [put(GUIDE, id_product=[1, 1], low=[1.0, 2.0])],
        ["price_guide", "id_product", "2 rows", "id_product 1 on 2026-01-05"],
    ),
    "a second guide row at the end of many": (  # where the rows that are read together end
        [put(GUIDE, id_product=[*range(1, ROWS_PER_GROUP + 1), ROWS_PER_GROUP])],
        ["price_guide", "id_product", "2 rows", f"id_product {ROWS_PER_GROUP} on 2026-01-05"],
    ),
    "NaN beside a price": (
        [put(GUIDE, id_product=[1, 2], avg7=[math.nan, 1.0])],
        ["price_guide", "avg7", "1 row", "nan"],
    ),
    "NaN beside the price of another offer": (
        [put(CHECKS, id_product=[2, 3], checked_at=TIMES, offers=[1, 1], offer_list=NAN_AND_PRICE)],
        ["filtered_checks", "offer_list", "1 row", "id_product 2"],
    ),
    "infinity": ([put(GUIDE, id_product=[1], low_holo=[math.inf])], ["price_guide", "low_holo", "1 row", "inf"]),
    "a negative price that rounds to zero": (
        [put(GUIDE, id_product=[1, 2], avg30_holo=[-0.001, 1.0])],
        ["price_guide", "avg30_holo", "1 row", "-0.001"],
    ),
    "a price of many digits": (
        [put(GUIDE, id_product=[1], trend=[1.2345678901234567e16])],
        ["price_guide", "trend", "1 row", "1.2345678901234568e+16"],
    ),
    "text for a price": (
        [put(GUIDE, id_product=[1, 2], low=["1", "2"])],
        ["price_guide", GUIDE, "low", "VARCHAR", "2 rows", "such as 1"],
    ),
    "no id column": ([put(GUIDE, low=[1.0, 2.0])], ["price_guide", GUIDE, "id_product", "2 rows"]),
    "an id beyond 64 bits": (
        [put(GUIDE, id_product=pa.array([2**63], pa.uint64()))],
        ["price_guide", "id_product", "9223372036854775808"],
    ),
    "a seller that is no text": ([offer_that_is_no_text], ["filtered_checks", CHECKS]),
    "a file that is no Parquet": ([text(GUIDE, "garbage")], ["price_guide", GUIDE, "Parquet"]),
    "a partition that is no day": (
        [put("price_guide/day=2026-13-05/a.parquet", id_product=[1])],
        ["day=2026-13-05", "no day"],
    ),
    "a day folder of another name": (
        [put("price_guide/date=2026-01-05/a.parquet", id_product=[1])],
        ["price_guide/date=2026-01-05", "no day", "day=2026-08-22"],
    ),
    "folders of years and months": (
        [put("price_guide/year=2026/month=01/day=2026-01-05/a.parquet", id_product=[1])],
        ["price_guide/year=2026/month=01/day=2026-01-05", "price_guide/day=2026-08-22"],
    ),
    "a file beside the day folders": (
        [put("price_guide/a.parquet", id_product=[1])],
        ["price_guide", "price_guide/day=2026-08-22"],
    ),
    "a file of a day with another suffix": (
        [put(f"price_guide/{DAY}/b.pq", id_product=[1])],
        [f"price_guide/{DAY}/b.pq", "no row of it would be read", "end in .parquet"],
    ),
    "a copy that a synchroniser left": (
        [put(GUIDE, id_product=[1]), put(f"price_guide/{DAY}/a (1).parquet", id_product=[1])],
        ["id_product 1 on 2026-01-05", GUIDE, f"price_guide/{DAY}/a (1).parquet", "keep one of them"],
    ),
    # Without the bound: 60 s in NFKD, 4 GB of suffixes, and an error about memory.
    "a name of 100,000 combining marks": (
        [put("products-2.parquet", id_product=[3], name=["a" + "\u0316\u0301" * 50_000], kind=["single"])],
        ["products", "name", "more than 500 characters", "1 row", "id_product 3: a"],
    ),
    "two slugs that fold alike": (
        [put("watchlist.parquet", slug=["Straße", "STRASSE"], name=["a", "b"], url=["https://u", "https://v"])],
        ["watchlist", "slug", "2 rows", "STRASSE"],
    ),
    "fingerprints without a recipe": ([fingerprints()], ["fingerprints.json", "missing"]),
    "a recipe without a place for the key": (
        [fingerprints(), text("fingerprints.json", '{"version": "v", "image_url": "x"}')],
        ["fingerprints.json", "{key}"],
    ),
    "15 hex digits": ([fingerprints(card_p=["0" * 15]), RECIPE], ["fingerprints", "card_p", "1 row", "key a"]),
    "a fingerprint key twice": (
        [fingerprints(), fingerprints("fingerprints-2.parquet", products=[[2]]), RECIPE],
        ["fingerprints", "key", "2 rows", "key a"],
    ),
}


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    put("products.parquet", id_product=[1, 2], name=["a", "b"], kind=["single", "sealed"])(tmp_path / "lake")
    put(f"listings/{DAY}/a.parquet", id_product=[1], scraped_at=TIME)(tmp_path / "lake")
    return tmp_path / "lake"


@pytest.mark.parametrize("rule", mostly_thorough(BROKEN, *[*BROKEN][::8]))
def test_a_broken_rule_is_one_clear_line(lake: Path, rule: str) -> None:
    files, words = BROKEN[rule]
    for into in files:
        into(lake)
    refused = run("build", "--lake", lake, "--store", lake.parent / "store", "--publish", status=1)
    last = refused.stderr.splitlines()[-1]
    assert [word for word in words if word not in last] == [], last
    assert last.startswith("cardpress: ") and "Traceback" not in refused.stderr
    assert refused.stdout == ""
    assert not (lake.parent / "store" / "current.json").exists()


@pytest.mark.thorough
def test_the_longest_ids_and_slugs_are_built(tmp_path: Path) -> None:
    longest = 10**18 - 1
    ids = [-longest, longest]
    slugs = ["é" * 40, ".-" + "a" * 236, "a" * 240]
    for into in (
        put("products.parquet", id_product=ids, name=["a", "b"], kind=["single"] * 2, id_expansion=[longest, 1]),
        put("expansions.parquet", id=[longest, -longest], name=["x", "y"]),
        put("watchlist.parquet", slug=slugs, name=slugs, url=["http://x"] * 3),
        put(GUIDE, id_product=ids, trend=[1.0, 2.0]),
    ):
        into(tmp_path / "lake")
    run("nightly", "--lake", tmp_path / "lake", "--store", tmp_path / "store")


def test_what_is_missing(tmp_path: Path) -> None:
    def refusal(*more: object) -> str:
        return run("build", "--lake", tmp_path / "lake", "--store", tmp_path / "s", *more, status=1).stderr

    assert "cardpress demo" in refusal()
    (tmp_path / "lake").mkdir()
    assert "products*.parquet" in refusal()
    put("products.parquet", id_product=[1], name=["a"], kind=["single"])(tmp_path / "lake")
    assert "--as-of" in refusal()
    built = run("build", "--lake", tmp_path / "lake", "--store", tmp_path / "s", "--as-of", "2026-01-05")
    assert built.stdout.startswith("2026-01-05-")


@pytest.mark.thorough
def test_unfinished_files_and_strangers_are_not_read(lake: Path) -> None:
    store = lake.parent / "store"
    before = run("build", "--lake", lake, "--store", store).stdout
    for name in (".products-2.parquet", "products.parquet.tmp", f"listings/{DAY}/.a.parquet", "notes.txt"):
        text(name, "half a fi")(lake)
    (lake / "price_guide" / "day=2030-01-01").mkdir(parents=True)  # an empty partition is no day
    assert run("build", "--lake", lake, "--store", store).stdout == before


def test_what_lies_at_the_top_and_is_not_read_is_named(lake: Path) -> None:
    for name in (f"Price_Guide/{DAY}/a.parquet", "expansion.parquet", "products.pq"):
        put(name, id_product=[1])(lake)
    for name in (".DS_Store", "desktop.ini", "_SUCCESS", "demo.json", f"listings/{DAY}/Thumbs.db", "@eaDir/a"):
        text(name, "")(lake)
    store = lake.parent / "store"
    told = [
        f"{lake}/Price_Guide/ is not read: the table price_guide is price_guide/day=YYYY-MM-DD/*.parquet",
        f"{lake}/expansion.parquet is not read: the table expansions is expansions*.parquet",
        f"{lake}/products.pq is not read: the table products is products*.parquet",
    ]
    for command in (("build", "--store", store), ("lake", "days", "--store", store)):
        said = run(*command, "--lake", lake).stderr.splitlines()
        assert [line for line in said if "is not read" in line] == told, command
    checked = run("doctor", "--lake", lake, "--store", store, status=1).stdout  # no build is live
    assert all(f"warning  lake       {line}" in checked for line in told), checked


@pytest.mark.thorough
def test_columns_of_nothing_but_nulls_and_of_no_interest(lake: Path) -> None:
    put(GUIDE, id_product=[1], low=pa.nulls(1), Trend=[0.125], surplus=[object.__name__])(lake)
    run("build", "--lake", lake, "--store", lake.parent / "store", "--publish")
    card = run("cat", "cards/1.json", "--store", lake.parent / "store").stdout
    assert '"low":null' in card and '"trend":0.13' in card


@pytest.mark.thorough
def test_the_characters_of_identifiers_are_those_of_the_contract() -> None:
    """Every character is allowed in a value, except commas, `str.isspace` and the category Cc."""
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    refused = {c for c in characters if c == "," or c.isspace() or unicodedata.category(c) == "Cc"}
    assert rows_that_break_a_rule(sorted(refused)) == len(refused)
    assert rows_that_break_a_rule([c for c in characters if c not in refused]) == 0
    assert rows_that_break_a_rule(["\U0001f409" * 200, "é" * 201, "e\u0301" * 100, "e\u0301" * 101]) == 2


def rows_that_break_a_rule(values: list[str]) -> int:
    """How many rows of identifiers with these values are refused."""
    with duckdb.connect() as database:
        rows = {"id_product": [1] * len(values), "scheme": ["s"] * len(values), "value": values}
        database.register("rows", pa.table(rows))
        run_file(database, "macros")
        database.execute("create schema raw")
        database.execute("create view raw.identifiers as from rows")
        return sum(broken.rows for broken in broken_rules(database, "identifiers"))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(hashes, "_MAX_ENTRIES", 3)


def remember(*names: str) -> None:
    known = FileHashes()
    for name in names:
        known.add(name, [1], f"hash of {name}")
    known.save()


def test_the_latest_are_kept() -> None:
    remember("a", "b")
    remember("c", "d")
    known = FileHashes()
    assert [known.find(name, [1]) for name in "abcd"] == [None, "hash of b", "hash of c", "hash of d"]
    assert known.find("d", [2]) is None


def test_a_whole_lake_is_kept_however_large() -> None:
    remember(*"abcde")
    assert FileHashes().find("a", [1]) == "hash of a"
