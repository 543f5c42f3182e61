"""The differences between two builds: a report as an HTML page or as text, or all of them as JSON.

The report has sentences, counts and the first rows of each list. Its size is bounded by the number of rows of a list,
not by the size of the builds. docs/diff.md describes the JSON document.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from generator.compare.diff import PERCENT_FLOOR_EUROS, Diff
from generator.compare.documents import DocumentChanges, ExportedTree
from generator.compare.ordinary import (
    FigureRow,
    NightComparison,
    compare_night,
    count_differences,
    strange_by_gates,
    title,
)
from generator.lake.quarantine import held_games
from generator.reading import page
from generator.reading.overview import some

PRICES = {"trend": "Trend", "low": "Low", "filtered": "Lowest under the seller filter"}
# What nearly every night changes: the members of a Card with prices, and the watchlist.
_DAILY = re.compile(r"products (price_guide|listing|filtered_price)\b|watchlist ")
_PRODUCT: page.Column = ("Product", page.product)
_OLD, _NEW, _CHANGE = page.euros("Old", "old"), page.euros("New", "new"), page.signed("Change", "change")
_MOVE = (_OLD, _NEW, _CHANGE, page.signed("Percent", "change_pct"))
_FOUR = [
    ("Name", lambda row: page.what(row["name"])),
    *page.counts("added", "removed", "changed"),
    ("The same", lambda row: page.number(row["unchanged"])),
]

FORMAT = 2
_COUNT_VIEWS = ("item_counts", "field_counts", "price_counts", "distribution", "identifiers")
_BATCH_ROWS = 10_000
# The rows of `build/diff/json_lists.sql` that each list of the document holds.
_LISTS: dict[str, str | dict[str, str]] = {
    "objects": "json_objects order by layer_place(resource), id, key",
    "products": {
        "added": "json_products where list = 'added' order by id",
        "removed": "json_products where list = 'removed' order by id",
        "renamed": "json_renamed_products order by id",
        "moved": "json_moved_products order by id",
        "changed": "json_changes where resource = 'products' order by id",
    },
    "prices": {
        name: f"json_prices where list = '{name}' order by key desc, id" for name in ("moves", "appeared", "went")
    },
    **{
        resource: {
            "added": f"json_items where list = 'added' and resource = '{resource}' order by id, key",
            "removed": f"json_items where list = 'removed' and resource = '{resource}' order by id, key",
            "changed": f"json_changes where resource = '{resource}' order by id, key",
        }
        for resource in ("sets", "watchlist", "fingerprints")
    },
    "fingerprint_index": "json_changes where resource = 'fingerprint index' order by key",
}


def as_html(diff: Diff, top: int, build_report: str | None = None) -> str:
    """Return the page with the first `top` rows of each list, and a link to the newer build's report."""
    night, head, groups = _content(diff, top)
    builds = diff.old, diff.new
    days = [build.as_of.isoformat() for build in builds]
    return page.render(
        "diff",
        ids=[build.id for build in builds],
        names=days if days[0] != days[1] else [build.id for build in builds],
        top=top,
        night=night,
        head=head,
        groups=groups,
        sets=sorted({row.set for group in groups for one in group.tables for row in one.rows if row.set}),
        build_report=build_report,
    )


def as_text(diff: Diff, top: int) -> Iterator[str]:
    """Yield the lines of the same for a terminal."""
    yield f"{diff.old.id} → {diff.new.id}"
    night, head, groups = _content(diff, top)
    if not groups:
        yield "Nothing differs"
        return
    yield night.sentence
    yield from (f"  {message}" for message in night.more)
    yield from page.all_lines(head)
    for group in groups:
        yield from ("", group.title)
        yield from page.all_lines(group.tables)


def _content(diff: Diff, top: int) -> tuple[NightComparison, Sequence[page.Table], Sequence[page.PageGroup]]:
    """Return the figures of the night, the tables at the head, and the groups; no group if the builds are the same."""
    views, layers, resources, new = _Views(diff, top), diff.layers(), diff.resources(), diff.new
    held = held_games(new.store, new.record)
    strange = [*([held] if held else []), *strange_by_gates(new.store, new.id, diff.old.id)]
    night = compare_night(new.store, new.as_of, count_differences(diff.comparison), strange)
    if not any(count["added"] or count["removed"] or count["changed"] for count in (*layers, *resources)):
        return night, [], []
    fields = views.all("field_counts")
    daily = [row for row in fields if _DAILY.match(f"{row['resource']} {row['field']}")]
    large = [row for row in fields if row not in daily]
    large.sort(key=lambda row: int(row["changed"] + row["appeared"] + row["went"]), reverse=True)
    groups = [
        page.PageGroup("Prices", some(_move_tables(views))),
        *(page.PageGroup(name, some(_price_tables(views, price))) for price, name in PRICES.items()),
        page.PageGroup("Products, sets, watchlist, fingerprints", some(_other_tables(views))),
        page.PageGroup("Counts", some(_count_tables(views, layers, resources, daily))),
    ]
    note = (
        "The fields beside prices and the watchlist: in how many items of both builds the value changed, "
        "appeared (was null) or went (is null)."
    )
    head = [figures_table(night), *some([_fields_table("What else is large", note, large)])]
    return night, head, [group for group in groups if group.tables]


