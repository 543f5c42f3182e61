"""The layer `catalogue`: the search index over the Cards, and the newest prices.

It holds files and no objects. `generator.storage.catalogue` describes the files that the shim reads. Of the others,
`prices-….parquet` has one row per product with its set, kind and newest prices (`build/views/prices.sql`): gates, diff
and report read it instead of the Cards. `facts-….json` is the layer's part of the status object, with counts of
left-out rows and with the Games.
"""

import hashlib
import itertools
import json
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from generator.lake.lake import Lake
from generator.making.lake_tables import CARD_SQL, CATALOGUE, card_content
from generator.making.layer import PlannedLayer, Task, define_layer
from generator.making.plan import Plan
from generator.making.shared_tasks import card_rows, card_tasks, card_texts, open_newest, task_names
from generator.making.work import Work
from generator.storage import catalogue, layout
from generator.storage.layers import FACTS
from generator.storage.stores.codec import sha256
from generator.storage.text import composed
from generator.storage.vocabulary import NAMES, SUBSTRINGS, SUFFIXES, WORDS, name_table, substring_table

RECIPE = 8
_INDEX_SQL = tuple(
    f"views/{view}"
    for view in (
        *("spelled_names", "name_texts", "rankings", "known_sets", "search_columns", "words", "name_index"),
        *("prices", "catalogue_status", "prices_left_out", "urls_left_out", "game_names", "games", "spellings"),
    )
)
# The table `suffixes` of the words in the table `listed`.
_SUFFIXES = """
select place::uinteger as word, strlen(left(text, cut))::uinteger as start
from (
    select word as text, row_number() over (order by word) - 1 as place, unnest(range(length(word))) as cut
    from listed
)
order by substr(text, cut + 1), place
"""


def catalogue_layer(lake: Lake) -> PlannedLayer:
    """Define the layer that lists, filters and searches are answered from."""
    return define_layer(
        layout.CATALOGUE,
        _tasks,
        recipe=RECIPE,
        sql=(*CARD_SQL, *_INDEX_SQL),
        content=card_content(lake),
        constants=(*catalogue.KINDS, catalogue.DIGEST_BYTES, catalogue.PRICES_MARK, catalogue.PRODUCT_DIGEST_BYTES),
    )


def _tasks(plan: Plan) -> Iterator[Task]:
    month, products = card_tasks(plan)
    yield from (*month, *products)
    yield Task(
        layout.CATALOGUE,
        layout.CATALOGUE,
        _catalogue,
        (plan.closed_layers,),
        (*task_names(products), *products[0].needs),
        objects=plan.products,
        rows=plan.products,
    )


def _catalogue(work: Work, closed: tuple[str, ...]) -> None:
    work.tables.open(CATALOGUE)
    open_newest(work, closed)
    db, cards = work.db, card_rows(work)
    with work.db.registered(cards=cards):
        db.run(*_INDEX_SQL)
        lines, digest = _line_columns(work)
        work.add_arrow(catalogue.COLUMNS, _columns(work, lines, digest))
        _write_words(work)
        work.add_arrow(catalogue.SETS, _sets(work))
        work.add_parquet(catalogue.PRICES, db.table("from prices order by id_product"))
        [(status,)] = db.rows("select json from catalogue_status")
        left_out = db.rows("from prices_left_out") + db.rows("from urls_left_out")
        games = [json.loads(game) for (game,) in db.rows("select json from games order by name_folded")]
    facts = {"status": json.loads(status), "left_out": left_out, "games": games}
    work.add_json(FACTS, facts)


