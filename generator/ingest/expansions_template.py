"""The table of expansions that an operator fills: one line for each expansion whose name the lake lacks."""

import csv
import io
from collections.abc import Iterator

from generator.ingest.games import IS_UNNAMED, TOLD_GAMES, usual_name
from generator.ingest.gaps import read_all
from generator.ingest.merge import connect_tables
from generator.lake.writer import LakeWriter

_EXAMPLES = 3
_UNNAMED = f"""
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


def template_lines(lake: LakeWriter) -> Iterator[str]:
    """Yield the lines of the table as CSV, header first. `ingest expansions` reads it once the names are filled in."""
    tables = {name: read_all(lake, name) for name in ("products", "expansions")}
    with connect_tables(**tables) as database:
        rows = database.sql(_UNNAMED).fetchall()
    yield "id,name,game,products,examples"
    for id_, told, products, examples in rows:
        yield _csv_line(id_, "", usual_name(told or ""), products, examples)


def _csv_line(*values: object) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return line.getvalue()
