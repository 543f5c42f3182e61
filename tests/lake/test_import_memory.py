"""The lake remembers how the files of a game are imported, and every later import of the game follows."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.lake.test_fetch import FakeShop, shop
from tests.support.commands import run
from tests.support.imports import write_list

__all__ = ["shop"]
NAMES = ("Omnimon (BT5-086)", "Agumon (BT1-010)")


def downloads(
    folder: Path, number: int, *names: str, day: str = "2026-07-26", category: str = "Digimon Single"
) -> Path:
    rows = [
        {"idProduct": n, "name": name, "categoryName": category, "idExpansion": 100 + n} for n, name in enumerate(names)
    ]
    return write_list(folder / f"products_singles_{number}.json", "products", rows, f"{day}T10:00:00+0200")


def numbers(lake: Path) -> list[str | None]:
    return pq.read_table(lake / "products-cardmarket.parquet")["number"].to_pylist()


@pytest.mark.thorough
def test_a_fetch_follows_the_first_import(tmp_path: Path, shop: FakeShop) -> None:
    lake, folder = tmp_path / "lake", tmp_path / "downloads"
    run("fetch", "cardmarket", 17, folder, "--lake", lake, "--numbers-from-names", "--url", shop.url)
    assert run("lake", "show", "--lake", lake).stdout == "17  Digimon  numbers from names\n"
    path = "/productList/products_singles_17.json"
    document = json.loads(shop.files[path])
    new = document["products"][0] | {"idProduct": 7777, "name": "Newcomer (BT9-001)"}
    later = {**document, "createdAt": "2026-07-15T11:04:27+0200", "products": [*document["products"], new]}
    shop.files[path] = json.dumps(later).encode()
    said = run("fetch", "cardmarket", 17, folder, "--lake", lake, "--url", shop.url).stderr
    assert "the lake remembers of game 17: numbers from names" in said
    assert "BT9-001" in numbers(lake)


@pytest.mark.thorough
def test_an_option_changes_it(tmp_path: Path) -> None:
    lake, folder = tmp_path / "lake", tmp_path / "d"
    downloads(folder, 17, *NAMES)
    run("ingest", "cardmarket", "--lake", lake, folder, "--number-pattern", r"\((BT[0-9]+)-")
    assert numbers(lake) == ["BT5", "BT1"]
    downloads(folder, 17, *NAMES, "Gabumon (BT2-001)", day="2026-07-27")
    run("ingest", "cardmarket", "--lake", lake, folder)
    assert numbers(lake) == ["BT5", "BT1", "BT2"]
    run("ingest", "cardmarket", "--lake", lake, folder, "--no-numbers-from-names")
    assert run("lake", "show", "--lake", lake).stdout == ""
    downloads(folder, 17, *NAMES, "Gabumon (BT2-001)", "Patamon (BT3-001)", day="2026-07-28")
    run("ingest", "cardmarket", "--lake", lake, folder)
    assert numbers(lake) == ["BT5", "BT1", "BT2", None]


@pytest.mark.parametrize("pattern", ["(", "BT", "(?=B)(T)"])
def test_a_pattern_has_one_group(tmp_path: Path, pattern: str) -> None:
    lake, number = tmp_path / "lake", ("--lake", tmp_path / "lake", "--number-pattern")
    for words in (("lake", "remember", 17), ("ingest", "cardmarket", tmp_path), ("fetch", "cardmarket", 17, tmp_path)):
        said = run(*words, *number, pattern, status=2).stderr
        assert f"Invalid value for '--number-pattern': \"{pattern}\" " in said
    run("lake", "remember", 17, *number, "(BT)")
    assert run("lake", "show", "--lake", lake).stdout == "17  Digimon  numbers from names by (BT)\n"
    (lake / "imports.json").write_text(json.dumps({"games": {"17": {"number_pattern": pattern, "accepted": []}}}))
    assert "repair or delete it" in run("lake", "show", "--lake", lake, status=1).stderr


def test_other_games_are_not_touched(tmp_path: Path) -> None:
    lake, folder = tmp_path / "lake", tmp_path / "d"
    run("ingest", "cardmarket", "--lake", lake, downloads(folder, 17, "Omnimon (BT5-086)"), "--numbers-from-names")
    other = json.loads(downloads(folder, 6, "x", "Token (AB1-001)", category="Pokémon Single").read_text())
    other["products"] = other["products"][1:]
    (folder / "products_singles_6.json").write_text(json.dumps(other))
    run("ingest", "cardmarket", "--lake", lake, folder / "products_singles_6.json")
    assert numbers(lake) == ["BT5-086", None]


def test_accepted_findings_are_remembered(tmp_path: Path) -> None:
    lake, folder = tmp_path / "lake", tmp_path / "d"
    path = downloads(folder, 17, *NAMES)
    document = json.loads(path.read_text())
    document["products"].append(document["products"][0] | {"name": "Other"})
    path.write_text(json.dumps(document))
    words = ("ingest", "cardmarket", "--lake", lake, folder)
    assert "--accept duplicates" in run(*words, status=1).stderr
    run(*words, "--accept", "duplicates", "--accept", "empty-guide")
    assert json.loads(run("lake", "show", "--lake", lake, "--json").stdout) == {
        "games": {"17": {"game": None, "number_pattern": None, "accepted": ["duplicates"]}}
    }
    assert "; accepted: " in run(*words).stderr
    run("lake", "remember", 17, "--lake", lake, "--forget")
    assert "--accept duplicates" in run(*words, status=1).stderr
    run(*words, "--accept", "contradiction", status=2)  # of scrapers
    run("lake", "remember", 17, "--lake", lake, "--accept", "future", status=2)  # of one file
    (lake / "imports.json").write_text('{"games": {"17": {"accepted": ["future"]}}}')
    assert run("lake", "show", "--lake", lake).stdout == "17  Digimon  nothing\n", "an import asks again"


def test_the_game_is_remembered(tmp_path: Path) -> None:
    lake, folder = tmp_path / "lake", tmp_path / "d"
    downloads(folder, 17, NAMES[0])
    write_list(folder / "expansions_17.json", "expansions", [{"idExpansion": 100, "enName": "Battle"}])
    run("ingest", "cardmarket", "--lake", lake, folder, "--game", "Digimon Card Game")
    downloads(folder, 17, *NAMES, day="2026-07-27")
    run("ingest", "cardmarket", "--lake", lake, folder / "products_singles_17.json")
    games = pq.read_table(lake / "expansions-cardmarket.parquet")["game"].to_pylist()
    assert games == ["Digimon Card Game"] * 2


def test_a_file_whose_name_has_no_number(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    path = downloads(tmp_path / "d", 17, *NAMES).rename(tmp_path / "list.json")
    run("ingest", "cardmarket", "--lake", lake, "--singles", path, "--numbers-from-names")
    assert run("lake", "show", "--lake", lake).stdout == "17  Digimon  numbers from names\n"


def test_a_default_import_leaves_nothing_to_remember(tmp_path: Path) -> None:
    run("ingest", "cardmarket", "--lake", tmp_path / "lake", downloads(tmp_path / "d", 17, *NAMES))
    assert not (tmp_path / "lake" / "imports.json").exists()
    (tmp_path / "lake" / "imports.json").write_text("{}")
    said = run("lake", "show", "--lake", tmp_path / "lake", status=1).stderr
    assert said.startswith("cardpress: imports.json in lake ") and "repair or delete it" in said
