"""One flipped byte in a file of the live build: a night makes its layer again, or the build before stays live."""

import json
import os
import shutil
from datetime import timedelta
from pathlib import Path

import pytest

from generator.compare.run_reports import read_past
from generator.storage.builds import live_build_id, open_build
from generator.storage.layout import damaged_name, record_name
from generator.storage.stores.folder import FolderStore
from tests.support.commands import run
from tests.support.lake_edits import rewrite
from tests.support.nights import DAYS, assert_whole, demo_lake, published
from tests.support.selection import mostly_thorough

pytestmark = [
    pytest.mark.xdist_group("nights"),
    pytest.mark.thorough,
]  # one process: the published builds are made once


PLACES = {
    "header": lambda size: min(9, size - 1),
    "middle": lambda size: size // 2,
    "footer": lambda size: -min(20, size),
}

# Each eighth of the files is damaged in one place; `make soak` damages each in all places.
EIGHTHS = [(n, place) for n in range(8) for at, place in enumerate(PLACES) if "NIGHTS" in os.environ or n % 3 == at]


def flip(file: Path, place: str = "middle") -> None:
    data = bytearray(file.read_bytes())
    data[PLACES[place](len(data))] ^= 1
    file.write_bytes(data)


def files_of_live_build(store: FolderStore, pattern: str) -> list[Path]:
    build = open_build(store, live_build_id(store))
    folders = {store.root / layer.folder for layer in build.layers.values()}
    named = store.root / record_name(build.id)
    return [file for file in sorted(store.root.glob(pattern)) if file.parent in folders or file == named]


def night(lake: Path, store: FolderStore, status: int = 0, reread_days: int = 1) -> tuple[dict, str]:
    """Run a night, which reads every layer again unless told otherwise. Return its report and what it said."""
    options = ("--no-pages", "--json", "--reread-days", reread_days)
    result = run("nightly", "--lake", lake, "--store", store.root, *options, status=status)
    return json.loads(result.stdout), result.stderr


def change_products(lake: Path) -> None:
    query = "select * replace (name || repeat(' II', (id_product = min(id_product) over ())::int) as name) from rows"
    rewrite(lake / "products.parquet", f"{query} order by id_product")


def test_a_damaged_build_of_a_week_before_is_passed_over(tmp_path: Path) -> None:
    store, _, ids = published(tmp_path, 7, 8)
    in_a_week = open_build(store, ids[0]).as_of + timedelta(days=7)
    week = read_past(store, in_a_week).week
    assert week and week.id == ids[0]
    [prices] = (store.root / week.layers["catalogue"].folder).glob("prices-*")
    flip(prices)
    assert read_past(store, in_a_week).week is None


def test_the_last_sound_build_is_compared_after_the_lake_has_changed(tmp_path: Path) -> None:
    store, lake, ids = published(tmp_path, 7, 8)
    demo_lake(lake, 9)
    for file in files_of_live_build(store, "layers/catalogue/*/sets-*"):
        flip(file)
    change_products(lake)
    report, said = night(lake, store)
    assert report["outcome"] == "published" and report["judgement"]["against"] == ids[0]
    assert f"{ids[1]} stays damaged, as lake or program have changed: compared with {ids[0]}\n" in said
    assert_whole(store)


def test_a_damaged_build_without_another_is_named_in_one_line(tmp_path: Path) -> None:
    store, lake, ids = published(tmp_path, 8)
    demo_lake(lake, 9)
    [file] = files_of_live_build(store, "layers/catalogue/*/sets-*")
    flip(file)
    change_products(lake)
    report, said = night(lake, store, status=1)
    assert live_build_id(store) == ids[0] and report["failed_step"] == "gates"
    last = said.splitlines()[-1]
    assert f"{file.relative_to(store.root)} differs from its recorded hash" in last
    assert f"`cardpress publish {report['build']} --store {store.location}` publishes it without gates" in last


def test_a_smoke_test_that_meets_damage_repairs_it_and_rolls_nothing_back(tmp_path: Path) -> None:
    store, lake, _ = published(tmp_path, 7, 8)
    demo_lake(lake, 9)
    for file in files_of_live_build(store, "layers/identifiers/*/rows-*"):  # the new build has this layer too
        flip(file)
    report, said = night(lake, store, reread_days=0)
    assert report["outcome"] == "published" and set(report["damaged"]) == {"identifiers"}
    assert "cannot be answered" in said and live_build_id(store) == report["build"]
    assert_whole(store)


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose live build has a closed year, and its lake, which has grown by a day since."""
    folder = tmp_path_factory.mktemp("damage")
    _, lake, _ = published(folder, DAYS - 2, DAYS - 1)
    demo_lake(lake, DAYS)
    return folder


@pytest.mark.parametrize("place", PLACES)
def test_a_file_that_no_library_can_open_is_made_again(place: str, origin: Path, tmp_path: Path) -> None:
    """The night reads no layer again: it meets the damage where it needs the file."""
    shutil.copytree(origin, tmp_path / "place")
    store = FolderStore(str(tmp_path / "place" / "store"))
    for pattern in ("layers/identifiers/*/rows-*", "layers/series-2025/*/prices-*", "layers/movers/*/l*-*"):
        for file in files_of_live_build(store, pattern):
            flip(file, place)
    report, said = night(tmp_path / "place" / "lake", store, reread_days=0)
    assert report["outcome"] == "published" and "Traceback" not in said
    if place == "footer":
        assert {"identifiers", "series-2025"} <= set(report["damaged"])
        assert_whole(store)


@pytest.mark.parametrize("content", mostly_thorough([b"", b"{"], b"{"), ids=["empty", "cut"])
@pytest.mark.parametrize("live", [False, True], ids=["an older build", "the live build"])
def test_a_damaged_record_is_set_aside(live: bool, content: bytes, tmp_path: Path) -> None:
    store, lake, ids = published(tmp_path, 7, 8)
    demo_lake(lake, 9)
    damaged = ids[1] if live else ids[0]
    (store.root / record_name(damaged)).write_bytes(content)
    found = run("doctor", "--store", store.root, status=1).stdout
    assert f"`cardpress {'rollback' if live else 'prune'} --store" in found
    report, said = night(lake, store)
    assert (report["outcome"], report["error"]) == ("published", None), said
    run("builds", "--store", store.root)
    run("report", "--store", store.root, "--out", tmp_path / "page.html")
    assert "records" not in run("doctor", "--store", store.root).stdout
    if not live:  # a night makes that of the live build again
        assert (store.root / damaged_name(damaged)).read_bytes() == content
        assert f"damaged records set aside: {damaged}" in said


@pytest.mark.parametrize(("part", "place"), EIGHTHS)
def test_one_byte_of_each_file_of_each_layer(part: int, place: str, origin: Path, tmp_path: Path) -> None:
    names = [
        file.relative_to(origin) for file in files_of_live_build(FolderStore(str(origin / "store")), "layers/*/*/*")
    ]
    for number, name in enumerate(names[part::8]):
        folder = tmp_path / str(number)
        shutil.copytree(origin, folder)
        flip(folder / name, place)
        store = FolderStore(str(folder / "store"))
        report, _ = night(folder / "lake", store)
        assert report["outcome"] == "published" and live_build_id(store) == report["build"], name
        assert_whole(store)
        shutil.rmtree(folder)
