"""Finds the products of each reference image: in a file, or by the image URLs of the lake's products."""

import csv
import json
from collections.abc import Iterable
from pathlib import Path

import duckdb
import pyarrow as pa

from generator.errors import RecognitionError
from generator.lake.tables import arrow_schema
from generator.lake.writer import LakeWriter

Products = dict[str, list[int]]  # by key, ascending

# A key names products in one of five ways; the first way that finds any wins. A name that occurs in several URLs of
# the same column (`4.png` in the folder of every set, `large.jpg` of every card) names none.
_BY_IMAGE = r"""
with urls as (
    select id_product, 1 as way, regexp_replace(image, '[?#].*', '') as url from products
    union all
    select id_product, 3, regexp_replace(image_large, '[?#].*', '') from products
),
path_ends as (
    select id_product, way, url, regexp_replace(string_split(url, '/')[-1], '\.[A-Za-z0-9]+$', '') as file,
        string_split(url, '/')[-2] as folder
    from urls where url is not null
),
names as (
    select id_product, way, url, lower(file) as name from path_ends
    union all
    select id_product, way + 1, url, lower(folder || '-' || file) from path_ends
    union all
    select id_product, 5, null, id_product::varchar from products
),
unique_names as (
    select name, way, list(distinct id_product order by id_product) as products
    from names where name is not null group by name, way having count(distinct url) <= 1
)
select key, arg_min(products, way) as products
from keys join unique_names on lower(key) = name
group by key order by key
"""


def products_of_images(lake: LakeWriter, keys: Iterable[str], mapping: Path | None) -> Products:
    """Return the products of each key that has any: by a file, or by the image URLs and ids of the lake's products."""
    if mapping is not None:
        products = _read_mapping(mapping)
        return {key: products[key] for key in keys if key in products}
    with duckdb.connect() as database:
        declared = arrow_schema("products")
        schema = pa.schema([declared.field(name) for name in ("id_product", "image", "image_large")])
        database.register("products", lake.read_all("products", schema))
        database.register("keys", pa.table({"key": pa.array(keys, pa.string())}))
        return dict(database.execute(_BY_IMAGE).fetchall())


def _read_mapping(path: Path) -> Products:
    """Read products by key: JSON `{"key": [1, 2], "other": 3}`, or CSV with columns `key` and `id_product`."""
    try:
        text = path.read_text("utf-8-sig")
        if path.suffix.lower() == ".csv":
            pairs = [(row["key"], int(row["id_product"])) for row in csv.DictReader(text.splitlines())]
        else:
            listed = json.loads(text).items()
            pairs = [(key, id_) for key, ids in listed for id_ in (ids if isinstance(ids, list) else [ids])]
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
