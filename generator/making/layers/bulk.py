"""The layers of the bulk files, of their manifest, and of the DuckLake catalogue over those of format parquet.

    bulk-<month>, bulk-<day>   the price tables, per closed month and per later day
    bulk-cards                 every Card as a line, read back from the layer `catalogue`
    bulk-market                the days in the layers of the market, joined
    bulk-prices                the market price of each product and its year as CSV, from files of the price guide
    bulk-catalogue, …          tables of the catalogue, the watchlist and the identifiers, each the rows of a view
    bulk-sql                   the DuckLake catalogue
    bulk                       the manifest

A file of a price table holds the rows of known products. So its layer also depends on the ids that its days name and
the catalogue does not know; `NamedProducts` finds them. A new product without earlier prices changes
no closed month. Manifest and catalogue are made from the entries in the layers of the files; no table is read again.

The catalogue is DuckLake 1.0, as a DuckDB file with the same bytes on every machine. DuckDB writes the same bytes for
the same rows if it compresses nothing (it pads compressed columns with whatever is in memory), and if the file has the
form of version 1.0, whose head has no identifier drawn at random. Any DuckDB since 1.0 reads that form. A client that
attaches the file fetches it block by block.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from generator.database import Database, run_file, sql_literal
from generator.lake.lake import Lake
from generator.making import shared_tasks
from generator.making.lake_tables import GAME_NAMES, IDENTIFIERS, PRICE_SQL, WATCHLIST, TablesRead
from generator.making.layer import Period, PlannedLayer, Task, closed_periods, define_layer, open_month
from generator.making.market_chain import days_of
from generator.making.plan import IDS, PRICES, UNKNOWN, NamedProducts, Plan
from generator.making.sorted_parquet import FORMAT, ROWS_PER_GROUP, sorted_parquet
from generator.making.work import Intermediate, Work, small_layer
from generator.storage import bodies, bulk, layout
from generator.storage.catalogue import CARD_LINES
from generator.storage.catalogue import PRICES as PRICES_OF_CARDS
from generator.storage.layers import text_column
from generator.storage.stores.codec import compress_chunks

_ENTRIES = "entries"  # the stem of a layer's file with the entries of its files
_FOOTER = "footer"  # a member of an entry that the manifest leaves out: the bytes of a Parquet file's footer
# The constants of the format, for the digests of layers.
_CONSTANTS = (*FORMAT, bulk.STORED_DIGITS, _FOOTER, *bulk.FORMATS.items())

# The types of columns as DuckDB's DESCRIBE prints them.
_TYPES = {
    pa.int64(): "BIGINT",
    pa.float64(): "DOUBLE",
    pa.date32(): "DATE",
    pa.timestamp("us"): "TIMESTAMP",
    pa.string(): "VARCHAR",
}
_Entry = dict[str, Any]  # of the manifest

RECIPE = 1
_PRICES_RECIPE = 1
_PRICES_SQL = ("sources/products", *PRICE_SQL, "views/month_rows", "views/bulk_ids")
# The tables of bulk files, and the arrays of a history whose rows they hold.
_ARRAYS = {"price_guide": "price_guide", "listings": "listing", "filtered": "filtered"}
_CARDS_LAYER = layout.sublayer(layout.BULK, CARD_LINES)
_MARKET_RECIPE = 2
_MARKET_LAYER = layout.sublayer(layout.BULK, "market")
_MARKET_SORTED_BY = ("game", "id_expansion", "day")
_MARKET_GROUP = ["id_expansion", "game_folded"]
_MARKET_COLUMNS = ["id_expansion", "game", "day", "value", "priced", "value_low", "priced_low", "index"]
_CSV_LAYER = layout.sublayer(layout.BULK, bulk.PART_OF_TABLE[bulk.SPREADSHEET])
_LONGEST_WINDOW = timedelta(days=364)
_GZIP_SYSTEM = 9  # the place of the byte of a gzip header that names the system that wrote it
_DUCKLAKE_LAYER = layout.sublayer(layout.BULK, bulk.PART_OF_TABLE[bulk.CATALOGUE])
_DUCKLAKE_SQL = ("ducklake/tables", "ducklake/rows")
_FORM = "storage_version 'v1.0.0', block_size 32768"  # most blocks of the usual size would be empty
_ENTRY_ROWS = pa.schema(
    {
        "name": pa.string(),
        "table": pa.string(),
        "records": pa.int64(),
        "bytes": pa.int64(),
        _FOOTER: pa.int64(),
        "columns": pa.list_(pa.list_(pa.string())),
        "first_day": pa.string(),
        "last_day": pa.string(),
    }
)


def bulk_price_layers(lake: Lake, named: NamedProducts) -> Iterator[PlannedLayer]:
    """Define the layers of the days with prices: each closed month, then each day of the as-of day's month."""
    months = [month for period in closed_periods(lake) for month in period.months()]
    month = open_month(lake.as_of)
    prices = {span: content for span in (*months, *month.days()) if (content := span.content(lake))}
    for span, content in prices.items():
        yield define_layer(
            layout.sublayer(layout.BULK, span.span),
            partial(_price_tasks, month=span if span in months else month, span=span),
            recipe=_PRICES_RECIPE,
            sql=_PRICES_SQL,
            content={PRICES: content, UNKNOWN: named.unknown(span, content)},
            constants=_CONSTANTS,
        )


