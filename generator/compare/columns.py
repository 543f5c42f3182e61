"""Compares each column of each table with what it was, the same for all, and says what no night before had.

`build/checks/columns` measures a table. The values are kept with the gate results, so the nights before say what is
usual: a value is ordinary between the least and the greatest that they had, and a margin. A table that has no days
usually stays as it was. What lies outside is a sentence, and stops nothing: a kind of damage that no gate knows is at
least said.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from edge_auth.builds import layout
from edge_auth.builds.builds import Build
from edge_auth.builds.bulk import FILES, PART_OF_TABLE
from generator import settings
from generator.compare.comparison import SOURCES, Comparison, read_cards
from generator.database import Database, run_file
from generator.lake.files import GUIDE_PRICES
from generator.pack.verify import checked_file

# By table, measure with its columns, and kind of part: the least and the greatest value of a part.
Measures = dict[str, list[float]]
_MARGIN = 0.15  # how far outside the nights before a value is unusual, and their range
_OF_SETS = 2  # the margins of sets, which are many and small
_NEARLY = 0.02  # less of the values changed on no night before: then all of them repeated is unusual
_WITHOUT_DAYS = ("products", "expansions", "identifiers", "fingerprints")
_WORDS = {
    "missing": "{change} of the values of {column} are missing",
    "repeated": "{share} of the values of {column} are those of the row before",
    "low": "{quarters} of the values of {column} are at {end} {times} times what they were",
    "middle": "the middle one of the values of {column} is {times} times what it was",
    "high": "{quarters} of the values of {column} are at {end} {times} times what they were",
    "whole": "{change} of the values of {column} are whole numbers",
    "order": "{change} of the values of {column} are at most {other}",
    "distinct": "{change} of the values of {column} differ from all others",
    "commonest": "{change} of the values of {column} are one and the same",
}
_TEXTS = """
select id_product, name, kind, category, game, id_expansion, rarity, number, date_added, l.* exclude (id_product)
from {side}_prices as p left join {side}_links as l using (id_product)
"""
_OFFERS = """
select id_product, json ->> '$.filtered_price.cheapest_seller' as cheapest_seller,
    json ->> '$.filtered_price.cheapest_condition' as cheapest_condition
from batch
"""


class Measured(NamedTuple):
    """One measure: its key among `Measures`, and its least and its greatest value with the parts that have them."""

    key: str
    values: tuple[float, float]
    parts: tuple[str, str]


class Unusual(NamedTuple):
    """A value outside the nights before, by how many margins, and its sentence."""

    distance: float
    sentence: str


class _Table(NamedTuple):
    name: str
    keys: tuple[str, ...]
    before: pa.Table
    tonight: pa.Table


def measure_columns(comparison: Comparison, days: Mapping[str, pa.Table]) -> list[Measured]:
    """Measure the tables that differ between two builds; `days` are the last days of the scrapers' in the new one."""
    if comparison.old is None:
        return []
    comparison.db.set(enough_rows=settings.ENOUGH_ROWS)
    comparison.db.run("checks/column_parts")
    tables = _tables(comparison, comparison.old, days)
    return [measured for table in tables for measured in _measure(comparison.db, table)]


def unusual(tonight: Sequence[Measured], nights: Sequence[Measures]) -> list[Unusual]:
    """Return what lies outside the nights before, the farthest first; nothing that too few of them measured."""
    found = (one for measured in tonight for one in _unusual(measured, nights))
    return sorted(found, key=lambda one: (-one.distance, one.sentence))


def _tables(comparison: Comparison, old: Build, days: Mapping[str, pa.Table]) -> Iterator[_Table]:
    new, db = comparison.new, comparison.db
    prices = ", ".join(f"{{}}.{name}" for name in GUIDE_PRICES)
    newer = "from old_prices as o join new_prices as n using (id_product) where n.guide_day > o.guide_day"
    before, tonight = (db.table(f"select id_product, {prices.replace('{}', side)} {newer}") for side in "on")
    yield _Table("price_guide", ("id_product",), before, tonight)
    for name, rows in days.items():
        days_before = (entry["last_day"] or "" for entry in _files(old) if entry["table"] == SOURCES[name][0])
        if table := _newest_day(db, name, rows, max(days_before, default="")):
            yield table
    names = [{entry["name"] for entry in _files(build)} for build in (old, new)]
    differing = {name.rpartition("-")[0] for name in names[0] ^ names[1]}
    if "products" in differing:
        sides = (db.table(_TEXTS.format(side=side)) for side in ("old", "new"))
        yield _Table("products", ("id_product",), *sides)
    if "sets" in differing:
        layers = (build.layers[layout.sublayer(layout.BULK, PART_OF_TABLE["sets"])] for build in (old, new))
        yield _Table("expansions", ("id",), *(pq.read_table(checked_file(layer, "sets")) for layer in layers))
    if "identifiers" in differing:
        query = "select id_product, scheme, min(value) as value from {}_identifiers group by all"
        yield _Table(
            "identifiers", ("id_product", "scheme"), *(db.table(query.format(side)) for side in ("old", "new"))
        )
    entries = [db.table(f"from {side}_fingerprints") for side in ("old", "new")]
    if all(map(len, entries)):
        yield _Table("fingerprints", ("key",), *entries)
    yield from _offers(db, old, new)


