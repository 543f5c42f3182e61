"""Disasters of the input, through the command of a night, while a shim serves and a client reads all the time.

A refused night leaves what clients see as it was: the same answers, and nothing but 200. A fault of one game leaves the
prices of that game as they were, and clients get tonight's prices of all others.
"""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import pytest

from generator import settings
from tests.nightly.test_gates import (
    BEFORE,
    FOIL,
    GUIDE,
    PRODUCTS,
    TODAY,
    TONIGHT,
    a_set_without_prices,
    guide_prices,
    in_file,
    of_day,
    yesterdays_files,
)
from tests.support.commands import issue, run
from tests.support.lake_edits import Damage, rewrite
from tests.support.nights import demo_lake
from tests.support.reader import PATHS, Reader, until_served
from tests.support.selection import mostly_thorough
from tests.support.service import API, Client, Service

pytestmark = [pytest.mark.xdist_group("disasters"), pytest.mark.thorough]  # one process, one shim
DISASTERS: dict[str, tuple[Damage, str]] = {  # `test_gates` has many more
    "all prices x 9": (guide_prices("{} * 9", *GUIDE, *FOIL), "prices-scaled"),
    "no foil prices": (guide_prices("null::double", *FOIL), "game-prices-lost"),
    "yesterday's files again": (yesterdays_files, "prices-repeated"),
    "names undefined": (in_file("products", "name", "'undefined'"), "names-changed"),
}


def of_the_largest_game(query: str) -> Damage:
    """Replace the rows of one game in tonight's guide by a query over them, `mine`."""

    def damage(lake: Path) -> None:
        mine = f"id_product in (select unnest({products_of_largest_game(lake)[1]}))"
        query_of_all = f"with mine as (from rows where {mine}) from ({query} union all from rows where not {mine})"
        rewrite(of_day(lake, "price_guide"), f"{query_of_all} order by id_product")

    return damage


def products_of_largest_game(lake: Path) -> tuple[str, list[int]]:
    query = f"""
        select game, list(id_product) from '{lake}/products.parquet' join '{lake}/expansions.parquet' as e
        on e.id = id_expansion where game is not null group by 1 order by count(*) desc, 1 limit 1
    """
    [found] = duckdb.sql(query).fetchall()
    return found


def times_9(*columns: str) -> str:
    return f"select * replace ({', '.join(f'{name} * 9 as {name}' for name in columns)}) from mine"


HELD: dict[str, tuple[Damage, str]] = {
    "a set without prices": (a_set_without_prices, "set-prices-lost"),
    "a game's prices x 9": (of_the_largest_game(times_9(*GUIDE, *FOIL)), "prices-scaled"),
    "8 % of a game's rows": (of_the_largest_game("from mine where id_product % 12 = 0"), "game-shrank"),
}


@dataclass
class Place:
    """A store with a live build, its shim and its lake, which has the rows of one more night."""

    folder: Path
    build: str
    client: Client
    reader: Reader

    @property
    def lake(self) -> Path:
        return self.folder / "damaged"

    def new_lake(self) -> Path:
        """Copy the lake anew."""
        shutil.rmtree(self.lake, ignore_errors=True)
        shutil.copytree(self.folder / "lake", self.lake)
        return self.lake

    def arguments(self, *options: str) -> tuple[object, ...]:
        store = self.folder / "store"
        return ("nightly", "--lake", self.lake, "--store", store, "--json", "--no-pages", *options)

    def night(self, damage: Damage, *options: str, status: int = 0) -> dict:
        """Run a night over a damaged copy of the lake, until the reader has read everything after it."""
        damage(self.new_lake())
        report = json.loads(run(*self.arguments(*options), status=status).stdout)
        self.reader.read_everything()
        return report

    def bodies(self) -> list[str]:
        return [self.client.get(path).text for path in PATHS]

    def guides(self) -> dict[int, dict[str, Any]]:
        """Return the newest row of the price guide of each product, as clients get it."""
        cards = [card for n in (0, 100) for card in self.client.get(f"{API}/cards?limit=100&offset={n}").json["data"]]
        return {card["id_product"]: card["price_guide"] for card in cards}

    def begin(self) -> None:
        """Make the first build live again, and let the client begin anew."""
        run("publish", self.build, "--store", self.folder / "store")
        until_served(self.client, self.build)
        self.reader.forget()


@pytest.fixture(scope="module")
def shared_place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("disasters")
    lake, store = demo_lake(folder / "lake", BEFORE, PRODUCTS), folder / "store"
    build = run("build", "--lake", lake, "--store", store, "--publish").stdout.split()[-1]
    demo_lake(lake, TONIGHT, PRODUCTS)
    key = issue(store)
    few_prices = patch.object(settings, "ENOUGH_PRICES", 8)
    with few_prices, Service(store, folder / "state") as service, Reader(service.client(key)) as reader:
        yield Place(folder, build, service.client(key), reader)


