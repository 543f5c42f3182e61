"""Every search answers what the oracle answers, with every filter and sort that the contract declares."""

import random
from typing import Any
from urllib.parse import urlencode

import pytest

from generator.storage.catalogue import KINDS, ORDERS, SORTS, TEXT_FILTERS
from tests.support import small_store
from tests.support.shim_clients import AnyClient
from tests.support.small_store import CLOSED_DAYS, PRICE_DAY
from tests.support.targets import EMPTY_WHEN_FOLDED

WORDS = ["pik", "EX", "ex a", "flabebe", "STRASSE", "fi", "mime mr", "zzz", " ", "a a a", "-mach", "é"]
FOUND = [*WORDS, "base pik", "TG4 twins", "4/102", "151", "poke 10/10", "a/b 4", "004 \u0301", "set-ex"]
SETS = ["1", "2", "151", "7", "Twins", "Pokémon EX", "000151", "30"]


def some_values(name: str) -> list[str]:
    """Return values for a text filter: texts of the column of its name, in other cases, an empty and an unknown one.

    A filter that has the name of no column of the lake takes its values from its column in the build.
    """
    rows = small_store.rows(small_store.products())
    texts = [cell for row in (*rows.products, *(rows.expansions or ())) for cell in row.items()]
    found = {text for column, text in texts if column == name and text}
    found = found or set(filter(None, small_store.catalogue().texts[name].code_of))
    return [*sorted(found), *sorted(value.upper() for value in found), EMPTY_WHEN_FOLDED, "none such"]


TEXTS = {name: some_values(name) for name in TEXT_FILTERS}


def expected(target: str) -> dict[str, Any]:
    return small_store.oracle().ask(target)[1]


def cards(values: dict[str, Any]) -> str:
    return "/api/v1/cards?" + urlencode(values)


@pytest.mark.parametrize("seed", range(150))
def test_search_equals_the_oracle(client: AnyClient, seed: int) -> None:
    rng = random.Random(seed)
    choices = {"q": WORDS, "find": FOUND, "set": SETS, **TEXTS, "kind": KINDS, "sort": tuple(SORTS), "order": ORDERS}
    choices |= {"min_price": ("0", "1.5", "3"), "max_price": ("3", "4.25", "9")}
    values = {name: rng.choice(allowed) for name, allowed in choices.items() if rng.random() < 0.3}
    target = cards({**values, "offset": rng.choice([0, 0, 3, 99, 150]), "limit": rng.choice([1, 50, 100])})
    assert client.get(target).json == expected(target)


@pytest.mark.parametrize("name", TEXT_FILTERS)
def test_each_text_filter_finds_what_the_oracle_finds(client: AnyClient, name: str) -> None:
    assert any(expected(cards({name: value}))["data"] for value in TEXTS[name]), "the small store has no such value"
    for value in TEXTS[name]:
        assert client.get(cards({name: value})).json == expected(cards({name: value})), value


def all_pages(client: AnyClient, values: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    offset = 0
    while offset is not None:
        page = client.get(cards({**values, "offset": offset})).json
        assert len(page["data"]) == values["limit"] or not page["pagination"]["has_more"]
        found += page["data"]
        offset = page["pagination"]["next_offset"]
    return found


def whole_list(values: dict[str, Any]) -> list[dict[str, Any]]:
    pages = (expected(cards({**values, "limit": 100, "offset": offset})) for offset in range(0, small_store.ALL, 100))
    return [card for page in pages for card in page["data"]]


@pytest.mark.parametrize("sort", ["name", "trend"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("search", [{"q": "ex"}, {"rarity": "rare", "kind": "single"}, {"q": "pik", "number": "4"}])
def test_pages_of_a_search_join(client, monkeypatch, sort, order, search):
    monkeypatch.setattr("edge_auth.api.cards._LEAST_KEPT_MATCHES", 4)
    values = {"sort": sort, "order": order, **search}
    assert all_pages(client, {**values, "limit": 3}) == whole_list(values)


@pytest.mark.parametrize("more", [{}, {"kind": "single", "min_price": "1.5"}, {"rarity": "rare"}])
@pytest.mark.parametrize("q", ["a", "e", "ex", "M", "EX  a", "pikachu", "a a ex", "mi mr", "fi", "ch", "zzz"])
def test_best_matches_come_first_on_pages_that_join(client, monkeypatch, q, more):
    monkeypatch.setattr("edge_auth.api.cards._LEAST_KEPT_MATCHES", 4)
    values = {"q": q, "sort": "match", **more}
    assert all_pages(client, {**values, "limit": 7}) == whole_list(values)


def test_a_search_finds_names_of_every_class():
    found = [(card["id_product"], q) for q in "am" for card in whole_list({"q": q, "sort": "match"})]
    assert {small_store.oracle().cards.match_class(id_, [q]) for id_, q in found} == {0, 1, 2, 3, 4, 5}


@pytest.mark.parametrize("query", ["sort=match", "sort=match&q=+", "sort=match&q=ex&order=desc", "sort=match&set=1"])
def test_match_needs_words_and_has_no_order(client, query):
    answer = client.get(f"/api/v1/cards?{query}")
    assert answer.code == "invalid_parameter" and "sort=match" in answer.message
    assert small_store.oracle().ask(f"/api/v1/cards?{query}")[0] == 400


def test_a_number_that_is_no_id_is_a_name(client, products):
    # 2 is an id, and a set named 151 exists beside the set with the id 151: the id wins.
    by_id = {p["id_product"] for p in products if p["set"] == 151}
    assert {card["id_product"] for card in all_pages(client, {"set": "151", "limit": 100})} == by_id
    for unknown in ("152", "9" * 30, "-1", "twins"):
        assert client.get(f"/api/v1/cards?set={unknown}").code == "not_found"
    assert client.get("/api/v1/cards?set=Poke%CC%81mon+EX").status == 200


@pytest.mark.parametrize(("typed", "near"), [("twins", "Twins"), ("base", "Base Set"), ("Bsae+Set", "Base Set")])
@pytest.mark.parametrize("path", ["cards", "facets"])
def test_a_set_that_is_not_known_names_the_nearest(client, path, typed, near):
    answer = client.get(f"/api/v1/{path}?set={typed}")
    assert answer.code == "not_found" and answer.message.endswith(f"did you mean {near}?")
    others = ("", "&kind=sealed&number=none", "&q=zzz&find=zzz", "&q=zzz+yyy", "&q=%23%23+%40%40")
    for more in (*others, "&min_price=900&sort=match&q=a"):
        query = f"set=zzz{more}" if path == "cards" else f"set=zzz{more}".replace("&sort=match", "")
        assert client.get(f"/api/v1/{path}?{query}").message == "there is no set with this id or exact name"


@pytest.mark.parametrize(("rank", "days"), [(0, None), (1, None), (0, 1), (0, 2), (0, 3650), (0, 234), (0, 235)])
def test_card_history(client, products, rank, days):
    product = products[rank]
    target = f"/api/v1/cards/{product['id_product']}" + (f"?days={days}" if days else "")
    history = client.get(target).json["history"]
    shown = [row["day"] for row in history["price_guide"]]
    closed = CLOSED_DAYS if rank % 2 == 0 else []
    first = {1: "2026-08-22", 2: "2026-08-21", 234: "2026-01-01", 235: "2025-12-31"}.get(days, "")
    assert shown == [day for day in [*closed, PRICE_DAY] if day >= first]
