"""Says whether a night is ordinary: what a build changes, beside the nights before.

The figures of a night are counts of what its build adds, lacks and changes. `build/checks/columns` measures besides
each column of each table, the same for all. The gate results keep both, so the nights before say what is usual: a
measure is ordinary between the least and the greatest that they had, and a margin. A table that has no days usually
stays as it was. What lies outside is said, and stops nothing: it may be a kind of damage that no gate knows.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from generator import settings
from generator.compare.comparison import SOURCES, Comparison, bulk_entries, read_bulk_table, read_cards
from generator.compare.run_reports import Figures, earlier_nights, read_judgement
from generator.database import Database, run_file
from generator.lake.files import GUIDE_PRICES
from generator.lake.quarantine import few, files_read
from generator.pack.verify import checked_file
from generator.storage import layout
from generator.storage.builds import Build
from generator.storage.layers import map_table
from generator.storage.market import LINES, LISTS
from generator.storage.stores.interface import Store

# An ordinary figure is at most so many times the greatest one of the nights before, or the least one divided by it.
_FACTOR = 2
_SMALL_COUNT = 10  # a count may differ by this much in any case
# Counts of days are ordinary only between the least and the greatest one of the nights before.
_OF_DAYS = ("days_added", "past_days_changed")
# What it means that a figure is 0 tonight and was not in the nights before.
_NOTHING = {
    "filtered_changed": "no offers were checked",
    "trends_changed": "no price of the guide changed",
    "days_added": "no day came in",
    "movers_lists_changed": "the movers are those of the night before",
}
# How far outside the nights before a value is unusual: at least so far (shares, logarithms of ratios), and by so many
# rows; and at least as far as they lie apart, more after few nights, and more in a band of prices or a set.
_FAR_SHARE, _FAR_RATIO, _FAR_COMMONEST = 0.004, 0.08, 0.4
_FEW_ROWS = 12
_FEW_NIGHTS = 16
_OF_PARTS = 5
_NEARLY = 0.02  # less of the values changed on no night before: then all of them repeated is unusual
_WITHOUT_DAYS = ("products", "expansions", "identifiers", "fingerprints")
_RATIOS = {
    "bottom": "3 % of the",
    "low": "a quarter of the",
    "middle": "half of the",
    "high": "a quarter of the",
    "top": "3 % of the",
}
_WORDS = {
    "lost": "{share} of the rows of the night before are gone",
    "missing": "{column} is {missing} for {change} more of the rows than before",
    "repeated": "{share} of the values of {column} stayed as they were",
    "whole": "{change} {more} of the values of {column} are whole numbers",
    "order": "{change} {more} of the rows have {column} up to {other}",
    "distinct": "{change} {more} of the values of {column} are different ones",
    "commonest": "the most frequent value of {column} is there {ratio} as often",
}
_PARTS_OF_ONE = {2: "half", 3: "a third", 4: "a quarter", 5: "a fifth", 10: "a tenth", 100: "a hundredth"}
_OFFERS = """
select id as id_product, json ->> '$.filtered_price.cheapest_seller' as cheapest_seller,
    json ->> '$.filtered_price.cheapest_condition' as cheapest_condition
