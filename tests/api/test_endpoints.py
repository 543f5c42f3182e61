"""Every endpoint and layer has its places: documents, smoke test, diff, golden answers and random requests."""

import random
import re

import pytest

from edge_auth.api.blueprints import ENDPOINTS
from edge_auth.api.endpoint import API, Endpoint
from generator.nightly import steps
from generator.storage import bulk, layout
from generator.storage.builds import open_build
from generator.storage.stores.folder import FolderStore
from tests.api import test_golden
from tests.support import small_store
from tests.support.endpoints import endpoint_of
from tests.support.lakes import FIXED
from tests.support.oracle.oracle import route as oracle_route
from tests.support.service import ROOT
from tests.support.targets import Targets

OF_THE_STORE = {f"{API}changes", f"{API}changes/{{from}}...{{to}}"}  # tests/releases/test_changes.py asks for them
WITHOUT_DATA = {f"{API}me", f"{API}openapi.json", *OF_THE_STORE}
BULK_FILE = f"{API}bulk/{{name}}"
BULK = {f"{API}bulk", BULK_FILE}  # the bytes of files are the library's; tests/api/test_bulk.py reads them


def every_endpoint() -> dict[str, Endpoint]:
    """The endpoints of the API by path, without the pages of the site."""
    return {endpoint.path: endpoint for endpoint in ENDPOINTS}


def reached(targets: list[str]) -> set[str]:
    return {path for path in map(endpoint_of, targets) if path}


def table(document: str, head: str) -> str:
    """A table of a document, from its first heading cell on."""
    return (ROOT / document).read_text("utf-8").partition(f"\n| {head} |")[2].partition("\n\n")[0]


def test_requests_of_tests_reach_every_endpoint() -> None:
    with_data = set(every_endpoint()) - WITHOUT_DATA - BULK
    assert reached(Targets(FIXED, random.Random(1)).some(700)) >= with_data
    assert reached([f"{API}{target}" for target in test_golden.REQUESTS.values()]) >= with_data
    paths = {path.replace("{slug}", "a").replace("{idProduct}", "1") for path in with_data}
    assert [path for path in sorted(paths) if oracle_route(path)[0] is None] == []


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[FolderStore, str]:
    store = FolderStore(str(tmp_path_factory.mktemp("endpoints")))
    return store, small_store.add_build(store)


def test_the_smoke_test_reaches_every_endpoint(built: tuple[FolderStore, str], monkeypatch: pytest.MonkeyPatch) -> None:
    targets: list[str] = []
    monkeypatch.setattr(steps, "_check_answer", lambda _, target: targets.append(target))
    steps.smoke_test(*built)
    assert reached(targets) == set(every_endpoint()) - OF_THE_STORE - {f"{API}me", BULK_FILE}


def test_diff_and_documents_know_every_layer(built: tuple[FolderStore, str]) -> None:
    opened = open_build(*built).layers
    years_alone = {layout.sublayer(layout.MARKET, ""), layout.sublayer(layout.DAYS, "")}
    of_years = (layout.HISTORY, layout.SERIES, layout.EXTREMES, *years_alone)
    layers = {name for name in opened if not name.startswith(of_years) and not layout.holds_bulk_files(name)}
    put_together = {layout.CARDS, layout.LISTS}  # from other layers
    assert layers == set(layout.KEYED_LAYERS) - put_together
    documented = set(re.findall(r"^\| `([\w-]+)[<`]", table("docs/store.md", "layer"), re.MULTILINE))
    parts = {layout.sublayer(layout.BULK, part) for part in ("", *bulk.PART_OF_TABLE.values())}
    of_periods = (layout.HISTORY, layout.SERIES, layout.EXTREMES)
    periods = {layout.sublayer(layer, period) for layer in of_periods for period in ("", layout.OPEN_MONTH)}
    lists = layout.ROWS_PER_PAGE.keys() - {layout.WATCHLIST}  # alike, on one row
    assert documented == {*layers, *periods, *years_alone, *parts} - lists
