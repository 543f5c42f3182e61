"""A lake of products with prices on many days, written by DuckDB in a second, for bulk files of some megabytes."""

from datetime import date, timedelta
from pathlib import Path

import duckdb

FIRST_DAY = date(2026, 1, 1)
NAMES = ("low", "avg", "trend", "avg1", "avg7", "avg30")
COLUMNS = (*NAMES, *(f"{name}_holo" for name in NAMES))


def write(folder: Path, products: int, days: int) -> Path:
    """Write the prices of some days of January 2026, and of the first of February, so that January is closed.

    The values are all different, so files of them cannot be compressed much. The products are 1, 2, 3, …
    """
    folder.mkdir(parents=True)
    january = [FIRST_DAY + timedelta(number) for number in range(days)]
    values = ", ".join(f"round(hash(id_product, day, '{column}') / 1e12, 2) as {column}" for column in COLUMNS)
    with duckdb.connect() as db:
        db.execute(f"create table ids as select range as id_product from range(1, {products + 1})")
        db.execute("create table days as select unnest($1) as day", [[*january, date(2026, 2, 1)]])
        rows = f"select day, id_product, {values} from ids, days"
        db.execute(f"copy ({rows}) to '{folder}/price_guide' (format parquet, partition_by (day))")
        names = "select id_product, 'Card ' || id_product as name, 'single' as kind from ids"
        db.execute(f"copy ({names}) to '{folder}/products.parquet'")
    return folder
