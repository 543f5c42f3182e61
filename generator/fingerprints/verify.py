"""Verifies the lake's entries: fingerprints some reference images again and compares."""

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from generator.fingerprints.table import read_entries, read_recipe, table_files
from generator.lake.writer import LakeWriter
from recognition.collect import collect
from recognition.errors import RecognitionError
from recognition.pictures import DEFAULT_LIMITS, ImageLimits
from recognition.recipe import VERSION


class EntryCheck(NamedTuple):
    """The result of a verification.

    Attributes:
        checked: How many entries were computed again.
        wrong: For each entry that differs, by key, one line that says how.
        unknown: How many images have no entry.
    """

    checked: int
    wrong: dict[str, str]
    unknown: int


def verify_entries(
    lake: LakeWriter,
    images: Mapping[str, Path],
    samples: int,
    workers: int,
    step: Callable[[int], None],
    limits: ImageLimits = DEFAULT_LIMITS,
) -> EntryCheck:
    """Compute the entries of some of the images again, chosen at random.

    Raises:
        RecognitionError: The lake has no fingerprints of this recipe, or none of the images has an entry.
    """
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
