"""`ingest cardmarket DIR`, `ingest expansions` and `ingest attributes`: a game's files as an operator has them."""

import json
import os
from pathlib import Path

import duckdb
import pytest

from tests.lake.test_ingest_cardmarket import real
from tests.support.commands import build, run
from tests.support.imports import MORNING, NOON, guide_row, write_list


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of downloads of one game: two lists, two guides with a day between them, and other files."""
    downloads = tmp_path / "downloads"
    (downloads / "old").mkdir(parents=True)
    single = {"idProduct": 1, "name": "Omnimon (BT5-086)", "categoryName": "Single", "idExpansion": 7}
    write_list(downloads / "products_singles_17.json", "products", [single, single | {"idProduct": 2, "name": "Token"}])
    sealed = {"idProduct": 3, "name": "Set (PB-01)", "idExpansion": 8}
    write_list(downloads / "products_nonsingles_17.json.gz", "products", [sealed])
    guide = [guide_row(id_) for id_ in (1, 3, 9)]
    write_list(downloads / "price_guide_17.json", "priceGuides", guide, MORNING)
    write_list(downloads / "old" / "price_guide_17.json", "priceGuides", guide, "2026-07-24T02:44:32+0200")
    write_list(downloads / "products_17.json", "products", [sealed])
    (downloads / "other.json").write_text("[]")
    (downloads / "readme.txt").write_text("notes")
    (downloads / ".hidden.json").write_text("{")
    return downloads


def import_folder(folder: Path, *more: object) -> dict:
    words = ("ingest", "cardmarket", folder, "--lake", folder.parent / "lake", *more, "--json")
    return json.loads(run(*words).stdout)


def products(folder: Path, *columns: str) -> dict[int, tuple]:
    file = folder.parent / "lake" / "products-cardmarket.parquet"
    rows = duckdb.sql(f"SELECT id_product, {', '.join(columns)} FROM '{file}'").fetchall()
    return {row[0]: row[1:] for row in rows}


def expansions(folder: Path) -> dict[int, tuple]:
    file = folder.parent / "lake" / "expansions-cardmarket.parquet"
    return {row[0]: row[1:] for row in duckdb.sql(f"SELECT id, name, game, url FROM '{file}'").fetchall()}


def test_the_files_of_a_folder_are_found_by_their_content(folder: Path) -> None:
    result = import_folder(folder)
    assert {Path(file["path"]).relative_to(folder).as_posix(): file["what"] for file in result["files"]} == {
        "products_singles_17.json": "2 singles",
        "products_nonsingles_17.json.gz": "1 sealed products",
        "price_guide_17.json": "price guide of 2026-07-26, 3 rows",
        "old/price_guide_17.json": "price guide of 2026-07-24, 3 rows",
    }
    left = {Path(file["path"]).name: file["reason"] for file in result["left"]}
    assert set(left) == {"products_17.json", "other.json", "readme.txt"}
    assert "--nonsingles" in left["products_17.json"]
    assert products(folder, "kind") == {1: ("single",), 2: ("single",), 3: ("sealed",)}
    assert result["tables"]["price_guide/day=2026-07-24/cardmarket.parquet"]["new"] == 3


def test_it_says_what_is_missing_and_what_that_means(folder: Path) -> None:
    missing = {gap["what"]: gap["means"] for gap in import_folder(folder)["missing"]}
    assert missing == {
        "names of 2 expansions": '3 of 3 products are in sets such as "Expansion 7"',
        "number of 2 of 2 singles": "it is null, and number= does not find them",
        "rarity of 2 of 2 singles": "it is null, and rarity= does not find them",
        "url of 3 of 3 products": "cardmarket_url is null",
        "image of 3 of 3 products": "pages show no picture of them",
        "1 guide days (2026-07-25)": "history has no point on these days",
        "1 products in the guide of 2026-07-26": "their price_guide is older or null",
        "1 products of the guide, which no list has": "a build leaves their prices out",
        "listings": "listing is null",
        "filtered_checks": "filtered_price is null",
        "watchlist": "/watchlist is empty",
        "fingerprints": "photos find no card",
    }


def test_folders_without_such_files(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    words = ("ingest", "cardmarket", "--lake", tmp_path / "lake")
    assert "the folders have none of the marketplace's files" in run(*words, tmp_path / "empty", status=2).stderr
    assert "no such file or folder" in run(*words, tmp_path / "none", status=1).stderr


@pytest.mark.thorough
def test_numbers_from_names(folder: Path) -> None:
    import_folder(folder)
    assert products(folder, "number") == {1: (None,), 2: (None,), 3: (None,)}
    import_folder(folder, "--numbers-from-names")
    assert products(folder, "number") == {1: ("BT5-086",), 2: (None,), 3: (None,)}, "sealed products have no number"


@pytest.mark.thorough
def test_the_game_of_expansions_is_in_the_name_of_their_file(folder: Path) -> None:
    write_list(folder / "expansions_17.json", "expansions", [{"idExpansion": 7, "enName": "Battle of Omni"}])
    import_folder(folder)
    unnamed = ("Expansion 8", "Digimon", None)
    assert expansions(folder) == {7: ("Battle of Omni", "Digimon", None), 8: unnamed}
    import_folder(folder, "--game", "Digimon Card Game")
    assert expansions(folder) == {7: ("Battle of Omni", "Digimon Card Game", None), 8: unnamed}


@pytest.mark.thorough
def test_a_set_gets_the_game_that_the_categories_of_its_products_say(folder: Path) -> None:
    rows = [
        (1, 7, "Yugioh Single"),
        (2, 7, "Yugioh Single"),
        (3, 8, "Odd Game Singles"),
        (4, 9, "Single"),
        (5, 8, None),
    ]
    singles = [{"idProduct": i, "name": f"Card {i}", "idExpansion": e, "categoryName": c} for i, e, c in rows]
    write_list(folder / "products_singles_17.json", "products", singles)
    sealed = {"idProduct": 6, "name": "Box", "idExpansion": 10, "categoryName": "Odd Game Display"}
    write_list(folder / "products_nonsingles_17.json.gz", "products", [sealed])
    names = folder / "sets.csv"
    names.write_text("id,name,game\n7,A,\n8,B, \n9,C,\n10,D,\n11,E,Mine\n")
    orders = (("cardmarket", folder), ("expansions", names)), (("expansions", names), ("cardmarket", folder))
    for place, order in enumerate(orders):
        for words in order:
            run("ingest", *words, "--lake", folder.parent / f"lake{place}")
        file = folder.parent / f"lake{place}" / "expansions-cardmarket.parquet"
        games = dict(duckdb.sql(f"SELECT id, game FROM '{file}'").fetchall())
        assert games == {7: "Yu-Gi-Oh!", 8: "Odd Game", 9: "Digimon", 10: "Odd Game", 11: "Mine"}


def test_the_template_lists_each_unnamed_set_and_is_imported_once_filled(folder: Path) -> None:
    rows = [(30, "Zebra"), (31, "Ape, small"), (32, "Zebra"), (33, "Moth"), (34, "Newt")]
    singles = [{"idProduct": i, "name": n, "idExpansion": 7, "categoryName": "Digimon Single"} for i, n in rows]
    write_list(folder / "products_singles_17.json", "products", singles)
    import_folder(folder)
    lake = folder.parent / "lake"
    template = run("ingest", "expansions", "--template", "--lake", lake).stdout
    assert template.splitlines() == [
        "id,name,game,products,examples",
        '7,,Digimon,5,"Zebra; Ape, small; Moth"',
        "8,,Digimon,1,Set (PB-01)",
    ]
    table = folder.parent / "table.csv"
    table.write_text(template.replace("7,,", "7,Battle,"))
    done = run("ingest", "expansions", table, "--lake", lake)
    assert expansions(folder)[7] == ("Battle", "Digimon", None) and "ignored" not in done.stderr
    again = run("ingest", "expansions", "--template", "--lake", lake).stdout
    assert again.splitlines() == ["id,name,game,products,examples", "8,,Digimon,1,Set (PB-01)"]
    assert "Name a file" in run("ingest", "expansions", "--lake", lake, status=2).stderr


CSV = 'id,name,game,url\n7,Battle of Omni,,https://market.example/Battle-of-Omni?x=1\n8,"Boxes, etc.",Digimon,\n'
LINES = (
    '{"idExpansion": 7, "enName": "Battle of Omni", "url": "https://market.example/Battle-of-Omni"}\n'
    '{"id": 8, "name": "Boxes, etc.", "game": "Digimon"}\n'
)


@pytest.mark.parametrize(
    "text", [CSV, LINES, "\ufeff" + CSV.replace(',"', ';"').replace(",", ";").replace("; e", ", e")]
)
def test_expansions_as_csv_or_lines(folder: Path, text: str) -> None:
    path = folder / "sets.txt"
    path.write_text(text, "utf-8")
    words = ("ingest", "expansions", path, "--lake", folder.parent / "lake", "--game", "Digimon TCG")
    assert json.loads(run(*words, "--json").stdout)["tables"]["expansions-cardmarket.parquet"]["new"] == 2
    assert expansions(folder) == {
        7: ("Battle of Omni", "Digimon TCG", "https://market.example/Battle-of-Omni"),
        8: ("Boxes, etc.", "Digimon", None),
    }
    assert ", 0 new, 0 changed, 2 unchanged" in run(*words).stdout


def test_a_newer_name_wins_and_a_game_stays(folder: Path) -> None:
    write_list(folder / "expansions_17.json", "expansions", [{"idExpansion": 7, "enName": "New name"}], NOON)
    import_folder(folder)
    path = folder / "sets.csv"
    path.write_text("id,name,game,updated_at\n7,Old name,Digimon TCG,2026-01-01T00:00:00Z\n12,,Digimon,\n")
    imported = run("ingest", "expansions", path, "--lake", folder.parent / "lake")
    assert expansions(folder)[7] == ("New name", "Digimon TCG", None)
    assert "1 unknown ids skipped, because they have no name, such as 12" in imported.stderr


@pytest.mark.thorough
def test_attributes_reach_the_cards(folder: Path) -> None:
    path = folder / "attributes.csv"
    path.write_text(
        "idProduct,number,rarity,cardmarket_url,image\n"
        "1,004,Secret Rare,https://market.example/Omnimon?utm=1,https://img.example/1.png\n"
        "3,,,,https://img.example/3.png\n44,1,,,\n"
    )
    words = ("ingest", "attributes", path, "--lake", folder.parent / "lake")
    assert "3 unknown ids kept until a list has them" in run(*words).stderr
    import_folder(folder)
    imported = run(*words)
    assert "1 unknown ids kept until a list has them, such as 44" in imported.stderr
    assert "products-cardmarket.parquet: 3 rows, 0 new, 0 changed, 3 unchanged" in imported.stdout
    build(folder.parent / "lake", folder.parent / "store")
    card = json.loads(run("cat", "cards/1.json", "--store", folder.parent / "store").stdout)
    assert (card["number"], card["rarity"], card["image"]) == ("004", "Secret Rare", "https://img.example/1.png")
    assert card["cardmarket_url"] == "https://market.example/Omnimon?sellerCountry=23&language=1"


@pytest.mark.thorough
def test_a_corrected_table_wins_over_the_older_one(folder: Path) -> None:
    import_folder(folder)
    for rarity, written in (("Rare", 1_600_000_000), ("Common", 1_700_000_000), ("Super", 1_500_000_000)):
        path = folder / f"{rarity}.csv"
        path.write_text(f"id_product,rarity\n1,{rarity}\n")
        os.utime(path, (written, written))
        run("ingest", "attributes", path, "--lake", folder.parent / "lake")
    assert products(folder, "rarity")[1] == ("Common",)


@pytest.mark.thorough
def test_a_real_folder(tmp_path: Path) -> None:
    [place] = real("digimon-hankep")
    words = ("ingest", "cardmarket", place, "--lake", tmp_path, "--numbers-from-names", "--json")
    result = json.loads(run(*words).stdout)
    assert len(result["files"]) == len(list(place.iterdir()))
    assert result["left"] == []
    [numbers] = [gap["what"] for gap in result["missing"] if gap["what"].startswith("number of")]
    assert int(numbers.split()[2]) < 20, numbers


@pytest.mark.parametrize("name", ["products_non-singles_17.json", "Products_Non_Singles_17.json", "nonsingles.json"])
def test_a_list_of_sealed_products_is_known_by_its_name_however_it_is_written(tmp_path: Path, name: str) -> None:
    rows = [{"idProduct": 1, "name": "Box", "idExpansion": 7, "categoryName": "Digimon Booster Boxes"}]
    (tmp_path / "files").mkdir()
    write_list(tmp_path / "files" / name, "products", rows)
    run("ingest", "cardmarket", tmp_path / "files", "--lake", tmp_path / "lake")
    file = tmp_path / "lake" / "products-cardmarket.parquet"
    assert duckdb.sql(f"SELECT kind FROM '{file}'").fetchall() == [("sealed",)]
