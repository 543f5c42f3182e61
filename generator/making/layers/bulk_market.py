"""The layer `bulk-market`: the bulk file `market`, joined from the days in the layers of the market."""

import pyarrow as pa

from edge_auth.contract import layer_names
from generator.making.bulk_files import CONSTANTS, write_entries, write_table
from generator.making.context import BuildContext
from generator.making.layers.spec import LayerSpec, define_layer
from generator.making.market_files import days_of
from generator.making.tasks import BuildScope, Task
from generator.pack.output import Inputs
from generator.pack.writer import Writer

RECIPE = 1
LAYER = layer_names.bulk_layer("market")


def bulk_market_layer(market: list[LayerSpec]) -> LayerSpec:
    """Define the layer of the bulk file of the market."""
    digests = {layer.name: layer.digest for layer in market}
    return define_layer(
        LAYER,
        lambda scope: [_task(scope, digests)],
        recipe=RECIPE,
        sql=("sources/products", "sources/expansions", "views/game_names", "views/bulk_market"),
        content={"layers": list(digests.values())},
        constants=CONSTANTS,
    )


def _task(scope: BuildScope, digests: dict[str, str]) -> Task:
    needs = tuple(name for name in digests if name in scope.missing)
    return Task(LAYER, LAYER, _bulk_market, (digests,), needs)


def _bulk_market(context: BuildContext, writer: Writer, inputs: Inputs, digests: dict[str, str]) -> None:
    context.tables.open_game_names()
    with context.db.registered(market_days=pa.concat_tables(days_of(context, inputs, digests))):
        context.db.run("views/bulk_market")
        write_entries(writer, [write_table(context.db, writer, "market", "market", ("game", "id_expansion", "day"))])
