"""Compares a price guide with an earlier one of the same day, whose rows it replaces."""

from datetime import datetime
from typing import NamedTuple

import pyarrow as pa

from generator.ingest.merge import connect_tables, quoted
from generator.ingest.table_files import TableFile

# The rows of products that both have, unless the earlier guide is newer.
_REPLACED = """
SELECT count(*), count(*) FILTER ({differs}), max(previous.created_at),
    median(incoming.trend / previous.trend) FILTER (incoming.trend > 0 AND previous.trend > 0)
FROM incoming JOIN previous USING ({key})
WHERE incoming.created_at >= previous.created_at
HAVING count(*) FILTER ({differs} OR incoming.created_at > previous.created_at) > 0
"""


class ReplacedGuide(NamedTuple):
    """What a guide replaces.

    Attributes:
        products: The products of both guides.
        changed: Those that have other prices now.
        created_at: The newest time of the rows that are replaced, in UTC.
        ratio: The middle ratio of the trend now to the trend before, or None.
    """

    products: int
    changed: int
    created_at: datetime
    ratio: float | None

    def __str__(self) -> str:
        middle = "" if self.ratio is None else f"; in the middle their trend is {self.ratio:.3g} times what it was"
        return (
            f"replaces the guide of {self.created_at:%Y-%m-%dT%H:%M:%SZ}: "
            f"{self.changed:,} of {self.products:,} products have other prices{middle}"
        )


def find_replaced(file: TableFile, previous: pa.Table, incoming: pa.Table) -> ReplacedGuide | None:
    """Return what a guide replaces in the rows of its day. None if it replaces nothing, or is the same guide."""
    compared = (quoted(name) for name in file.imported if name not in (file.key, "created_at"))
    differs = " OR ".join(f"incoming.{name} IS DISTINCT FROM previous.{name}" for name in compared)
    with connect_tables(previous=previous, incoming=incoming) as database:
        rows = database.sql(_REPLACED.format(differs=differs, key=quoted(file.key))).fetchall()
    return ReplacedGuide(*rows[0]) if rows else None
