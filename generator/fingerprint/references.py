"""The index that photos are compared with: from the API, an exported file or a lake, as arrays to search in."""

import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from generator.errors import FingerprintError
from generator.fingerprint.fetch import fetch
from generator.fingerprint.recipe import VERSION, Fingerprint
from generator.fingerprint.table import RECIPE, read_recipe, read_table, table_files
from generator.ingest.tables import Lake

_HASHES = ("art_p", "art_d", "card_p")


@dataclass(frozen=True)
class References:
    """The entries, sorted by key."""

    image_url: str
    keys: tuple[str, ...]
    products: tuple[Sequence[int], ...]
    hashes: NDArray[np.uint64]  # (3, entries): art_p, art_d, card_p
    colours: NDArray[np.int16]  # (entries, 48), each channel less its mean, × 16

    def __len__(self) -> int:
        return len(self.keys)


def load(location: str, key: str | None) -> References:
    """Read an index.

    Args:
        location: the URL of `/api/v1/fingerprints`; a `fingerprints.json` or `.json.gz`; a lake, or its
            `fingerprints.parquet`.
        key: the API key for a URL.

    Raises:
        FingerprintError: unreachable, refused, unreadable, of another recipe, or empty.
    """
    if location.startswith(("http://", "https://")):
        return from_index(location, _parsed(location, fetch(location, key)))
    path = Path(location)
    if path.is_dir() or path.suffix == ".parquet":
        return from_index(location, _lake_index(path))
    try:
        data = path.read_bytes()
        return from_index(location, _parsed(location, gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data))
    except (OSError, EOFError, zlib.error) as error:
        raise FingerprintError(f"{location}: {getattr(error, 'strerror', None) or error}") from error


def _parsed(location: str, data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise FingerprintError(f"{location} is no fingerprint index: {error}") from error


def _lake_index(path: Path) -> dict[str, Any]:
    lake = Lake(str(path if path.is_dir() else path.parent))
    recipe = read_recipe(lake)
    names = table_files(lake, "fingerprints") if path.is_dir() else [path.name]
    if recipe is None or not names:
        missing = RECIPE if recipe is None else "fingerprints*.parquet"
        raise FingerprintError(f"{path}: no {missing} there")
    return recipe | {"entries": [row for name in names for row in read_table(lake, name).to_pylist()]}


def from_index(location: str, index: Any) -> References:
    """An index as the API has it, to search in.

    Raises:
        FingerprintError: not in that shape, of another recipe, or without entries.
    """
    try:
        version, image_url = index["version"], index["image_url"]
        entries = sorted(index["entries"], key=lambda entry: entry["key"])
        if not entries:
            raise FingerprintError(f"{location}: the index has no entries")
        if version != VERSION:
            raise FingerprintError(
                f"{location}: the index is by the recipe {version}, and only {VERSION} is known here"
            )
        return References(
            image_url,
            tuple(entry["key"] for entry in entries),
            tuple(entry["products"] for entry in entries),
            np.stack([_bytes(entries, name, 8).view(">u8")[:, 0].astype(np.uint64) for name in _HASHES]),
            centred(_bytes(entries, "colour", 48)),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FingerprintError(f"{location} is no fingerprint index: {type(error).__name__} {error}") from error


def _bytes(entries: Sequence[Mapping[str, Any]], name: str, width: int) -> NDArray[np.uint8]:
    texts = [entry[name] for entry in entries]
    wrong = next((text for text in texts if len(text) != 2 * width), None)
    if wrong is not None:
        raise ValueError(f"{name} must have {2 * width} hex digits, not {wrong!r:.40}")
    data = bytes.fromhex("".join(texts))
    return np.frombuffer(data, np.uint8).reshape(len(texts), width)


def centred(colours: NDArray[np.uint8]) -> NDArray[np.int16]:
    """Colour grids less each channel's mean, × 16 to stay whole: light and its colour fall out. (n, 48) → (n, 48)"""
    cells = colours.reshape(len(colours), 16, 3).astype(np.int16)
    return (16 * cells - cells.sum(1, dtype=np.int16, keepdims=True)).reshape(len(colours), 48)


def arrays(entries: Sequence[Fingerprint]) -> tuple[NDArray[np.uint64], NDArray[np.int16]]:
    """Fingerprints as References have them: (3, n) hashes and (n, 48) centred colours."""
    hashes = np.array([[getattr(entry, name) for entry in entries] for name in _HASHES], np.uint64)
    grids = np.frombuffer(b"".join(entry.colour for entry in entries), np.uint8)
    return hashes, centred(grids.reshape(len(entries), 48))
