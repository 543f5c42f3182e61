"""The layer `names`: `names.json`, the names of all products, and `names/{game}.json`, those of each game."""

from edge_auth.builds import layer_names, object_keys
from generator.lake.lake import Lake
from generator.making.context import BuildContext
from generator.making.layers.spec import LayerSpec, define_layer, one_task
from generator.pack.output import Inputs
from generator.pack.writer import Writer, compress_objects

RECIPE = 1


def names_layer(lake: Lake) -> LayerSpec:
    """Define the layer of the names, which does not change with the prices."""
    return define_layer(
        layer_names.NAMES,
        one_task(layer_names.NAMES, _names),
        recipe=RECIPE,
        sql=("sources/products", "sources/expansions", "views/names"),
        content={"catalogue": lake.content("products", "expansions")},
    )


def _names(context: BuildContext, writer: Writer, inputs: Inputs) -> None:
    context.tables.open_catalogue()
    context.db.run("views/names")
    rows = context.db.rows("select game_folded, names from names order by game_folded nulls first")
    writer.add(compress_objects([(object_keys.names(game), names.encode()) for game, names in rows]))
