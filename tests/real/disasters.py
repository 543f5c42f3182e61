"""Damages one real night in many ways, and prints which gates and remarks see each.

    python -m tests.real.disasters DATA

It publishes three days of one real game: a week ago, yesterday and today. The gates then judge today's build against
yesterday's with its prices damaged, as a build of a damaged lake would have them.
"""

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import duckdb
import pyarrow as pa

from edge_auth.builds.builds import open_build
from edge_auth.builds.pointer import live_pointer
from edge_auth.store.folder import FolderStore
from generator.clock import utc_now
from generator.compare import comparison
from generator.compare.judgements import Judgement
from generator.compare.past import read_past
from tests.real import pokemon_lake
from tests.real.nights import night
from tests.support.nights import judge

DAYS_BACK = (8, 1, 0)
COLUMNS = ("trend", "low", "avg1", "avg7", "avg30", "trend_holo", "low_holo")
LARGEST = "(select id_expansion from rows group by all order by count(*) desc, 1 limit 1)"
DEAREST = "(select id_product from rows order by trend desc nulls last, id_product limit 200)"


def scaled(factor: str, where: str = "true") -> str:
    """SQL for the rows with all prices of some products times a factor."""
    changed = ", ".join(
        f"case when {where} then round({name} * {factor}, 2)::decimal(18, 2) else {name} end as {name}"
        for name in COLUMNS
    )
    return f"select * replace ({changed}) from rows"


def older(table: str, where: str) -> str:
    """SQL for the rows with the prices of some products as another build had them."""
    changed = ", ".join(f"case when {where} then o.{name} else r.{name} end as {name}" for name in COLUMNS)
    return f"select r.* replace ({changed}) from rows as r join {table} as o using (id_product)"


HALF = "hash(id_product) % 2 = 0"
KINDS = {
    "nothing": "from rows",
    "one set x 50": scaled("50", f"id_expansion = {LARGEST}"),
    "one set gone": f"from rows where id_expansion is distinct from {LARGEST}",
    "rows of one set gone": f"select * replace (guide_day - 1 as guide_day) from rows where id_expansion = {LARGEST} "
    f"union all from rows where id_expansion is distinct from {LARGEST}",
    "the 200 dearest x 10": scaled("10", f"id_product in {DEAREST}"),
    "the 200 dearest x 0.01": scaled("0.01", f"id_product in {DEAREST}"),
    "half of the prices frozen": older("yesterday", HALF.replace("id_product", "r.id_product")),
    "half of a week ago": older("week", HALF.replace("id_product", "r.id_product")),
    "9 % of the rows missing": "select * replace (case when id_product % 11 = 0 then guide_day - 1 else guide_day end "
    "as guide_day) from rows",
    "avg1 and avg7 swapped": "select * replace (avg7 as avg1, avg1 as avg7) from rows",
    "avg30 = avg7": "select * replace (avg7 as avg30) from rows",
    "avg7 of the product before": "select * replace (lag(avg7) over (order by id_product) as avg7) from rows",
    "a floor of 0.02": "select * replace (greatest(trend, 0.03) as trend, greatest(low, 0.03) as low) from rows",
    "categories translated": "select * replace (concat('Karte: ', category) as category) from rows",
    "dateAdded all today": "select * replace (timestamp '2026-08-22' as date_added) from rows",
    "singles as sealed": "select * replace ('sealed' as kind) from rows",
    "twice the products": "from rows union all select * replace (id_product + 90000000 as id_product) from rows",
    "x 1.1": scaled("1.1"),
    "x 1.2": scaled("1.2"),
    "x 1.05, a night of a drift": scaled("1.05"),
    "noise of 50 %": scaled("(0.5 + hash(id_product) % 1000 / 1000)"),
    "names N/A": "select * replace ('N/A' as name) from rows",
    "names with ? for letters": "select * replace (regexp_replace(name, '[aeiou]', '?', 'g') as name) from rows",
    "all prices x 9": scaled("9"),
}


def judgements(folder: Path, data: Path) -> Iterator[tuple[str, Judgement]]:
    """Yield what the gates say of each kind."""
    store = FolderStore(str(folder / "store"))
    _publish_days(folder, data, store)
    pointer = live_pointer(store)
    new, old = open_build(store, pointer.build), open_build(store, pointer.previous[0])
    past, read = read_past(store, new.as_of), comparison.newest_prices
    tables = {"rows": read(new.layers["catalogue"]), "yesterday": read(old.layers["catalogue"])}
    tables["week"] = read(past.week.layers["catalogue"]) if past.week else tables["yesterday"]
    for kind, query in KINDS.items():
        damaged = {new.layers["catalogue"].folder: _run(query, tables)}
        with patch.object(
            comparison, "newest_prices", lambda layer, known=damaged: known.get(layer.folder) or read(layer)
        ):
            judgement = judge(old, new, now=utc_now(), past=past)
        past = replace(past, usual_changes=past.usual_changes or judgement.differences["trends_changed"])
        yield kind, judgement


def _publish_days(folder: Path, data: Path, store: FolderStore) -> None:
    lake, waiting = folder / "lake", folder / "waiting"
    pokemon_lake.main(str(data), str(lake))
    waiting.mkdir()
    days = sorted((lake / "price_guide").iterdir())
    for day in days[-max(DAYS_BACK) :]:
        day.rename(waiting / day.name)
    for back in DAYS_BACK:
        for day in days[-max(DAYS_BACK) : len(days) - back]:
            if (waiting / day.name).exists():
                (waiting / day.name).rename(day)
        night(lake, folder / "store")


def _run(query: str, tables: dict[str, pa.Table]) -> pa.Table:
    with duckdb.connect() as connection:
        for name, table in tables.items():
            connection.register(name, table)
        made = connection.sql(query).to_arrow_table()
    return made.select(tables["rows"].column_names).cast(tables["rows"].schema)


def main(data: Path) -> None:
    """Print a table: each kind, and the gates or remarks that see it."""
    if not data.is_dir():
        print(f"skipped: there is no real data at {data}")
        return
    with tempfile.TemporaryDirectory(prefix="cardpress-disasters-") as folder:
        for kind, judgement in judgements(Path(folder), data):
            refused = ", ".join(verdict.gate for verdict in judgement.breaches)
            remarks = ", ".join(remark.gate for remark in judgement.remarks)
            print(f"| {kind} | {refused or '-'} | {remarks or '-'} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
