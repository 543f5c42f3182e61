"""The layer `bulk-market`: the bulk file `market`, joined from the days in the layers of the market."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from edge_auth.builds import layer_names
from generator.making.bulk_files import CONSTANTS, write_entries, write_rows
from generator.making.context import BuildContext
from generator.making.layers.spec import LayerSpec, define_layer, one_task
from generator.making.market_chain import days_of
from generator.pack.writer import Inputs, Writer

RECIPE = 2
LAYER = layer_names.bulk_layer("market")
_SORTED_BY = ("game", "id_expansion", "day")
_GROUP = ["id_expansion", "game_folded"]
_COLUMNS = ["id_expansion", "game", "day", "value", "priced", "value_low", "priced_low", "index"]


def bulk_market_layer(market: list[LayerSpec]) -> LayerSpec:
    """Define the layer of the bulk file of the market."""
    digests = {layer.name: layer.digest for layer in market}
    return define_layer(
        LAYER,
        one_task(LAYER, _bulk_market, digests, after=digests),
        recipe=RECIPE,
        sql=("sources/products", "sources/expansions", "views/game_names", "views/bulk_market"),
        content={"layers": list(digests.values())},
        constants=CONSTANTS,
    )


def _bulk_market(context: BuildContext, writer: Writer, inputs: Inputs, digests: dict[str, str]) -> None:
    context.tables.open_game_names()
    days = pa.concat_tables(days_of(context, inputs, digests)).combine_chunks()
    write_entries(writer, [write_rows(writer, "market", _SORTED_BY, _in_order(context, days))])


def _in_order(context: BuildContext, days: pa.Table) -> pa.Table:
    """Return the rows of the bulk file.

    The days of a group in a layer lie side by side and ascend, so only these runs are sorted, which are few.
    """
    firsts = _firsts(days)
    numbered = days.select(_GROUP).take(pa.array(firsts)).append_column("run", pa.array(np.arange(len(firsts))))
    with context.db.registered(market_runs=numbered):
        runs = context.db.answer("views/bulk_market")
    run, sizes = runs["run"].to_numpy(), np.diff(firsts, append=len(days))
    sizes = sizes[run]
    starts = firsts[run] - np.cumsum(sizes) + sizes
    rows = days.take(pa.array(np.repeat(starts, sizes) + np.arange(len(days))))
    games = runs["game"].take(pa.array(np.repeat(np.arange(len(run)), sizes)))
    return rows.append_column("game", games).select(_COLUMNS)


def _firsts(days: pa.Table) -> NDArray[np.int64]:
    """Return the place of the first row of each run of days of a group."""
    changes = np.zeros(len(days), bool)
    changes[:1] = True
    for name in _GROUP:
        codes = days[name].combine_chunks().dictionary_encode().indices.fill_null(-1).to_numpy()
        changes[1:] |= codes[1:] != codes[:-1]
    changes[1:] |= np.diff(days["day"].cast(pa.int32()).to_numpy()) <= 0  # the next layer
    return np.flatnonzero(changes)
