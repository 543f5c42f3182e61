"""The small layers: each is the rows of a view, or of the facts of another layer, and one entry of `ROW_LAYERS`.

To add one, add its view to `build/views/` and an entry here. `Work` has the usual forms: the pages of a list, objects
with keys, and bulk tables.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from edge_auth.builds import bodies, layer_names, layout
from generator.lake.lake import Lake
from generator.making.bulk_files import CONSTANTS
from generator.making.lake_tables import WATCH_SQL, LakeTables
from generator.making.layer import BuildLayer, define_layer, one_task
from generator.making.shared_tasks import text_buffer
from generator.making.work import Work

_PAGE = (bodies.OPEN, bodies.BETWEEN, bodies.CLOSE)
_NO_FINGERPRINTS = {"version": "none", "image_url": "{key}"}


@dataclass(frozen=True)
class SourceTables:
    """Tables of the lake that layers read together.

    Attributes:
        sql: The files of `build/` that make their views.
        open: Makes the views.
        content: Returns what goes into the digest of a layer, by the name of the input.
        main_thread: See `generator.making.layer.Task`.
    """

    sql: tuple[str, ...] = ()
    open: Callable[[LakeTables], None] = lambda tables: None
    content: Callable[[Lake], dict[str, list[str]]] = lambda lake: {}
    main_thread: bool = False


CATALOGUE = SourceTables(
    ("sources/products", "sources/expansions"),
    LakeTables.open_catalogue,
    lambda lake: {"catalogue": lake.content("products", "expansions")},
)
GAME_NAMES = SourceTables((*CATALOGUE.sql, "views/game_names"), LakeTables.open_game_names, CATALOGUE.content)
WATCHLIST = SourceTables(
    WATCH_SQL,
    LakeTables.open_watchlist,
    lambda lake: {"watch": lake.content("watchlist", "watch_checks")},
    main_thread=True,
)
# Their content is that of the layer `identifiers`, which knows the products that they name.
IDENTIFIERS = SourceTables(("sources/identifiers",), LakeTables.open_identifiers)
FINGERPRINTS = SourceTables(
    ("sources/fingerprints",),
    LakeTables.open_fingerprints,
    lambda lake: {"fingerprints": lake.content("fingerprints"), "fingerprint recipe": [lake.recipe_sha256]},
)


NO_TABLES = SourceTables()


@dataclass(frozen=True)
class RowLayer:
    """A layer that one task makes.

    Attributes:
        name: The name of the layer.
        write: Writes its objects or files. Its tables and views are open.
        reads: The tables of the lake that it reads.
        views: The files of `build/` that make its views.
        after: The layers that it is made from, besides or instead of tables. It changes when one of them does.
        constants: The constants of its format.
        recipe: Raise it when other Python code changes the layer's bytes.
    """

    name: str
    write: Callable[[Work], None]
    reads: SourceTables = NO_TABLES
    views: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    constants: tuple[object, ...] = ()
    recipe: int = 1

    def define(self, lake: Lake, digests: Mapping[str, str]) -> BuildLayer:
        """Return the layer of a build.

        Args:
            digests: Those of the layers in `after`, by name.
        """
        layers = {"layers": [digests[name] for name in self.after]} if self.after else {}
        return define_layer(
            self.name,
            one_task(self.name, _write, self.name, after=self.after, main_thread=self.reads.main_thread),
            recipe=self.recipe,
            sql=(*self.reads.sql, *self.views),
            content=self.reads.content(lake) | layers,
            constants=self.constants,
        )


def _write(work: Work, name: str) -> None:
    layer = _BY_NAME[name]
    layer.reads.open(work.tables)
    work.db.run(*layer.views)
    layer.write(work)


def _list(view: str, order: str) -> Callable[[Work], None]:
    """Return the function that writes the column `json` of a view as the pages of a list."""
    return lambda work: work.pages(json for (json,) in work.db.rows(f"select json from {view} order by {order}"))


def _games(work: Work) -> None:
    games = work.facts(layer_names.CATALOGUE)["games"]
    work.pages(json.dumps(game, ensure_ascii=False, separators=(",", ":")) for game in games)


def _names(work: Work) -> None:
    """Write the names of all products, and those of each game."""
    rows = work.db.rows("select game_folded, names from names order by game_folded nulls first")
    work.objects((layout.names_key(game), names.encode()) for game, names in rows)


def _fingerprints(work: Work) -> None:
    """Write the index of reference images as one object."""
    entries = work.db.table("select json || ',\n' as line from fingerprint_entries order by key")
    recipe = work.lake.recipe or _NO_FINGERPRINTS
    head = {"version": recipe["version"], "count": len(entries), "image_url": recipe["image_url"]}
    buffer, starts = text_buffer(entries["line"])
    opening = json.dumps(head, ensure_ascii=False, separators=(",", ":"))[:-1] + ',"entries":[\n'
    body = opening.encode() + bytes(buffer[: max(0, starts[-1] - len(bodies.BETWEEN))]) + b"\n]}\n"
    work.objects([(layout.FINGERPRINTS_KEY, body)])


def _bulk(
    part: str, reads: SourceTables, sorted_by: Mapping[str, tuple[str, ...]], after: tuple[str, ...] = ()
) -> RowLayer:
    """Return the layer of some bulk tables, from the views `bulk_<table>`; see `Work.bulk_tables`."""
    name, view = layer_names.bulk_layer(part), f"views/bulk_{part}"
    return RowLayer(name, lambda work: work.bulk_tables(sorted_by), reads, (view,), after, CONSTANTS)


def _pages(layer: str) -> tuple[object, ...]:
    return (layer_names.ROWS_PER_PAGE[layer], *_PAGE)


ROW_LAYERS = (
    RowLayer(
        layer_names.SETS,
        _list("sets", "set_name_folded, id"),
        CATALOGUE,
        ("views/sets",),
        constants=_pages(layer_names.SETS),
    ),
    RowLayer(layer_names.GAMES, _games, after=(layer_names.CATALOGUE,), constants=_pages(layer_names.GAMES)),
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


def row_layers(lake: Lake, others: Iterable[BuildLayer]) -> Iterator[BuildLayer]:
    """Define the layers of `ROW_LAYERS`.

    Args:
        others: The other layers that they are made from.
    """
    digests = {layer.name: layer.digest for layer in others}
    return (row.define(lake, digests) for row in ROW_LAYERS)
