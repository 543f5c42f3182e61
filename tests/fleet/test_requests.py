"""What nights and answers cost in requests: bounds that docs/s3.md multiplies with prices."""

from pathlib import Path

import pytest

from generator.storage.builds import live_build_id, open_build
from generator.storage.stores.open import open_store
from tests.fleet.counting import counted, during
from tests.support.fleet import make
from tests.support.nights import demo_lake
from tests.support.s3_proxy import Proxy
from tests.support.s3_servers import S3Server
from tests.support.service import run

# Besides its layers' files a night writes: the server's trial (4), its report, two intents, the record, the verdict of
# the gates, the pointer.
WRITES_BESIDES = 16


@pytest.fixture
def store(s3: S3Server) -> str:
    return f"s3://{s3.bucket()}/store"


@pytest.mark.thorough
def test_a_night_writes_each_file_once_and_little_else(store: str, proxy: Proxy, tmp_path: Path) -> None:
    lake = demo_lake(tmp_path / "lake", 5)
    make(lake, store)
    before = set(open_store(store).list("layers/"))
    demo_lake(lake, 6)
    no_tree = ("--objects", "none")  # whose objects are a PUT each
    begun = len(proxy.requests)
    run("nightly", "--lake", lake, "--store", store, *no_tree)
    # A lock is renewed as long as the night takes.
    night = counted([line for line in proxy.requests[begun:] if ".lock" not in line], polls=True)
    files = set(open_store(store).list("layers/")) - before
    same = 9  # rankings of a small catalogue that are equal may be sent at the same moment
    assert len(files) <= night["PUT"] <= len(files) + WRITES_BESIDES + same, night
    opened = open_store(store)
    layers = open_build(opened, live_build_id(opened)).layers
    # A layer is listed to see whether it is there, whether another run wrote it, and by the prune.
    assert night["LIST"] + night["POST"] <= 3 * len(layers), night


@pytest.mark.thorough
def test_an_export_reads_packs_in_blocks(store: str, proxy: Proxy, tmp_path: Path) -> None:
    make(demo_lake(tmp_path / "lake", 5, 200), store)
    reading = during(proxy, lambda: run("export", tmp_path / "tree", "--store", store))
    cards = len(list((tmp_path / "tree/api/v1/cards").glob("[0-9]*.json")))
    assert cards >= 150 and sum(reading.values()) < cards, (cards, reading)
