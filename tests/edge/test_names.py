"""Names as catalogues write them, asked for as people type them: answers over HTTP against the oracle."""

import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from generator.storage import text
from tests.support.commands import build as run_build
from tests.support.lakes import Rows, write
from tests.support.oracle import Oracle, differences
from tests.support.oracle import text as oracle_text
from tests.support.shim_clients import AnyClient, open_client
from tests.support.text_cases import CASES, Cut

pytestmark = pytest.mark.xdist_group("names")  # one process: the build is made once

NAMES = [
    *(case.name for case in CASES),
    *("Pikachu", "Pikachu [Thunder Jolt]", "PIKACHU (V.2) [Gnaw]", "Pikachu ex", "Surfing Pikachu", "Pika"),
    *("Boss's Orders", "Boss\u2019s Orders (Giovanni)", "Professor's Research - Professor Oak", "charizard EX"),
    *("Charizard ex [Brave Wing]", "Mega Charizard X ex", "\u2606", "\u2606!", "*", "* [a]", "Team Rocket's Mewtwo ex"),
    *("Fire // Ice", "Fire // Fury", "Fire", "Ice / Snow", "Oak - Elm // Ash", "Oak // Elm"),
    *("N", "A", "Alakazam", "Exeggutor"),
]  # fmt: skip
TYPED = [
    *("boss's orders", "Boss\u2019s Orders", "bosss orders", "bosss", "Charizard-EX", "charizard ex", "ex charizard"),
    *("ex", "Mewtwo & Mew-GX", "mew", "nidoran", "Nidoran\u2642", "\u2642", "pikachu", "pikachu v", "Pika-chu", "n"),
    *("a", "e e", "pikachu gnaw", "pikachu thunder", "[", "[ |", "&", "-", "'", "\u02bc", "\u2606!", "! ?", " ", "'s"),
    *("flabebe", "\u2019s orders", "professors research", "rocket's", "zzz", "ass", "strasse", "\u30ca\u30c3", "iii"),
    *("Brazen-Borrower", "fire", "ice", "ice snow", "oak", "oak elm", "who", "who W", "// Ice", "snow"),
]  # fmt: skip


def lake() -> Rows:
    """Two products of each name, in two sets, with numbers that hold slashes."""
    products = [
        {
            "id_product": 10 * place + set_,
            "name": name,
            "kind": "single" if (place + set_) % 4 else "sealed",
            "id_expansion": set_ if place % 7 else None,
            "number": ("63", "063/100", "TG4", "64/100", "A/B", None)[(place + set_) % 6],
        }
        for place, name in enumerate(NAMES, 1)
        for set_ in (1, 2)
    ]
    expansions = [
        {"id": 1, "name": "Champion\u2019s Path", "game": "Pok\u00e9mon"},
        {"id": 2, "name": "Collector's '99", "game": "Other"},
    ]
    prices = [(row["id_product"], row["id_product"] * 7 % 5 or None) for row in products if row["id_product"] % 4]
    guide = [{"id_product": id_, "trend": trend, "trend_holo": id_ % 3} for id_, trend in prices]
    checks = [
        {
            "id_product": id_,
            "checked_at": "2026-08-22T05:00:00",
            "offers": id_ % 2,
            "lowest": id_ / 8,
            "offer_list": None,
        }
        for id_, _ in prices
    ]
    return Rows(products, expansions, price_guide={"2026-08-22": guide}, filtered_checks={"2026-08-22": checks})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("names")
    run_build(write(lake(), folder / "lake"), folder / "store")
    return folder


@pytest.fixture(scope="module")
def oracle(folder: Path) -> Oracle:
    return Oracle(folder / "lake")


@pytest.fixture(scope="module")
def named(folder: Path) -> Iterator[AnyClient]:
    """A client of the shim over these names."""
    with open_client(str(folder / "store"), str(folder / "state"), 1_000_000) as client:
        yield client


def agree(named: AnyClient, oracle: Oracle, path: str, **query: object) -> None:
    target = f"/api/v1/{path}?{urlencode(query)}"
    status, expected = oracle.ask(target)
    answer = named.get(target)
    assert answer.status == status, target
    assert not differences(expected, answer.json if status == 200 else answer.code), target


