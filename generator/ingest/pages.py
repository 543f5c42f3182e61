"""What list pages say of products and expansions, and the columns of the lake's tables that it fills.

The marketplace's own files have no number, rarity, url or image. What pages say is kept in a file of its own,
`list_pages.parquet`: a row per product and distinct saying, with the newest time at which a page said it. The columns
are filled from it by every import, so that it does not matter whether a page or a product list came first.
"""

import pyarrow as pa

from generator.ingest.merge import connected, quoted
from generator.ingest.shapes import LIST_PAGE
from generator.ingest.tables import LakeTable

_TOLD = ("id_product", "id_expansion", "number", "rarity", "url", "image", "image_large", "expansion", "expansion_url")
_ABOUT_PRODUCTS = ("number", "rarity", "url", "image", "image_large")
_SCHEMA = pa.schema([LIST_PAGE.schema.field(name) for name in (*_TOLD, "scraped_at")])

LIST_PAGES = LakeTable("list_pages.parquet", "list_pages", "id_product", _SCHEMA, tuple(_SCHEMA.names))

MERGED = """
SELECT {told}, max(scraped_at) AS scraped_at
FROM (SELECT {columns} FROM incoming UNION ALL SELECT {columns} FROM existing)
WHERE coalesce({attributes}) IS NOT NULL
GROUP BY ALL ORDER BY ALL
"""

# Of each column the newest that is not null; of two at the same time the greater.
TOLD = """
SELECT id_product, {newest}, max(scraped_at) AS scraped_at FROM pages GROUP BY id_product
"""
NEWEST = "struct_extract(max({{'last': scraped_at, 'said': {name}}}) FILTER ({name} IS NOT NULL), 'said') AS {name}"

PRODUCTS_FILLED = """
SELECT products.* REPLACE ({filled}) FROM products LEFT JOIN told USING (id_product) ORDER BY id_product
"""

# What most products of an expansion were last seen under: one may have moved since its page was read.
EXPANSIONS_TOLD = """
WITH seen AS (
    SELECT coalesce(told.id_expansion, products.id_expansion) AS id, expansion, expansion_url, scraped_at
    FROM told LEFT JOIN products USING (id_product)
)
SELECT id, expansion AS told_name, expansion_url AS told_url
FROM ({most_expansion}) FULL JOIN ({most_expansion_url}) USING (id)
WHERE id NOT IN (SELECT key FROM elsewhere)
"""
MOST = """
SELECT id, struct_extract(max({{'many': many, 'last': last_at, 'said': {name}}}), 'said') AS {name}
FROM (SELECT id, {name}, count(*) AS many, max(scraped_at) AS last_at FROM seen
      WHERE id IS NOT NULL AND {name} IS NOT NULL GROUP BY ALL)
GROUP BY id
"""

# An expansion without created_at has its name from pages alone; a name from elsewhere stands.
EXPANSIONS_FILLED = """
SELECT {columns} FROM (
    SELECT * REPLACE (
        CASE WHEN created_at IS NULL THEN coalesce(told_name, name) ELSE name END AS name,
        coalesce(told_url, url) AS url
    )
    FROM expansions LEFT JOIN expansions_told USING (id)
    UNION ALL BY NAME
    SELECT id, told_name AS name, told_url AS url
    FROM expansions_told ANTI JOIN expansions USING (id) WHERE told_name IS NOT NULL
)
ORDER BY id
"""


def merge_pages(existing: pa.Table, incoming: pa.Table) -> pa.Table:
    """What pages say, after an import; `incoming` are rows of list pages with all their columns."""
    query = MERGED.format(
        told=", ".join(_TOLD),
        columns=", ".join(_SCHEMA.names),
        attributes=", ".join(f"{n}::VARCHAR" for n in _TOLD[1:]),
    )
    with connected(existing=existing, incoming=incoming) as database:
        return database.sql(query).to_arrow_table().cast(_SCHEMA)


def last_told(pages: pa.Table) -> pa.Table:
    """One row per product: of each column what pages last said, and when they last said anything."""
    query = TOLD.format(newest=", ".join(NEWEST.format(name=name) for name in _TOLD[1:]))
    with connected(pages=pages) as database:
        return database.sql(query).to_arrow_table()


def fill_products(products: pa.Table, told: pa.Table) -> pa.Table:
    """The products with what pages say of them; where they say nothing, a column stays as it was."""
    filled = ", ".join(f"coalesce(told.{name}, products.{name}) AS {name}" for name in _ABOUT_PRODUCTS)
    with connected(products=products, told=told) as database:
        return database.sql(PRODUCTS_FILLED.format(filled=filled)).to_arrow_table().cast(products.schema)


def fill_expansions(expansions: pa.Table, products: pa.Table, told: pa.Table, elsewhere: pa.ChunkedArray) -> pa.Table:
    """The expansions with the addresses that pages give, and those that only pages name.

    Args:
        products: which say of what expansion a product is, where its page does not.
        elsewhere: ids that other files of the lake have.
    """
    named = EXPANSIONS_TOLD.format(
        **{f"most_{name}": MOST.format(name=name) for name in ("expansion", "expansion_url")}
    )
    filled = EXPANSIONS_FILLED.format(columns=", ".join(map(quoted, expansions.schema.names)))
    tables = {"expansions": expansions, "products": products, "told": told}
    with connected(**tables, elsewhere=pa.table({"key": elsewhere})) as database:
        database.register("expansions_told", database.sql(named).to_arrow_table())
        return database.sql(filled).to_arrow_table().cast(expansions.schema)
