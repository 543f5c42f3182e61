"""Judges a build by the gates: SQL files that compare it with the live build and with one of about a week before.

Each file of `build/checks/gates/` returns at most one row: a `value`, other figures and a `message`. A gate is breached
if its value exceeds its threshold. It returns no row if there is nothing to compare. A gate that judges what a day's
files say names their `tables`. It adds `known_days` if it judges only days that the live build has, and `days` with the
`distance` of each if it judges each day by itself. The files of
`build/checks/remarks/` have the same form, but stop no build.
"""

import itertools
import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from edge_auth.builds import layout
from edge_auth.builds.builds import Build
from edge_auth.builds.bulk import CATALOGUE
from edge_auth.builds.catalogue import COLUMNS
from edge_auth.builds.market import INDEXES
from generator import settings
from generator.compare.columns import measure_columns, unusual
from generator.compare.comparison import (
    Comparison,
    newest_prices,
    read_bulk_table,
    read_rows_of_days,
    rows_of_last_days,
    source_rows,
)
from generator.compare.figures import count_differences
from generator.compare.judgements import Judgement, Verdict
from generator.compare.run_reports import NO_PAST, Past
from generator.database import Database, sql_text
from generator.lake.files import NO_GAME
from generator.lake.quarantine import files_read, unread_files
from generator.pack.verify import checked_file

_TABLES = pa.schema([("table", pa.string()), ("rows", pa.int64())])
_BULK = pa.schema([("content", pa.string()), ("lake_table", pa.string()), ("records", pa.int64())])
_GUIDE = "price_guide"
# The tables of the lake that bulk files of other names are made of.
_LAKE_TABLES = {"filtered": "filtered_checks", "market": "price_guide"}
_INDEXES = pa.schema(
    {"game_folded": pa.string(), "game": pa.string(), "day": pa.date32(), "priced": pa.int64(), "index": pa.float64()}
)
_DAYS = pa.schema(
    [("id_product", pa.int64()), ("day", pa.date32())]
    + [(name, pa.float64()) for name in ("trend", "low", "avg7", "avg30", "trend_holo", "low_holo")]
)
_LINKS = pa.schema(
    [("id_product", pa.int64())] + [(name, pa.string()) for name in ("image", "image_large", "cardmarket_url")]
)
_FINGERPRINTS = pa.schema([("key", pa.string()), ("entry", pa.string())])
_UNUSUAL = pa.schema([("distance", pa.float64()), ("sentence", pa.string())])
_BUILD = pa.schema([("as_of", pa.date32()), ("guide_day", pa.date32())])


class Gate(NamedTuple):
    """A gate, or a remark, which stops nothing; `measures` says in sentences what its value is."""

    name: str
    threshold: float
    stops: bool
    measures: str


def gates() -> Iterator[Gate]:
    """Yield the gates, then the remarks."""
    for folder, limits, stops in (("gates", settings.GATES, True), ("remarks", settings.REMARKS, False)):
        for name, threshold in limits.items():
            sql = sql_text(f"checks/{folder}/{name}").splitlines()
            head = itertools.takewhile(lambda line: line.startswith("--"), sql)
            yield Gate(name, threshold, stops, " ".join(line.removeprefix("--").strip() for line in head))


def judge(
    comparison: Comparison,
    *,
    now: datetime,
    thresholds: Mapping[str, float] | None = None,
    forced: Iterable[str] = (),
    days_left_out: Collection[tuple[str, str]] = (),
    max_age: Mapping[str, int] | None = None,
    past: Past = NO_PAST,
) -> Judgement:
    """Run all gates for a new build, and collect what else is strange about it.

    Args:
        comparison: Of the new build with the live one. Without that one, gates that compare return no verdict.
        days_left_out: Tables and days of files in quarantine. Records of these days are not counted as lost.
        max_age: By table of days, how many days old its newest row may be, for each game.
    """
    limits = settings.GATES | dict(thresholds or {})
    old, db = comparison.old, comparison.db
    with db.one_thread():  # equal values have one order
        _open_sides(comparison, days_left_out)
        _open_past(db, past)
        withdrawn = sorted({day for _, day in days_left_out})
        _set_variables(db, today=now.date().isoformat(), withdrawn=withdrawn, one_game=False)
        days = rows_of_last_days(comparison.new)
        db.connection.register("source_rows", source_rows(days))
        db.set(as_of=comparison.new.as_of.isoformat())
        db.run("checks/two_builds", "checks/sources")
        verdicts = [_verdict(db, "gates", gate, limit, gate in set(forced)) for gate, limit in limits.items()]
        days.pop(_GUIDE, None)
        measured = measure_columns(comparison, days)
        found = [one._asdict() for one in unusual(measured, past.columns)]
        db.connection.register("unusual_columns", pa.Table.from_pylist(found, _UNUSUAL))
        remarks = [_verdict(db, "remarks", remark, limit) for remark, limit in settings.REMARKS.items()]
        made = [verdict for verdict in verdicts if verdict]
        made += [_age_verdict(db, table, days, set(forced)) for table, days in (max_age or {}).items()]
        return Judgement(
            against=old.id if old else None,
            verdicts=made,
            differences=count_differences(comparison),
            indexes=db.table("from game_indexes order by game").to_pylist(),
            remarks=[remark for remark in remarks if remark and remark.breached],
            columns={one.key: list(one.values) for one in measured},
        )


