"""Reads and writes the lake's fingerprints: `fingerprints*.parquet` and their recipe in `fingerprints.json`."""

import json
import random
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from generator.errors import IngestError, RecognitionError
from generator.fingerprints.collect import collect
from generator.fingerprints.pictures import ImageLimits
from generator.fingerprints.recipe import VERSION, Fingerprint
from generator.lake.lake import RECIPE_NAME, parse_recipe
from generator.lake.tables import arrow_schema
from generator.lake.writer import LakeWriter, encode_parquet

TABLE_FILE = "fingerprints.parquet"  # the file that the command writes; others may stand beside it


class IndexCounts(NamedTuple):
    """The changes of an index run to the table, in entries."""

    entries: int
    new: int
    changed: int
    unchanged: int
    kept: int
    pruned: int


def table_rows(fingerprints: Mapping[str, Fingerprint], products: Mapping[str, list[int]]) -> pa.Table:
    """Return fingerprints as rows of the table."""
    entries = [{"key": key, **entry.texts(), "products": products.get(key, [])} for key, entry in fingerprints.items()]
    return pa.Table.from_pylist(entries, arrow_schema("fingerprints"))


def update(lake: LakeWriter, incoming: pa.Table, image_url: str | None, *, prune: bool) -> IndexCounts:
    """Write rows in place of those with the same keys, and the recipe. No `image_url` keeps that of the lake."""
    with lake.locked():
        old_recipe, files = check_recipe(lake, prune=prune)
        _check_keys(lake, incoming, [name for name in files if name != TABLE_FILE])
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
    recipe, files = read_recipe(lake), table_files(lake)
    if recipe is not None and files and recipe["version"] != VERSION:
        problem = f"the fingerprints in lake {lake.location} are by the recipe {recipe['version']}, not {VERSION}"
        if files != [TABLE_FILE]:
            raise RecognitionError(f"{problem}, and stand in {', '.join(files)}: remove those first")
        if not prune:
            raise RecognitionError(f"{problem}, and the two cannot be compared: --prune drops the others")
    return recipe, files


def table_files(lake: LakeWriter) -> list[str]:
    """Return the names of the table's files."""
    return lake.list_tables("fingerprints")


def read_entries(lake: LakeWriter, name: str) -> pa.Table:
    """Return one file of the table."""
    try:
        return lake.read_columns(name, arrow_schema("fingerprints"))
    except IngestError as error:
        raise RecognitionError(str(error)) from error


def read_recipe(lake: LakeWriter) -> dict[str, Any] | None:
    """Return the lake's recipe, or None if it has none."""
    try:
        data = lake.read_bytes(RECIPE_NAME)
    except IngestError as error:
        raise RecognitionError(str(error)) from error
    if data is None:
        return None
    recipe = parse_recipe(data)
    if recipe is None:
        shape = '{"version": "…", "image_url": "…{key}…"}'
        raise RecognitionError(f"{RECIPE_NAME} in lake {lake.location}: must be like {shape}")
    return recipe


def _check_keys(lake: LakeWriter, incoming: pa.Table, others: Iterable[str]) -> None:
    for name in others:
        repeated = pc.is_in(incoming["key"], read_entries(lake, name)["key"].combine_chunks())
        keys = pc.filter(incoming["key"], repeated)
        if len(keys):
            raise RecognitionError(f"{name} in lake {lake.location} has {len(keys)} of these keys, such as {keys[0]}")


def _count(existing: pa.Table, incoming: pa.Table, merged: pa.Table, others: int) -> IndexCounts:
    before = {row["key"]: row for row in existing.to_pylist()}
    pairs = [(before.get(row["key"]), row) for row in incoming.to_pylist()]
    new = sum(old is None for old, _ in pairs)
    unchanged = sum(old == row for old, row in pairs)
    kept = len(merged) - len(incoming)
    return IndexCounts(len(merged), new, len(incoming) - new - unchanged, unchanged, kept, others - kept)


class EntryCheck(NamedTuple):
    """How many entries were computed again, what is wrong with some by key, and how many images have no entry."""

    checked: int
    wrong: dict[str, str]
    unknown: int


def verify_entries(
    lake: LakeWriter,
    images: Mapping[str, Path],
    samples: int,
    workers: int,
    step: Callable[[int], None],
    limits: ImageLimits,
) -> EntryCheck:
    """Compute the entries of some of the images again, chosen at random."""
    recipe = read_recipe(lake)
    if recipe is None or recipe["version"] != VERSION:
        problem = "no fingerprints" if recipe is None else f"fingerprints by the recipe {recipe['version']}"
        raise RecognitionError(f"lake {lake.location} has {problem}, not by {VERSION}")
    entries = {row["key"]: row for name in table_files(lake) for row in read_entries(lake, name).to_pylist()}
    known = [key for key in images if key in entries]
    if not known:
        raise RecognitionError(f"none of the {len(images)} images has an entry in lake {lake.location}")
    sample = sorted(random.sample(known, min(samples, len(known))))
    collected = collect({key: images[key] for key in sample}, workers, step, limits)
    wrong = dict(collected.broken)
    for key, fingerprint in collected.fingerprints.items():
        fields = [name for name, text in fingerprint.texts().items() if text != entries[key][name].lower()]
        if fields:
            wrong[key] = f"{images[key]}: other {', '.join(fields)} than the entry {key} has"
    return EntryCheck(len(sample), wrong, len(images) - len(known))
