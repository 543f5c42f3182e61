"""Judges a build by the gates: SQL files that compare it with the live build and with one of about a week before.

Each file of `build/checks/gates/` returns at most one row: a `value`, other figures and a `message`. A gate is breached
if its value exceeds its threshold. It returns no row if there is nothing to compare. A gate that judges what a day's
files say names their `tables`. It adds `known_days` if it judges only days that the live build has, and `days` with the
`distance` of each if it judges each day by itself. The files of `build/checks/remarks/` are alike, but stop no build.
"""

import itertools
import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from generator import settings
from generator.compare.comparison import (
    SOURCES,
    Comparison,
    bulk_entries,
    newest_prices,
    read_bulk_table,
    read_rows_of_days,
    rows_of_last_days,
)
from generator.compare.ordinary import count_differences, measure_columns, unusual
from generator.compare.run_reports import NO_PAST, Judgement, Past, Verdict, breached_gates, read_judgement
from generator.database import Database, sql_text
from generator.errors import DamageError
from generator.lake.files import NO_GAME, PRICE_TABLES, FileKey
from generator.lake.quarantine import QuarantinedFile, Ratio, files_read, original_of
from generator.pack.verify import checked_file
from generator.storage import layout
from generator.storage.builds import Build, open_build
from generator.storage.bulk import CATALOGUE
from generator.storage.catalogue import COLUMNS
from generator.storage.errors import StorageError
from generator.storage.market import INDEXES

_BULK = pa.schema([("content", pa.string()), ("lake_table", pa.string()), ("records", pa.int64())])
_GUIDE = "price_guide"
# The tables of the lake that bulk files of other names are made of.
_LAKE_TABLES = {"filtered": "filtered_checks", "market": "price_guide"}
_DAYS = pa.schema(
    [("id_product", pa.int64()), ("day", pa.date32())]
    + [(name, pa.float64()) for name in ("trend", "low", "avg7", "avg30", "trend_holo", "low_holo")]
)
_LINKS = ["id_product", "image", "image_large", "cardmarket_url"]
_FINGERPRINTS = pa.schema([("key", pa.string()), ("entry", pa.string())])
_HELD_DAYS = pa.schema([("table", pa.string()), ("game", pa.string()), ("day", pa.date32())])
_UNUSUAL = pa.schema([("distance", pa.float64()), ("sentence", pa.string())])


class Gate(NamedTuple):
    """A gate, or a remark, which stops nothing; `measures` says in sentences what its value is."""

    name: str
    threshold: float
    stops: bool
    measures: str


def gates() -> Iterator[Gate]:
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
    left_out: Collection[FileKey] = (),
    max_age: Mapping[str, int] | None = None,
    past: Past = NO_PAST,
) -> Judgement:
    """Run all gates for a new build, and collect what else is strange about it.

    Args:
        comparison: Of the new build with the live one. Without that one, gates that compare return no verdict.
        left_out: The files in quarantine. Records of their days are not counted as lost, nor their sources as late.
        max_age: By table of days, how many days old its newest row may be, for each game.
    """
    limits = settings.GATES | dict(thresholds or {})
    old, db = comparison.old, comparison.db
    days_left_out = {(file.table, file.day) for file in left_out}
    with db.one_thread():  # equal values have one order
        _open_sides(comparison, days_left_out)
        _open_past(comparison, past)
        withdrawn = sorted({day for _, day in days_left_out})
        db.set(price_factor=settings.PRICE_FACTOR, enough_prices=settings.ENOUGH_PRICES)
        db.set(enough_priced=settings.ENOUGH_PRICED, one_game=False)
        db.set(today=now.date().isoformat(), as_of=comparison.new.as_of.isoformat(), withdrawn=withdrawn)
        days = rows_of_last_days(comparison.new)
        _fill_source_rows(db, days)
        db.connection.register("held_days", _held_days(left_out))
        db.run("checks/two_builds", "checks/sources")
        verdicts = [
            _verdict(db, f"checks/gates/{gate}", gate, limit, gate in set(forced)) for gate, limit in limits.items()
        ]
        for table, age in (max_age or {}).items():
            db.set(aged_table=table, source_days=settings.SOURCE_DAYS)
            verdicts.append(_verdict(db, "checks/max_age", f"max-age-{table}", float(age)))
        days.pop(_GUIDE, None)
        measured = measure_columns(comparison, days)
        db.connection.register("unusual_columns", pa.Table.from_pylist(unusual(measured, past.columns), _UNUSUAL))
        remarks = [_verdict(db, f"checks/remarks/{name}", name, limit) for name, limit in settings.REMARKS.items()]
        return Judgement(
            against=old.id if old else None,
            verdicts=[verdict for verdict in verdicts if verdict],
            differences=count_differences(comparison),
            indexes=db.table("from game_indexes order by game").to_pylist(),
            remarks=[remark for remark in remarks if remark and remark.breached],
            columns={one.key: list(one.values) for one in measured},
        )


