"""Disasters of the input, through the command of a night, while a shim serves and a client reads all the time.

A refused night leaves what clients see as it was: the same answers, and nothing but 200.
"""

import json
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import pytest

from generator import settings
from tests.nightly.test_gates import (
    BEFORE,
    FOIL,
    GUIDE,
    PRODUCTS,
    TONIGHT,
    a_set_without_prices,
    a_twelfth_of_the_guide,
    guide_prices,
    in_file,
    nothing,
)
from tests.support.commands import issue, run
from tests.support.lake_edits import Damage
from tests.support.nights import demo_lake
from tests.support.service import API, Client, Service, until

pytestmark = pytest.mark.xdist_group("disasters")  # one process, one shim
PATHS = (f"{API}/status", f"{API}/cards?sort=trend&limit=50", f"{API}/sets", f"{API}/movers")
DISASTERS: dict[str, tuple[Damage, str]] = {
    "all prices x 9": (guide_prices("{} * 9", *GUIDE, *FOIL), "prices-scaled"),
    "all prices x 2": (guide_prices("{} * 2", *GUIDE, *FOIL), "prices-scaled"),
    "foil x 100": (guide_prices("{} * 100", *FOIL), "prices-scaled"),
    "no foil prices": (guide_prices("null::double", *FOIL), "game-prices-lost"),
    "averages x 100": (guide_prices("{} * 100", "avg1", "avg7", "avg30"), "prices-scaled"),
    "no averages": (guide_prices("null::double", "avg1", "avg7", "avg30"), "game-prices-lost"),
    "a set without prices": (a_set_without_prices, "set-prices-lost"),
    "8 % of the guide": (a_twelfth_of_the_guide, "game-shrank"),
    "names undefined": (in_file("products", "name", "'undefined'"), "names-changed"),
    "names in a wrong encoding": (
        in_file("products", "name", "replace(replace(name, 'e', 'Ã©'), 'a', 'Ã¤')"), "names-changed",
    ),
    "all cards in one set": (
        in_file("products", "id_expansion", "(select min(id_expansion) from rows)"), "products-moved",
    ),
    "all sets unknown": (in_file("products", "id_expansion", "id_expansion + 1000000"), "products-moved"),
}  # fmt: skip


@dataclass
class Reader:
    """A client that reads in a thread: the statuses, and the builds, of its answers."""

    client: Client
    statuses: set[int] = field(default_factory=set)
    builds: set[str] = field(default_factory=set)
    answers: int = 0
    stop: threading.Event = field(default_factory=threading.Event)

    def read(self) -> None:
        while not self.stop.wait(0.01):
            answer = self.client.get(PATHS[self.answers % len(PATHS)])
            self.statuses.add(answer.status)
            self.builds.add(answer["X-Build"])
            self.answers += 1


@dataclass
class Place:
    """A store with a live build, its shim and its lake, which has the rows of one more night."""

    folder: Path
    build: str
    client: Client
    reader: Reader

    def night(self, damage: Damage, *options: str, status: int = 0) -> dict:
        """Run a night over a damaged copy of the lake, until the reader has read everything after it."""
        lake = self.folder / "damaged"
        shutil.rmtree(lake, ignore_errors=True)
        shutil.copytree(self.folder / "lake", lake)
        damage(lake)
        arguments = ("--lake", lake, "--store", self.folder / "store", "--json", "--no-pages", *options)
        report = json.loads(run("nightly", *arguments, status=status).stdout)
        wanted = self.reader.answers + 2 * len(PATHS)
        until(lambda: self.reader.answers >= wanted, 30, "the client has read everything again")
        return report

    def bodies(self) -> list[str]:
        return [self.client.get(path).text for path in PATHS]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("disasters")
    lake, store = demo_lake(folder / "lake", BEFORE, PRODUCTS), folder / "store"
    build = run("build", "--lake", lake, "--store", store, "--publish").stdout.split()[-1]
    demo_lake(lake, TONIGHT, PRODUCTS)
    key = issue(store)
    with Service(store, folder / "state") as service, patch.object(settings, "ENOUGH_PRICES", 8):
        reader = Reader(service.client(key))
        thread = threading.Thread(target=reader.read)
        thread.start()
        yield Place(folder, build, service.client(key), reader)
        reader.stop.set()
        thread.join()


@pytest.mark.parametrize("disaster", DISASTERS)
def test_a_disaster_is_refused_and_clients_see_nothing_of_it(disaster: str, place: Place) -> None:
    damage, gate = DISASTERS[disaster]
    before = place.bodies()
    report = place.night(damage, status=1)
    assert report["outcome"] == "refused" and report["live"] == place.build != report["build"]
    breached = {verdict["gate"] for verdict in report["judgement"]["verdicts"] if verdict["breached"]}
    assert gate in breached and f"gate {gate}: " in report["error"]
    assert place.bodies() == before
    assert (place.reader.statuses, place.reader.builds) == ({200}, {place.build})


def test_forced_by_name_it_goes_live_and_the_next_night_repairs_it(place: Place) -> None:
    """This test comes last: it changes the live build."""
    damage, _ = DISASTERS["names undefined"]
    breached = [v["gate"] for v in place.night(damage, status=1)["judgement"]["verdicts"] if v["breached"]]
    forced = place.night(damage, *(f"--force={gate}" for gate in breached))
    assert forced["outcome"] == "published"
    _until_served(place, forced["build"])
    assert '"name":"undefined"' in place.client.get(f"{API}/cards").text
    repaired = place.night(nothing, *(f"--force={gate}" for gate in breached))
    _until_served(place, repaired["build"])
    assert "undefined" not in place.client.get(f"{API}/cards").text
    assert place.reader.statuses == {200}
    assert place.reader.builds <= {place.build, forced["build"], repaired["build"]}


def _until_served(place: Place, build: str) -> None:
    def served() -> bool:
        return place.client.get(f"{API}/status")["X-Build"] == build

    until(served, 30, "the shim answers from the new build")
