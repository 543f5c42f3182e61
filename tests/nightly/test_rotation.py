"""Nights find and repair damage in layers that earlier nights made, and read a bounded share of them each night."""

import json
from pathlib import Path

import pytest

from generator.clock import utc_now
from generator.pack.verify import Rotation
from generator.storage.builds import live_build_id, open_build
from generator.storage.layers import Layer
from generator.storage.layout import LAST_READS
from generator.storage.stores.folder import FolderStore
from tests.support.commands import run
from tests.support.nights import DAYS, assert_whole, demo_lake, in_hours, published

pytestmark = [
    pytest.mark.xdist_group("nights"),
    pytest.mark.thorough,
]  # one process: the published builds are made once
SHARED = "history-2025"


@pytest.fixture
def year_turned(tmp_path: Path) -> tuple[FolderStore, Path]:
    """A store whose live build has a closed year, and its lake, which has grown by a day since."""
    store, lake, _ = published(tmp_path, DAYS - 1)
    return store, demo_lake(lake, DAYS)


def flip(store: FolderStore, pattern: str) -> Path:
    [file] = (store.root / "layers" / SHARED).glob(f"*/{pattern}")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    return file


def size(layer: Layer) -> int:
    return sum(file.size for file in (*layer.index.packs, *layer.index.files)) + 1


def night(lake: Path, store: FolderStore, *options: str) -> dict:
    return json.loads(run("nightly", "--lake", lake, "--store", store.root, "--json", "--no-pages", *options).stdout)


def test_a_night_that_meets_a_damaged_input_reads_everything(year_turned) -> None:
    store, lake = year_turned
    flip(store, "price_guide-*")
    report = night(lake, store, "--reread-days", "0")
    assert report["outcome"] == "published" and set(report["damaged"]) == {SHARED}
    assert_whole(store)


def test_everything_is_read_within_a_week_and_no_night_reads_much(year_turned) -> None:
    store, _ = year_turned
    layers = list(open_build(store, live_build_id(store)).layers.values())
    sizes = {layer.name: size(layer) for layer in layers}
    read: list[str] = []
    for day in range(7):
        rotation = Rotation(store, 7, in_hours(24 * day))
        assert rotation.damaged(layers) == {}
        assert rotation.bytes - sizes[rotation.read[-1]] <= sum(sizes.values()) / 7
        rotation.save(layers, [])
        read += rotation.read
        soon = Rotation(store, 7, in_hours(24 * day + 1))
        assert soon.damaged(layers) == {} and soon.read == [], "a second night of a day reads nothing"
    assert set(read) == set(sizes)
    assert set(json.loads(store.get(LAST_READS))) == {"", *(layer.folder for layer in layers)}


def test_after_missed_nights_more_is_read(year_turned) -> None:
    store, _ = year_turned
    layers = list(open_build(store, live_build_id(store)).layers.values())
    first = Rotation(store, 7, utc_now)
    first.damaged(layers)
    first.save(layers, [])
    later = Rotation(store, 7, in_hours(24 * 30))
    later.damaged(layers)
    assert set(later.read) == {layer.name for layer in layers}


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"layers/x/y/": 7}', b'{"": "yesterday"}'])
def test_a_damaged_record_of_reads_stops_nothing(content: bytes, year_turned) -> None:
    store, _ = year_turned
    store.put(LAST_READS, content)
    layers = list(open_build(store, live_build_id(store)).layers.values())
    rotation = Rotation(store, 7, utc_now)
    rotation.damaged(layers)
    assert rotation.read
