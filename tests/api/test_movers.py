"""The largest price moves of a lake with more than one list can hold, with ties, two games and a late guide."""

import itertools
import random
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from tests.support.commands import build, issue
from tests.support.disagreements import disagreements
from tests.support.lakes import Rows, write
from tests.support.oracle import Oracle, movers
from tests.support.selection import mostly_thorough
from tests.support.service import Client, Service

pytestmark = pytest.mark.xdist_group("movers")  # one process: the lake is built once
MOVERS = "/api/v1/movers"
AS_OF = date(2024, 3, 3)
OPTIONS = {
    "window": ("1d", "7d", "30d"),
    "by": ("percent", "euros"),
    "direction": ("up", "down"),
    "kind": ("all", "single", "sealed"),
    "min_price": ("0", "1", "5", "20", "100"),
    "confirmed": ("true", "false"),
}


def _rows() -> Rows:
    """2,200 products of two games and of none; few prices, so that moves tie. The guide of one game is a day late."""
    rng = random.Random(11)
    games = {1: "Early", 2: "late", 3: None}
    expansions = [{"id": id_, "name": f"Set {id_}", "game": game} for id_, game in games.items()]
    kinds, sets = ("single", "sealed"), (*games, None)
    products = [
        {"id_product": n, "name": f"P {n}", "kind": rng.choice(kinds), "id_expansion": rng.choice(sets)}
        for n in range(1, 2201)
    ]
    ages = (0, 1, 2, 5, 8, 9, 11, 30, 33, 34, 36)
    prices = (None, 0.0, 0.5, 1.0, 2.0, 4.99, 5.0, 20.0, 30.0, 100.0, 250.0)
    guide = {}
    for age in ages:
        priced = [p for p in products if not (age == 0 and p["id_expansion"] == 2) and rng.random() < 0.95]
        day = (AS_OF - timedelta(days=age)).isoformat()
        guide[day] = [{"id_product": p["id_product"]} | _prices(p["id_product"], prices, rng) for p in priced]
    return Rows(products=products, expansions=expansions, price_guide=guide)


def _prices(id_product: int, prices: tuple[float | None, ...], rng: random.Random) -> dict[str, float | None]:
    """Of three products in four all prices are the same, so that their moves have evidence.

    Of the others each price is drawn, from few that are near each other. Every third product has foil prices; every
    ninth has no others on some days, every 27th on all.
    """
    row: dict[str, float | None] = {}
    for suffix in ("", "_holo") if id_product % 3 == 0 else ("",):
        trend = rng.choice(prices)
        row[f"trend{suffix}"] = trend
        for name in ("low", "avg7", "avg30"):
            row[f"{name}{suffix}"] = trend if id_product % 4 else rng.choice((None, 0.0, 3.2, 4.0, 4.2, 5.0, 8.0))
        if not id_product % 4:
            row[f"trend{suffix}"] = rng.choice((4.0, 4.8, 5.0, 8.0, 12.8, 12.81))
    if id_product % 27 == 0 or (id_product % 9 == 0 and rng.random() < 0.5):
        row["trend"] = rng.choice((None, 0.0))
    return row


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(_rows(), tmp_path_factory.mktemp("movers") / "lake", 1)


@pytest.fixture(scope="module")
def client(lake: Path) -> Iterator[Client]:
    store = lake.parent / "store"
    build(lake, store, AS_OF.isoformat())
    with Service(store, lake.parent / "state") as service:
        yield service.client(issue(store))


@pytest.mark.parametrize("seed", mostly_thorough(range(4), 0))
def test_lists_are_those_of_the_oracle(lake: Path, client: Client, seed: int) -> None:
    targets = []
    some = random.Random(seed).sample(list(itertools.product(*OPTIONS.values())), 12)
    for number, chosen in enumerate(some):
        query = "&".join(f"{name}={value}" for name, value in zip(OPTIONS, chosen, strict=True))
        game = ("", "&game=EARLY", "&game=Late")[number % 3]
        targets += [f"{MOVERS}?{query}{game}&limit=100&offset={offset}" for offset in (0, 450)]
    assert not disagreements(client, Oracle(lake, AS_OF.isoformat()), targets)


@pytest.mark.parametrize("confirmed", ["true", "false"])
def test_a_list_ends_after_500_products(client: Client, confirmed: str) -> None:
    answer = client.get(f"{MOVERS}?min_price=0&confirmed={confirmed}&limit=100&offset=450")
    assert answer["X-Total-Count"] == "500"
    assert answer.json["pagination"]["returned"] == 50


def test_the_days_are_those_of_the_game(client: Client) -> None:
    days = {
        game: {row["day_now"] for row in client.get(f"{MOVERS}?game={game}&limit=100").json["data"]}
        for game in ("early", "late")
    }
    assert days == {"early": {"2024-03-03"}, "late": {"2024-03-02"}}


def test_the_explorer_knows_the_change_of_each_product_over_7_days(lake: Path, client: Client) -> None:
    """The file for the tiles needs no key. It has percentages by id: no name and no price."""
    answer = client.send("GET", "/explore/week.json?build=any", key=False)
    week = answer.json
    assert answer.status == 200 and week.keys() == {"build", "steps", "changes", "days", "then"}
    assert week["build"] == answer["X-Build"]
    expected = movers.week_changes(Oracle(lake, AS_OF.isoformat()).lake)
    assert len(expected) > 1500 and 0 in {change for change, _ in expected.values()}
    since = [week["days"][place] for place in week["then"]]
    shown = zip(week["changes"], since, strict=True)
    assert dict(zip(itertools.accumulate(week["steps"]), shown, strict=True)) == expected
