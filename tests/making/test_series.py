"""The weekly prices: their periods, and lakes of more than a year."""

import random
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edge_auth.builds.builds import open_build
from edge_auth.builds.layer_names import OPEN_MONTH
from edge_auth.builds.series import WEEKS, weeks_by_period, weeks_until
from edge_auth.store.folder import FolderStore
from generator.lake.lake import open_lake
from generator.making.make import make_build
from generator.terminal.progress import Progress
from tests.support.lakes import Rows, write
from tests.support.oracle import series
from tests.support.oracle.lake import OracleLake
from tests.support.selection import mostly_thorough

DAYS = st.dates(date(2019, 1, 1), date(2032, 12, 31))
LAST = date(2026, 3, 5)
IDS = [3, 5, 8, 2**53 + 1]


@given(day=DAYS)
def test_periods_hold_each_week_of_a_series_once(day: date) -> None:
    weeks = [week for of_period in weeks_by_period(day).values() for week in of_period]
    assert weeks == [weeks[0] + timedelta(7 * place) for place in range(len(weeks))]
    assert weeks[-WEEKS:] == weeks_until(day) and weeks[-1] <= day < weeks[-1] + timedelta(7)


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
        guide[str(day)] = [{"id_product": id_, "trend": rng.choice((None, 0.0, 1.005, 3200.0))} for id_ in known]
    products = [{"id_product": id_, "name": "x", "kind": "single"} for id_ in (*IDS, 9)]
    return write(Rows(products=products, price_guide=guide), tmp_path_factory.mktemp("series") / "lake")


@pytest.mark.parametrize("day", mostly_thorough(["2026-03-05", "2025-12-03", "2026-01-04"], "2026-03-05"))
def test_series_of_a_year(long_lake: Path, tmp_path: Path, day: str) -> None:
    store, progress = FolderStore(str(tmp_path)), Progress(quiet=True)
    lake = open_lake(str(long_lake), date.fromisoformat(day), progress)
    build = open_build(store, make_build(lake, store, threads=1, memory=None, progress=progress).id)
    ids = build.catalogue.ids.tolist()
    trends = [f"[{prices.decode()}]" for prices in build.series.prices(build.catalogue.by_id)]
    expected = series.listed(OracleLake(long_lake, day), sorted(ids))
    assert build.series.weeks.decode() == str(expected["weeks"]).replace("'", '"').replace(" ", "")
    assert trends == [str(one["trend"]).replace("None", "null").replace(" ", "") for one in expected["data"]]
