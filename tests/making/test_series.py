"""The weekly prices: their periods, and lakes of more than a year."""

import json
import random
import shutil
from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.lake.lake import open_lake
from generator.making.make import make_build
from generator.storage.builds import open_build
from generator.storage.layout import OPEN_MONTH
from generator.storage.market import weeks_by_period
from generator.storage.stores.folder import FolderStore
from generator.terminal import Progress
from generator.threads import ONE_THREAD
from tests.support.lakes import Rows, write
from tests.support.oracle import series
from tests.support.oracle.lake import OracleLake

DAYS = st.dates(date(2019, 1, 1), date(2032, 12, 31))
LAST = date(2026, 3, 5)
IDS = [3, 5, 8, 2**53 + 1]


@given(day=DAYS)
def test_a_night_within_a_month_changes_the_open_month_only(day: date) -> None:
    before, after = weeks_by_period(day.replace(day=1)), weeks_by_period(day)
    assert {**after, OPEN_MONTH: []}.items() <= {**before, OPEN_MONTH: []}.items()


@pytest.fixture(scope="module")
def long_lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fifteen months in which products lack prices on many days, in whole weeks, and in a whole year."""
    rng = random.Random(1)
    guide = {}
    for ago in sorted(rng.sample(range(460), 130)):
        day = LAST - timedelta(days=ago)
        known = [id_ for id_ in IDS if rng.random() < 0.8 and not (id_ == 5 and day.year == 2025)]
        guide[str(day)] = [
            {
                "id_product": id_,
                "trend": rng.choice((None, 0.0, 0.004, 1.005, 3200.0)),
                "trend_holo": rng.choice((None, 0.0, 1.0, 1.004, 4000.0)) if id_ > 5 else None,
            }
            for id_ in known
        ]
    products = [{"id_product": id_, "name": "x", "kind": "single"} for id_ in (*IDS, 9)]
    return write(Rows(products=products, price_guide=guide), tmp_path_factory.mktemp("series") / "lake")


@pytest.mark.parametrize("day", ["2026-03-05", "2025-12-03", "2026-01-04"])
@pytest.mark.thorough
def test_series_of_a_year(long_lake: Path, tmp_path: Path, day: str) -> None:
    store, progress = FolderStore(str(tmp_path)), Progress(quiet=True)
    lake = open_lake(str(long_lake), date.fromisoformat(day), progress)
    build = open_build(store, make_build(lake, store, resources=ONE_THREAD, progress=progress).id)
    ids = build.catalogue.ids.tolist()
    by_id = build.catalogue.by_id
    rows = zip(sorted(ids), build.series.prices(by_id), build.series.extremes(by_id), strict=True)
    found = [json.loads(b'{"id_product":%d,"trend":[%b]%b}' % row) for row in rows]
    expected = series.listed(OracleLake(long_lake, day), sorted(ids))
    assert build.series.weeks.decode() == str(expected["weeks"]).replace("'", '"').replace(" ", "")
    assert found == expected["data"]


def checked_extremes(lake: Path, store: FolderStore) -> list[dict]:
    """Build, compare the extremes of all products with the oracle's, and return them."""
    quiet = Progress(quiet=True)
    made = make_build(open_lake(str(lake), LAST, quiet), store, resources=ONE_THREAD, progress=quiet)
    build = open_build(store, made.id)
    found = [json.loads(b'{"id":0%b}' % text) for text in build.series.extremes(build.catalogue.by_id)]
    expected = series.listed(OracleLake(lake, str(LAST)), sorted(build.catalogue.ids.tolist()))["data"]
    extremes = [{"low": one["low"], "high": one["high"]} for one in expected]
    assert [{"low": one["low"], "high": one["high"]} for one in found] == extremes
    return extremes


def days_at(lake: Path, price: float) -> list[date]:
    """The days on which the last product has a market price."""
    return [day for day, found in series.prices(OracleLake(lake, str(LAST)), IDS[-1]).items() if float(found) == price]


@pytest.mark.thorough
def test_days_that_are_withdrawn_change_the_extremes(long_lake: Path, tmp_path: Path) -> None:
    """First the newest day of a highest price goes, then all days that have it, those of closed years too."""
    lake, store = shutil.copytree(long_lake, tmp_path / "lake"), FolderStore(str(tmp_path / "store"))
    highest = []
    for newest_only in (True, False, False):
        high = checked_extremes(lake, store)[-1]["high"]
        highest.append(high["price"])
        days = days_at(lake, high["price"])
        for day in [date.fromisoformat(high["day"])] if newest_only else days:
            shutil.rmtree(lake / "price_guide" / f"day={day}")
        assert newest_only or len(highest) > 2 or len({day.year for day in days}) > 1
    assert highest[0] == highest[1] > highest[2]


@pytest.mark.thorough
def test_days_that_are_corrected_change_the_extremes(long_lake: Path, tmp_path: Path) -> None:
    """A day of a closed year gets the highest price ever, then a lower one, then the lowest; so does a newer day."""
    lake, store = shutil.copytree(long_lake, tmp_path / "lake"), FolderStore(str(tmp_path / "store"))
    high = checked_extremes(lake, store)[-1]["high"]
    days = days_at(lake, high["price"])
    for day in (days[0], days[-1]):
        [file] = (lake / "price_guide" / f"day={day}").iterdir()
        table = pq.read_table(file)
        for price, end in ((9999.99, "high"), (2.0, None), (0.01, "low")):
            rows = [
                row | {"trend": price if row["id_product"] == IDS[-1] else row["trend"]} for row in table.to_pylist()
            ]
            pq.write_table(pa.Table.from_pylist(rows, table.schema), file)
            found = checked_extremes(lake, store)[-1]
            assert end is None or found[end] == {"day": str(day), "price": price}
            assert found["high"]["price"] == (price if end == "high" else high["price"])
