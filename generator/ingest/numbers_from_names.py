"""Collector numbers from names: `Omnimon (BT5-086)` has the number BT5-086. Some games write them only there."""

import duckdb
import pyarrow as pa

from generator.errors import IngestError
from generator.ingest.merge import connect_tables

DEFAULT_PATTERN = r"\(([A-Z]{1,4}[0-9]{0,2}-T?[0-9]{2,3}[a-z]?)\)"

_FILL = """
SELECT * REPLACE (
    CASE WHEN number IS NULL AND kind = 'single' THEN nullif(regexp_extract(name, $pattern, 1), '') ELSE number END
    AS number
)
FROM products ORDER BY id_product
"""


def fill_numbers(products: pa.Table, pattern: str) -> pa.Table:
    """Return the products with numbers for singles that have none.

    Args:
        pattern: A regular expression with one group, the number.

    Raises:
        IngestError: The pattern is no regular expression with a group.
    """
    with connect_tables(products=products) as database:
        try:
            return database.sql(_FILL, params={"pattern": pattern}).to_arrow_table().cast(products.schema)
        except duckdb.Error as error:
            reason = str(error).splitlines()[0]
            raise IngestError(f"--number-pattern {pattern}: {reason}: it must be a pattern with one group") from error
