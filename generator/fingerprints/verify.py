"""Whether the lake's entries are what the images give: samples of them worked out again."""

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from generator.fingerprints.table import read_recipe, read_table, table_files
from generator.ingest.tables import LakeWriter
from recognition.collect import collect
from recognition.errors import RecognitionError
from recognition.recipe import VERSION


class Verified(NamedTuple):
    """How many entries were worked out again, and what is wrong, by key."""

    checked: int
    wrong: dict[str, str]
    unknown: int  # images without an entry


def verify(
    lake: LakeWriter, images: Mapping[str, Path], samples: int, workers: int, step: Callable[[int], None]
) -> Verified:
    """Work out the entries of some of the images again, chosen at random.

    Raises:
        RecognitionError: the lake has no fingerprints of this recipe, or none of the images has an entry.
    """
    recipe = read_recipe(lake)
    if recipe is None or recipe["version"] != VERSION:
        has = "no fingerprints" if recipe is None else f"fingerprints by the recipe {recipe['version']}"
        raise RecognitionError(f"lake {lake.location} has {has}, not by {VERSION}")
    tables = [read_table(lake, name) for name in table_files(lake, "fingerprints")]
    entries = {row["key"]: row for table in tables for row in table.to_pylist()}
    known = [key for key in images if key in entries]
    if not known:
        raise RecognitionError(f"none of the {len(images)} images has an entry in lake {lake.location}")
    chosen = sorted(random.sample(known, min(samples, len(known))))
    collected = collect({key: images[key] for key in chosen}, workers, step)
    wrong = dict(collected.broken)
    for key, found in collected.fingerprints.items():
        parts = [name for name, text in found.texts().items() if text != entries[key][name].lower()]
        if parts:
            wrong[key] = f"{images[key]}: other {', '.join(parts)} than the entry {key} has"
    return Verified(len(chosen), wrong, len(images) - len(known))
