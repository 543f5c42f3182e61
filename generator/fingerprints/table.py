"""The lake's fingerprints (contract section 1): `fingerprints.parquet` and its recipe, read and put in place."""

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import fs

from generator.errors import IngestError
from generator.ingest.tables import LakeWriter, encode
from recognition.errors import RecognitionError
from recognition.recipe import VERSION, Fingerprint

TABLE, RECIPE = "fingerprints.parquet", "fingerprints.json"
SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("key", "art_p", "art_d", "card_p", "colour")]
    + [("products", pa.list_(pa.int64()))]
)


class Change(NamedTuple):
    """What an index run did to the table, in entries."""

    entries: int
    new: int
    changed: int
    unchanged: int
    kept: int
    pruned: int


def rows(fingerprints: Mapping[str, Fingerprint], products: Mapping[str, list[int]]) -> pa.Table:
    """Fingerprints as rows of the table."""
    entries = [{"key": key, **entry.texts(), "products": products.get(key, [])} for key, entry in fingerprints.items()]
    return pa.Table.from_pylist(entries, SCHEMA)


def update(lake: LakeWriter, incoming: pa.Table, image_url: str | None, *, prune: bool) -> Change:
    """Put rows into the lake's table in place of those of the same keys, and write the recipe beside it.

    Args:
        image_url: the template of the images' URLs; None for the one that the lake has.
        prune: drop the entries of other keys.

    Raises:
        RecognitionError: the table is by another recipe and not pruned, another file of the lake has one of the
            keys, or a file cannot be read.
        IngestError: the lake cannot be read or written.
    """
    with lake.locked():
        known, present = check_recipe(lake, prune=prune)
        _refuse_taken(lake, incoming, [name for name in present if name != TABLE])
        existing = read_table(lake, TABLE) if TABLE in present else SCHEMA.empty_table()
        kept = existing.filter(pc.invert(pc.is_in(existing["key"], incoming["key"].combine_chunks())))
        merged = pa.concat_tables([incoming, *([] if prune else [kept])]).sort_by("key").combine_chunks()
        recipe = {"version": VERSION, "image_url": image_url or _known_url(known)}
        files = {}
        # The recipe first: on an object store, a recipe without a table is not read, a table without one is an error.
        if recipe != known:
            files[RECIPE] = pa.py_buffer((json.dumps(recipe, indent=2, ensure_ascii=False) + "\n").encode())
        if not merged.equals(existing):
            files[TABLE] = encode(merged)
        if files:
            lake.put(files)
    return _change(existing, incoming, merged, len(kept))


def _known_url(known: dict | None) -> str:
    """The template that the lake has for entries of this recipe; the contract's own word for none is `{key}`."""
    return known["image_url"] if known and known["version"] == VERSION else "{key}"


def _change(existing: pa.Table, incoming: pa.Table, merged: pa.Table, left: int) -> Change:
    before = {row["key"]: row for row in existing.to_pylist()}
    found = [(before.get(row["key"]), row) for row in incoming.to_pylist()]
    new = sum(old is None for old, _ in found)
    unchanged = sum(old == row for old, row in found)
    kept = len(merged) - len(incoming)
    return Change(len(merged), new, len(incoming) - new - unchanged, unchanged, kept, left - kept)


def check_recipe(lake: LakeWriter, *, prune: bool) -> tuple[dict | None, list[str]]:
    """The lake's recipe and the files of its table, where entries by our recipe can join them.

    Raises:
        RecognitionError: they are by another recipe, whose entries could not be compared with ours.
    """
    known, files = read_recipe(lake), table_files(lake, "fingerprints")
    if known is not None and files and known["version"] != VERSION:
        what = f"the fingerprints in lake {lake.location} are by the recipe {known['version']}, not {VERSION}"
        if files != [TABLE]:
            raise RecognitionError(f"{what}, and stand in {', '.join(files)}: remove those first")
        if not prune:
            raise RecognitionError(f"{what}, and the two cannot be compared: --prune drops the others")
    return known, files


def _refuse_taken(lake: LakeWriter, incoming: pa.Table, others: Iterable[str]) -> None:
    for name in others:
        both = pc.filter(incoming["key"], pc.is_in(incoming["key"], read_table(lake, name)["key"].combine_chunks()))
        if len(both):
            raise RecognitionError(f"{name} in lake {lake.location} has {len(both)} of these keys, such as {both[0]}")


def table_files(lake: LakeWriter, table: str) -> list[str]:
    """The names of a table's files at the top of the lake."""
    try:
        found = lake.files.get_file_info(fs.FileSelector("", allow_not_found=True))
    except OSError as error:
        raise IngestError(f"lake {lake.location}: {error}") from error
    names = (info.base_name for info in found if info.type == fs.FileType.File)
    return sorted(name for name in names if name.startswith(table) and name.endswith(".parquet"))


def read_table(lake: LakeWriter, name: str) -> pa.Table:
    """One file of the table. Raises RecognitionError where it is none."""
    try:
        found = pq.ParquetFile(lake.files.open_input_file(name)).read()
        return pa.table([found[field.name].cast(field.type) for field in SCHEMA], schema=SCHEMA)
    except (OSError, KeyError, pa.ArrowException) as error:
        raise RecognitionError(f"{name} in lake {lake.location}: {str(error).splitlines()[0]}") from error


def read_recipe(lake: LakeWriter) -> dict | None:
    """The lake's recipe; None where there is none."""
    try:
        with lake.files.open_input_stream(RECIPE) as stream:
            recipe = json.loads(stream.read())
        if isinstance(recipe["version"], str) and "{key}" in recipe["image_url"]:
            return recipe
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecognitionError(f"{RECIPE} in lake {lake.location}: {str(error).splitlines()[0]}") from error
    raise RecognitionError(
        f'{RECIPE} in lake {lake.location}: must be like {{"version": "…", "image_url": "…{{key}}…"}}'
    )
