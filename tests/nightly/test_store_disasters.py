"""Disasters of the store and of the machine, through the commands, while a shim serves and a client reads all the time.

All tests share one store and its shim. Each test starts from the live build and ends with an ordinary night.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from generator.clock import utc_now
from generator.releases.locks import current_holder
from generator.storage import layout
from generator.storage.builds import live_build_id
from generator.storage.stores.folder import FolderStore
from generator.tree.export import RECORD
from tests.support.commands import issue, run
from tests.support.lake_edits import rewrite
from tests.support.nights import DAYS, names, published
from tests.support.reader import PATHS, Reader, until_served
from tests.support.service import API, ROOT, Client, Service, environment, until

pytestmark = pytest.mark.xdist_group("disasters")  # one process: the published builds are made once
READ = (*PATHS, f"{API}/watchlist", f"{API}/changes")
LONG_QUERY = """
import sys
from generator import database
file, marker = sys.argv[1:3]
sql_text = database.sql_text
long = f"copy (select 1 as x) to '{marker}'; select sum(random()) from range(100000000000); "
database.sql_text = lambda name, **values: long * (name == file) + sql_text(name, **values)
sys.argv[:3] = ["cardpress"]
from generator.cli import main
main()
"""


@dataclass
class StorePlace:
    """A store with two published builds, the older one with a closed year, its lake, its shim, and a client."""

    store: FolderStore
    lake: Path
    client: Client
    reader: Reader

    def new_prices(self) -> None:
        """Change the newest guide a little, so that the next night makes a build."""
        [file] = sorted((self.lake / "price_guide").iterdir())[-1].glob("*.parquet")
        rewrite(file, "select * replace (trend + 0.01 as trend) from rows order by id_product")

    def arguments(self, *options: object) -> tuple[object, ...]:
        return ("nightly", "--lake", self.lake, "--store", self.store.root, "--no-pages", "--json", *options)

    def night(self, *options: object, status: int = 0) -> dict:
        return json.loads(run(*self.arguments(*options), status=status).stdout)

    def ordinary_night(self) -> dict:
        """Run a night that publishes, and check that the client reads its build and has read nothing but 200."""
        self.new_prices()
        report = self.night()
        assert report["outcome"] == "published" and report["damaged"] == {}
        until_served(self.client, report["build"])
        self.reader.read_everything()
        assert self.reader.statuses == {200}
        return report

    def unchanged_by(self, before: set[str]) -> None:
        """Check that clients read all the time, and that no half file and no lock is left."""
        self.reader.read_everything()
        assert (self.reader.statuses, self.reader.builds) == ({200}, before)
        hidden = names(self.store, lambda name: Path(name).name.startswith("."))
        half = [name for name in hidden if not name.endswith((".lock", RECORD))]
        assert half == []
        assert current_holder(self.store, layout.NIGHTLY_LOCK, utc_now) is None


def served(folder: Path, store: FolderStore, lake: Path, stack: ExitStack) -> StorePlace:
    key = issue(store.root)
    service = stack.enter_context(Service(store.root, folder / "state"))
    return StorePlace(store, lake, service.client(key), stack.enter_context(Reader(service.client(key), READ)))


@pytest.fixture(scope="module")
def shared_place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StorePlace]:
    folder = tmp_path_factory.mktemp("disasters")
    store, lake, _ = published(folder, DAYS - 1, DAYS)
    with ExitStack() as stack:
        yield served(folder, store, lake, stack)


@pytest.fixture
def place(shared_place: StorePlace) -> StorePlace:
    """The shared place, whose client begins anew."""
    shared_place.reader.forget()
    return shared_place


def processor_seconds(pid: int) -> float:
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize(
    ("number", "file"),
    [
        pytest.param(signal.SIGTERM, "sources/price_guide", id="SIGTERM-build", marks=pytest.mark.thorough),
        pytest.param(signal.SIGTERM, "checks/two_builds", id="SIGTERM-gates", marks=pytest.mark.thorough),
        pytest.param(signal.SIGKILL, "sources/price_guide", id="SIGKILL-build", marks=pytest.mark.thorough),
    ],
)
def test_a_signal_inside_a_long_query(number: int, file: str, place: StorePlace, tmp_path: Path) -> None:
    temporary, marker, live = tmp_path / "temporary", tmp_path / "marker", live_build_id(place.store)
    temporary.mkdir()
    place.new_prices()
    process = subprocess.Popen(
        [sys.executable, "-c", LONG_QUERY, file, marker, *map(str, place.arguments())],
        cwd=ROOT, env=environment() | {"TMPDIR": str(temporary)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        until(marker.exists, 60, "the query begins")
        begin = processor_seconds(process.pid)
        until(lambda: processor_seconds(process.pid) > begin + 0.5, 60, "the query runs in all threads")
        process.send_signal(number)
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    if number == signal.SIGTERM:
        assert process.returncode == 1 and "the night was ended by SIGTERM" in errors.splitlines()[-1]
        step = {"sources/price_guide": "build", "checks/two_builds": "gates"}[file]
        assert json.loads(output).items() >= {"outcome": "failed", "failed_step": step}.items()
        assert [*temporary.iterdir()] == []
    else:
        assert current_holder(place.store, layout.NIGHTLY_LOCK, utc_now) is None, "its process is gone"
    place.unchanged_by({live})
    place.ordinary_night()