class _Views:
    def __init__(self, diff: Diff, top: int):
        self.db, self.top = diff.db, top

    def all(self, query: str) -> list[page.Record]:
        rows: list[page.Record] = self.db.table(f"from {query}").to_pylist()
        return rows

    def list(
        self, name: str, query: str, columns: Sequence[page.Column], said: str, by: str = "first", css: str = "sortable"
    ) -> page.Table:
        """Return the table of the first rows of a list."""
        [(total,)] = self.db.rows(f"select count(*) from (from {query})")
        rows = self.all(f"{query} limit {self.top}")
        more = f"; the {by} {len(rows):,} are shown" if len(rows) < total else ""
        return page.table(name, columns, rows, f"{total:,} {said}{more}.", css)


def figures_table(night: NightComparison) -> page.Table:
    """Return the unusual figures of a night, then those that are not 0, beside the same of earlier nights."""

    def figure(row: page.Record) -> page.Cell:
        return page.what(title(row["name"]), "" if row["ordinary"] else "unusual", bad=not row["ordinary"])

    facts = sorted((row for row in night.rows if row.tonight or not row.ordinary), key=lambda row: row.ordinary)
    zeros = ", ".join(title(row.name) for row in night.rows if not row.tonight and row.ordinary)
    earlier = [
        (day, lambda row, name=name: page.number(row[name]))
        for name, day in zip(("yesterday", "last_week"), night.days, strict=True)
        if any(getattr(row, name) is not None for row in facts)
    ]
    columns = [("Figure", figure), ("Now", lambda row: page.number(row["tonight"])), *earlier]
    note = f"None, as usual: {zeros}." if zeros else ""
    return page.table("Figures", columns, map(FigureRow._asdict, facts), note, "facts")


def _fields_table(name: str, note: str, fields: list[page.Record]) -> page.Table:
    field = ("Field", lambda row: page.what(row["field"], row["resource"]))
    return page.table(name, [field, *page.counts("changed", "appeared", "went")], fields, note, "sortable")


def _price_tables(views: _Views, price: str) -> Iterator[page.Table]:
    ranked = f"ranked_moves where price = '{price}'"
    largest = views.all(
        f"{ranked} and (place_euros <= {views.top} or (id, way) in "
        f"(select id, way from percent_moves where price = '{price}' and place_percent <= {views.top})) "
        "order by abs(change) desc, id"
    )
    note = (
        f"In euros; up to {views.top} up and down each, by euros, and by percent of prices from "
        f"{PERCENT_FLOOR_EUROS} euro on."
    )
    yield page.table("Largest moves", [_PRODUCT, *_MOVE], largest, note, "sortable stack")
    for way, column, said in (
        ("appeared", _NEW, "products had no price before"),
        ("went", _OLD, "products no longer have a price"),
    ):
        query = f"ranked_nulls where price = '{price}' and way = '{way}' order by place"
        yield views.list(way.capitalize(), query, [_PRODUCT, column], said, "highest")


def _other_tables(views: _Views) -> Iterator[page.Table]:
    was, is_ = ("Was", lambda row: page.what(row["old"] or "none")), ("Is", lambda row: page.what(row["new"] or "none"))
    old_name, old_set = (
        ("Was", lambda row: page.what(row["old_name"])),
        ("Was in", lambda row: page.what(page.set_name(row, "old_"))),
    )
    for event in ("added", "removed"):
        yield views.list(f"Products {event}", f"products where event = '{event}' order by id", [_PRODUCT], "products")
    yield views.list("Products renamed", "renamed_products order by id", [_PRODUCT, old_name], "products")
    yield views.list("Products moved to another set", "moved_products order by id", [_PRODUCT, old_set], "products")
    watched, said = [("Product", _watched), *_MOVE], "added, removed or changed"
    query = "watchlist_changes order by abs(change_pct) desc nulls last, slug"
    yield views.list("Watchlist", query, watched, f"tracked products {said}", "largest", "sortable stack")
    before, after = (lambda row: page.number(row["old_products"])), (lambda row: page.number(row["products"]))
    of_sets = [("Set", _set), ("Products before", before), ("after", after)]
    yield views.list("Sets", "set_changes order by id", of_sets, said)
    index = "field_changes where resource = 'fingerprint index' order by place"
    field = ("Field", lambda row: page.what(row["field"]))
    yield views.list("The index of fingerprints", index, [field, was, is_], "fields changed")
    key, how = ("Key", lambda row: page.what(row["key"])), ("What", lambda row: page.what(row["change"]))
    query = "items where resource = 'fingerprints' order by key"
    yield views.list("Fingerprints", query, [key, how], said)


def _watched(row: page.Record) -> page.Cell:
    return page.what(row["name"], row["slug"] if row["event"] == "changed" else f"{row['slug']} · {row['event']}")