class Guilt(NamedTuple):
    """Which games breach gates by themselves."""

    games: dict[str, set[str]]  # each with its gates; '' stands for products without a game
    held: dict[str, set[str]]  # the same, if their rows can be held alone; {} if the fault is one of whole files


def breached_by_game(comparison: Comparison, judgement: Judgement) -> Guilt:
    """Return the games that breach gates by themselves, once a comparison was judged.

    Each gate that judges day files is asked again for each game alone. The fault is one of whole files if a gate is
    breached by all games together and by none alone, or if no game is cleared: those that are too small to be judged
    may have the same fault.
    """
    gates = {verdict.gate: verdict for verdict in judgement.breaches if verdict.tables}
    names = ("old_prices", "new_prices", "week_prices", "before_prices", "unread_days", "old_indexes", "new_indexes")
    db = comparison.db
    with db.one_thread():
        db.set(one_game=True)
        whole = {name: db.table(f"from {name}") for name in names}
        games = db.answer("checks/judged_games")["game"].to_pylist()
        guilty, cleared = {}, False
        for game in games:
            db.set(game=game)
            db.register({name: db.answer("checks/rows_of_game", table=name) for name in names})
            db.run("checks/two_builds")
            asked = (_verdict(db, f"checks/gates/{gate}", gate, of_all.threshold) for gate, of_all in gates.items())
            verdicts = [verdict for verdict in asked if verdict]
            if breached := {verdict.gate for verdict in verdicts if verdict.breached}:
                guilty[game] = breached
            else:
                cleared |= any(_could_judge(db, verdict, gates[verdict.gate]) for verdict in verdicts)
            db.register(whole)
        db.set(one_game=False)
        db.run("checks/two_builds")
    explained = set().union(*guilty.values()) == gates.keys()
    return Guilt(guilty, guilty if explained and cleared else {})


def told_once(judgement: Judgement, guilty: Mapping[str, Collection[str]]) -> Judgement:
    """Let the message of a gate that several games breach by themselves name them all: it is one cause."""

    def told(verdict: Verdict) -> Verdict:
        games = sorted(game or "the products without a game" for game in guilty if verdict.gate in guilty[game])
        if len(games) < 2 or not verdict.stops:
            return verdict
        return replace(verdict, message=f"{verdict.message}; so of {len(games)} games: {', '.join(games)}")

    return replace(judgement, verdicts=[told(verdict) for verdict in judgement.verdicts])


def held_ratios(comparison: Comparison, past: Past) -> dict[tuple[str, str], Ratio]:
    """Return by table and game, or `ALL_GAMES`, how far its prices lie from those of the live build."""
    rows = comparison.db.answer("checks/held_ratios").to_pylist()
    found = {}
    for row in rows:
        game, worst = row["game"], row["worst"]
        usual = _usual_middles(past, f"{row['table']}/middle {worst['price']}/game/{game}")
        found[row["table"], game] = Ratio(worst["price"], worst["ratio"], worst["products"], usual)
    return found


def _usual_middles(past: Past, key: str) -> tuple[float, float] | None:
    """Return the least and the greatest middle ratio of the last seven nights that measured it."""
    logarithms = [end for night in past.columns[: settings.USUAL_RATIO_NIGHTS] for end in night.get(key, ())]
    return (math.exp(min(logarithms)), math.exp(max(logarithms))) if logarithms else None


