"""The small layers: each is the rows of views, the facts of another layer, or the names of files.

To add one, add its view to `build/views/` and a call here. `Work` has the usual forms: the pages of a list, objects
with keys, and files.

`watchlist` has the items, their offers, their 12 histories, and the pages of the list.

`identifiers` has the ids of other catalogues, as one file for both directions. A product without ids changes nothing
in it, so the layer depends on the ids that the table names and the catalogue does not know. `facts-….json` counts the
rows of these.

`status` has `status.json`, joined from the facts that the layers `catalogue` and `watchlist` store. `days-<year>` names
the day files of the lake that the build read, of the closed months of a year. The record of a build names those of the
open month, so it does not grow with the years.
"""

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from generator.lake.files import DAY_FILES, hashes_by_day
from generator.lake.lake import DAILY_TABLES, Lake
from generator.making.lake_tables import CATALOGUE, FINGERPRINTS, IDENTIFIERS, WATCHLIST
from generator.making.layer import Period, PlannedLayer, closed_periods
from generator.making.plan import NAMED, UNKNOWN, NamedProducts
from generator.making.work import Work, small_layer
from generator.storage import bodies, layout
from generator.storage.identifiers import FILE
from generator.storage.layers import FACTS, text_column

_PAGE = (bodies.OPEN, bodies.BETWEEN, bodies.CLOSE)
_NO_FINGERPRINTS = {"version": "none", "image_url": "{key}"}
_WATCHLIST_VIEWS = (
    *(f"views/watchlist_{view}" for view in ("items", "histories", "offers", "status")),
    "views/watch_left_out",
)


def row_layers(lake: Lake, catalogue: PlannedLayer) -> Iterator[PlannedLayer]:
    """Define the layers of sets, games, names and fingerprints."""
    yield small_layer(lake, layout.SETS, _sets, CATALOGUE, ("views/sets",), constants=_page_constants(layout.SETS))
    yield small_layer(lake, layout.GAMES, _games, after=[catalogue], constants=_page_constants(layout.GAMES))
    words = {"words": [json.dumps(sorted(lake.words.items()))]}
    views = ("views/spelled_names", "views/names")
    yield small_layer(lake, layout.NAMES, _names, CATALOGUE, views, content=words, recipe=3)
    yield small_layer(
        lake,
        layout.FINGERPRINTS,
        _fingerprints,
        FINGERPRINTS,
        ("views/fingerprint_entries",),
        content={"fingerprint recipe": [lake.recipe_sha256]},
        constants=(bodies.BETWEEN,),
    )


def _page_constants(layer: str) -> tuple[object, ...]:
    return (layout.ROWS_PER_PAGE[layer], *_PAGE)


def _sets(work: Work) -> None:
    work.pages(json for (json,) in work.db.rows("select json from sets order by set_name_folded, id"))


def _games(work: Work) -> None:
    games = work.facts(layout.CATALOGUE)["games"]
    work.pages(json.dumps(game, ensure_ascii=False, separators=(",", ":")) for game in games)


def _names(work: Work) -> None:
    rows = work.db.rows("select game_folded, names from names order by game_folded nulls first")
    work.objects((layout.names_key(game), names.encode()) for game, names in rows)
    work.add_json(layout.WORDS, dict(work.lake.words))


def _fingerprints(work: Work) -> None:
    entries = work.db.table("select json || ',\n' as line from fingerprint_entries order by key").combine_chunks()
    recipe = work.lake.recipe or _NO_FINGERPRINTS
    head = {"version": recipe["version"], "count": len(entries), "image_url": recipe["image_url"]}
    text, starts = text_column(entries, "line")
    opening = json.dumps(head, ensure_ascii=False, separators=(",", ":"))[:-1] + ',"entries":[\n'
    body = opening.encode() + bytes(text[: max(0, starts[-1] - len(bodies.BETWEEN))]) + b"\n]}\n"
    work.objects([(layout.FINGERPRINTS_KEY, body)])


def watchlist_layer(lake: Lake) -> PlannedLayer:
    """Define the layer of the tracked products. Its ranges of days end with the as-of day, which is part of it."""
    return small_layer(
        lake,
        layout.WATCHLIST,
        _watchlist,
        WATCHLIST,
        _WATCHLIST_VIEWS,
        content={"as of": [lake.as_of.isoformat()]},
        constants=_page_constants(layout.WATCHLIST),
    )


def _watchlist(work: Work) -> None:
    db = work.db
    items = db.rows("select slug, json from watchlist_items order by slug_folded")
    work.pages(json for _, json in items)
    work.objects((layout.watchlist_item(slug), _line(json)) for slug, json in items)
    offers = db.rows("select slug, json from watchlist_offers order by slug")
    work.objects((layout.watchlist_offers(slug), _line(json)) for slug, json in offers)
    histories = db.rows("select slug, view, range, json from watchlist_histories order by all")
    work.objects((layout.watchlist_history(*key), _line(json)) for *key, json in histories)
    [(status,)] = db.rows("select json from watchlist_status")
    left_out = db.rows("from watch_left_out")
    work.add_json(FACTS, {"status": json.loads(status), "left_out": left_out})


def _line(text: str) -> bytes:
    return text.encode() + b"\n"


def identifiers_layer(lake: Lake, named: NamedProducts) -> PlannedLayer:
    """Define the layer of the ids of other catalogues."""
    content = lake.content("identifiers")
    unknown = named.unknown_in_identifiers(content)
    inputs: dict[str, list[str] | str] = {NAMED: content, UNKNOWN: unknown}
    return small_layer(lake, layout.IDENTIFIERS, _identifiers, IDENTIFIERS, ("views/identifiers",), content=inputs)


def _identifiers(work: Work) -> None:
    schemes = work.db.rows('select scheme, "rows", json from identifier_schemes order by scheme')
    query = "select key, value, id_product from identifier_rows order by scheme, key, value, id_product"
    table = work.db.table(query)
    by_id = np.argsort(table["id_product"].to_numpy(), kind="stable").astype(np.uint32)
    metadata = {"schemes": json.dumps({scheme: found for scheme, *found in schemes})}
    work.add_arrow(FILE, table.append_column("by_id", pa.array(by_id)).replace_schema_metadata(metadata))
    left_out = work.db.rows("from identifiers_left_out")
    work.add_json(FACTS, {"left_out": left_out})


def status_layer(lake: Lake, catalogue: PlannedLayer, watchlist: PlannedLayer) -> PlannedLayer:
    """Define the layer of the status object, which changes when one of the two layers does."""
    return small_layer(lake, layout.STATUS, _status, after=[catalogue, watchlist])


def _status(work: Work) -> None:
    status: dict[str, Any] = {}
    for name in (layout.WATCHLIST, layout.CATALOGUE):
        status |= work.facts(name)["status"]
    text = json.dumps(status, ensure_ascii=False, separators=(",", ":"))
    work.objects([(layout.STATUS_KEY, text.encode() + b"\n")])


def day_files_layers(lake: Lake) -> Iterator[PlannedLayer]:
    """Define the layers, oldest year first."""
    for year in closed_periods(lake, DAILY_TABLES):
        content = {"files": year.content(lake, *DAILY_TABLES)}
        yield small_layer(
            lake, layout.sublayer(layout.DAYS, year.name), partial(_day_files, year=year), content=content
        )


def _day_files(work: Work, year: Period) -> None:
    files = {table: hashes_by_day(work.lake.files_of(table, year.first, year.last)) for table in DAILY_TABLES}
    work.add_json(DAY_FILES, files, separators=(",", ":"))
