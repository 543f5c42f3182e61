"""The layer `bulk-catalogue`: the bulk files `products` and `sets`."""

from edge_auth.builds import layer_names
from generator.lake.lake import Lake
from generator.making.bulk_files import CONSTANTS, write_entries, write_table
from generator.making.context import BuildContext
from generator.making.layers.spec import LayerSpec, define_layer, one_task
from generator.pack.output import Inputs
from generator.pack.writer import Writer

RECIPE = 1
_TABLES = {"products": ("id_product",), "sets": ("id",)}  # what they are sorted by
LAYER = layer_names.bulk_layer("catalogue")


def bulk_catalogue_layer(lake: Lake) -> LayerSpec:
    """Define the layer of the products and expansions."""
    return define_layer(
        LAYER,
        one_task(LAYER, _bulk_catalogue),
        recipe=RECIPE,
        sql=("sources/products", "sources/expansions", "views/game_names", "views/bulk_catalogue"),
        content={"catalogue": lake.content("products", "expansions")},
        constants=CONSTANTS,
    )


def _bulk_catalogue(context: BuildContext, writer: Writer, inputs: Inputs) -> None:
    context.tables.open_catalogue()
    context.tables.open_game_names()
    context.db.run("views/bulk_catalogue")
    write_entries(
        writer, [write_table(context.db, writer, table, table, sorted_by) for table, sorted_by in _TABLES.items()]
    )
