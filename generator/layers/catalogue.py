"""The layer catalogue: `rows/{id}.json`, each Card once, the search index over them, and `prices-*.parquet`.

The last holds a row per product, by id: its set, kind and newest prices (`build/views/prices.sql`), so that two
builds are compared without parsing JSON.
"""

import json
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from edge_auth.contract import names
from edge_auth.contract.catalogue import COLUMNS, SETS, WORDS, Counts
from edge_auth.contract.index import to_bytes
from edge_auth.contract.text import composed
from generator.lake import Lake
from generator.layers.cards import SQL as CARDS_SQL
from generator.layers.cards import catalogue_content
from generator.layers.history import parquet, text_buffer
from generator.layers.spec import LayerPlan, plan
from generator.packs import LayerWriter, members
from generator.workshop import Workshop

RECIPE = 2
FACTS, PRICES = "facts", "prices"
ROWS_PER_TASK = 5000
SQL = (
    *CARDS_SQL,
    *(f"views/{view}" for view in ("rankings", "known_sets", "search_columns", "words")),
    *("views/prices", "views/catalogue_status", "views/prices_left_out"),
)


def plan_catalogue(lake: Lake) -> LayerPlan:
    """The layer that filters and searches answer with."""
    content = catalogue_content(lake)
    return plan(names.CATALOGUE, _make, pattern=names.ROW_PATTERN, recipe=RECIPE, sql=SQL, content=content)


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
    _write_rows(workshop, writer)
    writer.add_file(f"{COLUMNS}.arrow", to_bytes(_columns(workshop)))
    writer.add_file(f"{WORDS}.arrow", to_bytes(db.table("from words order by word")))
    writer.add_file(f"{SETS}.arrow", to_bytes(_sets(workshop)))
    writer.add_file(f"{PRICES}.parquet", parquet(db.table("from prices order by id_product")))
    [(status,)] = db.rows("select json from catalogue_status")
    left_out = db.rows("from prices_left_out")
    writer.add_file(f"{FACTS}.json", json.dumps({"status": json.loads(status), "left_out": left_out}).encode())


def _write_rows(workshop: Workshop, writer: LayerWriter) -> None:
    rows = workshop.db.table(
        "select id_product, json || '\n' as line from rankings join cards using (id_product) order by ordinal"
    )
    ids = rows["id_product"].to_numpy()
    buffer, starts = text_buffer(rows["line"])

    def objects(first: int) -> Iterator[tuple[int, bytes]]:
        last = min(first + ROWS_PER_TASK, len(ids))
        cuts = starts[first : last + 1].tolist()
        for id_, start, end in zip(ids[first:last].tolist(), cuts, cuts[1:], strict=False):
            yield id_, bytes(buffer[start:end])

    with workshop.progress.bar(writer.layer, len(ids)) as bar:
        for made in workshop.in_order(lambda first: members(objects(first)), range(0, len(ids), ROWS_PER_TASK)):
            writer.add(made)
            bar.update(len(made))


def _columns(workshop: Workshop) -> pa.Table:
    table = workshop.db.table("from search_columns")
    for name in ("rarity", "number"):
        encoded = table[name].combine_chunks().dictionary_encode()
        table = table.set_column(table.column_names.index(name), name, encoded)
    for sort in names.SORTS:
        order = np.argsort(table[f"rank_{sort}"].to_numpy()).astype(np.uint32)
        table = table.append_column(f"order_{sort}", pa.array(order))
    return table.replace_schema_metadata({"counts": _counts(workshop).to_json()})


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
