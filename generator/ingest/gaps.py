"""What a lake lacks, what that means for the API, and the table of expansions without a name, to fill."""

import csv
import io
from collections.abc import Iterator
from datetime import timedelta
from typing import NamedTuple

import pyarrow as pa

from generator.ingest.products import UNNAMED, known_games, usual_name
from generator.ingest.table_files import price_guide_file, select
from generator.lake.lake import DAILY_TABLES
from generator.lake.table_writer import LakeWriter

_MAX_LISTED_DAYS = 5
_ATTRIBUTES = "`cardpress ingest attributes` takes a table of them"


class Gap(NamedTuple):
    """Something that is missing, what that means for the API, and what would help."""

    what: str
    means: str
    helps: str = ""

    def __str__(self) -> str:
        return f"missing: {self.what}: {self.means}" + (f"; {self.helps}" if self.helps else "")


def find_gaps(lake: LakeWriter, *, numbers_from_names: bool = False) -> list[Gap]:
    """Return what a lake lacks for an API that looks complete."""
    products, expansions = lake.read_all("products"), lake.read_all("expansions")
    [counts] = select("missing", products=products, expansions=expansions).to_pylist()
    return [
        *_names(counts, products),
        *_attributes(counts, numbers_from_names),
        *_prices(lake, products),
        *_others(lake),
    ]


def _names(counts: dict[str, int], products: pa.Table) -> Iterator[Gap]:
    if not counts["products"]:
        yield Gap("product lists", "without products a build is refused", "download products_singles_G.json")
    elif not counts["singles"]:
        yield Gap("a list of singles", "/cards has sealed products only", "download products_singles_G.json")
    elif not counts["sealed"]:
        yield Gap("a list of sealed products", "/cards has singles only", "download products_nonsingles_G.json")
    if number := counts["sets_without_name"]:
        sets, first = f"names of {number:,} expansion{'s' * (number != 1)}", f"{UNNAMED} {counts['first_without_name']}"
        means = f'{counts["without_set"]:,} of {counts["products"]:,} products are in sets such as "{first}"'
        yield Gap(sets, means, "`cardpress ingest expansions --template` prints the table to fill")
    if counts["without_game"]:
        means = f"/games and game= do not know {counts['without_game']:,} of {counts['products']:,} products"
        games = select("told_games", products=products, games=known_games())["told"].to_pylist()
        told = ", ".join(sorted({usual_name(game) for game in games}))
        comes = f"the names of expansions bring it, since the categories say {told}"
        yield Gap("games", means, comes if told else "`cardpress ingest expansions --game NAME`")


def _attributes(counts: dict[str, int], numbers_from_names: bool) -> Iterator[Gap]:
    for column in ("number", "rarity"):
        if missing := counts[f"without_{column}"]:
            more = "--numbers-from-names, or " if column == "number" and not numbers_from_names else ""
            means = f"it is null, and {column}= does not find them"
            yield Gap(f"{column} of {missing:,} of {counts['singles']:,} singles", means, more + _ATTRIBUTES)
    for column, means in {"url": "cardmarket_url is null", "image": "pages show no picture of them"}.items():
        if missing := counts[f"without_{column}"]:
            yield Gap(f"{column} of {missing:,} of {counts['products']:,} products", means, _ATTRIBUTES)


def _prices(lake: LakeWriter, products: pa.Table) -> Iterator[Gap]:
    days = lake.list_days("price_guide")
    if not days:
        yield Gap("price guides", "price_guide is null for every product", "download price_guide_G.json every day")
        return
    absent = sorted({days[0] + timedelta(n) for n in range((days[-1] - days[0]).days)} - set(days))
    if absent:
        listed = ", ".join(map(str, absent[:_MAX_LISTED_DAYS])) + ", …" * (len(absent) > _MAX_LISTED_DAYS)
        yield Gap(f"{len(absent):,} guide days ({listed})", "history has no point on these days")
    guide = price_guide_file(days[-1]).read(lake).select(["id_product"])
    [counts] = select("unpriced", products=products, guide=guide).to_pylist()
    if unpriced := counts["unpriced"]:
        yield Gap(f"{unpriced:,} products in the guide of {days[-1]}", "their price_guide is older or null")
    if unknown := counts["unknown"]:
        yield Gap(f"{unknown:,} products of the guide, which no list has", "a build leaves their prices out")


def _others(lake: LakeWriter) -> Iterator[Gap]:
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


def unnamed_expansions(lake: LakeWriter) -> list[str]:
    """Return how the lake calls the expansions that no import has named."""
    return list(select("unnamed", expansions=lake.read_all("expansions"))["name"].to_pylist())


def template_lines(lake: LakeWriter) -> Iterator[str]:
    """Yield the lines of the table as CSV, header first. `ingest expansions` reads it once the names are filled in."""
    tables = {name: lake.read_all(name) for name in ("products", "expansions")}
    yield "id,name,game,products,examples"
    for row in select("template", **tables, games=known_games()).to_pylist():
        line = io.StringIO()
        values = (row["id"], "", usual_name(row["told"] or ""), row["products"], row["examples"])
        csv.writer(line, lineterminator="").writerow(values)
        yield line.getvalue()
