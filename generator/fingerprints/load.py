"""Loads the index that photos are compared with: from the API, an exported file or a lake."""

import gzip
import random
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from generator.errors import RecognitionError
from generator.fingerprints.collect import collect
from generator.fingerprints.fetch import fetch
from generator.fingerprints.pictures import DEFAULT_LIMITS, ImageLimits
from generator.fingerprints.recipe import VERSION
from generator.fingerprints.references import References, from_index, read_index
from generator.fingerprints.table import read_entries, read_recipe, table_files
from generator.lake.lake import RECIPE_NAME
from generator.lake.writer import LakeWriter


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


def load_index(location: str, api_key: str | None) -> References:
    """Load an index.

    Args:
        location: The URL of `/api/v1/fingerprints`, the path of a `fingerprints.json` or `.json.gz`, a lake in a
            folder, or its `fingerprints.parquet`.
        api_key: Needed for a URL.
    """
    if location.startswith(("http://", "https://")):
        return read_index(location, fetch(location, api_key))
    path = Path(location)
    if path.is_dir() or path.suffix == ".parquet":
        return from_index(location, _lake_index(path))
    try:
        data = path.read_bytes()
        return read_index(location, gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    except (OSError, EOFError, zlib.error) as error:
        raise RecognitionError(f"{location}: {getattr(error, 'strerror', None) or error}") from error


def _lake_index(path: Path) -> dict[str, Any]:
    lake = LakeWriter(str(path if path.is_dir() else path.parent))
    recipe = read_recipe(lake)
    names = table_files(lake) if path.is_dir() else [path.name]
    if recipe is None or not names:
        missing = RECIPE_NAME if recipe is None else "fingerprints*.parquet"
        raise RecognitionError(f"{path}: no {missing} there")
    return recipe | {"entries": [row for name in names for row in read_entries(lake, name).to_pylist()]}