def _could_judge(db: Database, of_game: Verdict, of_all: Verdict) -> bool:
    """Return whether a game had enough prices for a gate, in the column of the guide that breached it for all games."""
    column = (of_all.figures.get("worst") or {}).get("price", "")
    enough = "select enough(count(*)) from guide_pairs where price = $1"
    [(has_column,)] = db.connection.execute(enough, [column]).fetchall()
    return of_game.figures.get("worst", True) is not None and (has_column or not column)


def _verdict(db: Database, file: str, gate: str, threshold: float, forced: bool = False) -> Verdict | None:
    rows = db.answer(file).to_pylist()
    if not rows:
        return None
    figures = rows[0]
    value, message = float(figures.pop("value")), figures.pop("message") or "nothing"
    breached = value > threshold
    tables, known_days = figures.pop("tables", []), figures.pop("known_days", False)
    return Verdict(gate, value, threshold, breached, breached and forced, message, figures, tables, known_days)


def _fill_source_rows(db: Database, days: Mapping[str, pa.Table]) -> None:
    """Make one table of the rows of tables of days; `a` and `b` tell rows of two days apart."""
    columns = '"table" varchar, id bigint, slug varchar, day date, a double, b double'
    db.connection.execute(f"create or replace table source_rows ({columns})")
    for table, rows in days.items():
        _, a, b = SOURCES[table]
        keys = "null, slug" if table == "watch_checks" else "id_product, null"
        db.insert("source_rows", f"select $1, {keys}, day, {a}, {b} from batch", rows, table)


def _held_days(left_out: Collection[FileKey]) -> pa.Table:
    rows = [{"table": file.table, "game": file.game, "day": date.fromisoformat(file.day)} for file in left_out]
    return pa.Table.from_pylist(rows, _HELD_DAYS)


def _open_sides(comparison: Comparison, days_left_out: Collection[tuple[str, str]]) -> None:
    """Make the tables that only gates read; `build/checks/two_builds.sql` describes them."""
    old, new, db = comparison.old, comparison.new, comparison.db
    comparison.read("prices", "sets", "identifiers")
    prices = comparison.tables["prices"]
    for build in filter(None, (old, new)):
        checked_file(build.layers[layout.CATALOGUE], COLUMNS)  # the documents of /changes compare it
    comparison.register("build", _days_of_build)
    comparison.register("tables", lambda build: _table_rows(build, prices["new" if build is new else "old"]))
    comparison.register("bulk", lambda build: _bulk(build, days_left_out))
    comparison.register("indexes", lambda build: pq.read_table(checked_file(build.layers[layout.MARKET], INDEXES)))
    comparison.register("links", lambda build: read_bulk_table(build, "products", _LINKS))
    comparison.register("fingerprints", _fingerprints(db, old, new))
    unread = _unread_days(old, new) if old else _DAYS.empty_table()
    db.connection.register("unread_days", unread)
    db.connection.register("live_days", _guide_rows(old, unread["day"].unique().to_pylist()) if old else unread)
    db.connection.register("known_days", _known_days(new, unread))


def _days_of_build(build: Build) -> pa.Table:
    guide_day = build.record["freshness"]["catalogue"]["price_guide_day"]
    days = {"as_of": build.as_of, "guide_day": guide_day and date.fromisoformat(guide_day)}
    return pa.table({name: pa.array([day], pa.date32()) for name, day in days.items()})


# The entries of an index of fingerprints, unless another index is of another recipe.
_ENTRIES = """
select entry ->> 'key' as key, entry::varchar as entry
from (select unnest(($1::json -> 'entries')::json[]) as entry)
where $1::json ->> 'version' = $2::json ->> 'version'
"""


