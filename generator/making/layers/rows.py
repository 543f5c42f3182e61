"""The small layers: each is the rows of a view, or of the facts of another layer, and one row of `ROW_LAYERS`.

To add one, add its view to `build/views/` and a row here. `RowWriter` has the usual forms: the pages of a list, objects
with keys, and bulk tables.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from edge_auth.builds import bodies, layer_names, object_keys
from edge_auth.builds.layers import FACTS
from generator.lake.lake import Lake
from generator.making.bulk_files import CONSTANTS, write_entries, write_table
from generator.making.context import BuildContext
from generator.making.lake_tables import WATCH_SQL, LakeTables
from generator.making.layers.spec import LayerSpec, define_layer, one_task
from generator.making.shared_tasks import text_buffer
from generator.pack.writer import Inputs, Writer, compress_objects

_PAGE = (bodies.OPEN, bodies.BETWEEN, bodies.CLOSE)
_NO_FINGERPRINTS = {"version": "none", "image_url": "{key}"}


@dataclass(frozen=True)
class LakeSource:
    """Tables of the lake that layers read together.

    Attributes:
        sql: The files of `build/` that make their views.
        open: Makes the views.
        content: Returns what goes into the digest of a layer, by the name of the input.
        main_thread: See `generator.making.tasks.Task`.
    """

    sql: tuple[str, ...]
    open: Callable[[LakeTables], None]
    content: Callable[[Lake], dict[str, list[str]]]
    main_thread: bool = False


CATALOGUE = LakeSource(
    ("sources/products", "sources/expansions"),
    LakeTables.open_catalogue,
    lambda lake: {"catalogue": lake.content("products", "expansions")},
)
GAME_NAMES = LakeSource((*CATALOGUE.sql, "views/game_names"), LakeTables.open_game_names, CATALOGUE.content)
WATCHLIST = LakeSource(
    WATCH_SQL,
    LakeTables.open_watchlist,
    lambda lake: {"watch": lake.content("watchlist", "watch_checks")},
    main_thread=True,
)
# Their content is that of the layer `identifiers`, which knows the products that they name.
IDENTIFIERS = LakeSource(("sources/identifiers",), LakeTables.open_identifiers, lambda lake: {})
FINGERPRINTS = LakeSource(
    ("sources/fingerprints",),
    LakeTables.open_fingerprints,
    lambda lake: {"fingerprints": lake.content("fingerprints"), "fingerprint recipe": [lake.recipe_sha256]},
)
NO_TABLES = LakeSource((), lambda tables: None, lambda lake: {})


@dataclass(frozen=True)
class RowWriter:
    """Writes the rows of one layer. The views of the layer are open.

    Attributes:
        layer: The name of the layer.
        after: The digests of the layers that it is made from, by name.
    """

    context: BuildContext
    writer: Writer
    inputs: Inputs
    layer: str
    after: Mapping[str, str]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        return self.context.db.rows(query)

    def facts(self, layer: str) -> dict[str, Any]:
        """Return the facts of a layer that this one is made from."""
        path = self.context.layers.file(self.inputs, layer, self.after[layer], FACTS)
        facts: dict[str, Any] = json.loads(path.read_bytes())
        return facts

    def pages(self, lines: Iterable[str]) -> None:
        """Write lines of JSON as the pages of the layer's list."""
        self.objects(bodies.paged(lines, _rows_per_page(self.layer), partial(object_keys.page_of_rows, self.layer)))

    def objects(self, objects: Iterable[tuple[str, bytes]]) -> None:
        """Write objects by their keys."""
        self.writer.add(compress_objects(objects))

    def tables(self, sorted_by: Mapping[str, tuple[str, ...]]) -> None:
        """Write each view `bulk_<table>` as a bulk file.

        Args:
            sorted_by: By table, columns that no two rows have in common.
        """
        db = self.context.db
        write_entries(
            self.writer, [write_table(db, self.writer, name, name, order) for name, order in sorted_by.items()]
        )


def _rows_per_page(layer: str) -> int:
    return layer_names.LAYERS[layer].rows_per_page


def _list(view: str, order: str) -> Callable[[RowWriter], None]:
    """Return the function that writes the column `json` of a view as the pages of a list."""
    query = f"select json from {view} order by {order}"
    return lambda out: out.pages(json for (json,) in out.rows(query))