@pytest.mark.parametrize("typed", [*TYPED, *dict.fromkeys(NAMES)], ids=ascii)
def test_a_search_finds_names_by_their_words(named: AnyClient, oracle: Oracle, typed: str) -> None:
    for more in ({}, {"sort": "match"}, {"sort": "match", "kind": "single", "limit": 3}):
        agree(named, oracle, "cards", **{"q": typed, "limit": 100, **more})


FOUND = [
    *("pikachu champions path", "path pikachu", "champion\u2019s 63/100", "063", "tg4", "TG04 pika", "99 63"),
    *("ex 64/100", "64/200", "a/b mew", "pikachu-path", "path-pikachu \u2606", "\u2606", "\u2606 path", "& mew gx"),
    *("collectors 99", "a", "63 63", "b/63", "/63", "63/", "99/63", "zzz", "ex zzz", "p", "nidoran tg04/tg30"),
    *(
        "\u00b4",
        "\u0301",
        " ",
        "e a p",
        "champions",
        "path pikachu pikachu",
        "\u2606 - pikachu",
        "& 63/100",
        "! \u2606",
    ),
]
# What a find is drawn from: words of names and of sets, a part of each, numbers, and signs.
WORDS = sorted({word for name in (*NAMES, "Champion's Path", "Collector's '99") for word in name.split()})
PARTS = st.sampled_from([*WORDS, *(word[:2] for word in WORDS), *"aepx", "63/100", "TG4", "&", "-"])


@pytest.mark.parametrize("typed", FOUND, ids=ascii)
def test_find_looks_at_name_set_and_number(named: AnyClient, oracle: Oracle, typed: str) -> None:
    more = ({}, {"q": "pikachu"}, {"sort": "match"}, {"sort": "match", "q": "ex"}, {"sort": "match", "q": "&"})
    for query in more:
        agree(named, oracle, "cards", **{"find": typed, "limit": 100, **query})
    agree(named, oracle, "facets", find=typed, kind="single")
    agree(named, oracle, "facets", find=typed)


@given(st.lists(PARTS, min_size=1, max_size=5).map(" ".join))
@example("pikachu path pikachu ex")
def test_the_words_of_a_find_that_are_in_a_name_decide_the_order(named: AnyClient, oracle: Oracle, typed: str) -> None:
    agree(named, oracle, "cards", find=typed[:100], sort="match", limit=100)


def test_a_sign_beside_words_says_nothing(named: AnyClient) -> None:
    total = {
        find: named.get("/api/v1/facets?" + urlencode({"find": find})).json["products"]
        for find in ("mewtwo mew path", "mewtwo & mew - path", "\u2606", "\u2606 path", "path")
    }
    assert 0 < total["mewtwo mew path"] == total["mewtwo & mew - path"]
    assert 0 < total["\u2606"] < total["\u2606 path"] == total["path"]


def test_the_name_decides_the_order_without_the_words_of_the_set(named: AnyClient) -> None:
    answer = named.get("/api/v1/cards?sort=match&limit=1&find=champions%20pikachu%20path").json
    assert text.word_text(text.base_name(answer["data"][0]["name"])) == "pikachu"


def test_find_finds_products_by_each_of_the_three(named: AnyClient) -> None:
    found = {find: named.get(f"/api/v1/facets?find={find}").json["products"] for find in ("pikachu", "path", "tg04")}
    found["all three"] = named.get("/api/v1/facets?find=TG4%20path%20pikachu").json["products"]
    assert all(found.values()) and found["all three"] < min(found["pikachu"], found["path"], found["tg04"])


LIST = "\n".join([*dict.fromkeys([*TYPED, *NAMES, "\u0301"])])


@pytest.mark.parametrize("printings", ["true", "false", "", "yes"])
@pytest.mark.parametrize("more", [{}, {"kind": "single"}, {"kind": "sealed"}, {"game": "OTHER"}, {"game": "none"}])
def test_a_list_of_names(named: AnyClient, oracle: Oracle, more: dict[str, str], printings: str) -> None:
    lines = LIST.split("\n")
    for start in range(0, len(lines), 50):
        names = "\n".join(lines[start : start + 50])
        agree(named, oracle, "cards/named", names=names, printings=printings, **more)


