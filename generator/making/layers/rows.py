"""The small layers of the catalogue, the watchlist, the identifiers and the fingerprints.

Each is the rows of a view, or the facts of another layer. To add one, add its view to `build/views/` and a call here.
`Work` has the usual forms: the pages of a list, objects with keys, and bulk tables.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from edge_auth.builds import bodies, layout
from generator.lake.lake import Lake
from generator.making.bulk_files import CONSTANTS
from generator.making.lake_tables import CATALOGUE, FINGERPRINTS, GAME_NAMES, IDENTIFIERS, WATCHLIST, Source
from generator.making.layer import BuildLayer
from generator.making.shared_tasks import text_buffer
from generator.making.work import Work, small_layer

_PAGE = (bodies.OPEN, bodies.BETWEEN, bodies.CLOSE)
_NO_FINGERPRINTS = {"version": "none", "image_url": "{key}"}


def row_layers(lake: Lake, catalogue: BuildLayer, identifiers: BuildLayer) -> Iterator[BuildLayer]:
    """Define the layers. Some are made from two other layers."""
    yield small_layer(lake, layout.SETS, _sets, CATALOGUE, ("views/sets",), constants=_page_constants(layout.SETS))
    yield small_layer(lake, layout.GAMES, _games, after=[catalogue], constants=_page_constants(layout.GAMES))
    yield small_layer(lake, layout.NAMES, _names, CATALOGUE, ("views/spelled_names", "views/names"), recipe=2)
    yield small_layer(
        lake,
        layout.FINGERPRINTS,
        _fingerprints,
        FINGERPRINTS,
        ("views/fingerprint_entries",),
        content={"fingerprint recipe": [lake.recipe_sha256]},
        constants=(bodies.BETWEEN,),
    )
    yield _bulk_layer(lake, "catalogue", GAME_NAMES, {"products": ("id_product",), "sets": ("id",)})
    yield _bulk_layer(lake, "watchlist", WATCHLIST, {"watchlist": ("slug", "day")})
    of_identifiers = {"identifiers": ("id_product", "scheme", "value")}
    yield _bulk_layer(lake, "identifiers", IDENTIFIERS, of_identifiers, [identifiers])


def _bulk_layer(
    lake: Lake,
    part: str,
    reads: Source,
    sorted_by: Mapping[str, tuple[str, ...]],
    after: Sequence[BuildLayer] = (),
) -> BuildLayer:
    name, write = layout.sublayer(layout.BULK, part), partial(Work.bulk_tables, sorted_by=sorted_by)
    return small_layer(lake, name, write, reads, (f"views/bulk_{part}",), after=after, constants=CONSTANTS)


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


def _fingerprints(work: Work) -> None:
    entries = work.db.table("select json || ',\n' as line from fingerprint_entries order by key")
    recipe = work.lake.recipe or _NO_FINGERPRINTS
    head = {"version": recipe["version"], "count": len(entries), "image_url": recipe["image_url"]}
    buffer, starts = text_buffer(entries["line"])
    opening = json.dumps(head, ensure_ascii=False, separators=(",", ":"))[:-1] + ',"entries":[\n'
    body = opening.encode() + bytes(buffer[: max(0, starts[-1] - len(bodies.BETWEEN))]) + b"\n]}\n"
    work.objects([(layout.FINGERPRINTS_KEY, body)])
