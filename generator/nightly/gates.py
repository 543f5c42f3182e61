"""Judges a build by the gates: SQL files that compare it with the live build and with one of about a week before.

Each file of `build/checks/gates/` returns at most one row: a `value`, other figures and a `message`. A gate is breached
if its value exceeds its threshold. It returns no row if there is nothing to compare. A gate that judges what a day's
files say names their `tables`, and adds `known_days` if it judges only days that the live build has. The files of
`build/checks/remarks/` have the same form, but stop no build.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime

import pyarrow as pa
import pyarrow.parquet as pq

from edge_auth.contract import layer_names, object_keys
from edge_auth.contract.builds import Build
from edge_auth.contract.catalogue import COLUMNS, PRICES, SETS
from edge_auth.contract.index import map_table
from edge_auth.contract.layers import Layer
from edge_auth.contract.market import INDEXES
from edge_auth.errors import StoreError
from generator import settings
from generator.database import Database
from generator.lake.prices_and_conditions import PRICE_FIGURES
from generator.nightly.past import NO_PAST, Past
from generator.releases.bulk_rows import count_rows_of_days, read_bulk_table
from generator.releases.judgements import Judgement, Verdict
from generator.releases.verify import checked_file

_GUIDE_PRICES = [f"{figure}{finish}" for finish in ("", "_holo") for figure in PRICE_FIGURES]
_PRICES = pa.schema(
    [("id_product", pa.int64()), ("id_expansion", pa.int64()), ("guide_day", pa.date32())]
    + [(name, pa.string()) for name in ("game", "kind", "name", "rarity", "number", "category")]
    + [("date_added", pa.timestamp("us"))]
    + [(name, pa.decimal128(18, 2)) for name in _GUIDE_PRICES]
    + [("filtered_day", pa.date32()), ("filtered", pa.decimal128(18, 2))]
)
_NO_PRICES = _PRICES.empty_table()
_SETS = pa.schema([("id", pa.int64()), ("name", pa.string())])
_TABLES = pa.schema([("table", pa.string()), ("rows", pa.int64())])
_BULK = pa.schema([("content", pa.string()), ("lake_table", pa.string()), ("records", pa.int64())])
# The tables of bulk files that have another name in the lake.
_LAKE_TABLES = {"filtered": "filtered_checks"}
_IDENTIFIERS = pa.schema([("scheme", pa.string()), ("id_product", pa.int64())])
_INDEXES = pa.schema(
    {"game_folded": pa.string(), "game": pa.string(), "day": pa.date32(), "priced": pa.int64(), "index": pa.float64()}
)
_BUILD = pa.schema([("as_of", pa.date32()), ("guide_day", pa.date32())])


def judge(
    old: Build | None,
    new: Build,
    *,
    now: datetime,
    thresholds: Mapping[str, float] | None = None,
    forced: Iterable[str] = (),
    days_left_out: Collection[tuple[str, str]] = (),
    past: Past = NO_PAST,
) -> Judgement:
    """Run all gates for a build, and collect what else is strange about it.

    Args:
        old: The live build, or None. Without it only the gates that compare nothing return a verdict.
        now: The current time.
        thresholds: Thresholds by gate, instead of the defaults.
        forced: Gates that do not stop the build even if they are breached.
        days_left_out: Tables and days of files in quarantine. Records of these days are not counted as lost.
        past: What the store has of the nights before.

    Raises:
        DamageError: A file of a build differs from its hash.
        StoreError: A build cannot be read.
    """
    limits = settings.GATES | dict(thresholds or {})
    db = Database(threads=1)
    try:
        for side, build in (("old", old), ("new", new)):
            _open_side(db, side, build, days_left_out)
        past = past or Past()
        db.connection.register(
            "week_prices", _prices(past.week.layers[layer_names.CATALOGUE]) if past.week else _NO_PRICES
        )
        _set_variables(db, today=now.date().isoformat(), usual_changes=past.usual_changes)
        db.run("checks/two_builds")
        verdicts = [_verdict(db, "gates", gate, limit, gate in set(forced)) for gate, limit in limits.items()]
        remarks = [_verdict(db, "remarks", remark, limit) for remark, limit in settings.REMARKS.items()]
        [differences] = db.answer("checks/differences").to_pylist()
        indexes = db.table("from game_indexes order by game").to_pylist()
    finally:
        db.close()
    made = [verdict for verdict in verdicts if verdict]
    strange = [remark for remark in remarks if remark and remark.breached]
    return Judgement(old.id if old else None, made, differences, indexes, strange)


def _set_variables(db: Database, **variables: object) -> None:
    """Set the variables of the SQL files: those given, and the limits of the settings."""
    limits = {
        "price_factor": settings.PRICE_FACTOR,
        "enough_prices": settings.ENOUGH_PRICES,
        "enough_priced": settings.ENOUGH_PRICED,
    }
    for name, value in (limits | variables).items():
        db.connection.execute(f"set variable {name} = $1", [value])


def _verdict(db: Database, folder: str, gate: str, threshold: float, forced: bool = False) -> Verdict | None:
    rows = db.answer(f"checks/{folder}/{gate}").to_pylist()
    if not rows:
        return None
    figures = rows[0]
    value, message = float(figures.pop("value")), figures.pop("message") or "nothing"
    breached = value > threshold
    tables, known_days = figures.pop("tables", []), figures.pop("known_days", False)
    return Verdict(gate, value, threshold, breached, breached and forced, message, figures, tables, known_days)


def _open_side(db: Database, side: str, build: Build | None, days_left_out: Collection[tuple[str, str]]) -> None:
    """Make the tables <side>_…; `build/checks/two_builds.sql` describes them."""
    prices, sets, indexes = _NO_PRICES, _SETS.empty_table(), _INDEXES.empty_table()
    about, tables, bulk = _BUILD.empty_table(), _TABLES.empty_table(), _BULK.empty_table()
    identifiers = _IDENTIFIERS.empty_table()
    if build:
        catalogue = build.layers[layer_names.CATALOGUE]
        prices, sets = _prices(catalogue), map_table(checked_file(catalogue, SETS))
        about = pa.Table.from_pylist([{"as_of": build.as_of, "guide_day": _guide_day(build)}], _BUILD)
        checked_file(catalogue, COLUMNS)  # the documents of /changes compare it
        bulk, identifiers = _bulk(build, days_left_out), read_bulk_table(build, "identifiers", _IDENTIFIERS)
        if market := build.layers.get(layer_names.MARKET):
            indexes = pq.read_table(checked_file(market, INDEXES))
        counts = table_rows(build, prices).items()
        tables = pa.Table.from_pylist([{"table": table, "rows": rows} for table, rows in counts], _TABLES)
    made = {"prices": prices, "sets": sets, "build": about, "tables": tables, "bulk": bulk}
    for name, table in (made | {"identifiers": identifiers, "indexes": indexes}).items():
        db.connection.register(f"{side}_{name}", table)


def _prices(layer: Layer) -> pa.Table:
    """Return the prices of a build. Columns that the build's version did not keep are null, or the table is empty."""
    try:
        table = pq.read_table(checked_file(layer, PRICES))
        return pa.table({field.name: _column(table, field) for field in _PRICES})
    except StoreError:
        if any(file.name.startswith(f"{PRICES}-") for file in layer.index.files):
            raise
        return _NO_PRICES
    except (OSError, pa.ArrowException) as error:
        raise StoreError(f"the prices in {layer.folder} cannot be read: {error}") from error