def _line_columns(work: Work) -> tuple[pa.Table, str]:
    """Return the size and the hashes of each Card's line, by ordinal; and the SHA-256 (hex) of all lines by id."""
    [by_ordinal] = work.db.table("select row_number() over (order by id_product) - 1 from rankings order by ordinal")
    sizes: list[int] = []
    digests: list[bytes] = []
    product_digests: list[bytes] = []
    whole = hashlib.sha256()
    for text, of_lines in card_texts(work):
        whole.update(text)
        ends = itertools.accumulate(of_lines, initial=0)
        lines = [text[start:end] for start, end in itertools.pairwise(ends)]
        sizes += of_lines
        digests += (sha256(line)[: catalogue.DIGEST_BYTES] for line in lines)
        product_digests += (
            sha256(line.partition(catalogue.PRICES_MARK)[0])[: catalogue.PRODUCT_DIGEST_BYTES] for line in lines
        )
    columns = {
        "size": pa.array(sizes, pa.uint32()),
        "digest": pa.array(digests, pa.binary(catalogue.DIGEST_BYTES)),
        "product_digest": pa.array(product_digests, pa.binary(catalogue.PRODUCT_DIGEST_BYTES)),
    }
    return pa.table(columns).take(by_ordinal), whole.hexdigest()


def _write_words(work: Work) -> None:
    words = work.db.table("from words order by word").combine_chunks()
    with work.db.registered(listed=words):
        suffixes = work.db.table(_SUFFIXES).combine_chunks()
    [sets] = work.db.table('select "set" from search_columns')
    [(known,)] = work.db.rows("select count(*) from known_sets")
    substrings = substring_table(words, suffixes, catalogue.starts_of(sets.to_numpy(), known), len(sets))
    query = "select text, whole, base, short, face, entry from name_index order by text_row"
    names = name_table(work.db.table(query).combine_chunks())
    for name, table in ((WORDS, words), (SUFFIXES, suffixes), (SUBSTRINGS, substrings), (NAMES, names)):
        work.add_arrow(name, table)


def _columns(work: Work, lines: pa.Table, digest: str) -> pa.Table:
    """Return the table `columns`; see `generator.storage.catalogue`."""
    table = work.db.table("from search_columns")
    for name in lines.column_names:
        table = table.append_column(name, lines[name])
    table = table.append_column("by_id", pa.array(np.argsort(table["id"].to_numpy()).astype(np.uint32)))
    for name in catalogue.TEXT_FILTERS:
        encoded = table[name].combine_chunks().dictionary_encode()
        table = table.set_column(table.column_names.index(name), name, encoded)
    for sort in catalogue.SORTS:
        order = np.argsort(table[f"rank_{sort}"].to_numpy()).astype(np.uint32)
        table = table.append_column(f"order_{sort}", pa.array(order))
        if sort in catalogue.PRICE_SORTS:
            place = table.column_names.index(f"cents_{sort}")
            table = table.set_column(place, f"cents_{sort}", table[f"cents_{sort}"].take(pa.array(order)))
    metadata = {"counts": _counts(work), "lines": digest, "spellings": json.dumps(_spellings(work))}
    return table.replace_schema_metadata(metadata)


def _spellings(work: Work) -> dict[str, dict[str, str]]:
    spellings: dict[str, dict[str, str]] = {"game": {}, "rarity": {}}
    for name, folded, spelling in work.db.rows("from spellings order by filter, folded"):
        spellings[name][folded] = spelling
    return spellings


def _counts(work: Work) -> str:
    sums = ", ".join(f"count(*) filter (keyed_{sort})" for sort in catalogue.SORTS)
    rows = work.db.rows(f"select kind, count(*), {sums} from rankings group by rollup (kind)")
    by_kind = {kind or "all": counts for kind, *counts in rows}
    by_kind = {kind: by_kind.get(kind, [0] * (1 + len(catalogue.SORTS))) for kind in catalogue.KINDS}
    keyed = {kind: dict(zip(catalogue.SORTS, counts[1:], strict=True)) for kind, counts in by_kind.items()}
    products = {kind: counts[0] for kind, counts in by_kind.items()}
    return json.dumps({"keyed": keyed, "products": products}, sort_keys=True)


def _sets(work: Work) -> pa.Table:
    table = work.db.table("select id, name, game_folded as game from known_sets order by id")
    composed_names = [name and composed(name) for name in table["name"].to_pylist()]
    return table.set_column(1, "name", pa.array(composed_names, pa.string()))
