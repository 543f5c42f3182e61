"""What a lake lacks, what that means for the API, and the table of expansions without a name, to fill."""

import csv
import io
from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

import duckdb
import pyarrow as pa

from generator.ingest.games import IS_UNNAMED, TOLD_GAMES, UNNAMED, usual_name
from generator.ingest.merge import connect_tables
from generator.ingest.table_files import price_guide_file
from generator.lake.lake import DAILY_TABLES, FLAT_TABLES
from generator.lake.tables import arrow_schema
from generator.lake.writer import LakeWriter

_MAX_LISTED_DAYS = 5

_COUNTS = f"""
SELECT
    count(*) AS products,
    count(*) FILTER (kind = 'single') AS singles,
    count(*) FILTER (kind = 'sealed') AS sealed,
    count(*) FILTER (expansions.name IS NULL OR {IS_UNNAMED}) AS without_set,
    count(DISTINCT id_expansion) FILTER (expansions.name IS NULL OR {IS_UNNAMED}) AS sets_without_name,
    count(*) FILTER (coalesce(trim(expansions.game), '') = '') AS without_game,
    count(*) FILTER (kind = 'single' AND number IS NULL) AS without_number,
    count(*) FILTER (kind = 'single' AND rarity IS NULL) AS without_rarity,
    count(*) FILTER (products.url IS NULL) AS without_url,
    count(*) FILTER (image IS NULL) AS without_image
FROM products LEFT JOIN expansions ON products.id_expansion = expansions.id
"""
_UNPRICED = """
SELECT (SELECT count(*) FROM products ANTI JOIN guide USING (id_product)),
       (SELECT count(*) FROM guide ANTI JOIN products USING (id_product))
"""

_EXAMPLES = 3
_TEMPLATE = f"""
WITH unnamed AS (
    SELECT * FROM products ANTI JOIN (FROM expansions WHERE NOT {IS_UNNAMED}) AS named ON named.id = id_expansion
    WHERE id_expansion >= 0
),

-- The first cards of different names; sealed products only where singles are fewer.
named AS (
    SELECT id_expansion AS id, name, max(kind) AS kind, min(id_product) AS first
    FROM unnamed GROUP BY id_expansion, name
),

examples AS (
    SELECT id, string_agg(name, '; ' ORDER BY kind DESC, first) AS examples
    FROM (FROM named QUALIFY row_number() OVER (PARTITION BY id ORDER BY kind DESC, first) <= {_EXAMPLES})
    GROUP BY id
)

SELECT id, coalesce(any_value(game), any_value(told)) AS told, count(*) AS products, any_value(examples) AS examples
FROM unnamed JOIN examples ON id = id_expansion LEFT JOIN ({TOLD_GAMES}) USING (id)
LEFT JOIN (SELECT id, game FROM expansions) USING (id)
GROUP BY id ORDER BY id
"""


class Gap(NamedTuple):
    """Something that is missing, what that means for the API, and what would help."""

    what: str
    means: str
    helps: str = ""

    def __str__(self) -> str:
        return f"missing: {self.what}: {self.means}" + (f"; {self.helps}" if self.helps else "")


def find_gaps(lake: LakeWriter, *, numbers_from_names: bool = False) -> list[Gap]:
    """Return what a lake lacks for an API that looks complete.

    Args:
        numbers_from_names: Whether the import took collector numbers from names already.
    """
    products, expansions = read_all(lake, "products"), read_all(lake, "expansions")
    with connect_tables(products=products, expansions=expansions) as database:
        return [
            *_lists(database),
            *_names(database),
            *_attributes(database, numbers_from_names),
            *_prices(lake, database),
            *_others(lake),
        ]


def _counts(database: duckdb.DuckDBPyConnection) -> dict[str, int]:
    counts: dict[str, int] = database.sql(_COUNTS).to_arrow_table().to_pylist()[0]
    return counts


def _lists(database: duckdb.DuckDBPyConnection) -> Iterator[Gap]:
    counts = _counts(database)
    if not counts["products"]:
        yield Gap("product lists", "without products a build is refused", "download products_singles_G.json")
    elif not counts["singles"]:
        yield Gap("a list of singles", "/cards has sealed products only", "download products_singles_G.json")
    elif not counts["sealed"]:
        yield Gap("a list of sealed products", "/cards has singles only", "download products_nonsingles_G.json")


