"""What imports refuse, leave out or say of single values: long texts, names of other cards, marks of prices, dates."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.commands import run
from tests.support.imports import NOON, write_list

MARKS = "a" + "\u0316\u0301" * 50_000
PAGE = {"id": 1, "scraped_at": "2026-07-26T09:00:00Z"}


def product(id_: int, name: str = "Emberfox", category: str = "Pokémon Single") -> dict:
    return {"idProduct": id_, "name": name, "idCategory": 51, "categoryName": category, "idExpansion": 5000}


def singles(lake: Path, *rows: dict, status: int = 0, name: str = "products_singles_6.json") -> str:
    path = write_list(lake.parent / name, "products", list(rows))
    return run("ingest", "cardmarket", "--lake", lake, "--singles", path, status=status).stderr


def lines(lake: Path, command: str, *rows: dict | str, status: int = 0) -> str:
    path = lake.parent / "lines"
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), "utf-8")
    return run("ingest", command, "--lake", lake, path, status=status).stderr.splitlines()[-1]


def names(lake: Path) -> list[str]:
    return pq.read_table(lake / "products-cardmarket.parquet")["name"].to_pylist()


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        (MARKS, "products: column name has more than 500 characters: 1 row, such as id_product 2: "),
        ("x" * 90_000, "products: column name has more than 500 characters"),
        ("x " * 250 + "y", "products: column name has more than 500 characters"),
        ("   ", "name is blank"),
        ("\u200b", "name is blank"),
        ("", "name is blank"),
        ("a\0b", "name holds the character NUL"),
    ],
)
def test_a_name_that_is_no_name(lake: Path, name: str, problem: str) -> None:
    said = singles(lake, product(1), product(2, name), status=1)
    assert f"row 2 of 2: {problem}" in said and said.count("\n") == 1


def test_a_name_of_500_characters(lake: Path) -> None:
    singles(lake, product(1, "é" * 500))
    assert names(lake) == ["é" * 500]


@pytest.mark.parametrize(
    ("command", "rows", "problem"),
    [
        ("list-pages", [PAGE, PAGE | {"rarity": "r" * 201}], "line 2: products: column rarity has more than 200"),
        ("list-pages", [PAGE, PAGE | {"expansion": MARKS}], "line 2: expansions: column name has more than 500"),
        ("attributes", ["id_product,number", f"1,{'1' * 201}"], "line 2: products: column number has more than 200"),
        ("expansions", ["id,name,game", f"1,a,{'g' * 201}"], "line 2: expansions: column game has more than 200"),
        ("watchlist", ["url,name", f"https://x.example/a,{'n' * 501}"], "line 2: watchlist: column name has more than"),
        (
            "offers",
            [{"id_product": 1, "checked_at": "2026-07-26T09:00:00Z", "offer_list": [{"seller": "s" * 2001}]}],
            "line 1: filtered_checks: column offer_list holds a text of more than 2000",
        ),
    ],
)
def test_a_long_text_names_table_column_and_row(lake: Path, command: str, rows: list, problem: str) -> None:
    assert problem in lines(lake, command, *rows, status=1)


def test_signs_that_are_not_seen_are_removed(lake: Path) -> None:
    singles(lake, product(1, "Mew\u00adtwo\u200e"), product(2, "Family \U0001f468\u200d\U0001f469"))
    lines(lake, "attributes", {"id_product": 1, "number": "4\u200b"})
    assert names(lake) == ["Mewtwo", "Family \U0001f468\u200d\U0001f469"]
    assert pq.read_table(lake / "products-cardmarket.parquet")["number"].to_pylist() == ["4", None]


def test_a_category_of_another_game_is_said(lake: Path) -> None:
    said = singles(lake, product(1), product(2, category="Magic Single"))
    assert '1 product has a category of another game than Pokémon, such as "Magic Single" of product 2' in said


def test_a_key_that_stands_twice(lake: Path, tmp_path: Path) -> None:
    guide = tmp_path / "guide.json"
    guide.write_text(
        f'{{"version": 1, "createdAt": "{NOON}", "priceGuides": [{{"idProduct": 1, "low": 1, "low": 9}}]}}'
    )
    assert '"low" stands twice' in run("ingest", "cardmarket", "--lake", lake, "--price-guide", guide, status=1).stderr
    (tmp_path / "cards.json").write_text('[{"id": "a", "tcgplayer_id": 1, "cardmarket_id": 1, "cardmarket_id": 2}]')
    words = ("ingest", "identifiers", "--lake", lake, "--from", "scryfall", tmp_path / "cards.json")
    assert '"cardmarket_id" stands twice' in run(*words, status=1).stderr


DATES = ("12-Mar", "Mar-12", "3/12/2026", "03.12.2026", "2026-03-12", "12. Mrz", "12-Dec-26")


def test_a_number_that_a_spreadsheet_made_a_date(lake: Path, tmp_path: Path) -> None:
    good = ("3/12", "63/100", "MAR-012", "12a", "BS 4", "TG12/TG30", "1-2")
    rows = "".join(f"1,{number}\n" for number in (*DATES, *good))
    (tmp_path / "t").write_text(f"id_product,number\n{rows}")
    run("ingest", "attributes", "--lake", lake, tmp_path / "t", "--bad-lines", tmp_path / "bad")
    said = [json.loads(line)["reason"] for line in (tmp_path / "bad").read_text().splitlines()]
    problem = "is what a program made of a number: write it as on the card"
    assert said == [f'number "{number}" {problem}' for number in DATES]


FILLER = {1000 + place: f"Filler {chr(65 + place)}" for place in range(26)}


@pytest.fixture
def link(lake: Path) -> Callable[..., tuple[set, str]]:
    """Imports cards with links to products: pairs of a name and an id. Returns the pairs that are stored."""

    def link(products: dict[int, str], cards: dict[str, tuple[str, int]], *options: str) -> tuple[set, str]:
        singles(lake, *(product(id_, name) for id_, name in (products | FILLER).items()))
        named = cards | {f"f-{id_}": (name, id_) for id_, name in FILLER.items()}
        rows = [
            {"id": key, "localId": "1", "name": name, "pricing": {"cardmarket": {"idProduct": id_}}}
            for key, (name, id_) in named.items()
        ]
        (lake.parent / "cards.json").write_text(json.dumps(rows), "utf-8")
        words = ("ingest", "identifiers", "--lake", lake, "--from", "tcgdex", lake.parent / "cards.json", *options)
        said = run(*words).stderr
        table = pq.read_table(lake / "identifiers-imported.parquet").to_pylist()
        return {(row["value"], row["id_product"]) for row in table if row["id_product"] not in FILLER}, said

    return link


OTHERS = {
    "a-1": ("Mewtwo", 1), "a-2": ("Mew", 1), "a-3": ("Water Energy", 2), "a-4": ("Charizard EX", 3),
    "a-5": ("Mega Charizard EX", 3),
}  # fmt: skip
PRODUCTS = {1: "Mewtwo [Psychic]", 2: "Pikachu [Water Gun]", 3: "Charizard EX"}


def test_a_link_that_names_another_card_is_left_out(link: Callable) -> None:
    stored, said = link(PRODUCTS, OTHERS)
    assert stored == {("a-1", 1), ("a-4", 3)}
    assert 'names: 3 links name another card, such as a-2 "Mew" of id_product 1 "Mewtwo [Psychic]": left out' in said


def test_such_links_are_accepted(link: Callable) -> None:
    stored, said = link(PRODUCTS, OTHERS, "--accept", "other-names")
    assert stored == {(key, id_) for key, (_, id_) in OTHERS.items()}
    assert "3 links name another card" in said and said.splitlines()[-1].endswith(": taken")


def test_spellings_of_one_card_and_other_scripts(link: Callable) -> None:
    products = {
        1: "Starly Lv.41 [Peck | Flap]", 2: "Latias δ Delta Species [Delta Aura]", 3: "Flabébé [Spin]", 6: "Pikachu",
        4: "Golem [4] Lv.52 [Rage]", 5: "Nidoran ♀ [Scratch]", 7: "Porygon 2", 8: "Ætherling", 9: "Telepath [P] Energy",
    }  # fmt: skip
    spelt = (
        "Starly",
        "Latias δ",
        "Flabebe",
        "Golem E4",
        "Nidoran♀",
        "ピカチュウex",
        "Porygon2",
        "Aetherling",
        "P Energy",
    )
    cards = {f"b-{id_}": (name, id_) for id_, name in enumerate(spelt, 1)}
    stored, said = link(products, cards)
    assert stored == {(key, id_) for key, (_, id_) in cards.items()} and "another card" not in said


def test_a_card_that_is_sold_under_another_name_is_not_compared(lake: Path) -> None:
    singles(lake, product(1, "Godzilla, King of the Monsters"))
    card = {"id": "z", "oracle_id": "o", "name": "Zilortha, Strength Incarnate", "flavor_name": "Godzilla"}
    (lake.parent / "cards.json").write_text(json.dumps([card | {"cardmarket_id": 1}]))
    done = run("ingest", "identifiers", "--lake", lake, "--from", "scryfall", lake.parent / "cards.json")
    assert "names" not in done.stderr and "1 matched" in done.stdout


def test_a_file_in_another_language_is_taken(link: Callable) -> None:
    cards = {f"c-{id_}": (name, id_) for id_, name in enumerate(("Glurak", "Bisasam", "Schiggy", "Rattfratz"), 1)}
    stored, said = link({1: "Charizard", 2: "Bulbasaur", 3: "Squirtle", 4: "Rattata"}, cards)
    assert stored == {(key, id_) for key, (_, id_) in cards.items()}
    assert "4 of 30 cards have other names than their products: a file in another language" in said


@pytest.mark.parametrize("twice", ["trend", "Trend"])
def test_a_parquet_guide_with_a_column_twice(lake: Path, twice: str) -> None:
    singles(lake, product(1))
    guide = lake / "price_guide/day=2026-07-26/other.parquet"
    guide.parent.mkdir(parents=True)
    columns = [pa.array([1]), pa.array([1.0]), pa.array([99.0])]
    pq.write_table(pa.Table.from_arrays(columns, names=["id_product", "trend", twice]), guide)
    said = run("build", "--lake", lake, "--store", lake.parent / "store", status=1).stderr
    assert f"price_guide: {guide} has the column trend 2 times: leave one" in said
