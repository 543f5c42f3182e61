"""A power cut at any moment of a night or an import: nothing that is named is lost, and the next night goes on."""

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from generator.lake.files import read_lock
from generator.lake.table_writer import LakeWriter
from generator.releases.change_documents import verify_steps
from generator.storage import layout
from generator.storage.builds import live_build_id
from generator.storage.stores.disk import sync_file_system
from generator.storage.stores.folder import FolderStore
from tests.nightly.test_nightly import night
from tests.support.commands import run
from tests.support.disks import mounted, new_disk, power_cuts
from tests.support.nights import assert_whole, demo_lake, in_hours, published

pytestmark = pytest.mark.xdist_group("nights")  # one process: the published builds are made once
DISK_BYTES = 48 << 20
MOMENTS = 20


def cut_nights(folder: Path, is_moment) -> tuple[list[Path], Path, str]:
    """Run a night whose power is cut at some moments. Return the images of its disk, its lake, and its build."""
    _, lake, _ = published(folder / "origin", 7, 8)
    with new_disk(folder / "disk.image", DISK_BYTES, folder / "disk") as disk:
        shutil.copytree(folder / "origin" / "store", disk / "store")
        sync_file_system(disk)
        demo_lake(lake, 9)
        with power_cuts(folder / "disk.image", disk, is_moment) as images:
            run("nightly", "--lake", lake, "--store", disk / "store", "--no-pages")
        return images, lake, live_build_id(FolderStore(str(disk / "store")))


@pytest.mark.thorough
def test_a_build_that_went_live_is_on_the_disk(tmp_path: Path) -> None:
    [image], _, build = cut_nights(tmp_path, lambda number, last: last.endswith(layout.POINTER))
    with mounted(image, tmp_path / "after") as disk:
        store = FolderStore(str(disk / "store"))
        assert live_build_id(store) == build
        assert_whole(store)
        assert verify_steps(store) == 2


@pytest.mark.thorough
def test_the_next_night_repairs_what_a_power_cut_left(tmp_path: Path) -> None:
    images, lake, _ = cut_nights(tmp_path, lambda number, last: number % 3 == 0)
    assert len(images) >= MOMENTS
    empty = set()
    for image in images:
        with mounted(image, tmp_path / f"after{image.suffix}") as disk:
            store = FolderStore(str(disk / "store"))
            assert_whole(store)
            empty |= {path.name for path in (disk / "store" / "layers").rglob("*") if path.stat().st_size == 0}
            assert night(lake, store, clock=in_hours(1)).succeeded
            assert_whole(store)
            verify_steps(store)
    assert "index.arrow" in empty, "these are states that a power cut leaves"


def test_an_import_is_on_the_disk_completely_or_not_at_all(tmp_path: Path) -> None:
    names = [f"price_guide/day=2026-01-0{day}/prices.parquet" for day in range(1, 4)]
    before, after = ({name: text.encode() * 9000 for name in names} for text in ("old", "new"))
    seen = []
    with new_disk(tmp_path / "disk.image", DISK_BYTES, tmp_path / "disk") as disk:
        writer = LakeWriter(str(disk / "lake"))
        for files, is_moment in ((before, lambda *_: False), (after, lambda *_: True)):
            with writer.locked(), power_cuts(tmp_path / "disk.image", disk, is_moment) as images:
                writer.write({name: pa.py_buffer(data) for name, data in files.items()})
        images.append(tmp_path / "disk.image")
    for image in images:
        with mounted(image, tmp_path / f"after{image.suffix}") as disk, read_lock(disk / "lake"):
            content = {name: (disk / "lake" / name).read_bytes() for name in names}
            assert content in (before, after)
            seen.append(content == after)
    assert len(seen) > 3 and seen[-1]