from batch
"""


def count_differences(comparison: Comparison) -> Figures:
    """Return the counts of what a build adds, lacks and changes; without an old build only products and sets."""
    if comparison.figures:
        return comparison.figures
    old, new = comparison.old, comparison.new
    comparison.read("prices", "sets")
    counts: Figures = comparison.db.answer("checks/differences").to_pylist()[0]
    if old is None:
        return counts
    before, after = _movers(old), _movers(new)
    days = {file.day for file in files_read(old) ^ files_read(new)}  # of which only one of the lakes had this file
    added = sum(day > old.as_of.isoformat() for day in days)
    comparison.figures = counts | {
        "days_added": added,
        "past_days_changed": len(days) - added,
        "movers_lists_changed": sum(before.get(key) != after.get(key) for key in before | after),
        "bulk_files_added": len(new.bulk_files.keys() - old.bulk_files.keys()),
    }
    return comparison.figures


def _movers(build: Build) -> dict[tuple[bool, str], bytes]:
    """Return a value for each list of movers that is the same for equal lists."""
    lines, lists = (map_table(checked_file(build.layers[layout.MOVERS], stem)) for stem in (LINES, LISTS))
    hashes = np.array([hash(line) for line in lines["line"].to_pylist()], np.int64)
    rows = zip(*(lists[name].to_pylist() for name in ("confirmed", "key", "lines")), strict=True)
    return {(of_confirmed, key): hashes[np.array(places, int)].tobytes() for of_confirmed, key, places in rows}


class FigureRow(NamedTuple):
    """A figure of a night beside the same of earlier ones; None where there was no such night."""

    name: str
    tonight: int
    yesterday: int | None
    last_week: int | None
    ordinary: bool


class NightComparison(NamedTuple):
    """The figures of a night, one sentence about them, and what more gates and remarks say.

    `days` are the as-of days of the night before and of the one a week before, or words where there was none.
    """

    sentence: str
    rows: list[FigureRow]
    more: Sequence[str]
    days: tuple[str, str]


def strange_by_gates(store: Store, build: str, against: str) -> list[str]:
    """Return the messages of the breached gates and of the remarks, if a night compared these builds."""
    judgement = read_judgement(store, build)
    if judgement.get("against") != against:
        return []
    breached = (verdict for verdict in judgement.get("verdicts", []) if verdict["breached"])
    return [verdict["message"] for verdict in (*breached, *judgement.get("remarks", []))]


def compare_night(store: Store, as_of: date, tonight: Figures, strange: Sequence[str] = ()) -> NightComparison:
    """Compare the figures of a night, and what gates and remarks say of it, with the nights before its as-of day."""
    judged = earlier_nights(store, as_of, settings.USUAL_NIGHTS)
    nights: list[tuple[date, Figures]] = [(day, judgement["differences"]) for day, judgement in judged]
    none: Figures = {}
    day, before = nights[0] if nights else ("night before", none)
    week_day, week = next((night for night in nights if night[0] <= as_of - timedelta(days=7)), ("week before", none))
    rows = []
    for name, figure in tonight.items():
        is_ordinary = _is_ordinary(name, figure, [figures[name] for _, figures in nights if name in figures])
        rows.append(FigureRow(name, figure, before.get(name), week.get(name), is_ordinary))
    sentence = _sentence_of_figures(rows, len(nights), strange)
    return NightComparison(sentence, rows, strange[1:], (str(day), str(week_day)))


def _is_ordinary(name: str, figure: int, earlier: list[int]) -> bool:
    if len(earlier) < settings.ENOUGH_NIGHTS:
        return True
    if name in _OF_DAYS:
        return min(earlier) <= figure <= max(earlier)
    return min(earlier) / _FACTOR - _SMALL_COUNT <= figure <= max(earlier) * _FACTOR + _SMALL_COUNT


def _sentence_of_figures(rows: list[FigureRow], nights: int, strange: Sequence[str]) -> str:
    if strange:
        more = f"; and {len(strange) - 1} more" if len(strange) > 1 else ""
        return f"Not an ordinary night: {strange[0]}{more}."
    if nights < settings.ENOUGH_NIGHTS:
        return f"There are too few earlier nights ({nights}) to say whether this one is ordinary."
    unusual = [
        _NOTHING.get(row.name, f"0 {title(row.name)}") if row.tonight == 0 else f"{row.tonight:,} {title(row.name)}"
        for row in rows
        if not row.ordinary
    ]
    if unusual:
        return f"Not an ordinary night: {', '.join(unusual)}. The {nights} nights before had other figures."
    return f"An ordinary night: its figures are like those of the {nights} nights before."


def title(name: str) -> str:
    """Return the name of a figure for people."""
    return name.replace("_", " ")


class Measured(NamedTuple):
    """One measure of a column in a game, a band of its prices, or its sets.

    Attributes:
        key: Table, measure with its columns, kind of part, and game (with its band).
        values: The least and the greatest; the same unless it is of several sets.
        parts: Which have them.
        many: How many rows were measured, of the smallest part; of the most frequent value, how often it was there.
    """

    key: str
    values: tuple[float, float]
    parts: tuple[str, str]
    many: int


_Table = tuple[str, tuple[str, ...], pa.Table, pa.Table]  # its name, its keys, its rows before and tonight


def measure_columns(comparison: Comparison, days: Mapping[str, pa.Table]) -> list[Measured]:
    """Measure the tables that differ between two builds; `days` are the last days of the scrapers' in the new one."""
    if comparison.old is None:
        return []
    comparison.db.set(enough_rows=settings.ENOUGH_ROWS)
    comparison.db.run("checks/column_parts")
    tables = _tables(comparison, comparison.old, days)
    return [measured for table in tables for measured in _measure(comparison.db, *table)]