def _fingerprints(db: Database, old: Build | None, new: Build) -> Callable[[Build], pa.Table]:
    """Return what reads the entries of a fingerprint index; none if both builds have the same, or another recipe."""
    builds = [build for build in (old, new) if build and layout.FINGERPRINTS in build.layers]
    if len({build.layers[layout.FINGERPRINTS].folder for build in builds}) < 2:
        return lambda build: _FINGERPRINTS.empty_table()
    indexes = [(build.get(layout.FINGERPRINTS_KEY) or b"{}").decode() for build in builds]

    def entries(build: Build) -> pa.Table:
        params = indexes[::-1] if build is new else indexes
        return db.connection.sql(_ENTRIES, params=params).to_arrow_table()

    return entries


def _open_past(comparison: Comparison, past: Past) -> None:
    db, none = comparison.db, comparison.tables["prices"]["new"].slice(0, 0)
    for name, build in (("week", past.week), ("before", past.before)):
        prices = newest_prices(build) if build else none
        if name == "week" and past.accepted:
            games = pa.array([None if game == NO_GAME else game for game in past.accepted], pa.string())
            prices = prices.filter(pc.invert(pc.is_in(prices["game"], games)))
        db.connection.register(f"{name}_prices", prices)


def _bulk(build: Build, days_left_out: Collection[tuple[str, str]]) -> pa.Table:
    """Return the tables of a build's bulk files with their records, and their columns."""
    records: Counter[str] = Counter()
    columns: set[str] = set()
    for entry in bulk_entries(build):
        if entry["table"] != CATALOGUE:  # it has the rows of the other files
            records[entry["table"]] += entry["records"]
            columns |= {f"{entry['table']}.{name} {type_}" for name, type_ in entry["columns"]}
    rows: list[dict[str, object]] = []
    for table, count in records.items():
        lake_table = _LAKE_TABLES.get(table, table)
        days = [date.fromisoformat(day) for of_table, day in days_left_out if of_table == lake_table]
        left_out = read_rows_of_days(build, table, days, ["day"]).num_rows
        rows.append({"content": table, "lake_table": lake_table, "records": count - left_out})
    return pa.Table.from_pylist(rows + [{"content": column} for column in sorted(columns)], _BULK)


def _unread_days(old: Build, new: Build) -> pa.Table:
    """Return the prices of the guide's days, but the newest, that the new build read and the old one did not.

    Of very many days, as after a first import of a history, only the last ones are read.
    """
    newest = new.record["freshness"]["catalogue"]["price_guide_day"]
    unread = {file.day for file in files_read(new) - files_read(old) if file.table == _GUIDE} - {newest}
    return _guide_rows(new, [date.fromisoformat(day) for day in sorted(unread)[-settings.MAX_JUDGED_DAYS :]])


def _guide_rows(build: Build, days: Collection[date]) -> pa.Table:
    rows = read_rows_of_days(build, _GUIDE, days, _DAYS.names)
    return rows.cast(_DAYS) if rows.num_columns else _DAYS.empty_table()


def _known_days(new: Build, unread: pa.Table) -> pa.Table:
    """Return the prices of the days that are nearest to unread days and were read before; `near` is the unread day."""
    days = unread["day"].unique().to_pylist()
    read = {date.fromisoformat(file.day) for file in files_read(new) if file.table == _GUIDE}.difference(days)
    nearest = {day: min(read, key=lambda other: (abs(other - day), other)) for day in days if read}
    near = {day: other for day, other in nearest.items() if abs(other - day).days <= settings.JUDGED_DAYS}
    pairs = pa.table({"near": pa.array(list(near), pa.date32()), "day": pa.array(list(near.values()), pa.date32())})
    return pairs.join(_guide_rows(new, set(near.values())), "day", join_type="inner")


def _table_rows(build: Build, prices: pa.Table) -> pa.Table:
    """Return per lake table how much of it a build shows: rows, or products with a row; 0 or 1 for listings."""
    fresh = build.record["freshness"]
    counts = {
        "expansions": fresh["catalogue"]["sets"],
        "products": fresh["catalogue"]["products"],
        "price_guide": len(prices) - prices["guide_day"].null_count,
        "listings": int(fresh["catalogue"]["listing_scraped_at"] is not None),
        "filtered_checks": fresh["filtered_price"]["checked"],
        "watchlist": fresh["watchlist"]["products"],
        "watch_checks": fresh["watchlist"]["checked"],
        "fingerprints": json.loads(build.get(layout.FINGERPRINTS_KEY) or b'{"count": 0}')["count"],
    }
    return pa.table({"table": list(counts), "rows": list(counts.values())})


