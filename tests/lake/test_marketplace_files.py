"""One file of the marketplace, any command: the same is read, the same is refused. Games and sets name themselves."""

import codecs
import gzip
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support.commands import run
from tests.support.imports import guide_row, refused, write_list
from tests.support.selection import mostly_thorough

CREATED = "2026-07-26T02:44:32+0200"
ROW = guide_row(1, low=2.5, trend=3)
PRODUCT = {"idProduct": 1, "name": "Ember", "idCategory": 51, "categoryName": "Pokémon Single", "idExpansion": 5423,
           "idMetacard": 1, "dateAdded": "2022-07-01 10:00:00"}  # fmt: skip
GUIDE = {"version": 1, "createdAt": CREATED, "priceGuides": [ROW]}
OLD_HEADER = '"idProduct","Avg. Sell Price","Low Price","Trend Price","German Pro Low","Suggested Price","Foil Sell",' \
    '"Foil Low","Foil Trend","Low Price Ex+","AVG1","AVG7","AVG30","Foil AVG1","Foil AVG7","Foil AVG30"'  # fmt: skip
OLD_ROW = '"1","1.00","2.50","3.00","1","","4.00","5.00","6.00","2.00","1","1","1","7","8","9"'


def text(document: dict) -> str:
    return json.dumps(document, ensure_ascii=False)


def moved(document: dict) -> dict:
    """The same, with createdAt after the lists."""
    return {key: document[key] for key in sorted(document, key=lambda key: key == "createdAt")}


LONG = [ROW, *(guide_row(n, low=1.5) for n in range(2, 2000))]
GUIDES = {
    "gzip": gzip.compress(text(GUIDE).encode()),
    "a mark": codecs.BOM_UTF8 + text(GUIDE).encode(),
    "PowerShell": codecs.BOM_UTF16_LE + text(GUIDE).encode("utf-16-le"),
    "UTF-16 from the other end": codecs.BOM_UTF16_BE + text(GUIDE).encode("utf-16-be"),
    "UTF-16 without a mark": text(GUIDE).encode("utf-16-le"),
    "indented": json.dumps(GUIDE, indent=4).encode(),
    "createdAt last": text(moved(GUIDE)).encode(),
    "createdAt far behind": text(moved(GUIDE | {"priceGuides": LONG})).encode(),
    "a long member first": text({"note": "x" * 100_000} | GUIDE).encode(),
    "a blank before the offset": text(GUIDE | {"createdAt": "2026-07-26 02:44:32 +0200"}).encode(),
    "a time of mails": text(GUIDE | {"createdAt": "Sun, 26 Jul 2026 02:44:32 +0200"}).encode(),
    "an unknown member": text(GUIDE | {"source": "x"}).encode(),
    "CSV": f"{OLD_HEADER}\r\n{OLD_ROW}\r\n".encode(),
    "CSV with semicolons": f"{OLD_HEADER}\n{OLD_ROW.replace('.', '%')}\n".replace(",", ";").replace("%", ",").encode(),
}


def prices(lake: Path) -> dict | None:
    file = lake / "price_guide" / "day=2026-07-26" / "cardmarket.parquet"
    rows = pq.read_table(file, partitioning=None).to_pylist() if file.exists() else []
    return next((row for row in rows if row["id_product"] == 1), None)


@pytest.mark.parametrize("form", mostly_thorough(GUIDES, "PowerShell", "CSV with semicolons"))
@pytest.mark.thorough
def test_every_command_reads_a_guide_alike(tmp_path: Path, form: str) -> None:
    downloads, data = tmp_path / "downloads", GUIDES[form]
    downloads.mkdir()
    guide = downloads / "price_guide_6_2026-07-26.json"
    guide.write_bytes(data)
    said = run("ingest", "cardmarket", "--lake", tmp_path / "named", "--price-guide", guide).stderr
    assert "price guide of 2026-07-26" in said
    run("ingest", "cardmarket", "--lake", tmp_path / "folder", downloads)
    first = prices(tmp_path / "named")
    assert first and first["low"] == 2.5 and first["trend"] == 3
    assert prices(tmp_path / "folder") == first
    if data.startswith(b'"idProduct"'):
        assert (first["trend_holo"], first["low_holo"], first["avg30_holo"]) == (6, 5, 9)