@pytest.fixture
def place(shared_place: Place) -> Place:
    shared_place.begin()
    return shared_place


@pytest.mark.parametrize("disaster", mostly_thorough(DISASTERS, "all prices x 9"))
def test_a_disaster_is_refused_and_clients_see_nothing_of_it(disaster: str, place: Place) -> None:
    damage, gate = DISASTERS[disaster]
    before = place.bodies()
    report = place.night(damage, status=1)
    assert report["outcome"] == "refused" and report["live"] == place.build != report["build"]
    breached = {verdict["gate"] for verdict in report["judgement"]["verdicts"] if verdict["breached"]}
    assert gate in breached and f"gate {gate}: " in report["error"]
    assert place.bodies() == before
    assert (place.reader.statuses, place.reader.builds) == ({200}, {place.build})


@pytest.mark.parametrize("disaster", HELD)
def test_a_fault_of_one_game_leaves_its_prices_as_they_were_and_those_of_others_come(
    disaster: str, place: Place
) -> None:
    damage, gate = HELD[disaster]
    game, ids = products_of_largest_game(place.folder / "lake")
    before = place.guides()
    report = place.night(damage)
    assert report["outcome"] == "published" and report["advanced"]
    [held] = report["quarantine"]
    assert (held["table"], held["day"], held["game"], held["verdict"]) == ("price_guide", str(TODAY), game, "held")
    assert gate in held["gates"]
    until_served(place.client, report["live"])
    after = place.guides()
    assert {id_: after[id_] for id_ in ids} == {id_: before[id_] for id_ in ids}
    columns = ", ".join((*GUIDE, *FOIL))
    tonight = duckdb.sql(f"select id_product, {columns} from '{of_day(place.folder / 'lake', 'price_guide')}'")
    others = {id_: prices for id_, *prices in tonight.fetchall() if id_ in after and id_ not in ids}
    assert len(others) > 40
    got = {id_: [part[name] for part in (after[id_], after[id_]["holo"]) for name in GUIDE] for id_ in others}
    assert got == others
    assert {after[id_]["day"] for id_ in others} == {str(TODAY)}
    assert place.reader.statuses == {200} and place.reader.builds <= {place.build, report["live"]}


Rows = list[dict[str, Any]]


def tonights_rows(place: Place) -> Rows:
    """Copy the lake anew, and take tonight's guide out of it. Return its rows as the marketplace writes them."""
    guide = of_day(place.new_lake(), "price_guide")
    figures = ", ".join(f'{name}, {name}_holo as "{name}-holo"' for name in GUIDE)
    query = f"select id_product as idProduct, 1 as idCategory, {figures} from '{guide}'"
    rows = duckdb.sql(query).to_arrow_table().to_pylist()
    guide.unlink()
    return rows


def import_words(place: Place, rows: Rows, at: str) -> tuple[object, ...]:
    file = place.folder / "guide.json"
    file.write_text(json.dumps({"version": 1, "createdAt": f"{at}+0000", "priceGuides": rows}))
    return ("ingest", "cardmarket", "--lake", place.lake, "--price-guide", file, "--json")


def assert_read_well(place: Place, *builds: str) -> None:
    """Check that the last of the builds answers, and that the client read only these and nothing but 200."""
    until_served(place.client, builds[-1])
    place.reader.read_everything()
    assert place.reader.statuses == {200} and place.reader.builds <= {place.build, *builds}


def test_a_day_that_proved_wrong_is_withdrawn(place: Place) -> None:
    """As `docs/ingest.md` says: roll back, withdraw, import the right file, and publish by hand."""
    rows, store = tonights_rows(place), place.folder / "store"
    before = place.bodies()
    run(*import_words(place, [row | {"low": (row["low"] or 1) * 1.1} for row in rows], f"{TODAY}T12:00:00"))
    wrong = json.loads(run(*place.arguments()).stdout)["live"]
    until_served(place.client, wrong)
    run("rollback", "--store", store)
    until_served(place.client, place.build)
    assert place.bodies() == before
    run("ingest", "withdraw", TODAY, "--lake", place.lake)
    run(*import_words(place, rows, f"{TODAY}T12:00:00"))
    held = json.loads(run(*place.arguments(), status=1).stdout)
    assert held["outcome"] == "held"
    run("publish", held["build"], "--store", store)
    assert_read_well(place, wrong, held["build"])
