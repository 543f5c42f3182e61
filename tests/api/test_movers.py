"""The largest price moves of a lake with more than one list can hold, with ties, two games and a late guide."""

import itertools
import json
import random
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from generator.storage.builds import open_build
from generator.storage.stores.folder import FolderStore
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
        for name in ("low", "avg1", "avg7", "avg30"):
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


THEN = {"trend": 4.0, "low": 4.0, "avg1": None, "avg7": 4.0, "avg30": 4.0}
NOW = {
    "trend": 4.8,
    "low": 4.2,
    "avg1": 4.8,
    "avg7": 4.2,
    "avg30": 4.01,
}  # a quarter of the move, and just more than none
AROUND = {
    "then low": (None, 0.0, 4.01),
    "then avg7": (None, 0.0, 4.01),
    "then avg30": (None, 0.0, 1.99, 2.0, 8.0, 8.01, 4.01),
    "now low": (None, 0.0, 4.19, 1.19, 1.2, 9.6, 9.61),
    "now avg1": (None, 0.0, 2.39, 2.4, 9.6, 9.61),
    "now avg7": (None, 0.0, 2.39, 2.4, 4.19, 9.6, 9.61),
    "now avg30": (None, 0.0, 2.39, 2.4, 4.0, 4.2, 9.6, 9.61),
}


def test_the_evidence_of_a_move_is_judged_to_the_cent(tmp_path: Path) -> None:
    """Each figure beside the bounds of its rules, alone and with another one, for both finishes."""
    changes = [{field: value} for field, values in AROUND.items() for value in values]
    pairs = [one | other for one, other in itertools.combinations(changes, 2) if one.keys() != other.keys()]
    guide: dict[str, list[dict]] = {"2024-02-25": [], "2024-03-03": []}
    for number, changed in enumerate([{}, *changes, *pairs]):
        for rows, when, usual in zip(guide.values(), ("then", "now"), (THEN, NOW), strict=True):
            row = {name: changed.get(f"{when} {name}", price) for name, price in usual.items()}
            suffix = "_holo" if number % 2 else ""
            rows.append({"id_product": number, **{f"{name}{suffix}": price for name, price in row.items()}})
    ids = [row["id_product"] for row in guide["2024-03-03"]]
    kinds = ("single", "sealed")  # a list ends after 500
    products = [{"id_product": id_, "name": "P", "kind": kinds[id_ % 3 == 0]} for id_ in ids]
    lake = write(Rows(products=products, price_guide=guide), tmp_path / "lake", 1)
    store = FolderStore(str(tmp_path / "store"))
    made = open_build(store, build(lake, tmp_path / "store", "2024-03-03"))
    lines = [line for kind in kinds for line in made.movers.list(f"7d/percent/up/{kind}/1")]
    found = {move["id_product"]: move["confirmed"] for move in map(json.loads, lines)}
    query = {"window": "7d", "by": "percent", "direction": "up", "min_price": "1", "game": "", "confirmed": "false"}
    lake_as_read = Oracle(lake, "2024-03-03").lake
    expected = [move for kind in kinds for move in movers.listed(lake_as_read, query | {"kind": kind})]
    assert found == {move["id_product"]: move["confirmed"] for move in expected}
    assert len(found) == len(products) and 40 < sum(found.values()) < 400


CHANGED, BACK, LAST = 3, 6, 8  # the days, by number, on which a product becomes normal and foil again, and the last one


def _changes_of_finish(folder: Path) -> tuple[Path, list[date]]:
    """Return a lake and its days. Product 1 is in foil alone, but for three days; the price of 2 stands still."""
    days = [date(2024, 2, 24) + timedelta(days=number) for number in range(LAST + 1)]
    foil, normal = {f"{name}_holo": 80.0 for name in THEN}, dict.fromkeys(THEN, 10.0)
    guide = {
        day.isoformat(): [
            {"id_product": 1} | (normal if CHANGED <= number < BACK else foil),
            {"id_product": 2} | dict.fromkeys(THEN, 5.0),
            {"id_product": 3} | dict.fromkeys(THEN, 4.0 + number),
        ]
        for number, day in enumerate(days)
    }
    expansions = [{"id": id_, "name": f"Set {id_}", "game": f"Game {id_}"} for id_ in (1, 2)]
    sets = {1: 1, 2: 1, 3: 2}
    products = [{"id_product": n, "name": "P", "kind": "single", "id_expansion": set_} for n, set_ in sets.items()]
    return write(Rows(products=products, expansions=expansions, price_guide=guide), folder, 1), days


@pytest.mark.thorough
def test_a_change_of_finish_is_no_move_and_no_jump_of_an_index(tmp_path: Path) -> None:
    (lake, days), store = _changes_of_finish(tmp_path / "lake"), tmp_path / "store"
    builds = {day: build(lake, store, day) for day in (days[number].isoformat() for number in (CHANGED, BACK, LAST))}
    choices = itertools.product(*(OPTIONS[name] for name in ("window", "by", "direction")))
    lists = [f"{MOVERS}?window={window}&by={by}&direction={way}&min_price=0" for window, by, way in choices]
    history = "/api/v1/market/history?"
    with Service(store, tmp_path / "state") as service:
        client = service.client(issue(store))
        for day, made in builds.items():
            client.headers["X-Build"] = made
            targets = [*lists, *(history + group for group in ("set=1", "set=2", "game=game+1")), "/api/v1/market"]
            assert not disagreements(client, Oracle(lake, day), targets)
            assert {row["id_product"] for target in lists for row in client.get(target).json["data"]} == {3}
            for group in ("set=1", "game=game+1"):
                points = client.get(history + group).json["points"]
                assert {point["index"] for point in points} == {100.0} and {p["value"] for p in points} == {15.0, 85.0}
            assert client.get(history + "set=2").json["points"][-1]["index"] > 100
