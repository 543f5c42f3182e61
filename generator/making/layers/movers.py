"""The layer `movers`: the largest price moves, as lists over stored lines; see `edge_auth.builds.movers`."""

import json
from datetime import timedelta

import pyarrow as pa

from edge_auth.builds import layer_names
from edge_auth.builds.index import to_bytes
from edge_auth.builds.movers import FLOORS, LINES, LISTS, MAX_MOVERS, WEEK, WINDOWS
from generator.lake.lake import Lake
from generator.lake.tables import open_table
from generator.making.context import BuildContext
from generator.making.layers.spec import LayerSpec, define_layer, one_task
from generator.pack.writer import Inputs, Writer

RECIPE = 4
_MAX_AGE_DAYS = 3  # of a game's newest guide, and how much older than a window the price before may be
_GUIDE = "price_guide"


def movers_layer(lake: Lake) -> LayerSpec:
    """Define the layer of the price moves. It reads only the days of the price guide that a window can need."""
    return define_layer(
        layer_names.MOVERS,
        one_task(layer_names.MOVERS, _movers),
        recipe=RECIPE,
        sql=("sources/products", "sources/expansions", "views/market_price", "views/movers"),
        content={
            "catalogue": lake.content("products", "expansions"),
            "prices": _with_needed_days(lake).content(_GUIDE),
            "as of": [lake.as_of.isoformat()],
        },
        constants=(*WINDOWS.items(), *FLOORS, MAX_MOVERS),
    )


def _with_needed_days(lake: Lake) -> Lake:
    """Return the lake with only the days that a window can need: days of now, and days before each of them."""
    ages = [(0, _MAX_AGE_DAYS), *((days, days + 2 * _MAX_AGE_DAYS) for days in WINDOWS.values())]
    return lake.with_days({lake.as_of - timedelta(age) for first, last in ages for age in range(first, last + 1)})


def _movers(context: BuildContext, writer: Writer, inputs: Inputs) -> None:
    context.tables.open_catalogue()
    open_table(context.db, _GUIDE, _with_needed_days(context.lake).fetch(_GUIDE))
    context.db.run("views/market_price", "views/movers")
    lines = context.db.table("select line from mover_lines order by line_number")
    writer.add_file(f"{LINES}.arrow", to_bytes(lines))
    lists = context.db.table("select confirmed, key, size_ranks from mover_lists order by confirmed, key")
    writer.add_file(f"{LISTS}.arrow", to_bytes(_with_lines(context, lists)))
    week = context.db.table("from week_lists")
    writer.add_file(f"{WEEK}.json", json.dumps(week.to_pylist()[0]).encode())


def _with_lines(context: BuildContext, lists: pa.Table) -> pa.Table:
    """Return the lists with numbers of lines in place of the ranks by size."""
    line_of = context.db.table(
        "select coalesce(line_number, 0)::uinteger from candidates "
        'left join mover_lines using ("window", id_product) order by size_rank'
    )[0].to_numpy()
    ranks = lists["size_ranks"].combine_chunks()
    lines = pa.ListArray.from_arrays(ranks.offsets, pa.array(line_of[ranks.values.to_numpy() - 1]))
    return lists.drop_columns("size_ranks").append_column("lines", lines)
