"""Pages followed by `next_offset` are the whole list, each row once."""

from itertools import product

import pytest

from generator.storage.catalogue import KINDS, ORDERS, SORTS
from tests.support.api_checks import crawl
from tests.support.oracle import Oracle
from tests.support.service import Client


@pytest.mark.parametrize(("kind", "sort", "order"), list(product(KINDS, SORTS, ORDERS)))
def test_cards(client: Client, fixed_oracle: Oracle, kind: str, sort: str, order: str) -> None:
    query = f"/api/v1/cards?kind={kind}&sort={sort}&order={order}&"
    expected = [row["id_product"] for row in fixed_oracle.ask(f"{query}limit=100")[1]["data"]]
    for limit in (4, 7, 24, 25, 100):
        assert [row["id_product"] for row in crawl(client, query, limit)] == expected
    assert len(set(expected)) == len(expected)


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 100, 500])
def test_watchlist_and_sets(client: Client, fixed_oracle: Oracle, limit: int) -> None:
    for name, key in (("watchlist", "slug"), ("sets", "id")):
        expected = [row[key] for row in fixed_oracle.ask(f"/api/v1/{name}?limit=500")[1]["data"]]
        assert [row[key] for row in crawl(client, f"/api/v1/{name}?", limit)] == expected