def _newest_day(db: Database, name: str, rows: pa.Table, last_day: str) -> _Table | None:
    """Return the rows of a table's newest day, and of each of their keys the row before; None if no day came in."""
    key = "slug" if "slug" in rows.column_names else "id_product"
    db.connection.register("rows_of_days", rows)
    newest = db.rows("select max(day)::varchar from rows_of_days")[0][0] or ""
    if newest <= last_day:
        return None
    db.set(newest=newest)
    tonight = db.table("select * exclude (day) from rows_of_days where day = getvariable('newest')::date")
    before = db.table(
        f"""select * exclude (day) from rows_of_days
        semi join (select {key} from rows_of_days where day = getvariable('newest')::date) using ({key})
        where day < getvariable('newest')::date
        qualify row_number() over (partition by {key} order by day desc) = 1"""
    )
    return _Table(name, (key,), before, tonight)


def _files(build: Build) -> list[dict[str, Any]]:
    files: list[dict[str, Any]] = json.loads(build.manifest())[FILES]
    return files


def _offers(db: Database, old: Build, new: Build) -> Iterator[_Table]:
    """Yield what only Cards have of the offers that came in: of some products, because it takes reading them."""
    query = "from old_prices as o join new_prices as n using (id_product) where n.filtered_day > o.filtered_day"
    ids = db.table(f"select id_product {query} order by hash(id_product), id_product limit {settings.SAMPLED_OFFERS}")
    if len(ids):
        wanted, sides = ids["id_product"].to_numpy(), []
        for build in (old, new):
            cards = pa.concat_tables(read_cards(build.catalogue, wanted))
            db.connection.register("batch", cards.append_column("id_product", ids["id_product"]))
            sides.append(db.table(_OFFERS))
        yield _Table("offers", ("id_product",), *sides)


def _measure(db: Database, table: _Table) -> Iterator[Measured]:
    columns = [
        field for field in table.tonight.schema if field.name not in table.keys and not pa.types.is_nested(field.type)
    ]
    names = tuple(field.name for field in columns)
    is_number = (pa.types.is_floating, pa.types.is_integer, pa.types.is_decimal)
    values = (field for field in columns if not field.name.startswith("id_"))
    numbers = tuple(field.name for field in values if any(is_one(field.type) for is_one in is_number))
    finishes = ([n for n in numbers if n.endswith("_holo")], [n for n in numbers if not n.endswith("_holo")])
    pairs = tuple(pair for finish in finishes for pair in pairwise(finish))
    db.connection.register("before", table.before)
    db.connection.register("tonight", table.tonight)
    run_file(db.connection, "checks/column_pairs", columns=names, keys=table.keys)
    rows = db.answer("checks/columns", columns=names, numbers=numbers, pairs=pairs).to_pylist()
    stayed = {row["measure"] for row in rows if row["measure"].startswith("repeated") and row["least"] == 1}
    changed = tuple(sorted(name for name in names if f"repeated {name}" not in stayed))
    rows += db.answer("checks/column_values", columns=changed).to_pylist() if changed else []
    for row in rows:
        key = f"{table.name}/{row['measure']}/{row['kind']}"
        yield Measured(key, (row["least"], row["greatest"]), (row["least_part"], row["greatest_part"]))


def _unusual(tonight: Measured, nights: Sequence[Measures]) -> Iterator[Unusual]:
    table, measure, kind = tonight.key.split("/")
    earlier = [night[tonight.key] for night in nights if tonight.key in night]
    if table in _WITHOUT_DAYS:
        earlier.append([1.0, 1.0] if measure.startswith("repeated") else [0.0, 0.0])
    elif len(earlier) < settings.ENOUGH_MEASURED_NIGHTS:
        return
    least, greatest = min(low for low, _ in earlier), max(high for _, high in earlier)
    margin = (_MARGIN + greatest - least) * (_OF_SETS if kind == "set" else 1)
    ends = [(least - tonight.values[0]) / margin, (tonight.values[1] - greatest) / margin]
    of_many = kind in ("table", "game") and 1 - greatest > _NEARLY
    if measure.startswith("repeated") and of_many and 1 - tonight.values[1] < (1 - greatest) / 4:
        ends[1] = max(ends[1], 1.01)  # nearly all of them, as on no night before
    for distance, value, part in zip(ends, tonight.values, tonight.parts, strict=True):
        if distance > 1:
            yield Unusual(distance, _sentence(table, measure, part, value, (least, greatest)))


def _sentence(table: str, measure: str, part: str, value: float, usual: tuple[float, float]) -> str:
    of, column, *other = measure.split()
    fell = value < usual[0]
    said = _WORDS[of].format(
        column=column,
        other="".join(other),
        share=f"{value:.0%}",
        change=f"{abs(value):.0%} {'more' if value > 0 else 'fewer'}",
        times=f"{math.exp(value):.3g}",
        quarters="a quarter" if fell == (of == "low") else "three quarters",
        end="most" if fell else "least",
    )
    low, high = (f"{math.exp(end):.3g}" if of in ("low", "middle", "high") else f"{end:.0%}" for end in usual)
    return f"{table}{f' of {part}' if part else ''}: {said}; on the nights before {low} to {high}"
