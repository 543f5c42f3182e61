"""Finds products that appear in the files of two games. The ids of the marketplace are global, so that is a mistake."""

from typing import NamedTuple

import pyarrow as pa

from edge_auth.text import fold
from generator.ingest.merge import connect_tables
from generator.ingest.table_updates import TableUpdate

_QUERY = """
WITH named AS (
    SELECT id_product, id_expansion FROM existing UNION ALL SELECT id_product, id_expansion FROM incoming
), doubtful AS (
    SELECT id_product FROM named JOIN games ON named.id_expansion = games.id
    GROUP BY id_product HAVING count(DISTINCT game) > 1
)
SELECT count(*), min(id_product) FROM doubtful
"""


class TwoGames(NamedTuple):
    """How many imported or existing products are in files of two games, and the smallest such id."""

    products: int
    example: int | None


NO_PRODUCTS = TwoGames(0, None)


def products_of_two_games(products: TableUpdate, expansions: TableUpdate) -> TwoGames:
    """Count the products whose rows, before and in the import, name expansions of different games."""
    games = [fold(game or "") or None for game in expansions.after["game"].to_pylist()]
    tables = {"existing": products.before, "incoming": products.incoming}
    named = pa.table({"id": expansions.after["id"], "game": pa.array(games, pa.string())})
    with connect_tables(**tables, games=named) as database:
        [row] = database.sql(_QUERY).fetchall()
    return TwoGames(*row)