def _column(table: pa.Table, field: pa.Field) -> pa.ChunkedArray | pa.Array:
    return table[field.name] if field.name in table.column_names else pa.nulls(len(table), field.type)


def _bulk(build: Build, days_left_out: Collection[tuple[str, str]]) -> pa.Table:
    """Return the tables of a build's bulk files with their records, and their columns."""
    records: Counter[str] = Counter()
    columns: set[str] = set()
    for entry in json.loads(build.manifest() or b'{"files": []}')["files"]:
        lake_table = _LAKE_TABLES.get(entry["table"], entry["table"])
        days = [day for table, day in days_left_out if table == lake_table]
        records[entry["table"]] += entry["records"] - count_rows_of_days(build, entry, days)
        columns |= {f"{entry['table']}.{name} {type_}" for name, type_ in entry["columns"]}
    tables = ((table, _LAKE_TABLES.get(table, table), count) for table, count in records.items())
    rows = [*tables, *((column, None, None) for column in sorted(columns))]
    return pa.Table.from_pylist([dict(zip(_BULK.names, row, strict=True)) for row in rows], _BULK)


def _guide_day(build: Build) -> date | None:
    day = build.record["freshness"]["catalogue"]["price_guide_day"]
    return date.fromisoformat(day) if day else None


def table_rows(build: Build, prices: pa.Table) -> dict[str, int]:
    """Return per lake table how much of it a build shows: rows, or products with a row; 0 or 1 for listings."""
    fresh = build.record["freshness"]
    fingerprints = json.loads(build.get(object_keys.FINGERPRINTS_KEY) or b'{"count": 0}')["count"]
    return {
        "expansions": fresh["catalogue"]["sets"],
        "products": fresh["catalogue"]["products"],
        "price_guide": len(prices) - prices["guide_day"].null_count,
        "listings": int(fresh["catalogue"]["listing_scraped_at"] is not None),
        "filtered_checks": fresh["filtered_price"]["checked"],
        "watchlist": fresh["watchlist"]["products"],
        "watch_checks": fresh["watchlist"]["checked"],
        "fingerprints": fingerprints,
    }
