"""The values that expansions' list pages have for products and expansions, and their way into the lake's tables.

The marketplace's own files have no number, rarity, URL or image. `list_pages.parquet` stores the values of pages: one
row per product and distinct set of values, with the newest time at which a page had them. Every import copies the
values from there, so a page may be imported before the product list.
"""

from functools import cache

import pyarrow as pa

from generator.ingest.formats import ABOUT_PRODUCT, LIST_PAGES
from generator.ingest.merge import connect_tables, quoted
from generator.ingest.table_files import TableFile

_PRODUCT_COLUMNS = tuple(ABOUT_PRODUCT)
_VALUES = ("id_expansion", *_PRODUCT_COLUMNS, "expansion", "expansion_url")
_COLUMNS = ("id_product", *_VALUES)

_MERGE = """
SELECT {columns}, max(scraped_at) AS scraped_at
FROM (SELECT {columns}, scraped_at FROM incoming UNION ALL SELECT {columns}, scraped_at FROM existing)
WHERE coalesce({values}) IS NOT NULL
GROUP BY ALL ORDER BY ALL
"""

# For each column the newest value that is not null. Of two with the same time, the greater.
_LATEST = """
SELECT id_product, {latest_values}, max(scraped_at) AS scraped_at FROM pages GROUP BY id_product
"""
_LATEST_VALUE = (
    "struct_extract(max({{'time': scraped_at, 'value': {name}}}) FILTER ({name} IS NOT NULL), 'value') AS {name}"
)

_PRODUCTS = """
SELECT products.* REPLACE ({replaced}) FROM products LEFT JOIN latest USING (id_product) ORDER BY id_product
"""

# The name and URL that most products of an expansion have: single products may have moved since their page was read.
_PAGE_EXPANSIONS = """
WITH named AS (
    SELECT coalesce(latest.id_expansion, products.id_expansion) AS id, expansion, expansion_url, scraped_at
    FROM latest LEFT JOIN products USING (id_product)
)
SELECT id, expansion AS page_name, expansion_url AS page_url
FROM ({most_frequent_expansion}) FULL JOIN ({most_frequent_expansion_url}) USING (id)
WHERE id NOT IN (SELECT key FROM other_files)
"""
_MOST_FREQUENT = """
SELECT id, struct_extract(max({{'products': products, 'time': last_at, 'value': {name}}}), 'value') AS {name}
FROM (SELECT id, {name}, count(*) AS products, max(scraped_at) AS last_at FROM named
      WHERE id IS NOT NULL AND {name} IS NOT NULL GROUP BY ALL)
GROUP BY id
"""

# An expansion without created_at has its name from pages alone. Any other name takes precedence over pages.
_EXPANSIONS = """
SELECT {columns} FROM (
    SELECT * REPLACE (
        CASE WHEN created_at IS NULL THEN coalesce(page_name, name) ELSE name END AS name,
        coalesce(page_url, url) AS url
    )
    FROM expansions LEFT JOIN page_expansions USING (id)
    UNION ALL BY NAME
    SELECT id, page_name AS name, page_url AS url
    FROM page_expansions ANTI JOIN expansions USING (id) WHERE page_name IS NOT NULL
)
ORDER BY id
"""


@cache
def list_pages_file() -> TableFile:
    """Return the file that stores the values of list pages."""
    schema = pa.schema([LIST_PAGES.schema.field(name) for name in (*_COLUMNS, "scraped_at")])
    return TableFile("list_pages.parquet", "list_pages", "id_product", schema, tuple(schema.names))


def merge_list_pages(existing: pa.Table, incoming: pa.Table) -> pa.Table:
    """Return `list_pages.parquet` after an import. `incoming` has all columns of list pages."""
    values = ", ".join(f"{name}::VARCHAR" for name in _VALUES)
    query = _MERGE.format(columns=", ".join(_COLUMNS), values=values)
    with connect_tables(existing=existing, incoming=incoming) as database:
        return database.sql(query).to_arrow_table().cast(list_pages_file().schema)


def latest_values(pages: pa.Table) -> pa.Table:
    """Return one row per product: the latest value of each column, and the time of the product's latest page."""
    query = _LATEST.format(latest_values=", ".join(_LATEST_VALUE.format(name=name) for name in _VALUES))
    with connect_tables(pages=pages) as database:
        return database.sql(query).to_arrow_table()


def add_to_products(products: pa.Table, latest: pa.Table) -> pa.Table:
    """Return the products with the values of their pages. Where pages have none, a value stays."""
    replaced = ", ".join(f"coalesce(latest.{name}, products.{name}) AS {name}" for name in _PRODUCT_COLUMNS)
    with connect_tables(products=products, latest=latest) as database:
        return database.sql(_PRODUCTS.format(replaced=replaced)).to_arrow_table().cast(products.schema)


def add_to_expansions(
    expansions: pa.Table, products: pa.Table, latest: pa.Table, other_keys: pa.ChunkedArray
) -> pa.Table:
    """Return the expansions with the URLs of their pages, and the expansions that only pages name.

    Args:
        products: Give the expansion of a product whose page does not.
        other_keys: Expansions that other files of the lake have. They are left out.
    """
    page_expansions = _PAGE_EXPANSIONS.format(
        most_frequent_expansion=_MOST_FREQUENT.format(name="expansion"),
        most_frequent_expansion_url=_MOST_FREQUENT.format(name="expansion_url"),
    )
    query = _EXPANSIONS.format(columns=", ".join(map(quoted, expansions.schema.names)))
    tables = {"expansions": expansions, "products": products, "latest": latest}
    with connect_tables(**tables, other_files=pa.table({"key": other_keys})) as database:
        database.register("page_expansions", database.sql(page_expansions).to_arrow_table())
        return database.sql(query).to_arrow_table().cast(expansions.schema)