def _price_tasks(plan: Plan, month: Period, span: Period) -> Iterable[Task]:
    """Return the tasks of a span of a month. Its history needs the same rows."""
    tasks = shared_tasks.month_tasks(plan, month)
    yield from tasks
    layer = layout.sublayer(layout.BULK, span.span)
    yield Task(layer, layer, _bulk_files, (span,), shared_tasks.task_names(tasks), rows=span.estimated_rows(plan.lake))


def _bulk_files(work: Work, span: Period) -> None:
    entries = []
    for table, array in _ARRAYS.items():
        # Of a day there is one file, of a month one per task.
        name = Intermediate.ROWS_OF_DAY.of(array, span.first) if span.is_day else Intermediate.KNOWN_ROWS.of(array)
        known = work.intermediate_files(name)
        work.tables.open_files(f"bulk_{table}", known)
        unknown = work.intermediate_files(Intermediate.UNKNOWN_ROWS.of(array))
        work.tables.open_files(f"unknown_{table}", unknown)
        data = (
            known[0].read_bytes() if len(known) == 1 else _sorted_view(work.db, f"bulk_{table}", shared_tasks.SORTED_BY)
        )
        entries.append(_write_parquet(work, table, f"{table}-{span.span}", shared_tasks.SORTED_BY, data))
    work.add_json(_ENTRIES, [entry for entry in entries if entry["records"]])
    work.db.set(first_day=str(span.first), last_day=str(span.last))
    work.db.run("views/bulk_ids")
    work.add_parquet(IDS, work.db.table("from bulk_ids order by id_product"))


def bulk_cards_layer(catalogue: PlannedLayer) -> PlannedLayer:
    """Define the layer of the Cards as lines, which changes when the catalogue does."""
    return define_layer(_CARDS_LAYER, _card_tasks, recipe=RECIPE, content={"layers": [catalogue.digest]})


def _card_tasks(plan: Plan) -> Iterator[Task]:
    month, products = shared_tasks.card_tasks(plan)
    yield from (*month, *products)
    yield Task(_CARDS_LAYER, _CARDS_LAYER, _bulk_cards, (), shared_tasks.task_names(products), rows=plan.products)


def _bulk_cards(work: Work) -> None:
    data = compress_chunks(text for text, _ in shared_tasks.card_texts(work))
    name, lines = f"{CARD_LINES}.gz", len(shared_tasks.card_rows(work))
    work.add_json(_ENTRIES, [_write_file(work, CARD_LINES, name, "jsonl.gz", data, lines, ("id_product",))])


def bulk_market_layer(lake: Lake, market: list[PlannedLayer]) -> PlannedLayer:
    """Define the layer of the bulk file of the market, which changes when one of those layers does."""
    return small_layer(
        lake,
        _MARKET_LAYER,
        partial(_bulk_market, market=tuple(layer.name for layer in market)),
        GAME_NAMES._replace(inputs={}),
        after=market,
        sql=("views/bulk_market",),
        constants=_CONSTANTS,
        recipe=_MARKET_RECIPE,
    )


def _bulk_market(work: Work, market: tuple[str, ...]) -> None:
    days = pa.concat_tables(days_of(work, market)).combine_chunks()
    rows = _market_in_order(work.db, days)
    data = sorted_parquet(rows.schema, rows.to_batches(ROWS_PER_GROUP), _MARKET_SORTED_BY, _MARKET_SORTED_BY)
    work.add_json(_ENTRIES, [_write_parquet(work, "market", "market", _MARKET_SORTED_BY, data)])


def _market_in_order(db: Database, days: pa.Table) -> pa.Table:
    """Return the rows of the bulk file. The days of a group ascend, from layer to layer and in each."""
    numbered = days.select(_MARKET_GROUP).append_column("run", pa.array(np.arange(len(days))))
    with db.registered(market_runs=numbered):
        ordered = db.answer("views/bulk_market")
    return days.take(ordered["run"]).append_column("game", ordered["game"]).select(_MARKET_COLUMNS)


