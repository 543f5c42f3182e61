"""Reads and writes the lake's fingerprints: `fingerprints*.parquet` and their recipe in `fingerprints.json`.

An entry has the products that its image shows: those of a file, or by the image URLs of the lake's products.
"""

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from generator.database import run_file
from generator.errors import RecognitionError
from generator.fingerprints.recipe import VERSION, Fingerprint
from generator.lake.lake import RECIPE_NAME, parse_recipe
from generator.lake.table_writer import LakeWriter, encode_parquet
from generator.lake.tables import arrow_schema

TABLE_FILE = "fingerprints.parquet"  # the file that the command writes; others may stand beside it


def table_rows(fingerprints: Mapping[str, Fingerprint], products: Mapping[str, list[int]]) -> pa.Table:
    entries = [{"key": key, **entry.texts(), "products": products.get(key, [])} for key, entry in fingerprints.items()]
    return pa.Table.from_pylist(entries, arrow_schema("fingerprints"))


def update(lake: LakeWriter, incoming: pa.Table, image_url: str | None, *, prune: bool) -> dict[str, int]:
    """Write rows in place of those with the same keys, and the recipe. No `image_url` keeps that of the lake.

    Return how many entries the table has, and how many of them are new, changed, unchanged, kept or pruned.
    """
    with lake.locked():
        old_recipe, files = check_recipe(lake, prune=prune)
        for name in [name for name in files if name != TABLE_FILE]:
            repeated = pc.is_in(incoming["key"], read_entries(lake, name)["key"].combine_chunks())
            if len(keys := pc.filter(incoming["key"], repeated)):
                found = f"{len(keys)} of these keys, such as {keys[0]}"
                raise RecognitionError(f"{name} in lake {lake.location} has {found}")
        existing = read_entries(lake, TABLE_FILE) if TABLE_FILE in files else incoming.schema.empty_table()
        others = existing.filter(pc.invert(pc.is_in(existing["key"], incoming["key"].combine_chunks())))
        merged = pa.concat_tables([incoming, *([] if prune else [others])]).sort_by("key").combine_chunks()
        # `{key}` alone means that there are no images.
        known_url = old_recipe["image_url"] if old_recipe and old_recipe["version"] == VERSION else "{key}"
        recipe = {"version": VERSION, "image_url": image_url or known_url}
        changed = {}
        # The recipe goes first. In a bucket, a recipe without a table is ignored, a table without a recipe is an error.
        if recipe != old_recipe:
            changed[RECIPE_NAME] = pa.py_buffer((json.dumps(recipe, indent=2, ensure_ascii=False) + "\n").encode())
        if not merged.equals(existing):
            changed[TABLE_FILE] = encode_parquet(merged)
        if changed:
            lake.write(changed)
    return _count(existing, incoming, merged, len(others))


def check_recipe(lake: LakeWriter, *, prune: bool) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the lake's recipe and the files of its table, if entries of the recipe `VERSION` can be added."""
    recipe, files = read_recipe(lake), lake.list_tables("fingerprints")
    if recipe is not None and files and recipe["version"] != VERSION:
        problem = f"the fingerprints in lake {lake.location} are by the recipe {recipe['version']}, not {VERSION}"
        if files != [TABLE_FILE]:
            raise RecognitionError(f"{problem}, and stand in {', '.join(files)}: remove those first")
        if not prune:
            raise RecognitionError(f"{problem}, and the two cannot be compared: --prune drops the others")
    return recipe, files


def read_entries(lake: LakeWriter, name: str) -> pa.Table:
    return lake.read_columns(name, arrow_schema("fingerprints"))


def read_recipe(lake: LakeWriter) -> dict[str, Any] | None:
    """Return the lake's recipe, or None if it has none."""
    data = lake.read_bytes(RECIPE_NAME)
    if data is None:
        return None
    recipe = parse_recipe(data)
    if recipe is None:
        shape = '{"version": "…", "image_url": "…{key}…"}'
        raise RecognitionError(f"{RECIPE_NAME} in lake {lake.location}: must be like {shape}")
    return recipe


def _count(existing: pa.Table, incoming: pa.Table, merged: pa.Table, others: int) -> dict[str, int]:
    before = {row["key"]: row for row in existing.to_pylist()}
    pairs = [(before.get(row["key"]), row) for row in incoming.to_pylist()]
    new = sum(old is None for old, _ in pairs)
    unchanged = sum(old == row for old, row in pairs)
    kept = len(merged) - len(incoming)
    changed = len(incoming) - new - unchanged
    counts = {"entries": len(merged), "new": new, "changed": changed, "unchanged": unchanged}
    return counts | {"kept": kept, "pruned": others - kept}


Products = dict[str, list[int]]  # by key, ascending


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
        return dict(run_file(database, "imports/products_of_images").fetchall())


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
