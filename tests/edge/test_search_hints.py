"""Where a search finds nothing, a header says which words stand nowhere and which other searches find something."""

import json
import random
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest

from generator.lake.words import usual_words
from generator.storage.spellings import Spellings
from tests.support.commands import build, run
from tests.support.lakes import Rows, write
from tests.support.shim_clients import AnyClient, open_client

SETS = {1: "Obsidian Flames", 2: "151", 3: "SV Black Star Promos", 4: "Jungle"}
NAMES = {
    "Charizard ex [Brave Wing]": (1, "125", "Special Illustration Rare"),
    "Charizard": (2, "6", "Rare"),
    "Ho-Oh": (2, "7", "Rare"),
    "Pikachu & Zekrom GX": (3, "044", "Promo"),
    "Wanderer": (3, "SWSH050", "Promo"),
    "151 Elite Trainer Box": (2, None, None),
    "Desire": (4, "1", "Common"),
}


def lake(folder: Path) -> Path:
    products = [
        {"id_product": id_, "name": name, "kind": "single", "id_expansion": set_, "number": number, "rarity": rarity}
        for id_, (name, (set_, number, rarity)) in enumerate(NAMES.items(), 1)
    ]
    expansions = [{"id": id_, "name": name, "game": "Pok\u00e9mon"} for id_, name in SETS.items()]
    guide = [{"id_product": row["id_product"], "trend": 1.0} for row in products]
    return write(Rows(products, expansions, price_guide={"2026-08-22": guide}), folder)


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hints")
    build(lake(folder / "lake"), folder / "store")
    with open_client(str(folder / "store"), str(folder / "state"), 1_000_000) as client:
        yield client


def hint(shim: AnyClient, **query: object) -> Any:
    answer = shim.get("/api/v1/cards?" + urlencode(query))
    assert answer.headers.get("X-Total-Count", "0") == "0"
    return json.loads(answer.headers.get("X-Search-Hint", "null"))


OFFERED = {
    "charzard obsidian flames": (["charzard"], "charizard obsidian flames"),
    "charizard obsidain flames": (["obsidain"], "charizard obsidian flames"),
    "151 etb": (["etb"], "151 elite trainer box"),
    "pikachu and zekrom": ([], "pikachu zekrom"),
    "charizard sir": ([], "charizard"),  # with the rarity: a part of Desire
    "charizard reverse holo": (["reverse", "holo"], "charizard"),
    "hooh": (["hooh"], "ho oh"),
    "obf 125": (["obf"], "obsidian flames 125"),
    "svp 044": (["svp"], "sv black star promos 044"),
    "swsh 050": (["swsh", "050"], "swsh050"),
    "charizard #125": (["#125"], "charizard 125"),
    "charizard wanderer": ([], "charizard"),
}


@pytest.mark.parametrize("typed", OFFERED)
def test_what_may_be_meant_is_offered(shim: AnyClient, typed: str) -> None:
    nowhere, meant = OFFERED[typed]
    said = hint(shim, find=typed, sort="match")
    assert (said["nowhere"], said["instead"][0]["find"]) == (nowhere, meant)


SEARCHES = [
    *({"find": typed} for typed in OFFERED),
    *({"q": "charizard flames"}, {"q": "charzard"}, {"rarity": "Rar"}, {"set": "Obsidan Flames"}),
    {"find": "charzard", "set": "151", "kind": "sealed"},
    {"game": "Pokmon", "find": "charzard"},
    {"number": "999", "q": "charizard", "min_price": "5"},
]


@pytest.mark.parametrize("query", SEARCHES, ids=str)
def test_an_offered_search_finds_as_many_as_it_says(shim: AnyClient, query: dict[str, str]) -> None:
    offers = hint(shim, **query)["instead"]
    assert offers
    for offer in offers:
        products = offer.pop("products")
        found = shim.get("/api/v1/cards?" + urlencode({k: v for k, v in (query | offer).items() if v is not None}))
        assert int(found["X-Total-Count"]) == products > 0, offer


@pytest.mark.parametrize(
    ("filter_", "text", "meant"),
    [("set", "Obsidan Flames", "Obsidian Flames"), ("game", "Pokmon", "Pok\u00e9mon"), ("rarity", "Commen", "Common")],
)
def test_a_value_that_no_product_has_names_the_nearest(shim: AnyClient, filter_: str, text: str, meant: str) -> None:
    said = hint(shim, **{filter_: text})
    assert said["nowhere"] == [text] and said["instead"][0][filter_] == meant
    answer = shim.get("/api/v1/cards?" + urlencode({filter_: text}))
    assert answer.status == (404 if filter_ == "set" else 200)
    assert filter_ != "set" or answer.message.endswith("did you mean Obsidian Flames?")


