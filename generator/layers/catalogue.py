"""The layer catalogue: each Card once as a line of `rows-*.gz`, the search index over them, and `prices-*.parquet`.

It holds files alone, no objects. The last has a row per product, by id: its set, kind and newest prices
(`build/views/prices.sql`), so that two builds are compared without parsing JSON.
"""

import hashlib
import itertools
import json

import numpy as np
import pyarrow as pa

from edge_auth.contract import names
from edge_auth.contract.catalogue import COLUMNS, SETS, Counts
from edge_auth.contract.codec import compress
from edge_auth.contract.index import to_bytes
from edge_auth.contract.rows import DIGEST_BYTES, ROWS
from edge_auth.contract.text import composed
from edge_auth.contract.vocabulary import PIECES, SUFFIXES, WORDS, pieces_of, suffixes_of
from generator.columns import text_buffer
from generator.lake import Lake
from generator.layers.cards import SQL as CARDS_SQL
from generator.layers.cards import catalogue_content
from generator.layers.history import parquet
from generator.layers.spec import LayerPlan, plan
from generator.packs import LayerWriter
from generator.workshop import Workshop

RECIPE = 3
FACTS, PRICES = "facts", "prices"
ROWS_PER_MEMBER = 500
SQL = (
    *CARDS_SQL,
    *(f"views/{view}" for view in ("rankings", "known_sets", "search_columns", "words")),
    *("views/prices", "views/catalogue_status", "views/prices_left_out"),
)


def plan_catalogue(lake: Lake) -> LayerPlan:
    """The layer that filters and searches answer with."""
    content = catalogue_content(lake)
    return plan(names.CATALOGUE, _make, recipe=RECIPE, sql=SQL, content=content)


def _make(workshop: Workshop, writer: LayerWriter) -> None:
    workshop.open_cards()
    db = workshop.db
    db.run(
        "views/known_sets",
        "views/search_columns",
        "views/words",
        "views/prices",
        "views/catalogue_status",
        "views/prices_left_out",
    )
    rows, digest = _write_rows(workshop, writer)
    writer.add_file(f"{COLUMNS}.arrow", to_bytes(_columns(workshop, rows, digest)))
    _write_words(workshop, writer)
    writer.add_file(f"{SETS}.arrow", to_bytes(_sets(workshop)))
    writer.add_file(f"{PRICES}.parquet", parquet(db.table("from prices order by id_product")))
    [(status,)] = db.rows("select json from catalogue_status")
    left_out = db.rows("from prices_left_out")
    writer.add_file(f"{FACTS}.json", json.dumps({"status": json.loads(status), "left_out": left_out}).encode())


def _write_rows(workshop: Workshop, writer: LayerWriter) -> tuple[pa.Table, str]:
    """Write every Card as a line; size and digest of each by ordinal, and the hash of them all."""
    rows = workshop.db.table(
        f"select json || '\n' as line, strlen(line)::uinteger as size, "
        f"unhex(sha256(line)[:{2 * DIGEST_BYTES}]) as digest "
        "from rankings join cards using (id_product) order by ordinal"
    )
    buffer, starts = text_buffer(rows["line"])
    cuts = [*starts[:-1:ROWS_PER_MEMBER].tolist(), int(starts[-1])]
    members = []
    with workshop.progress.bar(writer.layer, len(cuts) - 1) as bar:
        for made in workshop.in_order(lambda cut: compress(bytes(buffer[slice(*cut)])), itertools.pairwise(cuts)):
            members.append(made)
            bar.update(1)
    writer.add_file(f"{ROWS}.gz", b"".join(members))
    return rows.select(["size", "digest"]), hashlib.sha256(buffer[starts[0] : starts[-1]]).hexdigest()


def _write_words(workshop: Workshop, writer: LayerWriter) -> None:
    words = workshop.db.table("from words order by word").combine_chunks()
    suffixes = suffixes_of(words["word"])
    [(products,)] = workshop.db.rows("select count(*) from rankings")
    for name, table in ((WORDS, words), (SUFFIXES, suffixes), (PIECES, pieces_of(words, suffixes, products))):
        writer.add_file(f"{name}.arrow", to_bytes(table))


def _columns(workshop: Workshop, rows: pa.Table, digest: str) -> pa.Table:
    table = workshop.db.table("from search_columns")
    for name in rows.column_names:
        values = rows[name].cast(pa.binary(DIGEST_BYTES)) if name == "digest" else rows[name]
        table = table.append_column(name, values)
    for name in ("rarity", "number"):
        encoded = table[name].combine_chunks().dictionary_encode()
        table = table.set_column(table.column_names.index(name), name, encoded)
    for sort in names.SORTS:
        order = np.argsort(table[f"rank_{sort}"].to_numpy()).astype(np.uint32)
        table = table.append_column(f"order_{sort}", pa.array(order))
    return table.replace_schema_metadata({"counts": _counts(workshop).to_json(), "rows": digest})


def _counts(workshop: Workshop) -> Counts:
    sums = ", ".join(f"count(*) filter (keyed_{sort})" for sort in names.SORTS)
    found = workshop.db.rows(f"select kind, count(*), {sums} from rankings group by rollup (kind)")
    by_kind = {kind or "all": counts for kind, *counts in found}
    by_kind = {kind: by_kind.get(kind, [0] * (1 + len(names.SORTS))) for kind in names.KINDS}
    return Counts(
        {kind: counts[0] for kind, counts in by_kind.items()},
        {kind: dict(zip(names.SORTS, counts[1:], strict=True)) for kind, counts in by_kind.items()},
    )


def _sets(workshop: Workshop) -> pa.Table:
    table = workshop.db.table("select id, name from known_sets order by id")
    composed_names = [name and composed(name) for name in table["name"].to_pylist()]
    return pa.table({"id": table["id"], "name": pa.array(composed_names, pa.string())})
