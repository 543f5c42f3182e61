"""`ingest expansions --from`: names of sets from public lists of other catalogues, where these allow one reading."""

import json
from pathlib import Path

import duckdb
import pytest

from tests.support.commands import run
from tests.support.imports import content, ingest, refused, write_list


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A lake of unnamed expansions: 10 and 11 with ten singles, 12 with two; 10 and 12 with a box of `Dawn`."""
    single = {"categoryName": "Pokémon Single", "name": "Newt"}
    singles = [single | {"idProduct": n, "idExpansion": n // 10 + 9} for n in (*range(10, 30), 30, 31)]
    sealed = [{"idProduct": 90, "name": "Dawn Booster", "idExpansion": 10}]
    sealed.append({"idProduct": 91, "name": "dawn: Tin", "idExpansion": 12})
    for kind, rows in (("singles", singles), ("nonsingles", sealed)):
        path = write_list(tmp_path / f"products_{kind}_6.json", "products", rows)
        run("ingest", "cardmarket", "--lake", tmp_path / "lake", path)
    return tmp_path / "lake"


def names(lake: Path) -> dict[int, str]:
    return dict(duckdb.sql(f"select id, name from '{lake}/expansions-cardmarket.parquet'").fetchall())


def write(lake: Path, one: object, name: str = "list") -> Path:
    path = lake.parent / name
    path.write_text(one if isinstance(one, str) else json.dumps(one), "utf-8")
    return path


def give(lake: Path, *lists: object, source: str = "tcgdex", expected: dict[int, str]) -> dict[str, list[str]]:
    """Import lists, see that they give these names and no others, and again nothing. Return the candidates."""
    paths = [write(lake, one, f"list{place}") for place, one in enumerate(lists)]
    before = names(lake)
    done = ingest(lake, "expansions", "--from", source, *paths)
    after, named = content(lake), names(lake)
    assert named == before | expected
    assert (done["named"], done["left"]) == (len(expected), sum(name.startswith("Exp") for name in named.values()))
    ingest(lake, "expansions", "--from", source, *paths)
    assert content(lake) == after
    return done["candidates"]


def set_(name: str, cards: int = 1, expansion: int | None = None) -> dict:
    """Return a set as TCGdex and Scryfall have it at once; only TCGdex has an id of the marketplace."""
    one = {"id": "x1", "name": name, "cardCount": {"total": cards}, "card_count": cards}
    return one | ({"thirdParty": {"cardmarket": expansion}} if expansion else {})


def cards(name: str, *products: int) -> list[dict]:
    """Return cards of a set, as TCGdex and Scryfall have them at once."""
    both = {"id": "c", "localId": "1", "set": {"name": name}, "set_name": name}
    return [both | {"thirdParty": {"cardmarket": id_}, "cardmarket_id": id_} for id_ in products]


def test_ids_of_the_marketplace_name_expansions_and_names_stay(lake: Path) -> None:
    source = "export const map = new Map([\n  ['Leader\\'s \"Path\"', 10],\n  [\"Dusk\", 11], ['Far', 99],\n])"
    give(lake, source, expected={10: 'Leader\'s "Path"', 11: "Dusk"})
    give(lake, [set_("Path", expansion=10), set_("Noon", expansion=12)], expected={12: "Noon"})


def test_the_surest_reading_counts(lake: Path) -> None:
    told = [*cards("By cards", *range(10, 30)), set_("Dawn", 10), set_("By id", expansion=11)]
    assert give(lake, told, expected={11: "By id"}) == {"10": ["By cards"]}
    sets = [set_("Dawn", 10), set_("By id", expansion=12)]
    give(lake, sets, "export const map = new Map([['By list', 12]])", expected={10: "Dawn", 12: "By list"})


@pytest.mark.parametrize("source", ["tcgdex", "scryfall"])
def test_nine_tenths_of_the_singles_name_an_expansion(lake: Path, source: str) -> None:
    told = [*cards("Dusk", *range(10, 19)), *cards("Stray", 19), *cards("Most", *range(20, 28)), *cards("Rest", 28)]
    told += cards("Wide", 29, 30, 31)  # all singles of expansion 12, which are a part of the set
    assert give(lake, told, source=source, expected={10: "Dusk"}) == {"11": ["Most", "Rest", "Wide"], "12": ["Wide"]}


@pytest.mark.parametrize("source", ["tcgdex", "scryfall"])
def test_a_set_without_an_id_is_found_by_its_name_and_number_of_cards(lake: Path, source: str) -> None:
    game = "Pokémon" if source == "tcgdex" else "Magic"
    lines = "".join(json.dumps({"id": id_, "game": game}) + "\n" for id_ in (10, 11, 12))
    run("ingest", "expansions", "--lake", lake, write(lake, lines))
    give(lake, [set_("Dawn", 11), set_("Daw", 10)], source=source, expected={})
    other = "scryfall" if source == "tcgdex" else "tcgdex"
    give(lake, [set_("DAWN", 10)], source=other, expected={})  # sets of another game
    give(lake, [set_("DAWN", 10)], source=source, expected={10: "DAWN"})
    give(lake, [set_("dawn", 2)], source=source, expected={})  # the name is given


def test_what_allows_two_readings_is_said_and_left(lake: Path) -> None:
    told = write(lake, [set_("One", expansion=11), set_("Two", expansion=11)])
    done = run("ingest", "expansions", "--lake", lake, "--from", "tcgdex", told)
    assert 'expansion 11 stays without a name; it may be "One" or "Two"\n' in done.stderr
    assert "2 names read: 0 expansions named, 3 left" in done.stdout and names(lake)[11] == "Expansion 11"
    two_boxes = [set_("Dawn", 10), set_("Dawn", 2)]  # each of a set of this size
    assert give(lake, two_boxes, expected={}) == {"10": ["Dawn"], "12": ["Dawn"]}


def test_a_name_of_the_marketplace_goes_before_that_of_a_catalogue(lake: Path) -> None:
    give(lake, [set_("Dusk", expansion=11)], expected={11: "Dusk"})
    old = [{"idExpansion": 11, "enName": "Old Dusk"}]
    sets = write_list(lake.parent / "sets.json", "expansions", old, "2020-01-01T00:00:00Z")
    run("ingest", "cardmarket", "--lake", lake, "--expansions", sets)
    assert names(lake)[11] == "Old Dusk"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[]", "it names no set"),
        ("export const map = 1", "it names no set"),
        ('[{"name": "A", "cardCount": {"total": "ten"}}]', 'the number of cards must be an integer, not "ten"'),
        ('[{"name": "A"', "it is cut off"),
    ],
)
def test_a_file_of_another_form(lake: Path, text: str, problem: str) -> None:
    said = refused(lake, "expansions", "--from", "tcgdex", write(lake, text))
    assert said.endswith(f"list: no list of TCGdex's: {problem}")


def test_options_of_lines_are_refused(lake: Path) -> None:
    words = ("ingest", "expansions", "--lake", lake, "--from", "tcgdex", write(lake, "[]"))
    assert "--from have none" in run(*words, "--game", "Digimon", status=2).stderr