def breached_by_game(comparison: Comparison, judgement: Judgement, *, past: Past, now: datetime) -> dict[str, set[str]]:
    """Return the games that breach gates by themselves, each with its gates, once a build has breached them.

    Each gate that judges day files is asked again for each game alone; '' stands for products without a game. The
    result is empty, and the fault one of whole files, if a gate is breached by all games together and by none alone, or
    if no game is cleared: those that are too small to be judged may have the same fault.
    """
    gates = {verdict.gate: verdict for verdict in judgement.breaches if verdict.tables}
    names = ("old_prices", "new_prices", "week_prices", "before_prices", "unread_days", "old_indexes", "new_indexes")
    db = comparison.db
    with db.one_thread():
        _open_past(db, past)
        _set_variables(db, today=now.date().isoformat(), one_game=True)
        whole = {name: db.table(f"from {name}") for name in names}
        games = db.answer("checks/judged_games")["game"].to_pylist()
        guilty, cleared = {}, False
        for game in games:
            with db.registered_instead(whole, _rows_of(db, whole, game)):
                db.run("checks/two_builds")
                asked = (_verdict(db, "gates", gate, of_all.threshold) for gate, of_all in gates.items())
                verdicts = [verdict for verdict in asked if verdict]
                if breached := {verdict.gate for verdict in verdicts if verdict.breached}:
                    guilty[game] = breached
                else:
                    cleared |= any(_could_judge(db, verdict, gates[verdict.gate]) for verdict in verdicts)
    explained = set().union(*guilty.values()) == gates.keys()
    return guilty if explained and cleared else {}


def _could_judge(db: Database, of_game: Verdict, of_all: Verdict) -> bool:
    """Return whether a game had enough prices for a gate, in the column of the guide that breached it for all games."""
    column = (of_all.figures.get("worst") or {}).get("price", "")
    enough = "select enough(count(*)) from guide_pairs where price = $1"
    [(has_column,)] = db.connection.execute(enough, [column]).fetchall()
    return of_game.figures.get("worst", True) is not None and (has_column or not column)


def _rows_of(db: Database, whole: Mapping[str, pa.Table], game: str) -> dict[str, pa.Table]:
    """Return the tables with the rows of one game alone: that of a product in the live build, or else now."""
    db.set(game=game)
    ids = """
        select coalesce(o.id_product, n.id_product) as id_product
        from old_prices as o full join new_prices as n using (id_product)
        where coalesce(o.game, n.game, '') = getvariable('game')
    """
    conditions = {name: f"id_product in ({ids})" for name in whole if not name.endswith("indexes")}
    conditions |= {name: "game = getvariable('game')" for name in whole if name.endswith("indexes")}
    return {name: db.table(f"select * from {name} where {condition}") for name, condition in conditions.items()}


def _set_variables(db: Database, **variables: str | int | Sequence[str]) -> None:
    """Set the variables of the SQL files: those given, and the limits of the settings."""
    db.set(price_factor=settings.PRICE_FACTOR, enough_prices=settings.ENOUGH_PRICES)
    db.set(enough_priced=settings.ENOUGH_PRICED, **variables)


def _verdict(db: Database, folder: str, gate: str, threshold: float, forced: bool = False) -> Verdict | None:
    rows = db.answer(f"checks/{folder}/{gate}").to_pylist()
    if not rows:
        return None
    figures = rows[0]
    value, message = float(figures.pop("value")), figures.pop("message") or "nothing"
    breached = value > threshold
    tables, known_days = figures.pop("tables", []), figures.pop("known_days", False)
    return Verdict(gate, value, threshold, breached, breached and forced, message, figures, tables, known_days)


