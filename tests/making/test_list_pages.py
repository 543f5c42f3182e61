"""Pages of lists: documents that no layer stores. Each is the API's body at its default limit, byte for byte."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator.storage.layout import ROWS_PER_PAGE
from tests.support.commands import build, issue, run
from tests.support.lakes import Rows, write
from tests.support.service import Client, Service

API = "/api/v1/"
MOVERS = ("window", "by", "direction", "kind", "min_price")


# Lists of several pages of each kind. Most products have a price on both days, so they move.
LAKE = Rows(
    products=[
        {"id_product": n, "name": f"P{n % 97}", "kind": "sealed" if n % 9 == 0 else "single", "id_expansion": n % 130}
        for n in range(1, 231)
    ],
    expansions=[{"id": n, "name": f"Set {n}", "game": f"Game {n}"} for n in range(130)],
    price_guide={
        day: [{"id_product": n, "trend": n % 17 + by * n / 4, "low": n / 8} for n in range(1, 201)]
        for day, by in (("2026-08-15", 1), ("2026-08-22", 2))
    },
    watchlist=[{"slug": f"slug {n}", "name": "n", "url": f"https://market.example/{n}"} for n in range(100)],
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def store(folder: Path) -> Path:
    build(write(LAKE, folder / "lake"), folder / "store")
    return folder / "store"


@pytest.fixture(scope="module")
def tree(store: Path, folder: Path) -> Path:
    run("export", folder / "tree", "--store", store)
    return folder / "tree/api/v1"


@pytest.fixture(scope="module")
def client(store: Path, folder: Path) -> Iterator[Client]:
    with Service(store, folder / "state") as service:
        yield service.client(issue(store, rate_limit=1_000_000))


def target(folder: str, number: int) -> str:
    """The request whose answer a page is."""
    match folder.split("/"):
        case ["cards", "sets", id_]:
            return f"cards?set={id_}&offset={50 * number}"
        case ["cards", kind, sort]:
            return f"cards?kind={kind}&sort={sort}&offset={50 * number}"
        case ["market", by, sort]:
            return f"market?by={by}&sort={sort}&offset={100 * number}"
        case ["movers", *options]:
            query = "&".join(f"{name}={value}" for name, value in zip(MOVERS, options[-5:], strict=True))
            return f"movers?confirmed={str(options[0] == 'confirmed').lower()}&{query}&offset={50 * number}"
        case [name, *_]:
            return f"{name}?offset={100 * number}"


def test_every_page_is_the_body_of_the_api(tree: Path, client: Client) -> None:
    lists = json.loads((tree / "lists.json").read_bytes())
    assert {folder.partition("/")[0] for folder in lists} == {"cards", "movers", "market", *ROWS_PER_PAGE}
    for folder, length in lists.items():
        for number in {0, length["pages"] // 2, length["pages"] - 1}:
            answer = client.get(API + target(folder, number))
            assert (tree / folder / f"{number}.json").read_bytes() == answer.body, (folder, number)
            assert int(answer["X-Total-Count"]) == length["rows"]
        assert not (tree / folder / f"{length['pages']}.json").exists()
    assert {length["pages"] for length in lists.values()} >= {1, 2, 3, 4, 5}
