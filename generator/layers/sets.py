"""The layer sets: `sets/{n}.json`, the Set list's pages of 1,000."""

from edge_auth.contract import names, pages
from generator.lake import Lake
from generator.layers.spec import LayerPlan, plan, whole
from generator.packs import Writer, members
from generator.tasks import Given
from generator.workshop import Workshop

RECIPE = 1
SQL = ("sources/products", "sources/expansions", "views/sets")


def plan_sets(lake: Lake) -> LayerPlan:
    """The layer of the expansions."""
    content = {"catalogue": lake.content("products", "expansions")}
    return plan(names.SETS, whole(names.SETS, _make), recipe=RECIPE, sql=SQL, content=content)


def _make(workshop: Workshop, writer: Writer, given: Given) -> None:
    workshop.open_catalogue()
    workshop.db.run("views/sets")
    rows = workshop.db.rows("select json from sets order by name_folded, id")
    writer.add(members(in_pages((json for (json,) in rows), pages.SETS_PER_PAGE, names.sets_page)))


def in_pages(items, per_page: int, key) -> list[tuple[str, bytes]]:
    """Items, each JSON text, as pages under their keys; an empty list is one empty page."""
    lines = [item.encode() for item in items]
    starts = range(0, max(len(lines), 1), per_page)
    return [(key(start // per_page), pages.join_page(lines[start : start + per_page])) for start in starts]
