"""Every search answers what a plain scan over all products answers."""

import random
from urllib.parse import urlencode

import pytest

from edge_auth.contract import sorts
from edge_auth.contract.text import fold, number_filter_key, words
from tests.support.small_store import CLOSED_DAYS, PRICE_DAY, SETS, ranked

QUERIES = ["pik", "EX", "ex a", "flabebe", "STRASSE", "fi", "mime mr", "zzz", " ", "a a a", "-mach", "é"]


def scan(products, values):
    """The answer by the contract's words."""
    found = [p for p in products if values.get("kind", "all") in ("all", p["kind"])]
    found = [p for p in found if all(word in fold(p["name"]) for word in words(values.get("q", "")))]
    if values.get("set"):
        ids = [i for i in SETS if str(i) == values["set"]] or [i for i, n in SETS.items() if n == values["set"]]
        found = [p for p in found if p["set"] in ids]
    if values.get("number"):
        wanted = number_filter_key(values["number"])
        found = [p for p in found if p["number"] and number_filter_key(p["number"]) == wanted]
    if values.get("rarity"):
        found = [p for p in found if p["rarity"] and fold(p["rarity"]) == fold(values["rarity"])]
    sort = values.get("sort", "trend")
    return ranked(found, sort, values.get("order", sorts.SORTS[sort].default_order) == "desc")


def ids(client, values):
    answer = client.get("/api/v1/cards?" + urlencode(values)).json()
    return [card["id_product"] for card in answer["data"]], answer["pagination"]


@pytest.mark.parametrize("seed", range(150))
def test_search_equals_scan(client, products, seed):
    rng = random.Random(seed)
    choices = {
        "q": QUERIES,
        "set": ["1", "2", "151", "7", "Twins", "Pokémon EX", "000151", "30"],
        "number": ["4", "004", "tg04", "TG4", "0", "999", "١"],
        "rarity": ["rare", "ULTRA RARE", "none such"],
        "kind": sorts.KINDS,
        "sort": list(sorts.SORTS),
        "order": ["asc", "desc"],
    }
    values = {name: rng.choice(allowed) for name, allowed in choices.items() if rng.random() < 0.45}
    if values.get("set") == "2":
        values["set"] = "2"
    offset, limit = rng.choice([0, 0, 3, 99, 150]), rng.choice([1, 50, 100])
    plain = dict(values, set="151") if values.get("set") == "000151" else values
    expected = [p["id_product"] for p in scan(products, plain)]
    found, pagination = ids(client, {**values, "offset": offset, "limit": limit})
    assert found == expected[offset : offset + limit]
    more = offset + len(found) < len(expected) and bool(found)
    assert pagination == {
        "limit": limit,
        "offset": offset,
        "returned": len(found),
        "has_more": more,
        "next_offset": offset + len(found) if more else None,
    }


def all_pages(client, values):
    found, offset = [], 0
    while offset is not None:
        page, pagination = ids(client, {**values, "offset": offset})
        assert len(page) == values["limit"] or not pagination["has_more"]
        found, offset = found + page, pagination["next_offset"]
    return found


@pytest.mark.parametrize("sort", sorts.SORTS)
@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("kind", sorts.KINDS)
def test_paging_through_a_ranking(client, products, sort, order, kind):
    values = {"sort": sort, "order": order, "kind": kind}
    assert all_pages(client, {**values, "limit": 37}) == [p["id_product"] for p in scan(products, values)]


@pytest.mark.parametrize("sort", ["name", "trend"])
@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("search", [{"q": "ex"}, {"rarity": "rare", "kind": "single"}, {"q": "pik", "number": "4"}])
def test_paging_through_a_search_that_finds_ever_more(client, products, monkeypatch, sort, order, search):
    monkeypatch.setattr("edge_auth.core.search._LEAST_KEPT_MATCHES", 4)
    values = {"sort": sort, "order": order, **search}
    assert all_pages(client, {**values, "limit": 3}) == [p["id_product"] for p in scan(products, values)]


def test_a_number_that_is_no_id_is_a_name(client, products):
    # 2 is an id, and a set named 151 exists beside the set with the id 151: the id wins.
    by_id = {p["id_product"] for p in products if p["set"] == 151}
    assert set(ids(client, {"set": "151", "limit": 100})[0]) == by_id
    assert client.get("/api/v1/cards?set=152").code == "not_found"
    assert client.get("/api/v1/cards?set=" + "9" * 30).code == "not_found"
    assert client.get("/api/v1/cards?set=-1").code == "not_found"
    assert client.get("/api/v1/cards?set=twins").code == "not_found"
    assert client.get("/api/v1/cards?set=Poke%CC%81mon+EX").status == 200


def test_sets(client):
    everything = client.get("/api/v1/sets").json()
    assert [s["name"] for s in everything["data"]] == ["151", "Base Set", "Pokémon EX", "Twins", "Twins"]
    some = client.get("/api/v1/sets?q=+POKE+&limit=1").json()
    assert [s["id"] for s in some["data"]] == [151]
    assert client.get("/api/v1/sets?limit=2&offset=4").json()["pagination"]["returned"] == 1
    assert client.get("/api/v1/sets?offset=99").json()["data"] == []


@pytest.mark.parametrize(("rank", "days"), [(0, None), (1, None), (0, 1), (0, 2), (0, 3650), (0, 234), (0, 235)])
def test_card_history(client, products, rank, days):
    product = products[rank]
    target = f"/api/v1/cards/{product['id_product']}" + (f"?days={days}" if days else "")
    history = client.get(target).json()["history"]
    shown = [row["day"] for row in history["price_guide"]]
    closed = CLOSED_DAYS if rank % 2 == 0 else []
    first = {1: "2026-08-22", 2: "2026-08-21", 234: "2026-01-01", 235: "2025-12-31"}.get(days, "")
    assert shown == [day for day in [*closed, PRICE_DAY] if day >= first]