def _names(database: duckdb.DuckDBPyConnection) -> Iterator[Gap]:
    counts = _counts(database)
    if counts["without_set"]:
        number = counts["sets_without_name"]
        sets = f"names of {number:,} expansion{'s' * (number != 1)}"
        means = f'{counts["without_set"]:,} of {counts["products"]:,} products are in sets such as "{UNNAMED} 5423"'
        yield Gap(sets, means, "`cardpress ingest expansions --template` prints the table to fill")
    if counts["without_game"]:
        means = f"/games and game= do not know {counts['without_game']:,} of {counts['products']:,} products"
        told = ", ".join(sorted({usual_name(told) for (_, told) in database.sql(TOLD_GAMES).fetchall()}))
        comes = f"the names of expansions bring it, since the categories say {told}"
        yield Gap("games", means, comes if told else "`cardpress ingest expansions --game NAME`")


def _attributes(database: duckdb.DuckDBPyConnection, numbers_from_names: bool) -> Iterator[Gap]:
    counts = _counts(database)
    helps = "`cardpress ingest attributes` takes a table of them"
    for column, means in {"number": "number= does not find them", "rarity": "rarity= does not find them"}.items():
        if missing := counts[f"without_{column}"]:
            more = "--numbers-from-names, or " if column == "number" and not numbers_from_names else ""
            yield Gap(
                f"{column} of {missing:,} of {counts['singles']:,} singles", f"it is null, and {means}", more + helps
            )
    for column, means in {"url": "cardmarket_url is null", "image": "pages show no picture of them"}.items():
        if missing := counts[f"without_{column}"]:
            yield Gap(f"{column} of {missing:,} of {counts['products']:,} products", means, helps)


def _prices(lake: LakeWriter, database: duckdb.DuckDBPyConnection) -> Iterator[Gap]:
    days = lake.list_days("price_guide")
    if not days:
        yield Gap("price guides", "price_guide is null for every product", "download price_guide_G.json every day")
        return
    absent = sorted({days[0] + timedelta(n) for n in range((days[-1] - days[0]).days)} - set(days))
    if absent:
        yield Gap(f"{len(absent):,} guide days ({_listed(absent)})", "history has no point on these days")
    file = price_guide_file(days[-1])
    database.register("guide", file.read(lake).select(["id_product"]))
    [(unpriced, unknown)] = database.sql(_UNPRICED).fetchall()
    if unpriced:
        yield Gap(f"{unpriced:,} products in the guide of {days[-1]}", "their price_guide is older or null")
    if unknown:
        yield Gap(f"{unknown:,} products of the guide, which no list has", "a build leaves their prices out")


def _others(lake: LakeWriter) -> Iterator[Gap]:
    """Yield the tables that only scrapers and operators fill."""
    tables = {
        "listings": ("listing is null", "`cardpress ingest list-pages`"),
        "filtered_checks": ("filtered_price is null", "`cardpress ingest offers`"),
        "watchlist": ("/watchlist is empty", "`cardpress ingest watchlist`"),
        "fingerprints": ("photos find no card", "`cardpress fingerprint index`"),
    }
    for table, (means, helps) in tables.items():
        there = lake.list_days(table) if table in DAILY_TABLES else lake.list_tables(table)
        if not there:
            yield Gap(table, means, helps)


def read_all(lake: LakeWriter, table: str) -> pa.Table:
    """Return the rows of all files of a table that is not daily."""
    assert table in FLAT_TABLES
    schema = arrow_schema(table)
    tables = [lake.read_table(path, schema).select(schema.names) for path in lake.list_tables(table)]
    return pa.concat_tables([schema.empty_table(), *tables])


def _listed(days: list[date]) -> str:
    shown = ", ".join(day.isoformat() for day in days[:_MAX_LISTED_DAYS])
    return shown if len(days) <= _MAX_LISTED_DAYS else f"{shown}, …"


def unnamed_expansions(lake: LakeWriter) -> list[str]:
    """Return how the lake calls the expansions that no import has named."""
    with connect_tables(expansions=read_all(lake, "expansions")) as database:
        return [
            name for (name,) in database.sql(f"SELECT name FROM expansions WHERE {IS_UNNAMED} ORDER BY id").fetchall()
        ]


def template_lines(lake: LakeWriter) -> Iterator[str]:
    """Yield the lines of the table as CSV, header first. `ingest expansions` reads it once the names are filled in."""
    tables = {name: read_all(lake, name) for name in ("products", "expansions")}
    with connect_tables(**tables) as database:
        rows = database.sql(_TEMPLATE).fetchall()
    yield "id,name,game,products,examples"
    for id_, told, products, examples in rows:
        yield _csv_line(id_, "", usual_name(told or ""), products, examples)


def _csv_line(*values: object) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return line.getvalue()