def test_both_lists_of_a_document_are_imported(tmp_path: Path) -> None:
    both = tmp_path / "products_singles_6.json"
    both.write_text(text({"createdAt": CREATED, "products": [PRODUCT], "priceGuides": [ROW], "expansions": []}))
    for name, words in (("a", ("--singles", both)), ("b", (both,))):
        run("ingest", "cardmarket", "--lake", tmp_path / name, *words)
        assert prices(tmp_path / name) and (tmp_path / name / "products-cardmarket.parquet").exists()
    mixed = tmp_path / "guide.json"
    both.rename(mixed)
    said = run("ingest", "cardmarket", "--lake", tmp_path / "c", "--price-guide", mixed, status=1).stderr
    assert "its products may be singles or sealed" in said


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (text(GUIDE)[:-1] + ', "priceGuides": []}', 'the list "priceGuides" stands twice in it'),
        (OLD_HEADER + "\n" + OLD_ROW + ",1\n", "line 2: 17 values, more than the 16 columns"),
        (OLD_HEADER + "\n" + OLD_ROW.replace("2.50", "free"), "line 2: Low Price is no price"),
        ("idProduct,Low Price\n1,1.234\n", 'line 2: low "1.234" may be 1.234 or 1234'),
    ],
)
def test_a_found_file_is_refused_like_a_named_one(lake: Path, tmp_path: Path, data: str, says: str) -> None:
    (tmp_path / "downloads").mkdir()
    guide = tmp_path / "downloads" / "price_guide_6_2026-07-26.csv"
    guide.write_text(data)
    for words in (("--price-guide", guide), (tmp_path / "downloads",)):
        line = refused(lake, "cardmarket", *words)
        assert line.startswith(f"cardpress: {guide}: ") and says in line, words


def test_a_guide_as_csv_needs_its_day(tmp_path: Path) -> None:
    (tmp_path / "priceguide.csv").write_text(f"{OLD_HEADER}\n{OLD_ROW}\n")
    said = run("ingest", "cardmarket", "--lake", tmp_path / "l", tmp_path / "priceguide.csv", status=1).stderr
    assert "write the day into its name, as price_guide_1_2023-05-01.csv" in said


def test_keys_that_are_not_known_are_named(tmp_path: Path) -> None:
    singles = tmp_path / "products_singles_6.json"
    rows = [PRODUCT | {"rarityName": "Rare"}]
    singles.write_text(text({"createdAt": CREATED, "products": rows, "source": "x"}))
    said = run("ingest", "cardmarket", "--lake", tmp_path / "l", singles).stderr
    assert "rows have keys that are not known: rarityName" in said
    assert "the file has members that are not known: source" in said


def test_a_product_in_both_lists_is_reported(tmp_path: Path) -> None:
    for name, category in (("singles", "Single"), ("nonsingles", "Tins")):
        listed = [PRODUCT | {"categoryName": f"Pokémon {category}"}]
        (tmp_path / f"products_{name}_6.json").write_text(text({"createdAt": CREATED, "products": listed}))
    said = run("ingest", "cardmarket", "--lake", tmp_path / "l", tmp_path).stderr
    assert "1 products stand in both lists, such as 1: taken as sealed" in said


def catalogue(folder: Path, number: int, *rows: tuple[int, str, int], kind: str = "singles") -> None:
    products = [PRODUCT | {"idProduct": i, "categoryName": c, "idExpansion": e} for i, c, e in rows]
    write_list(folder / f"products_{kind}_{number}.json", "products", products)


def sets(lake: Path) -> dict[int, tuple[str, str]]:
    rows = pq.read_table(lake / "expansions-cardmarket.parquet").to_pylist()
    return {row["id"]: (row["name"], row["game"]) for row in rows}


@pytest.mark.parametrize(
    ("number", "category", "game"),
    [
        (8, "Cardfight!! Vanguard Single", "Cardfight!! Vanguard"),
        (8, "Single", "Cardfight!! Vanguard"),
        (10, "Weiβ Schwarz Single", "Weiß Schwarz"),
        (10, "Weiss Schwarz Booster", "Weiß Schwarz"),
        (3, "Yugioh Single", "Yu-Gi-Oh!"),
        (2, "Boxes", "World of Warcraft"),
        (24, "Gundam Booster Boxes", "Gundam"),
        (99, "Gаme of Owls Single", "Gаme of Owls"),
        (99, "Odd Owls Booster Boxes", "Odd Owls"),
        (17, "Digimоn Single", "Digimon"),
    ],
)
@pytest.mark.thorough
def test_a_game_has_one_name(tmp_path: Path, number: int, category: str, game: str) -> None:
    kind = "singles" if category.endswith("Single") else "nonsingles"
    catalogue(tmp_path / "d", number, (1, category, 700), kind=kind)
    names = [{"idExpansion": 701, "enName": "Descent"}]
    write_list(tmp_path / "d" / f"expansions_{number}.json", "expansions", names)
    run("ingest", "cardmarket", "--lake", tmp_path / "lake", tmp_path / "d")
    (tmp_path / "more.csv").write_text("id,name\n700,Rising\n")
    run("ingest", "expansions", "--lake", tmp_path / "lake", tmp_path / "more.csv")
    assert sets(tmp_path / "lake") == {700: ("Rising", game), 701: ("Descent", game)}


