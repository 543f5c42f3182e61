"""Names, numbers and ids that files of other catalogues have, in all places, and CardmarketIdentifiers.json."""

import json
import lzma
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.support.commands import run
from tests.support.imports import write_list


def ids(tmp_path: Path, source: str, value: object, *more: object) -> set[tuple[int, str, str]]:
    path = tmp_path / "cards.json"
    path.write_text(json.dumps(value))
    run("ingest", "identifiers", "--lake", tmp_path / "lake", "--from", source, path, *more)
    rows = pq.read_table(tmp_path / "lake" / "identifiers-imported.parquet").to_pylist()
    return {(row["id_product"], row["scheme"], row["value"]) for row in rows}


SCRYFALL = {"object": "card", "id": "aa", "oracle_id": "oo", "cardmarket_id": 1, "tcgplayer_id": 87,
            "tcgplayer_etched_id": 88, "set": "2XM", "collector_number": "141★"}  # fmt: skip
SCRYFALL_IDS = {(1, "scryfall", "aa"), (1, "scryfall_oracle", "oo"), (1, "tcgplayer", "87"), (1, "tcgplayer", "88"),
                (1, "set_number", "2xm/141★")}  # fmt: skip


@pytest.mark.parametrize(
    "value",
    [
        [SCRYFALL],
        SCRYFALL,
        {"object": "list", "total_cards": 1, "has_more": False, "data": [SCRYFALL]},
        {"data": [SCRYFALL], "object": "list"},
    ],
)
def test_cards_and_pages_of_scryfall(tmp_path: Path, value: object) -> None:
    assert ids(tmp_path, "scryfall", value) == SCRYFALL_IDS


def test_etched_and_foil_ids_of_mtgjson(tmp_path: Path) -> None:
    others = {"mcmId": "1", "tcgplayerProductId": "11", "tcgplayerEtchedProductId": "12",
              "tcgplayerAlternativeFoilProductId": "13"}  # fmt: skip
    card = {"uuid": "u", "setCode": "OGW", "number": "109a", "identifiers": others}
    found = ids(tmp_path, "mtgjson", {"data": {"OGW": {"cards": [card]}}})
    tcgplayer = {(1, "tcgplayer", value) for value in ("11", "12", "13")}
    assert found == {(1, "mtgjson", "u"), (1, "set_number", "ogw/109a"), *tcgplayer}


def price(product: int) -> dict:
    return {"cardmarket": {"idProduct": product, "unit": "EUR"}, "tcgplayer": None}


@pytest.mark.parametrize(
    ("card", "products"),
    [
        ({"variants_detailed": [{"pricing": price(1)}, {"pricing": price(2)}], "pricing": price(1)}, {1, 2}),
        ({"thirdParty": {"cardmarket": 1}, "variants_detailed": [{"thirdParty": {"cardmarket": 2}}]}, {1, 2}),
        (
            {"thirdParty": {"cardmarket": 1}, "pricing": price(2), "variants_detailed": [{"pricing": price(3)}]},
            {1, 2, 3},
        ),
        ({"thirdParty": {"cardmarket": [1, 2]}, "pricing": price(1)}, {1, 2}),
        ({"pricing": {"cardmarket": None}, "variants_detailed": [{"thirdParty": {"cardmarket": 4}}]}, {4}),
    ],
)
def test_every_product_of_a_card_of_tcgdex(tmp_path: Path, card: dict, products: set[int]) -> None:
    found = ids(tmp_path, "tcgdex", {"id": "me01-001", "localId": "001", "set": {"id": "me01"}, **card})
    wanted = {(product, *pair) for product in products for pair in (("tcgdex", "me01-001"), ("set_number", "me01/001"))}
    assert found == wanted


OBSIDIAN = {"id": "sv03", "tcgOnline": "OBF", "abbreviation": {"official": "OBF"}, "cards": [{"id": "sv03-125"}]}
CHARIZARD = {"id": "sv03-125", "localId": "125", "set": {"id": "sv03"}, "pricing": price(9)}


@pytest.mark.parametrize(
    "imports", [[[CHARIZARD], [OBSIDIAN]], [[OBSIDIAN, CHARIZARD]], [[CHARIZARD], [CHARIZARD, OBSIDIAN]]]
)
def test_a_set_of_tcgdex_brings_the_code_that_is_printed_on_its_cards(tmp_path: Path, imports: list[list]) -> None:
    """Whether it is imported after the cards, or with them, in any order."""
    ids(tmp_path, "scryfall", [SCRYFALL | {"set": "sv03"}])
    found = [ids(tmp_path, "tcgdex", documents) for documents in imports][-1]
    own, printed = (9, "set_number", "sv03/125"), (9, "set_number", "obf/125")
    of_another = (1, "set_number", "sv03/141★")  # its code is no code of TCGdex
    assert {row for row in found if row[1] == "set_number"} == {own, printed, of_another}
    found = ids(tmp_path, "tcgdex", [OBSIDIAN, CHARIZARD | {"localId": "126"}], "--replace")
    assert {row[2] for row in found if row[1] == "set_number"} == {"sv03/126", "obf/126", "sv03/141★"}