def bulk_csv_layer(lake: Lake, catalogue: PlannedLayer, prices: Sequence[PlannedLayer]) -> PlannedLayer:
    """Define the layer of the file for spreadsheets, which changes when the catalogue or a file of prices does."""
    spans = tuple(layer.name.removeprefix(layout.sublayer(layout.BULK, "")) for layer in prices)
    return small_layer(
        lake,
        _CSV_LAYER,
        partial(_bulk_csv, spans=spans),
        GAME_NAMES,
        after=[catalogue, *prices],
        sql=("views/market_price", "views/bulk_prices"),
        constants=(*_CONSTANTS, pa.__version__),
    )


def _bulk_csv(work: Work, spans: tuple[str, ...]) -> None:
    work.tables.open_files("newest_prices", [work.file(layout.CATALOGUE, PRICES_OF_CARDS)])
    needed = [span for span in spans if span >= _first_span(work.db)]
    files = [work.file(layout.sublayer(layout.BULK, span), f"{shared_tasks.GUIDE}-{span}") for span in needed]
    if files:
        work.tables.open_files("guide_days", files)
    else:
        work.db.connection.execute("create or replace view guide_days as select *, guide_day as day from newest_prices")
    work.db.run("views/market_price", "views/bulk_prices")
    columns = [[name, kind] for name, kind, *_ in work.db.rows("describe bulk_prices")]
    header = ",".join(name for name, _ in columns) + "\n"
    lines = work.db.table("select line from bulk_prices_lines order by id_product").combine_chunks()
    text, starts = text_column(lines, "line")
    data = gzip_member(header.encode() + text[starts[0] : starts[-1]].data)
    entry = _write_file(work, bulk.SPREADSHEET, f"{bulk.SPREADSHEET}.gz", "csv.gz", data, len(lines), ("id_product",))
    [(first, last)] = work.db.rows("select min(day)::varchar, max(day)::varchar from bulk_prices")
    work.add_json(_ENTRIES, [entry | {"columns": columns, "first_day": first, "last_day": last}])


def _first_span(db: Database) -> str:
    """Return the month with the first day that the window of any product needs, such as `2025-03`."""
    [(oldest,)] = db.rows("select min(guide_day) from newest_prices")
    return f"{oldest - _LONGEST_WINDOW:%Y-%m}" if oldest else ""


def gzip_member(data: bytes) -> bytes:
    """Compress with the zlib inside pyarrow: the bytes are the same on all machines, unlike those of igzip."""
    member = bytearray(pa.Codec("gzip", compression_level=6).compress(data, asbytes=True))
    member[_GZIP_SYSTEM] = 255  # unknown
    return bytes(member)


def bulk_of_rows(lake: Lake, identifiers: PlannedLayer) -> Iterator[PlannedLayer]:
    """Define the layers of the tables that are the rows of a view, each by columns that no two rows have in common."""
    yield _of_views(lake, "catalogue", GAME_NAMES, {"products": ("id_product",), "sets": ("id",)})
    yield _of_views(lake, "watchlist", WATCHLIST, {"watchlist": ("slug", "day")})
    of_identifiers = {"identifiers": ("id_product", "scheme", "value")}
    yield _of_views(lake, "identifiers", IDENTIFIERS, of_identifiers, [identifiers])


def _of_views(
    lake: Lake,
    part: str,
    reads: TablesRead,
    sorted_by: Mapping[str, tuple[str, ...]],
    after: Sequence[PlannedLayer] = (),
) -> PlannedLayer:
    name, write = layout.sublayer(layout.BULK, part), partial(_bulk_views, sorted_by=sorted_by)
    return small_layer(lake, name, write, reads, (f"views/bulk_{part}",), after=after, constants=_CONSTANTS)


def _bulk_views(work: Work, sorted_by: Mapping[str, tuple[str, ...]]) -> None:
    files = ((name, order, _sorted_view(work.db, f"bulk_{name}", order)) for name, order in sorted_by.items())
    work.add_json(_ENTRIES, [_write_parquet(work, name, name, order, data) for name, order, data in files])