def test_look_alike_letters_make_no_second_game(tmp_path: Path) -> None:
    catalogue(
        tmp_path / "d", 99, (1, "Оdd Owls Single", 700), (2, "Odd Owls Single", 701), (3, "Odd  Owls Single", 702)
    )
    run("ingest", "cardmarket", "--lake", tmp_path / "lake", tmp_path / "d")
    assert len({game for _, game in sets(tmp_path / "lake").values()}) == 1


@pytest.mark.thorough
def test_a_new_set_has_its_game_at_once_and_its_name_as_soon_as_it_is_known(tmp_path: Path) -> None:
    lake, store = tmp_path / "lake", tmp_path / "store"
    catalogue(tmp_path / "d", 17, (1, "Digimon Single", 5423))
    run("ingest", "cardmarket", "--lake", lake, tmp_path / "d")
    run("build", "--lake", lake, "--store", store, "--publish", "--as-of", "2026-07-26")
    [game] = json.loads(run("cat", "games/0.json", "--store", store).stdout)["data"]
    assert (game["name"], game["products"]) == ("Digimon", 1)
    card = json.loads(run("cat", "cards/1.json", "--store", store).stdout)
    assert card["set"] == {"id": 5423, "name": "Expansion 5423"}
    page = {"id": 1, "scraped_at": "2026-07-26T09:00:00Z", "expansion": "Ember Rising"}
    (tmp_path / "pages.jsonl").write_text(json.dumps(page))
    run("ingest", "list-pages", "--lake", lake, tmp_path / "pages.jsonl")
    assert sets(lake) == {5423: ("Ember Rising", "Digimon")}


@pytest.mark.thorough
def test_a_name_in_another_file_of_the_lake_counts(tmp_path: Path) -> None:
    lake, store = tmp_path / "lake", tmp_path / "store"
    catalogue(tmp_path / "d", 17, (1, "Digimon Single", 5423))
    run("ingest", "cardmarket", "--lake", lake, tmp_path / "d")
    own = pq.read_table(lake / "expansions-cardmarket.parquet").select(["id"]).append_column("name", [["Mine"]])
    pq.write_table(own, lake / "expansions-mine.parquet")
    run("build", "--lake", lake, "--store", store, "--publish", "--as-of", "2026-07-26")
    assert json.loads(run("cat", "cards/1.json", "--store", store).stdout)["set"]["name"] == "Mine"
    run("ingest", "cardmarket", "--lake", lake, tmp_path / "d")
    assert sets(lake) == {}


@pytest.mark.thorough
def test_a_night_and_doctor_name_a_set_without_a_name(tmp_path: Path) -> None:
    lake, store = tmp_path / "lake", tmp_path / "store"
    where = ("--lake", lake, "--store", store)
    (tmp_path / "g.json").write_text(text(GUIDE))
    catalogue(tmp_path / "d", 17, (1, "Digimon Single", 5423))
    run("ingest", "cardmarket", "--lake", lake, tmp_path / "d", "--price-guide", tmp_path / "g.json")
    (tmp_path / "a.csv").write_text("id,name\n5423,Ember Rising\n")
    run("ingest", "expansions", "--lake", lake, tmp_path / "a.csv")
    run("nightly", *where)
    catalogue(tmp_path / "d", 17, (1, "Digimon Single", 5423), (2, "Digimon Single", 5424))
    run("ingest", "cardmarket", "--lake", lake, tmp_path / "d")
    said = run("nightly", *where).stderr
    told = "1 new set has no name yet, such as Expansion 5424: `cardpress ingest expansions --template` prints"
    assert told in said
    checked = run("doctor", *where).stdout
    assert "1 set has no name, such as Expansion 5424: `cardpress ingest expansions --template` prints" in checked
    (tmp_path / "a.csv").write_text("id,name\n5424,Tide Turning\n")
    run("ingest", "expansions", "--lake", lake, tmp_path / "a.csv")
    assert "sets-renamed" not in run("nightly", *where).stderr
    assert "has no name" not in run("doctor", *where).stdout
