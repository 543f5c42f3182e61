"""Loads the index that photos are compared with: from the API, an exported file or a lake."""

import gzip
import zlib
from pathlib import Path
from typing import Any

from generator.fingerprints.table import read_entries, read_recipe, table_files
from generator.lake.lake import RECIPE_NAME
from generator.lake.writer import LakeWriter
from recognition.errors import RecognitionError
from recognition.fetch import fetch
from recognition.references import References, from_index, read_index


def load_index(location: str, api_key: str | None) -> References:
    """Load an index.

    Args:
        location: The URL of `/api/v1/fingerprints`, the path of a `fingerprints.json` or `.json.gz`, a lake in a
            folder, or its `fingerprints.parquet`.
        api_key: Needed for a URL.

    Raises:
        RecognitionError: The index cannot be reached or read, has another recipe, or is empty.
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