# The oldest source of a table; of one whose sources are all small, the table as a whole.
_OLDEST_SOURCE = """
from (
    select age, day, game, 1 as place from sources where "table" = $1
    union all
    select getvariable('as_of')::date - max(day), max(day), '', 2
    from source_days
    where "table" = $1
    having count(*) > 0
)
order by place, age desc, game limit 1
"""


def _age_verdict(db: Database, table: str, days: int, forced: Collection[str]) -> Verdict:
    """Judge the age of a table's newest row, for the game whose row is the oldest."""
    found = next(iter(db.connection.execute(_OLDEST_SOURCE, [table]).fetchall()), None)
    gate, age = f"max-age-{table}", found[0] if found else settings.SOURCE_DAYS + 1
    of_game = f" of {found[2]}" if found and found[2] else ""
    newest = f"is of {found[1]}" if found else f"is older than {settings.SOURCE_DAYS} days, or there is none"
    message = f"the newest row of {table}{of_game} {newest}"
    breached = age > days
    return Verdict(gate, float(age), float(days), breached, breached and gate in forced, message, {})


def _open_sides(comparison: Comparison, days_left_out: Collection[tuple[str, str]]) -> None:
    """Make the tables that only gates read; `build/checks/two_builds.sql` describes them."""
    old, new, db = comparison.old, comparison.new, comparison.db
    prices, _ = comparison.products, comparison.identifiers
    for side, build, other in (("old", old, new), ("new", new, old)):
        db.connection.register(f"{side}_links", _links(build, other))
        db.connection.register(f"{side}_fingerprints", _fingerprints(db, build, other))
        for name, table in _tables(build, prices[side], days_left_out).items():
            db.connection.register(f"{side}_{name}", table)
    unread = _unread_days(old, new) if old else _DAYS.empty_table()
    db.connection.register("unread_days", unread)
    db.connection.register("live_days", _guide_rows(old, _days_of(unread)) if old else unread)
    db.connection.register("known_days", _known_days(new, unread))


def _tables(build: Build | None, prices: pa.Table, days_left_out: Collection[tuple[str, str]]) -> dict[str, pa.Table]:
    if build is None:
        schemas = {"build": _BUILD, "tables": _TABLES, "bulk": _BULK, "indexes": _INDEXES}
        return {name: schema.empty_table() for name, schema in schemas.items()}
    checked_file(build.layers[layout.CATALOGUE], COLUMNS)  # the documents of /changes compare it
    counts = _table_rows(build, prices).items()
    guide_day = build.record["freshness"]["catalogue"]["price_guide_day"]
    days = {"as_of": build.as_of, "guide_day": guide_day and date.fromisoformat(guide_day)}
    return {
        "build": pa.Table.from_pylist([days], _BUILD),
        "tables": pa.Table.from_pylist([{"table": table, "rows": rows} for table, rows in counts], _TABLES),
        "bulk": _bulk(build, days_left_out),
        "indexes": pq.read_table(checked_file(build.layers[layout.MARKET], INDEXES)),
    }


def _links(build: Build | None, other: Build | None) -> pa.Table:
    """Return the pictures and pages of the products; nothing if both builds have the same."""
    if build is None or other is None:
        return _LINKS.empty_table()
    names = ({entry["name"] for entry in json.loads(b.manifest())["files"]} for b in (build, other))
    mine, theirs = ({name for name in found if name.startswith("products-")} for found in names)
    return _LINKS.empty_table() if mine == theirs else read_bulk_table(build, "products", _LINKS)


# The entries of an index of fingerprints, unless another index is of another recipe.
_ENTRIES = """
select entry ->> 'key' as key, entry::varchar as entry
from (select unnest(($1::json -> 'entries')::json[]) as entry)
where $1::json ->> 'version' = $2::json ->> 'version'
"""


def _fingerprints(db: Database, build: Build | None, other: Build | None) -> pa.Table:
    """Return the entries of the fingerprint index; nothing if both builds have the same, or another recipe."""
    layers = [b.layers.get(layout.FINGERPRINTS) if b else None for b in (build, other)]
    if not all(layers) or len({layer.folder for layer in layers if layer}) == 1:
        return _FINGERPRINTS.empty_table()
    indexes = [(b.get(layout.FINGERPRINTS_KEY) or b"{}").decode() if b else "{}" for b in (build, other)]
    return db.connection.sql(_ENTRIES, params=indexes).to_arrow_table()