def test_a_list_finds_names_in_each_way(named: AnyClient) -> None:
    names = "Professor\u2019s Research\r\n\r\n Charizard EX \ncharizard-ex\nCharizard EX\nnone such\n\u2606!"
    names += "\nbrazen borrower\nFire"
    found = named.get("/api/v1/cards/named?" + urlencode({"names": names})).json
    ways = [(entry["name"], entry["matched"]) for entry in found["data"]]
    first, *others = ways
    assert first == ("Professor\u2019s Research", "short") and found["not_found"] == ["none such"]
    faces = [("brazen borrower", "face"), ("Fire", "name")]
    assert others == [("Charizard EX", "name"), ("charizard-ex", "name"), ("\u2606!", "name"), *faces]


@pytest.mark.parametrize("count", [100, 101])
def test_a_list_has_a_hundred_names_with_repetitions(named: AnyClient, count: int) -> None:
    answer = named.get("/api/v1/cards/named?" + urlencode({"names": "\n".join(["pikachu"] * count)}))
    assert answer.status == (200 if count == 100 else 400)


@pytest.mark.parametrize(
    "query", ["", "names=", "names=%0A%20%0D%0A", f"names={'x' * 201}", "names=a&q=a", "names=a&names=b"]
)
def test_a_list_that_is_refused(named: AnyClient, query: str) -> None:
    answer = named.get(f"/api/v1/cards/named?{query}")
    assert answer.code == "invalid_parameter" and ("names" in answer.message or "q" in answer.message)


@pytest.mark.parametrize("game", ["", "other", "none"])
def test_names_are_listed_by_base_name(named: AnyClient, oracle: Oracle, game: str) -> None:
    agree(named, oracle, "names", game=game)


@pytest.mark.parametrize("q", ["champions", "champion's path", " \u2019 ", "collectors `99", "s 9", "ZZ"])
def test_sets_are_found_without_apostrophes(named: AnyClient, oracle: Oracle, q: str) -> None:
    agree(named, oracle, "sets", q=q)


@pytest.mark.parametrize(
    "number", ["63", "63/100", "63/", "63/99", "/63", "64/100", "64/200", "a/b", "A/C", "TG4/TG30", "/"]
)
@pytest.mark.parametrize("path", ["cards", "facets"])
def test_a_number_counts_before_its_slash_if_no_product_has_it(
    named: AnyClient, oracle: Oracle, path: str, number: str
) -> None:
    agree(named, oracle, path, number=number)


@pytest.mark.parametrize("case", CASES, ids=ascii)
def test_words_of_names(case: Cut) -> None:
    assert text.words(case.name) == oracle_text.words(case.name) == case.words.split()
    assert text.word_text(text.base_name(case.name)) == case.base
    assert text.word_text(text.short_name(case.name)) == case.short
    assert text.word_text(text.face_name(case.name)) == case.face
    assert oracle_text.words(oracle_text.base_name(case.name)) == case.base.split()


@pytest.mark.thorough
def test_words_have_all_letters_and_digits_and_nothing_else() -> None:
    kept = {char for char in map(chr, range(sys.maxunicode)) if text.fold(char) == char != "\u02bc"}
    assert {char for char in kept if text.words(char) == [char]} == {char for char in kept if char.isalnum()}
    assert all(text.sign_text(char) == ("" if char.isalnum() else char) for char in kept)


ONE_LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"))


@settings(max_examples=200)
@given(st.lists(ONE_LINE, min_size=1))
@example([case.name for case in CASES if "\n" not in case.name])
@example(["\u0149", "\u00c5b-c", "d`e"])  # the first folds to an apostrophe and a letter
@example(["Boss\uff07s", "Boss\uff40s", "Boss\u1fefs"])  # these fold to signs that would be apostrophes before the fold
def test_keys_of_many_names_are_those_of_each(names: list[str]) -> None:
    assert text.name_keys(names) == [text.name_key(name).encode() for name in names]
