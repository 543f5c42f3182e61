"""Facets whose lists are longer than 100 entries, against the oracle."""

from pathlib import Path
from typing import Any

import pytest

from edge_auth.api.blueprints import client_of
from edge_auth.api.endpoint import API
from edge_auth.live.open_build import OpenBuild
from generator.storage.builds import open_build
from generator.storage.stores.folder import FolderStore
from tests.support.lakes import Rows, write
from tests.support.nights import make
from tests.support.oracle import Oracle, differences

pytestmark = pytest.mark.xdist_group("facets")  # one process: the lake is built once
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
    trends = [{"id_product": id_, "trend": id_ * id_ % 700 / 100} for id_ in range(1, PRODUCTS + 1) if id_ % 5]
    return Rows(products=products, expansions=expansions, price_guide={"2026-03-01": trends})


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(rows(), tmp_path_factory.mktemp("facets"))


@pytest.fixture(scope="module")
def opened(lake: Path, tmp_path_factory: pytest.TempPathFactory) -> OpenBuild:
    store = FolderStore(str(tmp_path_factory.mktemp("facets-store")))
    return OpenBuild(open_build(store, make(lake, store)))


@pytest.fixture(scope="module")
def oracle(lake: Path) -> Oracle:
    return Oracle(lake)


def facets(opened: OpenBuild, query: str) -> Any:
    return client_of(opened).get(f"{API}facets?{query}").json


@pytest.mark.parametrize(
    "query",
    [
        *("", "kind=single", "kind=sealed", "q=beta", "q=a", "q=6", "set=Set%204", "rarity=common", "game=x"),
        *("number=1", "q=beta&kind=sealed", "rarity=rare%203&game=game%20003", "q=beta&min_price=3"),
        "kind=single&max_price=2",
    ],
)
def test_long_lists_end_and_no_value_is_last(opened: OpenBuild, oracle: Oracle, query: str) -> None:
    got = facets(opened, query)
    status, expected = oracle.ask(f"{API}facets?{query}")
    assert status == 200 and not differences(expected, got)
    if not query:
        assert [len(got[name]) for name in ("kinds", "rarities", "games", "sets")] == [2, 100, 100, 100]
        assert [got[name][-1].get("value") for name in ("rarities", "games", "sets")] == [None] * 3
        assert got["rarities"][0]["value"] == "COMMON"