def _open_past(db: Database, past: Past) -> None:
    for name, build in (("week", past.week), ("before", past.before)):
        prices = newest_prices(build)
        if name == "week" and past.accepted:
            games = pa.array([None if game == NO_GAME else game for game in past.accepted], pa.string())
            prices = prices.filter(pc.invert(pc.is_in(prices["game"], games)))
        db.connection.register(f"{name}_prices", prices)


def _bulk(build: Build, days_left_out: Collection[tuple[str, str]]) -> pa.Table:
    """Return the tables of a build's bulk files with their records, and their columns."""
    records: Counter[str] = Counter()
    columns: set[str] = set()
    for entry in json.loads(build.manifest())["files"]:
        if entry["table"] == CATALOGUE:  # the rows of the other files
            continue
        lake_table = _LAKE_TABLES.get(entry["table"], entry["table"])
        days = [day for table, day in days_left_out if table == lake_table]
        records[entry["table"]] += entry["records"] - read_rows_of_days(build, entry, days, ["day"]).num_rows
        columns |= {f"{entry['table']}.{name} {type_}" for name, type_ in entry["columns"]}
    tables = ((table, _LAKE_TABLES.get(table, table), count) for table, count in records.items())
    rows = [*tables, *((column, None, None) for column in sorted(columns))]
    return pa.Table.from_pylist([dict(zip(_BULK.names, row, strict=True)) for row in rows], _BULK)


def _unread_days(old: Build, new: Build) -> pa.Table:
    """Return the prices of the guide's days, but the newest, that the new build read and the old one did not.

    Of very many days, as after a first import of a history, only the last ones are read.
    """
    newest = new.record["freshness"]["catalogue"]["price_guide_day"]
    unread = {file.day for file in unread_files(new, old) if file.table == _GUIDE}
    return _guide_rows(new, sorted(unread - {newest})[-settings.MAX_JUDGED_DAYS :])


def _guide_rows(build: Build, days: Collection[str]) -> pa.Table:
    entries = json.loads(build.manifest())["files"] if days else []
    read = (read_rows_of_days(build, entry, days, _DAYS.names) for entry in entries if entry["table"] == _GUIDE)
    return pa.concat_tables([_DAYS.empty_table(), *(rows.cast(_DAYS) for rows in read if rows.num_columns)])


def _days_of(rows: pa.Table) -> set[str]:
    return {day.isoformat() for day in rows["day"].unique().to_pylist()}


def _known_days(new: Build, unread: pa.Table) -> pa.Table:
    """Return the prices of the days that are nearest to unread days and were read before; `near` is the unread day."""
    days = _days_of(unread)
    read = {file.day for file in files_read(new) if file.table == _GUIDE} - days
    nearest = {day: min(read, key=lambda other: (_distance(day, other), other), default=None) for day in days}
    near = {day: other for day, other in nearest.items() if other and _distance(day, other) <= settings.JUDGED_DAYS}
    dates = [[date.fromisoformat(day) for day in days] for days in (near.keys(), near.values())]
    pairs = pa.table({name: pa.array(found, pa.date32()) for name, found in zip(("near", "day"), dates, strict=True)})
    return pairs.join(_guide_rows(new, set(near.values())), "day", join_type="inner")


def _distance(day: str, other: str) -> int:
    return abs((date.fromisoformat(day) - date.fromisoformat(other)).days)


def _table_rows(build: Build, prices: pa.Table) -> dict[str, int]:
    """Return per lake table how much of it a build shows: rows, or products with a row; 0 or 1 for listings."""
    fresh = build.record["freshness"]
    return {
        "expansions": fresh["catalogue"]["sets"],
        "products": fresh["catalogue"]["products"],
        "price_guide": len(prices) - prices["guide_day"].null_count,
        "listings": int(fresh["catalogue"]["listing_scraped_at"] is not None),
        "filtered_checks": fresh["filtered_price"]["checked"],
        "watchlist": fresh["watchlist"]["products"],
        "watch_checks": fresh["watchlist"]["checked"],
        "fingerprints": json.loads(build.get(layout.FINGERPRINTS_KEY) or b'{"count": 0}')["count"],
    }