def refused_files(
    judgement: Judgement, new: Build, live: Build, guilty: Mapping[str, Collection[str]]
) -> dict[FileKey, dict[str, float]]:
    """Return the files that a refused build read, with the gates that refused each and their values.

    `guilty` are the games that breach gates by themselves: only their rows are refused, or all if there are none.
    """
    refused: dict[FileKey, dict[str, float]] = {}
    for verdict in judgement.breaches:
        games: list[str | None] = [game for game, gates in guilty.items() if verdict.gate in gates]
        for file in _judged_files(verdict, new, live):
            original = original_of(new.record, file)
            for game in (games if file.table in PRICE_TABLES else []) or [None]:
                refused.setdefault(original._replace(game=game), {})[verdict.gate] = verdict.value
    return refused


def forgive(
    judgement: Judgement,
    new: Build,
    live: Build,
    accepted: Collection[QuarantinedFile],
    judged: Callable[[Build], Judgement],
) -> tuple[Judgement, list[str]]:
    """Let breached gates pass that judge what a person has decided, and say which builds were compared with for that.

    A gate passes that also passes against a build which a person took for right, or that judged accepted files alone.
    `judged` judges the new build against another one.
    """
    said = []
    for right, tables, why in _right_builds(judgement, new, live, accepted):
        if judgement.breaches:
            with suppress(StorageError, DamageError):  # pruned or damaged: nothing else to compare with
                passed = {v.gate: v for v in judged(open_build(live.store, right)).verdicts if not v.breached}
                verdicts = [
                    passed.get(v.gate, v) if v.stops and tables.intersection(v.tables) else v
                    for v in judgement.verdicts
                ]
                judgement = replace(judgement, verdicts=verdicts)
                said.append(why)
    files = {file.key.whole for file in accepted}
    forced = {
        verdict.gate
        for verdict in judgement.breaches
        if files and (of_gate := _originals(_judged_files(verdict, new, live), new)) and of_gate <= files
    }
    verdicts = [replace(verdict, forced=True) if verdict.gate in forced else verdict for verdict in judgement.verdicts]
    return replace(judgement, verdicts=verdicts), said


def _right_builds(
    judgement: Judgement, new: Build, live: Build, accepted: Collection[QuarantinedFile]
) -> Iterator[tuple[str, set[str], str]]:
    """Yield builds that a person took for right, each with the tables that it stands for, and why as a sentence.

    If the live build breached gates that the new one breaches too, its data was bad, or the new one's: what was live
    before may tell. Of accepted days that came in, the refused build that had the newest may.
    """
    back = breached_gates(live.store, live.id)
    tables = {table for verdict in judgement.breaches for table in back.get(verdict.gate, [])}
    if tables and (before := read_judgement(live.store, live.id).get("against")):
        yield before, tables, f"{live.id} was live although gates refused it: compared with {before} as well"
    unread = _originals(files_read(new) - files_read(live), new) if accepted else set()
    believed = [file for file in accepted if file.key.whole in unread and file.build != new.id]
    if believed:
        newest = max(believed, key=lambda file: (file.day, file.since)).build
        said = f"accepted days came in: compared with {newest}, which had the last of them, as well"
        yield newest, {file.table for file in believed}, said


def _originals(files: Collection[FileKey], build: Build) -> set[FileKey]:
    """Return the files of the lake that files are which a build read, perhaps without the rows of some games."""
    return {original_of(build.record, file).whole for file in files}


def _judged_files(verdict: Verdict, new: Build, live: Build) -> set[FileKey]:
    if not verdict.tables:
        return set()
    known = {(file.table, file.day) for file in files_read(live)}
    worst = {row["day"] for row in verdict.figures.get("days") or () if row["distance"] > verdict.threshold}
    return {
        file
        for file in files_read(new) - files_read(live)
        if file.table in verdict.tables
        and (not verdict.known_days or (file.table, file.day) in known)
        and (not worst or file.day in worst)
    }
