"""The index that photos are compared with, from wherever it is: the API, an exported file or a lake."""

import gzip
import zlib
from pathlib import Path
from typing import Any

from generator.fingerprints.table import RECIPE, read_recipe, read_table, table_files
from generator.ingest.tables import LakeWriter
from recognition.errors import RecognitionError
from recognition.fetch import fetch
from recognition.references import References, from_index, read_index


def load(location: str, key: str | None) -> References:
    """Read an index.

    Args:
        location: the URL of `/api/v1/fingerprints`; a `fingerprints.json` or `.json.gz`; a lake, or its
            `fingerprints.parquet`.
        key: the API key for a URL.

    Raises:
        RecognitionError: unreachable, refused, unreadable, of another recipe, or empty.
    """
    if location.startswith(("http://", "https://")):
        return read_index(location, fetch(location, key))
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
    names = table_files(lake, "fingerprints") if path.is_dir() else [path.name]
    if recipe is None or not names:
        missing = RECIPE if recipe is None else "fingerprints*.parquet"
        raise RecognitionError(f"{path}: no {missing} there")
    return recipe | {"entries": [row for name in names for row in read_table(lake, name).to_pylist()]}
