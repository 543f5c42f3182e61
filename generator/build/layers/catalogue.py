"""The layer catalogue: each Card once as a line of `rows-*.gz`, the search index over them, and `prices-*.parquet`.

It holds files alone, no objects. The last has a row per product, by id: its set, kind and newest prices
(`build/views/prices.sql`), so that two builds are compared without parsing JSON.
"""

import hashlib
import itertools
import json
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from edge_auth.contract import names
from edge_auth.contract.card_lines import CARD_LINES, DIGEST_BYTES
from edge_auth.contract.catalogue import COLUMNS, SETS, KindCounts
from edge_auth.contract.codec import compress
from edge_auth.contract.index import to_bytes
from edge_auth.contract.text import composed
from edge_auth.contract.vocabulary import SUBSTRINGS, SUFFIXES, WORDS, substring_table, suffix_table
from generator.build import estimates
from generator.build.arrow_text import Lines
from generator.build.context import BuildContext
from generator.build.intermediates import CARDS, RANKINGS, card_tasks, closed_layers, rankings_task
from generator.build.layers.cards import SQL as CARDS_SQL
from generator.build.layers.cards import catalogue_content
from generator.build.layers.history import parquet
from generator.build.layers.spec import LayerSpec, define_layer
from generator.build.tasks import BuildScope, Task, pieces
from generator.lake.lake import Lake
from generator.pack.output import Inputs
from generator.pack.writer import Writer

RECIPE = 3
FACTS, PRICES = "facts", "prices"
SEARCH = "search"  # the task that makes the layer
ROWS_PER_MEMBER = 500
SEARCH_SQL = (
    *(f"views/{view}" for view in ("known_sets", "search_columns", "words")),
    *("views/prices", "views/catalogue_status", "views/prices_left_out"),
)
SQL = (*CARDS_SQL, "views/rankings", *SEARCH_SQL)


def catalogue_layer(lake: Lake) -> LayerSpec:
    """The layer that filters and searches answer with."""
    content = catalogue_content(lake)
    return define_layer(names.CATALOGUE, _tasks, recipe=RECIPE, sql=SQL, content=content)


def _tasks(scope: BuildScope) -> Iterator[Task]:
    cards, rankings, closed = card_tasks(scope), rankings_task(scope), closed_layers(scope)
    yield from (*cards, rankings)
    needs = (*cards.names, rankings.name, *cards.products[0].needs)
    size = scope.products * estimates.RANKING_ROW
    cards_size = scope.products * estimates.CARD_ROW
    yield Task(
        SEARCH,
        names.CATALOGUE,
        _search,
        (closed,),
        needs,
        objects=scope.products,
        rows=scope.products,
        reads=3 * size + cards_size,
        writes=size + scope.products * estimates.LINE,
    )


def _search(context: BuildContext, writer: Writer, inputs: Inputs, closed: dict[str, str]) -> None:
    """Everything of the layer: what pages, filters and sorts need, and what is reported."""
    context.open_catalogue()
    context.open_newest(inputs, closed)
    db = context.db
    with context.registered(cards=context.mapped(inputs, CARDS), rankings=context.mapped(inputs, RANKINGS)):
        db.run(*SEARCH_SQL)
        rows, digest = _write_rows(context, writer, inputs)
        writer.add_file(f"{COLUMNS}.arrow", to_bytes(_columns(context, rows, digest)))
        _write_words(context, writer)
        writer.add_file(f"{SETS}.arrow", to_bytes(_sets(context)))
        writer.add_file(f"{PRICES}.parquet", parquet(db.table("from prices order by id_product")))
        [(status,)] = db.rows("select json from catalogue_status")
        left_out = db.rows("from prices_left_out")
    writer.add_file(f"{FACTS}.json", json.dumps({"status": json.loads(status), "left_out": left_out}).encode())


def _write_rows(context: BuildContext, writer: Writer, inputs: Inputs) -> tuple[pa.Table, str]:
    """Write every Card as a line; size and digest of each by ordinal, and the hash of them all."""
    order = np.argsort(context.mapped(inputs, RANKINGS)["ordinal"].to_numpy())
    lines = Lines(context.mapped(inputs, CARDS)["json"])
    members, sizes, digests, whole = [], [], [], hashlib.sha256()
    cuts = pieces(len(order), ROWS_PER_MEMBER) if len(order) else ()
    for member, text, found in context.in_order(lambda cut: _member(lines, order[slice(*cut)]), cuts):
        members.append(member)
        whole.update(text)
        sizes += map(len, found)
        digests += (hashlib.sha256(line).digest()[:DIGEST_BYTES] for line in found)
        context.tick(len(found))
    writer.add_file(f"{CARD_LINES}.gz", b"".join(members))
    columns = {"size": pa.array(sizes, pa.uint32()), "digest": pa.array(digests, pa.binary(DIGEST_BYTES))}
    return pa.table(columns), whole.hexdigest()


def _member(lines: Lines, rows: np.ndarray) -> tuple[bytes, memoryview, list[memoryview]]:
    """Some Cards as a gzip member, as text, and as lines."""
    buffer, starts = lines.take(rows, b"\n")
    cuts = starts.tolist()
    text = buffer[cuts[0] : cuts[-1]]
    return compress(text), text, [buffer[start:end] for start, end in itertools.pairwise(cuts)]


def _write_words(context: BuildContext, writer: Writer) -> None:
    words = context.db.table("from words order by word").combine_chunks()
    suffixes = suffix_table(words["word"])
    [(products,)] = context.db.rows("select count(*) from rankings")
    substrings = substring_table(words, suffixes, products)
    for name, table in ((WORDS, words), (SUFFIXES, suffixes), (SUBSTRINGS, substrings)):
        writer.add_file(f"{name}.arrow", to_bytes(table))


def _columns(context: BuildContext, rows: pa.Table, digest: str) -> pa.Table:
    table = context.db.table("from search_columns")
    for name in rows.column_names:
        table = table.append_column(name, rows[name])
    for name in ("rarity", "number"):
        encoded = table[name].combine_chunks().dictionary_encode()
        table = table.set_column(table.column_names.index(name), name, encoded)
    for sort in names.SORTS:
        order = np.argsort(table[f"rank_{sort}"].to_numpy()).astype(np.uint32)
        table = table.append_column(f"order_{sort}", pa.array(order))
    return table.replace_schema_metadata({"counts": _counts(context).to_json(), "rows": digest})


def _counts(context: BuildContext) -> KindCounts:
    sums = ", ".join(f"count(*) filter (keyed_{sort})" for sort in names.SORTS)
    found = context.db.rows(f"select kind, count(*), {sums} from rankings group by rollup (kind)")
    by_kind = {kind or "all": counts for kind, *counts in found}
    by_kind = {kind: by_kind.get(kind, [0] * (1 + len(names.SORTS))) for kind in names.KINDS}
    return KindCounts(
        {kind: counts[0] for kind, counts in by_kind.items()},
        {kind: dict(zip(names.SORTS, counts[1:], strict=True)) for kind, counts in by_kind.items()},
    )


def _sets(context: BuildContext) -> pa.Table:
    table = context.db.table("select id, name from known_sets order by id")
    composed_names = [name and composed(name) for name in table["name"].to_pylist()]
    return pa.table({"id": table["id"], "name": pa.array(composed_names, pa.string())})
