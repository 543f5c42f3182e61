"""The layers over the days of a price table: the histories of Cards, weekly prices, and highs and lows.

`history/<period>/{id}.json`, for each closed year and for the open month: a product without rows in a period has no
object in its layer. The layer of a closed period also has the newest row of each product per price table. On the first
night of a month the year before it grows by a month: its layer is made from the one without that month, if the store
has it, with the same bytes as from the lake.

`series-<period>` has the weekly prices of the products. `extremes-<period>` has the lowest and the highest market price
of each product, and on which days. That of a closed year is over its own days, so that it changes with its prices
alone. That of the open month is over all days up to the as-of day: its own days and what the closed years have. So a
night reads a row for each product and year, and a corrected or withdrawn day makes its year anew.
`generator.storage.market` describes what the shim reads of both.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from generator.database import Database
from generator.errors import DamageError
from generator.lake.files import PRICE_TABLES
from generator.lake.lake import Lake
from generator.lake.tables import open_table
from generator.making.lake_tables import HISTORY_CONSTANTS, HISTORY_SQL
from generator.making.layer import Period, PlannedLayer, ProductRange, Task, closed_periods, define_layer, open_month
from generator.making.plan import Plan
from generator.making.shared_tasks import GUIDE, month_tasks, newest_task_name, open_history, task_names
from generator.making.work import Intermediate, Work, small_layer
from generator.storage import bodies, layout
from generator.storage.errors import DamagedObject
from generator.storage.layers import Layer, map_table, text_column
from generator.storage.market import EXTREMES, PRICES, TO_SUNDAY, weeks_by_period
from generator.storage.splice import decode_fragments, encode_fragments

_ROWS_PER_CHUNK = 366_000  # of an array, if each product has one every day
_ROWS_PER_ARROW_CHUNK = 10_000_000  # more than a chunk has, so that no text is copied into one column
_DAY_BITS = 32  # of a key of product and day
_ROWS_PER_GROUP = 25_000  # of newest rows: a range of products reads little beyond its own
RECIPE = 3
_SERIES_RECIPE = 1
_EXTREMES_RECIPE = 1
_NO_EXTREMES = pa.schema(
    {"id_product": pa.int64(), "low": pa.int64(), "low_day": pa.date32(), "high": pa.int64(), "high_day": pa.date32()}
).empty_table()


def _rows_of_array(db: Database, array: str, ids: NDArray[np.int64]) -> list[bytes]:
    """Return for each of some sorted ids its rows of an array, joined by `bodies.BETWEEN`.

    For the ids 7 and 9, of which 9 has none: [b'{"day":"2026-01-01","low":1.5},\\n{"day":"2026-01-02","low":1.6}', b'']
    """
    found = db.connection.sql(f"from history_{array} where id_product between {ids[0]} and {ids[-1]}")
    rows = found.to_arrow_table(_ROWS_PER_ARROW_CHUNK).combine_chunks()
    place = np.searchsorted(ids, rows["id_product"].to_numpy())
    key = (place << _DAY_BITS) + rows["day"].cast(pa.int32()).to_numpy()
    if (key[1:] < key[:-1]).any():  # of several files, each in order: many times faster than an order by in SQL
        rows = rows.take(pa.array(np.argsort(key, kind="stable")))
    lines, offsets = text_column(rows, "line")
    text = lines.data
    cuts = offsets[np.append(0, np.cumsum(np.bincount(place, minlength=len(ids))))].tolist()
    return [bytes(text[start : max(start, end - len(bodies.BETWEEN))]) for start, end in itertools.pairwise(cuts)]


def _after(earlier: Layer, ids: list[int], rows: Iterable[Sequence[bytes]]) -> Iterator[list[bytes]]:
    """Yield for each product the rows of its arrays in a layer, and after them those of later months."""
    known = {id_: entry for id_ in ids if (entry := earlier.index.find_id(id_))}
    try:
        members = dict(zip(known, map(earlier.read_member, known.values()), strict=True))
    except DamagedObject as error:
        raise DamageError(f"{error}: `cardpress build --repair` builds damaged layers again") from error
    for id_, later in zip(ids, rows, strict=True):
        before = decode_fragments(members[id_]) if id_ in members else [b""] * len(later)
        yield [bodies.BETWEEN.join(filter(None, texts)) for texts in zip(before, later, strict=True)]


def history_layer(lake: Lake, period: Period) -> PlannedLayer:
    return _define(lake, period.name, period, partial(_closed_period, period=period))


def open_month_layer(lake: Lake) -> PlannedLayer:
    """Define the layer of the open month, which each night makes anew."""
    month = open_month(lake.as_of)
    return _define(lake, layout.OPEN_MONTH, month, partial(_open_month, month=month))


def _define(lake: Lake, name: str, period: Period, tasks: Callable[[Plan], Iterable[Task]]) -> PlannedLayer:
    return define_layer(
        layout.sublayer(layout.HISTORY, name),
        tasks,
        recipe=RECIPE,
        sql=HISTORY_SQL,
        content={"prices": period.content(lake)},
        constants=HISTORY_CONSTANTS,
    )


def _open_month(plan: Plan, month: Period) -> Iterator[Task]:
    months = month_tasks(plan, month)
    yield from months
    # Many small objects: two threads that encode them would wait for each other.
    yield from _range_tasks(
        plan, layout.sublayer(layout.HISTORY, layout.OPEN_MONTH), months, month, len(month), main_thread=True
    )


def _closed_period(plan: Plan, period: Period) -> Iterator[Task]:
    with_rows = [month for month in period.months() if month.content(plan.lake)]
    earlier, later = plan.stored_part(with_rows, lambda month: history_layer(plan.lake, period.until(month)))
    months = [task for month in later for task in month_tasks(plan, month)]
    yield from months
    layer, needs = layout.sublayer(layout.HISTORY, period.name), task_names(months)
    yield Task(newest_task_name(layer), layer, _newest, (earlier,), needs, rows=len(months) * plan.products)
    yield from _range_tasks(plan, layer, months, period, sum(map(len, with_rows)), earlier=earlier)


def _range_tasks(
    plan: Plan,
    layer: str,
    months: list[Task],
    period: Period,
    days: int,
    main_thread: bool = False,
    earlier: str | None = None,
) -> Iterator[Task]:
    needs, rows, ranges = task_names(months), sum(task.rows for task in months), plan.history_ranges(period)
    products = sum(ids.count for ids in ranges)
    for ids in ranges:
        yield Task(
            f"{layer} {ids}",
            layer,
            _history,
            (ids, days, earlier),
            needs,
            objects=ids.count,
            rows=rows * ids.count // max(products, 1),
            main_thread=main_thread,
        )


def _newest(work: Work, earlier: str | None) -> None:
    """Write the newest row of each product as one Parquet file per price table."""
    for table in PRICE_TABLES:
        months = work.intermediate_files(Intermediate.NEWEST_ROWS.of(table))
        before = [work.file(work.layer, table, earlier)] if earlier else []
        work.tables.open_files(f"months_{table}", [*before, *months])
    work.db.run("views/period")
    for table in PRICE_TABLES:
        rows = work.db.table(f"from newest_in_period_{table} order by id_product")
        work.add_parquet(table, rows, _ROWS_PER_GROUP)
        work.db.connection.execute(f"drop table newest_in_period_{table}")


def _history(work: Work, ids: ProductRange, days: int, earlier: str | None) -> None:
    """Write the histories of products in the order of their ids, a chunk of products at a time.

    Args:
        days: The most rows that a product has in an array.
        earlier: The digest of the layer with the histories of the months before, or None.
    """
    open_history(work)
    products = work.db.table(f"from history_products where {ids.condition} order by id_product")[0].to_numpy()
    layer = work.context.layers.open(work.layer, earlier) if earlier else None
    if layer:
        products = np.union1d(products, layer.index.ids_between(ids.first, ids.last))
    step = max(1, _ROWS_PER_CHUNK // days)
    for start in range(0, len(products), step):
        chunk = products[start : start + step]
        arrays = zip(*(_rows_of_array(work.db, array, chunk) for array in bodies.HISTORY_ARRAYS), strict=True)
        rows = _after(layer, chunk.tolist(), arrays) if layer else arrays
        work.add((id_, *encode_fragments(texts)) for id_, texts in zip(chunk.tolist(), rows, strict=True))


def series_layers(lake: Lake) -> Iterator[PlannedLayer]:
    """Define the layers of the weekly prices. A closed year without prices has none."""
    for name, weeks in weeks_by_period(lake.as_of).items():
        is_open = name == layout.OPEN_MONTH
        days = Period(name, weeks[0], lake.as_of if is_open else weeks[-1] + TO_SUNDAY)
        content = lake.content(GUIDE, first=days.first, last=days.last)
        if content or is_open:
            yield small_layer(
                lake,
                layout.sublayer(layout.SERIES, name),
                partial(_series, days=days, weeks=len(weeks)),
                recipe=_SERIES_RECIPE,
                sql=("views/market_price", "views/series"),
                content={"prices": content, "weeks": list(map(date.isoformat, weeks))},
                rows=days.estimated_rows(lake),
            )


def _series(work: Work, days: Period, weeks: int) -> None:
    open_table(work.db, GUIDE, work.lake.fetch(GUIDE, days.first, days.last))
    work.db.set(first_week=days.first.isoformat(), weeks=weeks)
    work.db.run("views/market_price", "views/series")
    work.add_arrow(PRICES, work.db.table("from series order by id_product"))


def extremes_layers(lake: Lake) -> list[PlannedLayer]:
    """Define the layers of the closed years, oldest first, and of the open month. A year without prices has none."""
    closed = [
        _extremes_layer(lake, period.name, period, []) for period in closed_periods(lake) if period.content(lake, GUIDE)
    ]
    return [*closed, _extremes_layer(lake, layout.OPEN_MONTH, open_month(lake.as_of), closed)]


def _extremes_layer(lake: Lake, name: str, days: Period, before: list[PlannedLayer]) -> PlannedLayer:
    layer, years = layout.sublayer(layout.EXTREMES, name), tuple(year.name for year in before)
    is_open = name == layout.OPEN_MONTH
    return define_layer(
        layer,
        partial(_extremes_of_all, month=days, years=years) if is_open else partial(_extremes_of_year, year=days),
        recipe=_EXTREMES_RECIPE,
        sql=("views/market_price", "views/extremes"),
        content={"prices": days.content(lake, GUIDE), "years before": [year.digest for year in before]},
    )


def _extremes_of_all(plan: Plan, month: Period, years: tuple[str, ...]) -> Iterable[Task]:
    layer = layout.sublayer(layout.EXTREMES, layout.OPEN_MONTH)
    yield Task(layer, layer, _extremes, (month, years), plan.made_of(years))


def _extremes_of_year(plan: Plan, year: Period) -> Iterable[Task]:
    with_rows = [month for month in year.months() if month.content(plan.lake, GUIDE)]
    until = partial(_extremes_until, plan.lake, year)
    earlier, later = plan.stored_part(with_rows, until)
    layer, days = layout.sublayer(layout.EXTREMES, year.name), Period(year.name, later[0].first, year.last)
    yield Task(layer, layer, _extremes, (days, (layer,) if earlier else (), earlier))


def _extremes_until(lake: Lake, year: Period, month: Period) -> PlannedLayer:
    return _extremes_layer(lake, year.name, year.until(month), [])


def _extremes(work: Work, days: Period, before: tuple[str, ...], earlier: str | None = None) -> None:
    """Write the extremes of some days and of the layers before; `earlier` is the digest of one of no build."""
    open_table(work.db, GUIDE, work.lake.fetch(GUIDE, days.first, days.last))
    work.db.run("views/market_price")
    files = (work.file(layer, EXTREMES, earlier) for layer in before)
    with work.db.registered(extremes_before=pa.concat_tables([_NO_EXTREMES, *map(map_table, files)])):
        work.add_arrow(EXTREMES, work.db.answer("views/extremes"))