def test_a_printed_code_is_of_one_of_two_sets_that_differ_in_case(tmp_path: Path) -> None:
    other = {"id": "SV03-7", "localId": "7", "set": {"id": "SV03"}, "pricing": price(1)}
    found = ids(tmp_path, "tcgdex", [OBSIDIAN, CHARIZARD, other])
    numbers = {row[2] for row in found if row[1] == "set_number"}
    assert numbers == {"sv03/125", "obf/125", "sv03/7"}


def test_replacing_one_catalogue_keeps_the_set_numbers_of_others(tmp_path: Path) -> None:
    pokemon = {"id": "me01-001", "localId": "001", "set": {"id": "ME01"}, "pricing": price(9)}
    ids(tmp_path, "tcgdex", pokemon)
    ids(tmp_path, "scryfall", [SCRYFALL])
    found = ids(tmp_path, "scryfall", [SCRYFALL | {"collector_number": "7"}], "--replace")
    numbers = {row for row in found if row[1] == "set_number"}
    assert numbers == {(9, "set_number", "me01/001"), (1, "set_number", "2xm/7")}


IDENTIFIERS = {
    "meta": {"date": "2026-09-18", "version": "5.2"},
    "data": {
        "expansions": {"5000": {"name": "Oath", "setCodes": ["OGW"]}, "5001": {"name": "Both", "setCodes": ["A", "B"]}},
        "products": {
            "1": {"name": "Titan (V.1)", "number": "109", "expansionId": 5000, "uuids": ["692b", "692c"]},
            "2": {"name": "Ooze", "number": None, "expansionId": 5001, "uuids": []},
        },
    },
}


FROM_MTGJSON = ("identifiers", "--from", "mtgjson")


@pytest.mark.thorough
def test_cardmarket_identifiers(tmp_path: Path) -> None:
    lake, store = tmp_path / "lake", tmp_path / "store"
    rows = [{"idProduct": i, "name": f"Card {i}", "categoryName": "Single", "idExpansion": 4999 + i} for i in (1, 2)]
    singles = write_list(tmp_path / "products_singles_99.json", "products", rows)
    path = tmp_path / "CardmarketIdentifiers.json.xz"
    path.write_bytes(lzma.compress(json.dumps(IDENTIFIERS).encode()))
    orders = [("cardmarket", singles), (*FROM_MTGJSON, path)]
    for order in (orders, orders[::-1], orders):
        for command in order:
            run("ingest", *command, "--lake", lake)
    run("build", "--lake", lake, "--store", store, "--publish", "--as-of", "2026-07-26")
    sets = json.loads(run("cat", "sets/0.json", "--store", store).stdout)["data"]
    assert {(one["id"], one["name"]) for one in sets} == {(5000, "Oath"), (5001, "Both")}
    [game] = json.loads(run("cat", "games/0.json", "--store", store).stdout)["data"]
    assert (game["name"], game["products"]) == ("Magic", 2)
    assert json.loads(run("cat", "cards/1.json", "--store", store).stdout)["number"] == "109"
    found = pq.read_table(lake / "identifiers-imported.parquet").to_pylist()
    pairs = {(row["id_product"], row["scheme"], row["value"]) for row in found}
    assert pairs == {(1, "mtgjson", "692b"), (1, "mtgjson", "692c"), (1, "set_number", "ogw/109")}
    before = {file: file.read_bytes() for file in lake.rglob("*.parquet")}
    run("ingest", *FROM_MTGJSON, path, "--lake", lake)
    assert {file: file.read_bytes() for file in lake.rglob("*.parquet")} == before


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (
            {"data": {"products": {"x": {}}}, "meta": IDENTIFIERS["meta"]},
            "products x: a key of products must be an integer",
        ),
        (
            {"data": {"products": {"1": {"uuids": ["a b"]}}}, "meta": {"date": "2026-09-18"}},
            "products 1: uuids must be",
        ),
        ({"data": IDENTIFIERS["data"]}, "it has no meta.date"),
        ({"meta": {"date": "2026-09-18"}, "data": {"products": {}}}, "it has no expansions and no products"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, value: dict, says: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(value))
    said = run("ingest", *FROM_MTGJSON, "--lake", tmp_path / "lake", path, status=1).stderr
    assert says in said.splitlines()[-1] and not list(tmp_path.glob("lake/*"))
    path.write_text(json.dumps(IDENTIFIERS)[:-30])
    said = run("ingest", *FROM_MTGJSON, "--lake", tmp_path / "lake", path, status=1).stderr
    assert "it is cut off" in said and not list(tmp_path.glob("lake/*"))
