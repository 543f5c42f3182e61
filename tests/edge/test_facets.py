"""Facets whose lists are longer than 100 entries, against the oracle."""

import json
from pathlib import Path

import pytest

from edge_auth.contract.builds import open_build
from edge_auth.contract.store.folder import FolderStore
from edge_auth.core.cache import LruCache
from edge_auth.core.endpoint import API
from edge_auth.core.endpoints import route
from edge_auth.core.open_build import OpenBuild
from tests.support.lakes import Rows, write
from tests.support.nights import make
from tests.support.oracle import Oracle, differences

MANY = 130  # sets, games and rarities
PRODUCTS = 1_500  # a rarity is frequent from 1,500 / 64 products on


def rows() -> Rows:
    """Products of many sets and rarities, and rarities that are equal after fold in two spellings."""
    products = [
        {
            "id_product": id_,
            "name": f"{'Alpha' if id_ % 3 else 'ÁLPHA Beta'} {id_ % 7}",
            "kind": "sealed" if id_ % 10 == 0 else "single",
            "id_expansion": None if id_ % 50 == 0 else id_ % (MANY + 5),
            "rarity": None if id_ % 40 == 0 else "COMMON" if id_ % 9 == 0 else f"Rare {id_ % MANY}",
        }
        for id_ in range(1, PRODUCTS + 1)
    ]
    products += [{**products[8], "id_product": 9_000 + n, "rarity": "Common"} for n in range(60)]
    expansions = [{"id": id_, "name": f"Set {id_ % 100}", "game": f"Game {id_:03}"} for id_ in range(MANY)]
    return Rows(products=products, expansions=expansions, price_guide={"2026-03-01": [{"id_product": 1, "trend": 1.0}]})


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(rows(), tmp_path_factory.mktemp("facets"))


@pytest.mark.parametrize("query", ["", "kind=single", "q=beta", "q=a", "q=6", "set=Set%204", "rarity=common", "game=x"])
def test_long_lists_end_and_no_value_is_last(lake: Path, tmp_path_factory: pytest.TempPathFactory, query: str) -> None:
    store = FolderStore(str(tmp_path_factory.getbasetemp() / "facets-store"))
    opened = OpenBuild(open_build(store, make(lake, store)), LruCache(1 << 20), lambda hit: None)
    endpoint, subject = route(f"{API}facets".encode())
    got = json.loads(endpoint.source.make_body(opened, endpoint, subject, query).plain)
    status, expected = Oracle(lake).ask(f"{API}facets?{query}")
    assert status == 200 and not differences(expected, got)
    if not query:
        assert [len(got[name]) for name in ("kinds", "rarities", "games", "sets")] == [2, 100, 100, 100]
        assert [got[name][-1].get("value") for name in ("rarities", "games", "sets")] == [None] * 3
        assert got["rarities"][0]["value"] == "COMMON"