class _Strange(NamedTuple):
    distance: float  # from what is usual, in margins
    measured: Measured
    value: float
    part: str
    usual: tuple[float, float]

    @property
    def cause(self) -> tuple[str, str]:
        """What others have with it in common if they have one cause: the table, and what is measured."""
        table, measure, *_ = self.measured.key.split("/", 3)
        of = measure.split()[0]
        return table, "ratio" if of in _RATIOS else of


def unusual(tonight: Sequence[Measured], nights: Sequence[dict[str, list[float]]]) -> list[dict[str, Any]]:
    """Return what lies outside the nights before, the farthest first; nothing that too few of them measured.

    What has one cause is one: its `sentence` names the worst, then the other columns and games. `distance` is that from
    what is usual, in margins.
    """
    causes: dict[tuple[str, str], list[_Strange]] = {}
    for strange in (strange for measured in tonight for strange in _unusual(measured, nights)):
        causes.setdefault(strange.cause, []).append(strange)
    found = []
    for of_cause in causes.values():
        of_cause.sort(key=lambda one: (-one.distance, one.measured.key, one.value))
        found.append({"distance": of_cause[0].distance, "sentence": _sentence_of_cause(of_cause)})
    return sorted(found, key=lambda one: (-one["distance"], one["sentence"]))


def _tables(comparison: Comparison, old: Build, days: Mapping[str, pa.Table]) -> Iterator[_Table]:
    new, db = comparison.new, comparison.db
    guides = (db.answer("checks/guides_of_day", side=side, prices=tuple(GUIDE_PRICES)) for side in ("old", "new"))
    yield "price_guide", ("id_product",), *guides
    for name, rows in days.items():
        days_before = (entry["last_day"] or "" for entry in bulk_entries(old) if entry["table"] == SOURCES[name][0])
        if table := _newest_day(db, name, rows, max(days_before, default="")):
            yield table
    differing = {name.rpartition("-")[0] for name in old.bulk_files.keys() ^ new.bulk_files.keys()}
    if "products" in differing:
        texts = (db.answer("checks/texts_of_products", side=side) for side in ("old", "new"))
        yield "products", ("id_product",), *texts
    if "sets" in differing:
        yield "expansions", ("id",), *(read_bulk_table(build, "sets", None) for build in (old, new))
    if "identifiers" in differing:
        query = "select id_product, scheme, min(value) as value from {}_identifiers group by all"
        yield "identifiers", ("id_product", "scheme"), *(db.table(query.format(side)) for side in ("old", "new"))
    entries = [db.table(f"from {side}_fingerprints") for side in ("old", "new")]
    if all(map(len, entries)):
        yield "fingerprints", ("key",), *entries
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
    return name, (key,), db.answer("checks/rows_before", key=key), tonight


def _offers(db: Database, old: Build, new: Build) -> Iterator[_Table]:
    """Yield what only Cards have of the offers that came in: of some products, because it takes reading them."""
    query = "from old_prices as o join new_prices as n using (id_product) where n.filtered_day > o.filtered_day"
    ids = db.table(f"select id_product {query} order by hash(id_product), id_product limit {settings.SAMPLED_OFFERS}")
    if len(ids):
        wanted, sides = ids["id_product"].to_numpy(), []
        for build in (old, new):
            db.connection.register("batch", pa.concat_tables(read_cards(build.catalogue, wanted)))
            sides.append(db.table(_OFFERS))
        yield "offers", ("id_product",), *sides


def _measure(
    db: Database, table: str, keys: tuple[str, ...], before: pa.Table, tonight: pa.Table
) -> Iterator[Measured]:
    columns = [field for field in tonight.schema if field.name not in keys and not pa.types.is_nested(field.type)]
    names = tuple(field.name for field in columns)
    is_number = (pa.types.is_floating, pa.types.is_integer, pa.types.is_decimal)
    values = (field for field in columns if not field.name.startswith("id_"))
    numbers = tuple(field.name for field in values if any(is_one(field.type) for is_one in is_number))
    finishes = ([n for n in numbers if n.endswith("_holo")], [n for n in numbers if not n.endswith("_holo")])
    pairs = tuple(pair for finish in finishes for pair in pairwise(finish))
    db.connection.register("before", before)
    db.connection.register("tonight", tonight)
    run_file(db.connection, "checks/column_pairs", columns=names, keys=keys)
    rows = db.answer("checks/columns", columns=names, numbers=numbers, pairs=pairs).to_pylist()
    repeated = {
        row["measure"]: row["least"] for row in sorted(rows, key=lambda row: -row["least"])
    }  # the least one stays
    changed = [name for name in names if repeated.get(f"repeated {name}", 0) < 1]
    rows += db.answer("checks/column_values", columns=tuple(sorted(changed))).to_pylist() if changed else []
    for row in rows:
        key = f"{table}/{row['measure']}/{row['kind']}/{row['of_game']}"
        ends = (row["least"], row["greatest"])
        yield Measured(key, ends, (row["least_part"], row["greatest_part"]), row["many"])


