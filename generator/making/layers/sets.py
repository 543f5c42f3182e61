"""The layer `sets`: `sets/{n}.json`, the pages of the Set list."""

from functools import partial

from edge_auth.builds import layer_names, object_keys, pages
from generator.lake.lake import Lake
from generator.making.context import BuildContext
from generator.making.layers.shared import paged
from generator.making.layers.spec import LayerSpec, define_layer, one_task
from generator.pack.output import Inputs
from generator.pack.writer import Writer, compress_objects

RECIPE = 1
SQL = ("sources/products", "sources/expansions", "views/sets")


def sets_layer(lake: Lake) -> LayerSpec:
    """Define the layer of the expansions."""
    return define_layer(
        layer_names.SETS,
        one_task(layer_names.SETS, _sets),
        recipe=RECIPE,
        sql=SQL,
        content={"catalogue": lake.content("products", "expansions")},
        constants=(pages.SETS_PER_PAGE, pages.OPEN, pages.BETWEEN, pages.CLOSE),
    )


def _sets(context: BuildContext, writer: Writer, inputs: Inputs) -> None:
    context.tables.open_catalogue()
    context.db.run("views/sets")
    rows = context.db.rows("select json from sets order by set_name_folded, id")
    key = partial(object_keys.page_of_rows, layer_names.SETS)
    writer.add(compress_objects(paged((json for (json,) in rows), pages.SETS_PER_PAGE, key)))
