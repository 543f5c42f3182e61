"""Which products a reference image shows: from a file that says it, or from the lake's products and their images."""

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from generator.fingerprints.table import table_files
from generator.ingest.tables import LakeWriter
from recognition.errors import RecognitionError

Products = dict[str, list[int]]  # by key, ascending
_COLUMNS = ("id_product", "image", "image_large")

# The ways in which a key can name products, the first that does wins. A name that stands in several URLs of the
# same column (`4.png` in every set's folder, `large.jpg` in every card's) names none.
_BY_IMAGE = r"""
with urls as (
    select id_product, 1 as way, regexp_replace(image, '[?#].*', '') as url from products
    union all
    select id_product, 3, regexp_replace(image_large, '[?#].*', '') from products
),
pieces as (
    select id_product, way, url, regexp_replace(string_split(url, '/')[-1], '\.[A-Za-z0-9]+$', '') as file,
        string_split(url, '/')[-2] as folder
    from urls where url is not null
),
names as (
    select id_product, way, url, lower(file) as name from pieces
    union all
    select id_product, way + 1, url, lower(folder || '-' || file) from pieces
    union all
    select id_product, 5, null, id_product::varchar from products
),
known as (
    select name, way, list(distinct id_product order by id_product) as products
    from names where name is not null group by name, way having count(distinct url) <= 1
)
select key, arg_min(products, way) as products from keys join known on lower(key) = name group by key order by key
"""


def products_of(lake: LakeWriter, keys: Iterable[str], mapping: Path | None) -> Products:
    """The products of each key that has any.

    Args:
        mapping: a file that says it; None to find them by the products' image URLs and ids.

    Raises:
        RecognitionError: a file or a products table that cannot be read.
    """
    if mapping is not None:
        said = read_mapping(mapping)
        return {key: said[key] for key in keys if key in said}
    tables = {"products": _lake_products(lake), "keys": pa.table({"key": pa.array(keys, pa.string())})}
    with duckdb.connect() as database:
        for name, table in tables.items():
            database.register(name, table)
        return dict(database.execute(_BY_IMAGE).fetchall())


def _lake_products(lake: LakeWriter) -> pa.Table:
    schema = pa.schema([("id_product", pa.int64()), ("image", pa.string()), ("image_large", pa.string())])
    parts = [schema.empty_table()]
    for name in table_files(lake, "products"):
        try:
            file = pq.ParquetFile(lake.files.open_input_file(name))
            found = file.read(columns=[column for column in _COLUMNS if column in file.schema_arrow.names])
            columns = [
                found[field.name].cast(field.type)
                if field.name in found.schema.names
                else pa.nulls(len(found), field.type)
                for field in schema
            ]
        except (OSError, pa.ArrowException) as error:
            raise RecognitionError(f"{name} in lake {lake.location}: {str(error).splitlines()[0]}") from error
        parts.append(pa.table(columns, schema=schema))
    return pa.concat_tables(parts)


def read_mapping(path: Path) -> Products:
    """A file of products by key: JSON `{"key": [1, 2], "other": 3}`, or CSV with the columns `key` and `id_product`.

    Raises:
        RecognitionError: unreadable, or not in that shape.
    """
    try:
        text = path.read_text("utf-8-sig")
        pairs = _csv_pairs(text) if path.suffix.lower() == ".csv" else _json_pairs(json.loads(text))
        products: Products = {}
        for key, id_ in pairs:
            if type(id_) is not int or abs(id_) >= 2**63:
                raise ValueError(f"{key}: {json.dumps(id_)[:40]} is no product id")
            products.setdefault(key, []).append(id_)
    except OSError as error:
        raise RecognitionError(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, csv.Error) as error:
        shape = 'JSON like {"key": [1, 2]}, or .csv with the columns key and id_product'
        raise RecognitionError(f"{path}: products of keys must be {shape} ({error})") from error
    return {key: sorted(set(ids)) for key, ids in products.items()}


def _csv_pairs(text: str) -> list[tuple[str, int]]:
    return [(row["key"], int(row["id_product"])) for row in csv.DictReader(text.splitlines())]


def _json_pairs(content: Mapping[str, Any]) -> list[tuple[str, int]]:
    return [(key, id_) for key, ids in content.items() for id_ in (ids if isinstance(ids, list) else [ids])]