def _unusual(tonight: Measured, nights: Sequence[dict[str, list[float]]]) -> Iterator[_Strange]:
    table, measure, kind, _ = tonight.key.split("/", 3)
    of = measure.split()[0]
    earlier = [night[tonight.key] for night in nights if tonight.key in night]
    if table in _WITHOUT_DAYS:
        earlier.append([1.0, 1.0] if of == "repeated" else [0.0, 0.0])
    elif len(earlier) < settings.ENOUGH_MEASURED_NIGHTS:
        return
    least, greatest = min(low for low, _ in earlier), max(high for _, high in earlier)
    apart = (greatest - least) * (1 + _FEW_NIGHTS / len(earlier))
    margin = max(apart, _least_margin(of, tonight.many)) * (1 if kind == "game" else _OF_PARTS)
    ends = [(least - tonight.values[0]) / margin, (tonight.values[1] - greatest) / margin]
    if of == "repeated" and kind == "game" and (1 - tonight.values[1]) * 4 < 1 - greatest > _NEARLY:
        ends[1] = max(ends[1], 1.01)  # nearly all of them, as on no night before
    for distance, value, part in zip(ends, tonight.values, tonight.parts, strict=True):
        if distance > 1:
            yield _Strange(distance, tonight, value, part, (least, greatest))


def _least_margin(of: str, many: int) -> float:
    if of == "commonest":
        return max(_FAR_COMMONEST, math.log1p(_FEW_ROWS / many))
    return _FAR_RATIO if of in _RATIOS else max(_FAR_SHARE, _FEW_ROWS / many)


def _sentence_of_cause(strange: Sequence[_Strange]) -> str:
    worst = strange[0]
    table, measure, *_ = worst.measured.key.split("/", 3)
    said = _sentence_of_column(measure, worst.value)
    low, high = (_in_words(measure, end) for end in worst.usual)
    usual = f"; on the nights before {low}" + (f" to {high}" if high != low else "")
    column = measure.split()[1]
    columns = sorted({one.measured.key.split("/")[1].split()[1] for one in strange} - {column})
    parts = sorted({one.part for one in strange if one.measured.key.split("/", 3)[2] == "game"} - {worst.part, ""})
    others = [f"of {few(columns)}"] * bool(columns) + [f"in {few(parts)}"] * bool(parts)
    also = f"; the same {' and '.join(others)}" if others else ""
    return f"{table}{f' of {worst.part}' if worst.part else ''}: {said}{usual}{also}"


def _sentence_of_column(measure: str, value: float) -> str:
    of, column, *other = measure.split()
    if of in _RATIOS:
        most = of in ("bottom", "low") or (of == "middle" and value < 0)
        ratio = _ratio(value)
        of_it = "" if ratio.endswith("times") else " of"
        return f"for {_RATIOS[of]} products {column} is at {'most' if most else 'least'} {ratio}{of_it} what it was"
    return _WORDS[of].format(
        column=column,
        other="".join(other),
        share=_percent(abs(value)),
        change=_percent(abs(value)),
        more="more" if value > 0 else "fewer",
        missing="missing" if value > 0 else "there",
        ratio=_ratio(value),
    )


def _in_words(measure: str, value: float) -> str:
    of = measure.split()[0]
    return _ratio(value) if of in _RATIOS or of == "commonest" else _percent(value)


def _percent(share: float) -> str:
    return f"{100 * share:.{1 if abs(share) < 0.095 else 0}f} %".replace(".0 %", " %").replace("-0 %", "0 %")


def _ratio(logarithm: float) -> str:
    """Return a ratio in words, such as "a quarter", "73 %" or "6 times"."""
    ratio = math.exp(logarithm)
    for part, words in _PARTS_OF_ONE.items():
        if abs(ratio * part - 1) < 0.03:
            return words
    return _percent(ratio) if ratio < 2 else f"{ratio:.3g} times"