def _set(row: page.Record) -> page.Cell:
    was = f", was {row['old_name']}" if row["old_name"] not in (None, row["name"]) else ""
    return page.what(row["name"], f"{row['id']} · {row['event']}{was}")


def trees_as_text(old: ExportedTree, new: ExportedTree, found: DocumentChanges, top: int) -> Iterator[str]:
    """Yield the lines about two trees: the counts of their documents, and the first `top` that differ."""
    yield f"{old.location} ({old.build}) → {new.location} ({new.build})"
    if not found.changes:
        yield "Nothing differs"
        return
    yield from page.as_lines(_objects_table(found.resources()))
    yield f"\n{len(found.changes):,} objects differ. The first {top:,}:"
    yield from (f"  {one.change} {one.key}" for one in found.changes[:top])


def trees_as_json(old: ExportedTree, new: ExportedTree, found: DocumentChanges) -> Iterator[str]:
    """Yield the JSON document about two trees, which has the same members about documents as that of two builds."""
    yield f'{{"format":{FORMAT},\n'
    for name, tree in (("old", old), ("new", new)):
        yield f'"{name}":{_dump({"tree": tree.location, "id": tree.build})},\n'
    yield f'"resources":{_lines(found.resources())},\n'
    yield f'"objects":{_lines([one._asdict() for one in found.changes])}}}\n'


def _objects_table(resources: Sequence[page.Record]) -> page.Table:
    return page.table("Objects", _FOUR, resources, "The objects of the API, as `cardpress export` writes them.")


def _count_tables(
    views: _Views, layers: Sequence[page.Record], resources: Sequence[page.Record], daily: list[page.Record]
) -> Iterator[page.Table]:
    def name(column: str) -> page.Column:
        return column.capitalize(), lambda row: page.what(row[column])

    yield _objects_table(resources)
    stored = "By layer. A layer with the same digest in both builds was not built again."
    yield page.table("Stored objects", _FOUR, layers, stored)
    yield page.table(
        "Items", [name("resource"), *page.counts("added", "removed", "changed")], views.all("item_counts"),
        "Products and all other items that have fields.",
    )  # fmt: skip
    identifiers = views.all("identifiers")
    yield page.table("Ids of other catalogues", [name("scheme"), *page.counts("added", "lost")], identifiers)
    note = "In how many items of both builds the value changed, appeared or went."
    yield _fields_table("Fields of prices and of the watchlist", note, daily)


def _move_tables(views: _Views) -> Iterator[page.Table]:
    price = ("Price", lambda row: page.what(PRICES[row["price"]]))
    of_all = views.all("price_counts where kind = 'all'")
    yield page.table("Changed prices", [price, *page.counts("up", "down", "appeared", "went")], of_all)
    rows = views.all("moves_by_percent")
    bands = [("Percent", _band), *(page.bars(title, name, rows) for name, title in PRICES.items())]
    note = "How many prices moved by how much. The bound nearer to zero belongs to a row."
    yield page.table("Moves by percent", bands, rows, note)


def _band(row: page.Record) -> page.Cell:
    low, high = (f"{end:+}".replace("-", "−") if end else "0" for end in (row["at_least"], row["below"]))
    if row["at_least"] is None:
        return page.what(f"{high} and below")
    return page.what(f"{low} and above" if row["below"] is None else f"{low} to {high}")


def as_json(diff: Diff) -> Iterator[str]:
    """Yield the JSON document in pieces, in a stable order. Each item of a list is on a line of its own, for tools."""
    diff.db.run("diff/json_lists")
    yield f'{{"format":{FORMAT},\n'
    for name, build in (("old", diff.old), ("new", diff.new)):
        described = {"id": build.id, "as_of": build.as_of.isoformat(), "freshness": build.record["freshness"]}
        yield f'"{name}":{_dump(described)},\n'
    for name, objects in (("layers", diff.layers()), ("resources", diff.resources())):
        yield f'"{name}":{_lines(objects)},\n'
    for view in _COUNT_VIEWS:
        yield f'"{view}":{_lines(diff.db.table(f"from {view}").to_pylist())},\n'
    yield from _members(diff, _LISTS)
    yield "}\n"


def _members(diff: Diff, members: Mapping[str, str | dict[str, str]]) -> Iterator[str]:
    for place, (name, member) in enumerate(members.items()):
        yield f'{"," if place else ""}"{name}":'
        if isinstance(member, str):
            yield from _items(diff, member)
        else:
            yield "{"
            yield from _members(diff, member)
            yield "}"
        yield "\n"


def _items(diff: Diff, rows_of_list: str) -> Iterator[str]:
    rows = diff.db.connection.sql(f"select json from {rows_of_list}")
    yield "["
    separator = "\n"
    for batch in rows.to_arrow_reader(_BATCH_ROWS):
        yield separator + ",\n".join(batch.column(0).to_pylist())
        separator = ",\n"
    yield "]"


def _lines(rows: Iterable[object]) -> str:
    return "[\n" + ",\n".join(map(_dump, rows)) + "]"


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