def bulk_layers(lake: Lake, parts: Sequence[PlannedLayer]) -> tuple[PlannedLayer, PlannedLayer]:
    """Define the layers of the catalogue and of the manifest, which change when a layer with bulk files does."""
    parts = sorted(parts, key=lambda layer: layer.digest)
    names = tuple(part.name for part in parts)
    catalogue = small_layer(
        lake,
        _DUCKLAKE_LAYER,
        partial(_catalogue, parts=names),
        after=parts,
        sql=_DUCKLAKE_SQL,
        constants=(*_CONSTANTS, duckdb.__version__),
    )
    parts = sorted((*parts, catalogue), key=lambda layer: layer.digest)
    manifest = partial(_manifest, parts=(*names, _DUCKLAKE_LAYER))
    return catalogue, small_layer(lake, layout.BULK, manifest, after=parts)


def _catalogue(work: Work, parts: tuple[str, ...]) -> None:
    entries = [entry for entry in _entries(work, parts) if entry["format"] == "parquet"]
    records = sum(entry["records"] for entry in entries)
    file = _write_file(work, bulk.CATALOGUE, bulk.LIVE_CATALOGUE, "ducklake", catalogue_file(entries), records)
    work.add_json(_ENTRIES, [file])


def _manifest(work: Work, parts: tuple[str, ...]) -> None:
    entries = _entries(work, parts)
    shown = [{name: value for name, value in entry.items() if name != _FOOTER} for entry in entries]
    lines = [json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode() for entry in shown]
    body = b'{"%b":[\n' % bulk.FILES.encode() + bodies.BETWEEN.join(lines) + b"\n]}\n"
    work.objects([(layout.BULK_KEY, body)])


def _entries(work: Work, layers: tuple[str, ...]) -> list[_Entry]:
    entries: list[_Entry] = []
    for layer in layers:
        entries += json.loads(work.file(layer, _ENTRIES).read_bytes())
    return sorted(entries, key=lambda entry: str(entry["name"]))


def catalogue_file(entries: Sequence[dict[str, Any]]) -> bytes:
    """Return the catalogue of bulk files of format parquet, given by their entries in the manifest."""
    rows = pa.Table.from_pylist([{name: entry[name] for name in _ENTRY_ROWS.names} for entry in entries], _ENTRY_ROWS)
    with TemporaryDirectory(prefix="cardpress-") as folder:
        path = Path(folder) / "catalog.ducklake"
        with duckdb.connect(config={"threads": 1, "force_compression": "uncompressed"}) as connection:
            connection.execute(f"attach {sql_literal(path)} as catalog ({_FORM}); use catalog")
            connection.register("bulk_entries", rows)
            for file in _DUCKLAKE_SQL:
                run_file(connection, file)
        return path.read_bytes()


def _sorted_view(db: Database, view: str, sorted_by: tuple[str, ...]) -> bytes:
    """Return the rows of a view as a file of `sorted_file`, sorted by columns that no two rows have in common."""
    order = ", ".join(f"{column} nulls first" for column in sorted_by)
    reader = db.connection.sql(f"from {view} order by {order}").to_arrow_reader(ROWS_PER_GROUP)
    return sorted_parquet(reader.schema, reader, sorted_by)


def _write_parquet(work: Work, table: str, stem: str, sorted_by: tuple[str, ...], data: bytes) -> _Entry:
    """Write a file of `sorted_file`, and return its entry. `stem` is its name without hash and format."""
    metadata = pq.read_metadata(pa.BufferReader(data))
    schema = metadata.schema.to_arrow_schema()
    return (
        _write_file(work, table, f"{stem}.parquet", "parquet", data, metadata.num_rows, sorted_by)
        | {"columns": [[field.name, _TYPES[field.type]] for field in schema], _FOOTER: metadata.serialized_size}
        | _first_and_last_day(metadata)
    )


def _write_file(
    work: Work, table: str, name: str, format_: str, data: bytes, records: int, sorted_by: tuple[str, ...] = ()
) -> _Entry:
    """Write a file, and return its entry, in the order of its members."""
    file = work.add_file(name, data)
    name = bulk.file_name(name.partition(".")[0], format_, file.sha256)
    return {
        "name": name,
        "table": table,
        "format": format_,
        "bytes": file.size,
        "records": records,
        "sha256": file.sha256,
        "columns": [],
        "sorted_by": list(sorted_by),
        "first_day": None,
        "last_day": None,
        "url": bulk.URL_FOLDER + name,
    }


def _first_and_last_day(metadata: pq.FileMetaData) -> _Entry:
    """Return the first and the last day of a file, from the statistics of its column `day`; none without one."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    columns = [group.column(place) for group in groups for place in range(group.num_columns)]
    days = [column.statistics for column in columns if column.path_in_schema == "day"]
    if not days:
        return {}
    first, last = min(found.min for found in days), max(found.max for found in days)
    return {"first_day": str(first), "last_day": str(last)}
