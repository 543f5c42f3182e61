"""The layers of the market, and of its moves.

`market` and `market-<year>` have the sums and the index of each set and game on each day. `market-<year>`, of a closed
year, holds the points of its days, and in files what the next year's index begins from and the rows that later changes
need. So a night reads the year before alone. The index is a chain, so the digest of a year has that of the year before
it. `market` has the points of the open month, and the rows of /market.

The digest of a year has the groups of the singles that its price tables name: a new product without earlier prices
changes no closed year, and a product that changes its set changes the years in which it occurs and those after them.

`movers` has the largest price moves, as lists over stored lines. `generator.storage.market` describes what
the shim reads.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import cache, partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from generator.database import Database
from generator.lake.lake import Lake
from generator.lake.tables import open_table
from generator.making import market_chain
from generator.making.lake_tables import CATALOGUE, GAME_NAMES
from generator.making.layer import Period, PlannedLayer, Task, closed_periods, define_layer, open_month
from generator.making.plan import PRICES, NamedProducts, Plan
from generator.making.shared_tasks import GUIDE, SORTED_BY, month_tasks, task_names
from generator.making.work import BuildContext, Intermediate, Work, small_layer
from generator.storage import bodies, layout
from generator.storage.market import FLOORS, GROUPS, INDEXES, LINES, LISTS, MAX_MOVERS, WEEK, WINDOWS

RECIPE = 3
MEMBERS = "members"  # the input of a closed year: the groups of its singles
_SQL = (
    *("sources/products", "sources/expansions", "views/month_rows", "views/market_price", "views/market_guide"),
    *("views/market_members", "views/market_days", "views/market_kept", "views/market_points"),
)
_MOVERS_RECIPE = 4
_MAX_AGE_DAYS = 3  # of a game's newest guide, and how much older than a window the price before may be


def market_layers(context: BuildContext, named: NamedProducts) -> list[PlannedLayer]:
    """Define the layers of the closed years, oldest first, and of the open month."""
    lake, layers = context.lake, list[PlannedLayer]()
    groups = cache(partial(market_chain.market_groups, context))
    for period in closed_periods(lake):
        if lake.files_of(GUIDE, period.first, period.last):
            months = {month: content for month in period.months() if (content := month.content(lake))}
            members = _members(named, layout.sublayer(layout.MARKET, period.name), months, groups)
            layers.append(_closed_layer(lake, period, tuple(months), members, layers))
    return [*layers, _open_layer(lake, layers)]


def _members(
    named: NamedProducts, layer: str, months: dict[Period, list[str]], groups: Callable[[], market_chain.MarketGroups]
) -> str:
    """Return a hash of the groups of the singles that the price tables name in some months, perhaps a recorded one."""
    recorded = named.recorded(layer, MEMBERS)
    if recorded and all(named.unchanged(month, prices) for month, prices in months.items()):
        return recorded
    ids = [named.ids(month, prices) for month, prices in months.items()]
    return groups().digest(np.unique(np.concatenate(ids)))


def _closed_layer(
    lake: Lake, period: Period, months: tuple[Period, ...], members: str, before: list[PlannedLayer]
) -> PlannedLayer:
    spans, names = tuple(month.span for month in months), _names(before)
    return small_layer(
        lake,
        layout.sublayer(layout.MARKET, period.name),
        partial(_closed_year, year=period.name, months=spans, before=names),
        recipe=RECIPE,
        needs=(*(layout.sublayer(layout.BULK, span) for span in spans), *names),
        rows=sum(month.estimated_rows(lake) for month in months),
        sql=_SQL,
        content={PRICES: period.content(lake, GUIDE), MEMBERS: members, **_before(before)},
        constants=(bodies.BETWEEN,),
    )


def _open_layer(lake: Lake, before: list[PlannedLayer]) -> PlannedLayer:
    month = open_month(lake.as_of)
    return define_layer(
        layout.MARKET,
        partial(_open_tasks, month=month, before=_names(before)),
        recipe=RECIPE,
        sql=(*_SQL, "views/game_names", "views/market_rows", "views/market_indexes"),
        content={
            PRICES: month.content(lake, GUIDE),
            "catalogue": lake.content("products", "expansions"),
            **_before(before),
        },
        constants=(bodies.BETWEEN,),
    )


def _names(layers: list[PlannedLayer]) -> tuple[str, ...]:
    return tuple(layer.name for layer in layers)


def _before(layers: list[PlannedLayer]) -> dict[str, list[str]]:
    """Return the layer of the year before as an input; the digest of that one has those before it."""
    return {"years before": [layers[-1].digest] if layers else []}


def _open_tasks(plan: Plan, month: Period, before: tuple[str, ...]) -> Iterator[Task]:
    months = month_tasks(plan, month)
    yield from months
    needs = (*task_names(months), *plan.made_of(before))
    rows = sum(task.rows for task in months)
    yield Task(layout.MARKET, layout.MARKET, _open_month, (before,), needs, rows=rows)


def _closed_year(work: Work, year: str, months: tuple[str, ...], before: tuple[str, ...]) -> None:
    chain = market_chain.open_chain(work, before)
    guides = (work.file(layout.sublayer(layout.BULK, month), f"{GUIDE}-{month}") for month in months)
    days = _write_points(work, year, [chain.add(_market_guide(work, [guide])) for guide in guides])
    with work.db.registered(market_days=market_chain.with_kept(work, before, days)):
        work.add_parquet(market_chain.KEPT, work.db.answer("views/market_kept"))
    for stem, table in zip(market_chain.LAST, chain.last(), strict=True):
        work.add_parquet(stem, table)


def _open_month(work: Work, before: tuple[str, ...]) -> None:
    rows = _market_guide(work, work.intermediate_files(Intermediate.KNOWN_ROWS.of(GUIDE)))
    days = _write_points(work, layout.OPEN_MONTH, [market_chain.open_chain(work, before).add(rows)])
    work.tables.open(GAME_NAMES)
    members = work.db.answer("views/market_members")
    with work.db.registered(market_days=market_chain.with_kept(work, before, days), market_members=members):
        groups, indexes = work.db.answer("views/market_rows"), work.db.answer("views/market_indexes")
    work.add_parquet(INDEXES, indexes)
    # DuckDB leaves any bytes in the place of a null number; Arrow's own builders leave zeros.
    work.add_arrow(GROUPS, pa.Table.from_pylist(groups.to_pylist(), groups.schema))


def _market_guide(work: Work, files: Sequence[Path]) -> pa.Table:
    """Return the rows of sorted files with their market prices, by product and day."""
    work.tables.open_files("guide_rows", files)
    work.db.run("views/market_price")
    rows = work.db.answer("views/market_guide")
    return rows.sort_by([(name, "ascending") for name in SORTED_BY]) if len(files) > 1 else rows


def _write_points(work: Work, period: str, days: list[pa.Table]) -> pa.Table:
    """Write the days of a period, as a file and as objects. Return them with the index as it is shown."""
    with work.db.registered(market_chain=pa.concat_tables([market_chain.MARKET_DAYS.empty_table(), *days])):
        shown = work.db.answer("views/market_days")
    work.add_parquet(market_chain.DAYS, shown)
    with work.db.registered(market_days=shown):
        rows = work.db.answer("views/market_points").to_pylist()
    groups = [layout.market_group(row["id_expansion"], row["game_folded"]) for row in rows]
    keys = [layout.market_points(period, group) for group in groups]
    work.objects((key, row["points"].encode()) for key, row in zip(keys, rows, strict=True))
    return shown


def movers_layer(lake: Lake) -> PlannedLayer:
    """Define the layer of the price moves. It reads only the days of the price guide that a window can need."""
    return small_layer(
        lake,
        layout.MOVERS,
        _movers,
        CATALOGUE,
        content={"prices": _with_needed_days(lake).content(GUIDE), "as of": [lake.as_of.isoformat()]},
        sql=("views/market_price", "views/movers"),
        constants=(*WINDOWS.items(), *FLOORS, MAX_MOVERS),
        recipe=_MOVERS_RECIPE,
    )


def _with_needed_days(lake: Lake) -> Lake:
    """Return the lake with only the days that a window can need: days of now, and days before each of them."""
    ages = [(0, _MAX_AGE_DAYS), *((days, days + 2 * _MAX_AGE_DAYS) for days in WINDOWS.values())]
    return lake.with_days({lake.as_of - timedelta(age) for first, last in ages for age in range(first, last + 1)})


def _movers(work: Work) -> None:
    open_table(work.db, GUIDE, _with_needed_days(work.lake).fetch(GUIDE))
    work.db.run("views/market_price", "views/movers")
    lines = work.db.table("select line from mover_lines order by line_number")
    work.add_arrow(LINES, lines)
    lists = work.db.table("select confirmed, key, size_ranks from mover_lists order by confirmed, key")
    work.add_arrow(LISTS, _with_lines(work.db, lists))
    week = work.db.table("from week_lists")
    work.add_json(WEEK, week.to_pylist()[0])


def _with_lines(db: Database, lists: pa.Table) -> pa.Table:
    """Return the lists with numbers of lines in place of the ranks by size."""
    line_of = db.table(
        "select coalesce(line_number, 0)::uinteger from candidates "
        'left join mover_lines using ("window", id_product) order by size_rank'
    )[0].to_numpy()
    ranks = lists["size_ranks"].combine_chunks()
    lines = pa.ListArray.from_arrays(ranks.offsets, pa.array(line_of[ranks.values.to_numpy() - 1]))
    return lists.drop_columns("size_ranks").append_column("lines", lines)
