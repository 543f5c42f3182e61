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
from generator import estimates
from generator.columns import Lines
from generator.lake import Lake
from generator.layers.cards import SQL as CARDS_SQL
from generator.layers.cards import catalogue_content
from generator.layers.history import parquet
from generator.layers.spec import LayerPlan, plan
from generator.packs import Writer, members
from generator.parts import CARDS, RANKINGS, card_tasks, closed_layers, rankings_task
from generator.tasks import Given, Scope, Task, pieces
from generator.workshop import Workshop

RECIPE = 2
FACTS, PRICES = "facts", "prices"
SEARCH = "search"  # the task that makes all of the layer but the rows
ROWS_PER_TASK, ROWS_AT_ONCE = 50_000, 5000
SEARCH_SQL = (
    *(f"views/{view}" for view in ("known_sets", "search_columns", "words")),
    *("views/prices", "views/catalogue_status", "views/prices_left_out"),
)
SQL = (*CARDS_SQL, "views/rankings", *SEARCH_SQL)


def plan_catalogue(lake: Lake) -> LayerPlan:
    """The layer that filters and searches answer with."""
    content = catalogue_content(lake)
    return plan(names.CATALOGUE, _tasks, pattern=names.ROW_PATTERN, recipe=RECIPE, sql=SQL, content=content)


def _tasks(scope: Scope) -> Iterator[Task]:
    cards, rankings, closed = card_tasks(scope), rankings_task(scope), closed_layers(scope)
    yield from (*cards, rankings)
    needs = (*cards.names, rankings.name, *cards.products[0].needs)
    size = scope.products * estimates.RANKING_ROW
    yield Task(SEARCH, names.CATALOGUE, _search, (closed,), needs, rows=scope.products, reads=3 * size, writes=size)
    for first, last in pieces(scope.products, ROWS_PER_TASK):
        count = last - first
        yield Task(
            f"rows {first}-{last}",
            names.CATALOGUE,
            _rows,
            (first, last),
            (*cards.names, rankings.name),
            objects=count,
            rows=count,
            reads=count * estimates.CARD_ROW,
            writes=count * estimates.CARD,
        )


def _search(workshop: Workshop, writer: Writer, given: Given, closed: dict[str, str]) -> None:
    """Everything of the layer but the rows: what filters and sorts need, and what is reported."""
    workshop.open_catalogue()
    workshop.open_newest(given, closed)
    db = workshop.db
    with workshop.registered(cards=workshop.mapped(given, CARDS), rankings=workshop.mapped(given, RANKINGS)):
        db.run(*SEARCH_SQL)
        writer.add_file(f"{COLUMNS}.arrow", to_bytes(_columns(workshop)))
        writer.add_file(f"{WORDS}.arrow", to_bytes(db.table("from words order by word")))
        writer.add_file(f"{SETS}.arrow", to_bytes(_sets(workshop)))
        writer.add_file(f"{PRICES}.parquet", parquet(db.table("from prices order by id_product")))
        [(status,)] = db.rows("select json from catalogue_status")
        left_out = db.rows("from prices_left_out")
    writer.add_file(f"{FACTS}.json", json.dumps({"status": json.loads(status), "left_out": left_out}).encode())


def _rows(workshop: Workshop, writer: Writer, given: Given, first: int, last: int) -> None:
    rankings = workshop.mapped(given, RANKINGS)
    order = np.argsort(rankings["ordinal"].to_numpy())[first:last]
    ids = rankings["id_product"].to_numpy()[order]
    lines = Lines(workshop.mapped(given, CARDS)["json"])

    def objects(piece: tuple[int, int]) -> Iterator[tuple[int, bytes]]:
        if not len(ids):
            return
        buffer, starts = lines.take(order[slice(*piece)], b"\n")
        cuts = starts.tolist()
        for id_, start, end in zip(ids[slice(*piece)].tolist(), cuts, cuts[1:], strict=False):
            yield id_, bytes(buffer[start:end])

    for made in workshop.in_order(lambda piece: members(objects(piece)), pieces(len(order), ROWS_AT_ONCE)):
        writer.add(made)
        workshop.tick(len(made))


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
