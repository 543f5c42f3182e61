"""The layer `bulk-identifiers`: the bulk file `identifiers`, one row per product, scheme and value."""

from edge_auth.builds import layer_names
from generator.making.bulk_files import CONSTANTS, write_entries, write_table
from generator.making.context import BuildContext
from generator.making.layers.spec import LayerSpec, define_layer, one_task
from generator.pack.output import Inputs
from generator.pack.writer import Writer

RECIPE = 1
LAYER = layer_names.bulk_layer("identifiers")
_SORTED_BY = ("id_product", "scheme", "value")


def bulk_identifiers_layer(identifiers: LayerSpec) -> LayerSpec:
    """Define the layer of the bulk file, which changes when the layer of the identifiers does."""
    return define_layer(
        LAYER,
        one_task(LAYER, _bulk_identifiers),
        recipe=RECIPE,
        sql=("sources/identifiers", "views/bulk_identifiers"),
        content={"layers": [identifiers.digest]},
        constants=CONSTANTS,
    )


def _bulk_identifiers(context: BuildContext, writer: Writer, inputs: Inputs) -> None:
    context.tables.open_identifiers()
    context.db.run("views/bulk_identifiers")
    write_entries(writer, [write_table(context.db, writer, "identifiers", "identifiers", _SORTED_BY)])