def _games(out: RowWriter) -> None:
    games = out.facts(layer_names.CATALOGUE)["games"]
    out.pages(json.dumps(game, ensure_ascii=False, separators=(",", ":")) for game in games)


def _names(out: RowWriter) -> None:
    """Write the names of all products, and those of each game."""
    rows = out.rows("select game_folded, names from names order by game_folded nulls first")
    out.objects((object_keys.names(game), names.encode()) for game, names in rows)


def _fingerprints(out: RowWriter) -> None:
    """Write the index of reference images as one object."""
    entries = out.context.db.table("select json || ',\n' as line from fingerprint_entries order by key")
    recipe = out.context.lake.recipe or _NO_FINGERPRINTS
    head = {"version": recipe["version"], "count": len(entries), "image_url": recipe["image_url"]}
    buffer, starts = text_buffer(entries["line"])
    opening = json.dumps(head, ensure_ascii=False, separators=(",", ":"))[:-1] + ',"entries":[\n'
    body = opening.encode() + bytes(buffer[: max(0, starts[-1] - len(bodies.BETWEEN))]) + b"\n]}\n"
    out.objects([(object_keys.FINGERPRINTS_KEY, body)])


class RowLayer(NamedTuple):
    """A layer that one task makes.

    Attributes:
        name: The name of the layer.
        write: Writes its objects or files.
        source: The tables of the lake that it reads.
        views: The files of `build/` that make its views.
        after: The layers that it is made from, besides or instead of tables. It changes when one of them does.
        constants: The constants of its format.
        recipe: Raise it when other Python code changes the layer's bytes.
    """

    name: str
    write: Callable[[RowWriter], None]
    source: LakeSource = NO_TABLES
    views: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    constants: tuple[object, ...] = ()
    recipe: int = 1


def _bulk(
    part: str, source: LakeSource, sorted_by: Mapping[str, tuple[str, ...]], after: tuple[str, ...] = ()
) -> RowLayer:
    """Return the layer of some bulk tables, from the views `bulk_<table>`; see `RowWriter.tables`."""
    name, view = layer_names.bulk_layer(part), f"views/bulk_{part}"
    return RowLayer(name, lambda out: out.tables(sorted_by), source, (view,), after, CONSTANTS)


ROW_LAYERS = (
    RowLayer(
        layer_names.SETS,
        _list("sets", "set_name_folded, id"),
        CATALOGUE,
        ("views/sets",),
        constants=(_rows_per_page(layer_names.SETS), *_PAGE),
    ),
    RowLayer(
        layer_names.GAMES,
        _games,
        after=(layer_names.CATALOGUE,),
        constants=(_rows_per_page(layer_names.GAMES), *_PAGE),
    ),
    RowLayer(layer_names.NAMES, _names, CATALOGUE, ("views/spelled_names", "views/names"), recipe=2),
    RowLayer(
        layer_names.FINGERPRINTS,
        _fingerprints,
        FINGERPRINTS,
        ("views/fingerprint_entries",),
        constants=(bodies.BETWEEN,),
    ),
    _bulk("catalogue", GAME_NAMES, {"products": ("id_product",), "sets": ("id",)}),
    _bulk("watchlist", WATCHLIST, {"watchlist": ("slug", "day")}),
    _bulk("identifiers", IDENTIFIERS, {"identifiers": ("id_product", "scheme", "value")}, (layer_names.IDENTIFIERS,)),
)
_BY_NAME = {layer.name: layer for layer in ROW_LAYERS}


def row_layers(lake: Lake, others: Iterable[LayerSpec]) -> Iterator[LayerSpec]:
    """Define the layers of `ROW_LAYERS`.

    Args:
        others: The other layers that they are made from.
    """
    digests = {layer.name: layer.digest for layer in others}
    for row in ROW_LAYERS:
        after = {name: digests[name] for name in row.after}
        yield define_layer(
            row.name,
            one_task(row.name, _write, row.name, after, after=after, main_thread=row.source.main_thread),
            recipe=row.recipe,
            sql=(*row.source.sql, *row.views),
            content=row.source.content(lake) | ({"layers": list(after.values())} if after else {}),
            constants=row.constants,
        )


def _write(context: BuildContext, writer: Writer, inputs: Inputs, name: str, after: dict[str, str]) -> None:
    layer = _BY_NAME[name]
    layer.source.open(context.tables)
    if layer.views:
        context.db.run(*layer.views)
    layer.write(RowWriter(context, writer, inputs, name, after))