def test_nothing_is_said_where_something_is_found_or_nothing_is_known(shim: AnyClient) -> None:
    assert "X-Search-Hint" not in shim.get("/api/v1/cards?find=charizard").headers
    assert "X-Search-Hint" not in shim.get("/api/v1/cards?find=charizard&offset=100").headers
    assert hint(shim, find="\u30ea\u30b6", sort="match") == {"nowhere": ["\u30ea\u30b6"], "instead": []}
    long = hint(shim, find=" ".join(f"{letter}\u30ea" for letter in "abcdefghijklmnopqrstuvwxyz"))
    assert len(json.dumps(long)) < 2000
    assert shim.get("/api/v1/cards?find=zzz").listed("Access-Control-Expose-Headers") >= {"x-search-hint"}


def test_a_list_with_commas_is_offered_line_by_line(shim: AnyClient) -> None:
    said = shim.get("/api/v1/cards/named?names=charizard,+Desire,zzz").headers["X-Search-Hint"]
    assert json.loads(said)["instead"] == [{"names": "charizard\nDesire\nzzz", "products": 2}]
    assert "X-Search-Hint" not in shim.get("/api/v1/cards/named?names=zzz,yyy").headers


def test_mistaken_requests_name_their_cure(shim: AnyClient) -> None:
    assert "not in the address" in shim.get("/api/v1/cards?api_key=x", key=None).message
    assert "X-API-Key" in shim.get("/api/v1/cards?api_key=x").message


def test_a_lake_has_its_own_words(tmp_path: Path) -> None:
    assert len(usual_words()) <= 40
    source = lake(tmp_path / "lake")
    (source / "words.csv").write_text("said,means\nGlurak,Charizard\n", "utf-8")
    build(source, tmp_path / "store")
    with open_client(str(tmp_path / "store"), str(tmp_path / "state"), 1_000_000) as shim:
        assert hint(shim, find="glurak 151")["instead"][0] == {"find": "Charizard 151", "products": 1}
        assert hint(shim, find="151 etb")["instead"][0] == {"find": "151", "products": 3}
    for text in ("said\n", "said,means\n!,x\n", "said,means\na,b,c\n", '"'):
        (source / "words.csv").write_text(text, "utf-8")
        assert "words.csv" in run("build", "--lake", source, "--store", tmp_path / "store", status=1).stderr


def distance(text: str, name: str) -> int:
    """How many letters are put in, left out, replaced or swapped with the next, by the textbook."""
    table = [[row or at for at in range(len(name) + 1)] for row in range(len(text) + 1)]
    for row, letter in enumerate(text, 1):
        for at, other in enumerate(name, 1):
            ways = [table[row - 1][at] + 1, table[row][at - 1] + 1, table[row - 1][at - 1] + (letter != other)]
            if row > 1 and at > 1 and (letter, text[row - 2]) == (name[at - 2], other):
                ways.append(table[row - 2][at - 2] + 1)
            table[row][at] = min(ways)
    return table[-1][-1]


def mistakes(text: str, name: str) -> float:
    beginnings = (name[:at] for at, letter in enumerate(name) if letter == " ")
    return min(distance(text, name), *(distance(text, one) + 0.5 for one in beginnings), 99)


@pytest.mark.parametrize("seed", range(20))
def test_the_nearest_texts_are_those_with_the_fewest_mistakes(seed: int) -> None:
    rng = random.Random(seed)
    names = ["".join(rng.choices("abcde ", k=rng.randint(1, 14))).strip() or "a" for _ in range(90)]
    weights = [rng.randint(1, 4) for _ in names]
    spellings = Spellings.of(names, np.array(weights))
    for text in ("".join(rng.choices("abcd ", k=rng.randint(4, 12))).strip() for _ in range(40)):
        wrong = [mistakes(text, name) for name in names]
        allowed = min(*wrong, 3, (len(text) + 1) // 3) if len(text) > 3 else -1
        near = [row for row, of in enumerate(wrong) if of == min(wrong) and of <= allowed]
        assert spellings.nearest(text, 99) == sorted(near, key=lambda row: -weights[row]), text
