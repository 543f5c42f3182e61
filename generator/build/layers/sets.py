"""The layer sets: `sets/{n}.json`, the Set list's pages of 1,000."""

from edge_auth.contract import names, pages
from generator.build.context import BuildContext
from generator.build.layers.spec import LayerSpec, define_layer, whole
from generator.lake.lake import Lake
from generator.pack.output import Inputs
from generator.pack.writer import Writer, members

RECIPE = 1
SQL = ("sources/products", "sources/expansions", "views/sets")


def sets_layer(lake: Lake) -> LayerSpec:
    """The layer of the expansions."""
    content = {"catalogue": lake.content("products", "expansions")}
    return define_layer(names.SETS, whole(names.SETS, _make), recipe=RECIPE, sql=SQL, content=content)


def _make(context: BuildContext, writer: Writer, inputs: Inputs) -> None:
    context.open_catalogue()
    context.db.run("views/sets")
    rows = context.db.rows("select json from sets order by name_folded, id")
    writer.add(members(in_pages((json for (json,) in rows), pages.SETS_PER_PAGE, names.sets_page)))


def in_pages(items, per_page: int, key) -> list[tuple[str, bytes]]:
    """Items, each JSON text, as pages under their keys; an empty list is one empty page."""
    lines = [item.encode() for item in items]
    starts = range(0, max(len(lines), 1), per_page)
    return [(key(start // per_page), pages.join_page(lines[start : start + per_page])) for start in starts]
