"""A store in which the version before wrote builds: they are served, compared, verified, rolled back to and pruned."""

import gzip
import json
from datetime import timedelta
from pathlib import Path

import pytest

from edge_auth.builds import layer_names, layout
from edge_auth.builds.builds import Build, open_build
from edge_auth.builds.cache import LruCache
from edge_auth.builds.card_lines import PRICES_MARK
from edge_auth.errors import StoreError
from edge_auth.live.open_build import OpenBuild
from edge_auth.store.folder import FolderStore
from generator.clock import utc_now
from generator.compare.changes import NOT_COMPARED, compare_cards
from generator.compare.comparison import compare
from generator.compare.diff import Diff
from generator.pack.verify import verify
from generator.releases.prune import RetentionRules, prune
from generator.releases.publish import publish
from generator.terminal.progress import Progress
from tests.support import small_store
from tests.support.commands import run
from tests.support.format_2 import as_format_2
from tests.support.lakes import write
from tests.support.nights import make

QUIET = Progress(quiet=True)
NAME_BUILD = ("status.json", "bulk.json")


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
def builds(tmp_path_factory, lake_rows) -> tuple[FolderStore, str, str]:
    """A store with a build of this version, and the same build as the version before wrote it."""
    folder = tmp_path_factory.mktemp("two-formats")
    store = FolderStore(str(folder / "store"))
    new = make(write(lake_rows, folder / "lake"), store)
    return store, as_format_2(store, new), new


@pytest.fixture
def both(builds) -> tuple[Build, Build]:
    store, old, new = builds
    return open_build(store, old), open_build(store, new)


@pytest.fixture
def own(builds, tmp_path: Path) -> tuple[FolderStore, str, str]:
    """A copy of the store, to be changed."""
    store, old, new = builds
    copy = FolderStore(str(tmp_path / "own"))
    for name in store.list(""):
        copy.put(name, store.get(name))
    return copy, old, new


def test_a_build_of_the_version_before_has_a_report(builds) -> None:
    store, old, _ = builds
    assert old in run("report", old, "--store", store.root).stdout


def test_details_have_the_rows_of_the_lake(both, lake_rows):
    guide = {day: {row["id_product"]: row for row in rows} for day, rows in lake_rows.price_guide.items()}
    lines = dict(zip(both[1].catalogue.ids.tolist(), range(60), strict=True))
    for id_, ordinal in lines.items():
        detail = json.loads(gzip.decompress(both[1].card(id_).member))
        expected = [(day, guide[day][id_]["low"]) for day in sorted(guide) if id_ in guide[day]]
        assert [(row["day"], row["low"]) for row in detail["history"]["price_guide"]] == expected
        del detail["history"]
        assert detail == json.loads(both[1].catalogue.card_lines.checked_line(ordinal))
    without = [id_ for id_ in lines if both[1].periods[layer_names.OPEN_MONTH].index.find_id(id_) is None]
    assert 5 < len(without) < 55


def test_both_formats_give_the_same_documents(both):
    old, new = both
    assert list(old.document_keys()) == list(new.document_keys())
    for id_ in [*new.catalogue.ids.tolist(), 123456, 2**70]:
        assert old.card(id_) == new.card(id_)
        assert old.card_since(id_, "2025-12-31") == new.card_since(id_, "2025-12-31")
    for key in new.document_keys():
        assert key in NAME_BUILD or old.document(key) == new.document(key), key


def test_the_shim_opens_both(both):
    for build in both:
        opened = OpenBuild(build, LruCache(1 << 20), lambda hit: None)
        opened.prepare()
        assert opened.prepared and len(opened.catalogue.card_lines) == 60


@pytest.mark.parametrize("back", [False, True])
def test_comparing_finds_no_difference(both, back):
    old, new = reversed(both) if back else both
    with compare(old, new, threads=1) as comparison:
        assert [(made.added, made.removed, made.changed) for made in compare_cards(comparison)] == [(0, 0, 0)] * 2
        diff = Diff(comparison, QUIET)
        counts = {counts.name: counts for counts in diff.resources()}
        assert (counts["cards"].added, counts["cards"].removed, counts["cards"].changed) == (0, 0, 0)
        assert counts["cards"].unchanged == 60
        layers = {layer.name: layer.unchanged for layer in diff.layers()}
        assert layers["cards"] == layers["history-open"] == 0


def _prune(store: FolderStore) -> None:
    prune(store, RetentionRules(keep=1, grace=timedelta(0)), clock=utc_now, wait=lambda seconds: None)


def test_a_rollback_reaches_the_older_build_and_a_prune_keeps_it_whole(own):
    store, old, new = own
    for id_ in (old, new):
        publish(store, id_, by_hand=True)
    run("rollback", "--store", store.root)
    assert json.loads(store.get("current.json"))["build"] == old
    publish(store, new, by_hand=True)
    _prune(store)
    for id_ in (old, new):
        verify(open_build(store, id_), QUIET)


def test_a_prune_deletes_the_layers_of_an_older_build(own):
    store, old, new = own
    publish(store, new, by_hand=True)
    _prune(store)
    assert layout.record_name(old) not in set(store.list("builds/")) and not list(store.list("layers/cards/"))
    verify(open_build(store, new), QUIET)


def _fails(build: Build, id_: int) -> None:
    for read in (lambda: build.card(id_), lambda: build.card_since(id_, "2020-01-01")):
        with pytest.raises(StoreError):
            read()


def test_a_torn_line_is_never_served(own):
    store, _, new = own
    build = open_build(store, new)
    lines = build.catalogue.card_lines
    id_ = int(build.catalogue.ids[7])
    text = bytearray(lines._text)
    start = int(lines._starts[7])
    text[start + 20] ^= 1
    lines._text = memoryview(text)
    _fails(build, id_)
    assert build.card(int(build.catalogue.ids[8])) is not None


@pytest.mark.parametrize("period", ["open", "2025"])
def test_a_missing_part_of_the_history_is_never_left_out(own, period):
    store, _, new = own
    build = open_build(store, new)
    index = build.periods[period].index
    ids = set(build.catalogue.ids.tolist())
    with_rows = {id_ for id_ in ids if index.find_id(id_)}
    [pack] = [name for name in store.list(f"layers/history-{period}/") if name.endswith(".jsonl.gz")]
    store.delete([pack])
    _fails(build, min(with_rows))
    assert build.card(min(ids - with_rows)) is not None


def test_prices_come_last_in_a_card(both):
    """The hash by which `publish` compares Cards is that of the text before the prices."""
    line = both[1].catalogue.card_lines.checked_line(0)
    first = PRICES_MARK.decode().strip(',":')
    members = list(json.loads(line))
    assert set(members[members.index(first) :]) == NOT_COMPARED - {"id_product"}
