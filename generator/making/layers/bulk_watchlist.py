"""The layer `bulk-watchlist`: the bulk file `watchlist`, one row per tracked product and day."""

from edge_auth.builds import layer_names
from generator.lake.lake import Lake
from generator.making.bulk_files import CONSTANTS, write_entries, write_table
from generator.making.context import BuildContext
from generator.making.lake_tables import WATCH_SQL
from generator.making.layers.spec import LayerSpec, define_layer, one_task
from generator.pack.output import Inputs
from generator.pack.writer import Writer

RECIPE = 1
LAYER = layer_names.bulk_layer("watchlist")


def bulk_watchlist_layer(lake: Lake) -> LayerSpec:
    """Define the layer of the tracked products' days."""
    return define_layer(
        LAYER,
        one_task(LAYER, _bulk_watchlist, main_thread=True),
        recipe=RECIPE,
        sql=(*WATCH_SQL, "views/bulk_watchlist"),
        content={"watch": lake.content("watchlist", "watch_checks")},
        constants=CONSTANTS,
    )


def _bulk_watchlist(context: BuildContext, writer: Writer, inputs: Inputs) -> None:
    context.tables.open_watchlist()
    context.db.run("views/bulk_watchlist")
    write_entries(writer, [write_table(context.db, writer, "watchlist", "watchlist", ("slug", "day"))])
