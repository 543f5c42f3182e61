"""Watch checks of closed months: their numbers are kept, and a build does not open their files again."""

import os
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from generator.errors import LakeError
from generator.lake.lake import open_lake
from generator.making.lake_tables import MIN_FILES
from generator.making.work import BuildContext
from generator.storage.stores.folder import FolderStore
from generator.threads import ONE_THREAD
from tests.support.lakes.rows import Row, Rows
from tests.support.lakes.writer import Plain, write

FIRST, CLOSED = date(2026, 1, 18), MIN_FILES + 10  # the last closed day is the last one of February
DAYS = [str(FIRST + timedelta(days=n)) for n in range(CLOSED)]
OPEN = ["2026-03-01", "2026-03-02"]


def _offer(price: float | None, comment: str) -> Row:
    return {"seller": "kaartenhoek", "condition": "NM", "quantity": "1", "price": price, "comment": comment}


def _checks(day: str, number: int) -> list[Row]:
    """A check with offers, one without, one of an unknown slug. One day has a second check of the same time as well."""
    check = {
        "slug": "a",
        "checked_at": f"{day}T10:00:00",
        "offer_list": [_offer(1 + number / 100, "b"), _offer(None, "")],
    }
    repeated = [
        {**check, "offer_list": [_offer(3.5, "c")]},
        {"slug": "late", "checked_at": f"{day}T09:00:00", "lowest_price": 2.5},
    ]
    return [
        check,
        {"slug": "a", "checked_at": f"{day}T12:00:00", "num_offers": 3},
        {"slug": "unknown", "checked_at": f"{day}T12:00:00", "lowest_price": 4.5},
        *(repeated if number == 3 else ()),
    ]


LAKE = Rows(
    products=[{"id_product": 1, "name": "Emberfox", "kind": "single"}],
    watchlist=[{"slug": slug, "name": slug, "url": f"https://market.example/{slug}"} for slug in ("a", "late")],
    watch_checks={day: _checks(day, number) for number, day in enumerate([*DAYS, *OPEN])},
)


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lake of files that are not new, and an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = write(LAKE, tmp_path / "lake")
    for file in folder.rglob("*.parquet"):
        os.utime(file, (1_700_000_000, 1_700_000_000))
    return folder


def _kept(lake: Path) -> list[Path]:
    return sorted((lake.parent / "cache" / "cardpress" / "summaries").glob("*"))


def _read(lake: Path) -> list[list[tuple[Any, ...]]]:
    """Return the checks as the layers of the tracked products read them."""
    store = FolderStore(str(lake.parent / "store"))
    with closing(BuildContext(open_lake(str(lake)), store, ONE_THREAD)) as context:
        context.tables.open_watchlist()
        tables = ("all_watch_checks", "watch_checks", "newest_watch_checks", "watch_days")
        return [context.db.rows(f"from {table} order by all") for table in tables]


def _file(lake: Path, day: str) -> Path:
    [file] = (lake / "watch_checks" / f"day={day}").iterdir()
    return file


def _damage(file: Path) -> None:
    """Overwrite a file so that its size, time and inode say that it did not change."""
    stat = file.stat()
    with file.open("r+b") as opened:
        opened.write(b"x" * stat.st_size)
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def _add_check(lake: Path, day: str) -> None:
    new = {"slug": "a", "checked_at": f"{day}T23:00:00", "offer_list": [_offer(7.5, "new")]}
    Plain().files("watch_checks", [*_checks(day, 0), new], lake / "watch_checks" / f"day={day}", "part")


def test_kept_summaries_give_the_same_checks(lake: Path) -> None:
    first = _read(lake)
    [kept] = _kept(lake)
    assert pq.read_metadata(kept).num_rows == 3 * len(DAYS) + 2
    assert _read(lake) == first
    assert _kept(lake) == [kept]
    good = kept.read_bytes()
    _damage(kept)
    assert _read(lake) == first, "damaged ones are not used"
    assert [path.read_bytes() for path in _kept(lake)] == [good]


@pytest.mark.thorough
def test_a_new_check_needs_no_file_of_a_closed_month(lake: Path) -> None:
    _read(lake)
    _add_check(lake, OPEN[-1])
    expected = _read(lake)
    _damage(_file(lake, DAYS[7]))
    assert _read(lake) == expected
    for kept in _kept(lake):
        kept.unlink()
    with pytest.raises(LakeError, match=DAYS[7]):
        _read(lake)


def test_a_correction_of_a_closed_month_is_read(lake: Path) -> None:
    first = _read(lake)
    _add_check(lake, DAYS[7])
    with_kept = _read(lake)
    for kept in _kept(lake):
        kept.unlink()
    assert first != with_kept == _read(lake)
