"""Card details are put together from the lines of the Cards and the history, and never from damaged parts."""

import json
from pathlib import Path

import pytest

from generator.releases.change_documents import NOT_COMPARED
from generator.storage.builds import Build, open_build
from generator.storage.catalogue import PRICES_MARK
from generator.storage.errors import StoreError
from generator.storage.stores.folder import FolderStore
from tests.support import small_store
from tests.support.lakes import write
from tests.support.nights import make

pytestmark = pytest.mark.xdist_group("details")  # one process: what they share is made once


@pytest.fixture(scope="module")
def lake_rows():
    """Products of which every third has no row in the open month, and every second none in a closed year."""
    rows = small_store.rows(small_store.products(60))
    rows.price_guide[small_store.PRICE_DAY] = [
        row for place, row in enumerate(rows.price_guide[small_store.PRICE_DAY]) if place % 3
    ]
    rows.filtered_checks = {}
    return rows


@pytest.fixture(scope="module")
def made(tmp_path_factory, lake_rows) -> tuple[FolderStore, str]:
    folder = tmp_path_factory.mktemp("details")
    store = FolderStore(str(folder / "store"))
    return store, make(write(lake_rows, folder / "lake"), store)


@pytest.fixture
def build(made) -> Build:
    return open_build(*made)


@pytest.fixture
def own(made, tmp_path: Path) -> Build:
    """The build in a copy of the store, to be changed."""
    store, id_ = made
    copy = FolderStore(str(tmp_path / "own"))
    for name in store.list(""):
        copy.put(name, store.get(name))
    return open_build(copy, id_)


def _fails(build: Build, id_: int) -> None:
    for read in (lambda: build.card(id_), lambda: build.card_since(id_, "2020-01-01")):
        with pytest.raises(StoreError):
            read()


def test_a_torn_line_is_never_served(own):
    lines = own.catalogue.card_lines
    id_ = int(own.catalogue.ids[7])
    text = bytearray(lines._text)
    start = int(lines._starts[7])
    text[start + 20] ^= 1
    lines._text = memoryview(text)
    _fails(own, id_)
    assert own.card(int(own.catalogue.ids[8])) is not None


@pytest.mark.parametrize("period", ["open", "2025"])
def test_a_missing_part_of_the_history_is_never_left_out(own, period):
    index = own.periods[period].index
    ids = set(own.catalogue.ids.tolist())
    with_rows = {id_ for id_ in ids if index.find_id(id_)}
    [pack] = [name for name in own.store.list(f"layers/history-{period}/") if name.endswith(".jsonl.gz")]
    own.store.delete([pack])
    _fails(own, min(with_rows))
    assert own.card(min(ids - with_rows)) is not None


def test_prices_come_last_in_a_card(build):
    """The hash by which `publish` compares Cards is that of the text before the prices."""
    line = build.catalogue.card_lines.checked_line(0)
    first = PRICES_MARK.decode().strip(',":')
    members = list(json.loads(line))
    assert set(members[members.index(first) :]) == NOT_COMPARED - {"id_product"}
