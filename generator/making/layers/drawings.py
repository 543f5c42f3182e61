"""The layer `drawings`: the pictures of products whose `image` names a drawing, as in the demo lake.

A lake names one as `/explore/drawn/<16 hex digits>.svg`. Lakes with other images have none, and the layer is empty.
"""

import pyarrow as pa

from edge_auth.builds import layer_names, site_files
from generator.drawings.design import Texts
from generator.drawings.svg import svgs, template
from generator.lake.lake import Lake
from generator.making.context import BuildContext
from generator.making.layers.spec import LayerSpec, define_layer, one_task
from generator.making.tasks import slices
from generator.pack.writer import Inputs, Member, Writer, compress_objects

RECIPE = 1
SQL = ("sources/products", "sources/expansions", "views/drawings")
_DRAWINGS_PER_THREAD = 500


def drawings_layer(lake: Lake) -> LayerSpec:
    """Define the layer of the drawn pictures."""
    return define_layer(
        layer_names.DRAWINGS,
        one_task(layer_names.DRAWINGS, _drawings),
        recipe=RECIPE,
        sql=SQL,
        content={"catalogue": lake.content("products", "expansions")},
        constants=(site_files.DRAWING_PREFIX, template("single"), template("sealed")),
    )


def _drawings(context: BuildContext, writer: Writer, inputs: Inputs) -> None:
    context.tables.open_catalogue()
    context.db.run("views/drawings")
    rows = context.db.table("select * from drawings order by image").combine_chunks()
    parts = (rows.slice(start, end - start) for start, end in slices(len(rows), _DRAWINGS_PER_THREAD))
    for members in context.in_order(_pictures, parts):
        writer.add(members)


def _pictures(rows: pa.Table) -> list[Member]:
    """Return the pictures of some rows, compressed. All pictures of a large lake are too much for one Arrow array."""
    name, set_, rarity, game, sealed = (_column(rows, field) for field in ("name", "set", "rarity", "game", "sealed"))
    pictures = svgs(Texts(name, set_, rarity, game), sealed).cast(pa.binary()).to_pylist()
    keys = [image.removeprefix("/") for image in rows["image"].to_pylist()]
    return compress_objects(zip(keys, pictures, strict=True))


def _column(rows: pa.Table, name: str) -> pa.Array:
    column = rows[name]
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)
